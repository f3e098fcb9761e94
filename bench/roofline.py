#!/usr/bin/env python3
"""How far a step is from what one core can do: docs/studies/limits.md. See bench/roofline, which builds the programs.

Usage: bench/roofline.py PEER_LIMBER LIMBER_PEAK

Operations and bytes are counted, not estimated: callgrind says how often each instruction of a run was executed (--dump-instr),
objdump says what each is. One addition, multiplication, division or square root of one double is one operation, a fused
multiply-add two; bytes are those of all loads and stores of arithmetic and moves, whatever cache serves them.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

# Algorithm, and the case that shows it.
RUNS = [
    ("articulated-body semi-implicit-euler", "chain-160", 1e-3),
    ("articulated-body semi-implicit-euler", "chain-10000", 1e-3),
    ("articulated-body semi-implicit-euler", "humanoid", 1e-3),
    ("composite-body semi-implicit-euler", "humanoid", 1e-3),
    ("hybrid trapezoidal", "humanoid", 1e-3),
    ("global trapezoidal", "humanoid", 1e-3),
    ("articulated-body rk4", "n-four-bar-40", 1e-2),
    ("augmented-lagrangian rk4", "n-four-bar-40", 1e-2),
    ("baumgarte rk4", "n-four-bar-40", 1e-2),
    ("null-space rk4", "n-four-bar-40", 1e-2),
    ("global trapezoidal", "n-four-bar-40", 1e-2),
    ("hybrid trapezoidal", "n-four-bar-40", 1e-2),
    ("semi-recursive trapezoidal", "n-four-bar-5", 1e-2),
]

ARITHMETIC = re.compile(r"^v?(add|sub|mul|div|sqrt|min|max)(s|p)d$|^v?(haddpd|hsubpd|addsubpd)$")
FUSED = re.compile(r"^vfn?m(add|sub|addsub|subadd)\d*(s|p)d$")
MOVE = re.compile(r"^v?(mov[a-z]*(sd|pd|ps|dqa|dqu)|movq|movddup|mov|push|pop)$")


def doubles_in(mnemonic, operands):
    """How many doubles an instruction works on at once."""
    if mnemonic.rstrip("d").endswith("s") and mnemonic.endswith("sd"):
        return 1
    return 4 if "%ymm" in operands else 8 if "%zmm" in operands else 2


def operations_of(mnemonic, operands):
    if FUSED.match(mnemonic):
        return 2 * doubles_in(mnemonic, operands)
    if ARITHMETIC.match(mnemonic):
        return doubles_in(mnemonic, operands)
    return 0


def bytes_of(mnemonic, operands):
    """Bytes loaded or stored by arithmetic on doubles and by moves; none without a memory operand."""
    is_double = FUSED.match(mnemonic) or ARITHMETIC.match(mnemonic) or mnemonic.endswith(("sd", "pd", "ps", "dqa", "dqu", "ddup"))
    if "(" not in operands or mnemonic.startswith("lea") or not (is_double or MOVE.match(mnemonic)):
        return 0
    if mnemonic.endswith("sd") or mnemonic in ("movq", "movlpd", "movhpd", "movlps", "movhps", "movddup"):
        return 8
    if is_double:
        return {"%ymm": 32, "%zmm": 64}.get(next((r for r in ("%ymm", "%zmm") if r in operands), ""), 16)
    return 4 if re.search(r"%e[a-ds]", operands) or mnemonic.endswith("l") else 8


def disassemble(path, cache={}):
    if path not in cache:
        table = {}
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True).stdout
        for line in text.splitlines():
            match = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
            if match:
                mnemonic, operands = match[2], match[3].split("#")[0]
                table[int(match[1], 16)] = (operations_of(mnemonic, operands), bytes_of(mnemonic, operands))
        cache[path] = table
    return cache[path]


def count(program, case, setting):
    """Instructions, operations and bytes of one step."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
             "--collect-atstart=no", f"--callgrind-out-file={out}", program, "count", case, setting],
            capture_output=True, text=True, check=True)
        steps = int(result.stdout.split(";")[6])
        executed = collections.Counter()
        path = ""
        skip = False
        with open(out) as lines:
            for line in lines:
                if line.startswith("ob="):
                    path = line[3:].strip()
                elif line.startswith("calls="):
                    skip = True  # the next line is the cost of what was called
                elif line.startswith("0x"):
                    if not skip:
                        fields = line.split()
                        executed[path, int(fields[0], 16)] += int(fields[-1])
                    skip = False
    totals = [0, 0, 0]
    for (path, address), times in executed.items():
        operations, moved = disassemble(path).get(address, (0, 0)) if os.path.exists(path) else (0, 0)
        totals = [totals[0] + times, totals[1] + times * operations, totals[2] + times * moved]
    return [total / steps for total in totals]


