"""Every example must satisfy the JSON Schema that the program prints, and a wrong file must not."""
import glob
import json
import subprocess
import sys

import jsonschema
import yaml

binary, examples = sys.argv[1:3]
schema = json.loads(subprocess.run([binary, "list", "schema"], check=True, capture_output=True).stdout)
validator_class = jsonschema.validators.validator_for(schema)
validator_class.check_schema(schema)
validator = validator_class(schema)

failed = 0
files = sorted(glob.glob(examples + "/**/*.yaml", recursive=True))
for path in files:
    with open(path) as file:
        model = yaml.safe_load(file)
    for error in validator.iter_errors(model):
        print(f"{path}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}")
        failed += 1

for wrong in ({"limber": 1, "bodies": {"a": {"mas": 1}}}, {"limber": 2}, {"limber": 1, "joints": {"j": {"hinge": ["a", "b"]}}},
              {"limber": 1, "forces": {"k": {"spring": ["a"]}}}, {"bodies": {}}):
    if validator.is_valid(wrong):
        print("accepted although wrong:", wrong)
        failed += 1

print(f"{len(files)} examples checked against the schema")
sys.exit(1 if failed or len(files) < 35 else 0)
