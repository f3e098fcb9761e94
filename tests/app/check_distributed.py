"""Runs spread over processes: the same bits as in one, a lost process ends the run, and a checkpoint goes on where it was.

Usage: check_distributed.py LIMBER MPIRUN EXAMPLES
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

limber, mpirun, examples = sys.argv[1:4]
many = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n"]
model = [limber, "run", f"{examples}/chain.yaml", "--set", "N=24", "--modular", "auto:6", "--formulation", "global", "--integrator", "trapezoidal", "--quiet"]


def fail(text):
    sys.exit(f"check_distributed: {text}")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def processes_of(parent):
    """The limber processes below mpirun."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if int(fields[1]) == parent:
            found.append(int(status.parent.name))
    return found


def check_bits(scratch):
    short = model + ["--until", "0.5", "--step", "0.005"]
    alone = scratch / "alone.csv"
    run(short + ["--output", str(alone)])
    for count in (1, 2, 4):
        for gluing in ("direct", "conjugate-gradient"):
            reference = alone
            if gluing != "direct":
                reference = scratch / f"{gluing}.csv"
                run(short + ["--gluing", gluing, "--output", str(reference)])
            spread = scratch / f"{gluing}-{count}.csv"
            run(many + [str(count)] + short + ["--gluing", gluing, "--distributed", "--output", str(spread)])
            if spread.read_bytes() != reference.read_bytes():
                fail(f"{count} processes, {gluing}: other numbers than one")


def check_faults():
    """One message, whatever the number of processes."""
    pendulum = [limber, "run", f"{examples}/double-pendulum.yaml", "--modular", "body", "--quiet"]
    for what, command, words in (
            ("a wrong input", [limber, "run", f"{examples}/no-such-file.yaml", "--distributed"], "no-such-file"),
            ("more processes than components", pendulum + ["--distributed"], "3 processes for 2 components"),
            ("processes of a run that is not distributed", pendulum, "add --distributed")):
        done = subprocess.run(many + ["3"] + command, capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or done.stderr.count("error: ") != 1 or words not in done.stderr:
            fail(f"{what}: {done.returncode} {done.stdout}{done.stderr}")


def check_loss(scratch):
    checkpoint = scratch / "run.checkpoint"
    long = model + ["--until", "3", "--step", "0.001", "--checkpoint", "0.2", "--checkpoint-file", str(checkpoint),
                    "--distributed"]
    whole = scratch / "whole.csv"
    run(many + ["2"] + long + ["--output", str(whole)])
    checkpoint.unlink()
    running = subprocess.Popen(many + ["2"] + long, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + 100
    while not checkpoint.exists():
        if time.monotonic() > end or running.poll() is not None:
            fail("there was no checkpoint")
        time.sleep(0.01)
    victims = processes_of(running.pid)
    if len(victims) != 2:
        fail(f"expected two processes, found {victims}")
    os.kill(victims[1], signal.SIGKILL)
    before = time.monotonic()
    try:
        text, _ = running.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        running.kill()
        fail("a lost process left the others waiting")
    if running.returncode == 0 or "signal 9" not in text or text.count("--resume") != 1:
        fail(f"a lost process was not reported: {text}")
    print(f"a lost process ended the run after {time.monotonic() - before:.1f} s")
    resumed = scratch / "resumed.csv"
    run(many + ["2"] + long + ["--resume", "--output", str(resumed)])
    if resumed.read_bytes() != whole.read_bytes():
        fail("the resumed run has other numbers than the whole one")
    other = subprocess.run(model[:-1] + ["--step", "0.002", "--resume", "--checkpoint-file", str(checkpoint)],
                           capture_output=True, text=True, timeout=60)
    if other.returncode != 1 or "another run" not in other.stderr:
        fail(f"a checkpoint of another run was taken: {other.stderr}")


with tempfile.TemporaryDirectory() as folder:
    check_bits(pathlib.Path(folder))
    check_faults()
    check_loss(pathlib.Path(folder))
print("ok")