def time_step(program, case, setting):
    """Seconds per step, the best of five runs."""
    best = float("inf")
    for _ in range(5):
        fields = subprocess.run([program, "time", case, setting], capture_output=True, text=True, check=True).stdout.split(";")
        best = min(best, 1e-3 * float(fields[7]) / int(fields[6]))
    return best


def conclude(figures):
    """What the table says about where the time goes; figures: instructions, operations, bytes and seconds per step."""
    overhead = [instructions / operations for instructions, operations, _, _ in figures]
    issued = [1e-9 * instructions / seconds for instructions, _, _, seconds in figures]
    return f"""

An operation takes {min(overhead):.1f} to {max(overhead):.1f} instructions, and {min(issued):.0f} to {max(issued):.0f} instructions are executed per nanosecond: what separates the
algorithms from the peak is first of all that most instructions load, store, look up and decide. Bytes include those of integers and of values that stay in the
first-level cache, so they are an upper bound of what moves.
"""


def main():
    program, peak = sys.argv[1:3]
    measured = dict(line.split(";") for line in subprocess.run([peak], capture_output=True, text=True, check=True).stdout.split())
    fused, near, far = (float(measured[key]) for key in ("fused", "near", "far"))
    rows = []
    figures = []
    for scheme, case, step in RUNS:
        setting = f"{scheme};{step:g};0"
        print(case, scheme, file=sys.stderr)
        instructions, operations, moved = count(program, case, setting)
        seconds = time_step(program, case, setting)
        figures.append((instructions, operations, moved, seconds))
        rows.append(
            f"| {case} | `{scheme}` | {1e6 * seconds:.3g} | {instructions:.3g} | {operations:.3g} | {moved:.3g} | "
            f"{operations / moved:.2f} | {1e-9 * operations / seconds:.2f} | "
            f"{100 * 1e-9 * operations / seconds / fused:.1f} % | {1e-9 * moved / seconds:.1f} | {100 * 1e-9 * moved / seconds / near:.0f} % |")
    with open("/proc/cpuinfo") as info:
        processor = next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    page = f"""# Distance to the limit

Made by `bench/roofline`: what a step needs, and what one core could do in that time. {processor}, one thread.

Operations (additions, multiplications, divisions and square roots of doubles; a fused multiply-add is two) and bytes (of all loads and
stores, whatever cache serves them) are counted over a run of the program as it is shipped, for any x86-64 processor: callgrind says how often each
instruction was executed, objdump what it is.

What one core can do, from small loops (`bench/peak.cpp`):

| | |
|---|---|
| fused multiply-adds in full vectors | {fused:.1f} Gflop/s |
| loads from the first-level cache | {near:.0f} GB/s |
| loads from memory | {far:.1f} GB/s |

| case | algorithm | us per step | instructions | operations | bytes | operations per byte | Gflop/s | of peak | GB/s | of cache |
|---|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(rows) + conclude(figures)
    with open("docs/studies/limits.md", "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
