"""Reads the results of the conformance suite: each check must pass, unless it needs what only a server for the suite has."""

import json
import pathlib
import re
import sys

SCENARIOS = 11
# Tools of the suite's own server, and the optional features that the product does not have.
ABSENT = re.compile(r"Not testable: server does not list the diagnostic tool|There is no method (prompts|resources)/")

results = sorted(pathlib.Path(sys.argv[1]).glob("*/*/checks.json"))
if len(results) != SCENARIOS:
    sys.exit(f"{len(results)} of {SCENARIOS} scenarios have results")
passed = absent = 0
for path in results:
    checks = json.loads(path.read_text())
    succeeded = sum(check["status"] == "SUCCESS" for check in checks)
    if not succeeded:
        sys.exit(f"{path.parent.name}: no check passed")
    passed += succeeded
    for check in checks:
        if check["status"] in ("SUCCESS", "INFO", "SKIPPED"):
            continue
        message = check.get("errorMessage") or ""
        if not ABSENT.search(message):
            sys.exit(f"{path.parent.name}: {check['id']}: {message}")
        absent += 1
print(f"{passed} checks passed in {len(results)} scenarios; {absent} need what the product does not offer")
