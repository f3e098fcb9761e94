"""Every complete model shown in the manual must be accepted by the program."""
import glob
import os
import re
import subprocess
import sys
import tempfile

binary, root = sys.argv[1:3]
pages = [root + "/README.md"] + sorted(glob.glob(root + "/docs/**/*.md", recursive=True))
models = failed = 0
for page in pages:
    with open(page) as file:
        text = file.read()
    for block in re.findall(r"```yaml\n(.*?)```", text, re.S):
        if not block.startswith("limber:"):
            continue
        models += 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.yaml")
            with open(path, "w") as file:
                file.write(block)
            result = subprocess.run([binary, "run", path, "--until", "0.1"], capture_output=True, text=True)
            if result.returncode != 0:
                failed += 1
                print(f"{os.path.relpath(page, root)}: {result.stderr.strip()}\n{block}")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not os.path.exists(os.path.join(os.path.dirname(page), link)):
            failed += 1
            print(f"{os.path.relpath(page, root)}: broken link {link}")
    for source in re.findall(r"`((?:analysis|dynamics|integration|kinematics|math|model|io|simulation)/[a-z_/]+\.[ch]pp)`", text):
        if not os.path.exists(os.path.join(root, "src/limber", source)):
            failed += 1
            print(f"{os.path.relpath(page, root)}: there is no {source}")

print(f"{models} models of the manual run")
sys.exit(1 if failed or models < 4 else 0)
