"""Compares checkov's findings in the deployed templates with the template's exceptions.

Usage: policies.py FOLDER FINDINGS: the output of profiles.py, and checkov's JSON output for it. Every finding needs an
exception at its resource, and every exception needs a finding.
"""

import json
import sys
from pathlib import Path

folder, findings = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
passed = findings["summary"]["passed"]
found = {(one["resource"].split(".")[-1], one["check_id"]) for one in findings["results"]["failed_checks"]}
excused = {tuple(one) for one in json.loads((folder / "excuses.list").read_text())}


def covers(excuse, finding):
    """Resources that SAM generates have the original's name as a prefix, and share its exceptions."""
    return finding[1] == excuse[1] and finding[0].startswith(excuse[0])


faults = [f"{name}: {check}" for name, check in sorted(found) if not any(covers(one, (name, check)) for one in excused)]
faults += [f"{name} needs no excuse from {check}" for name, check in sorted(excused) if not any(covers((name, check), one) for one in found)]
for fault in faults:
    print(f"  {fault}")
if faults or passed < 80:
    sys.exit(f"  {passed} checks passed")
print(f"  ok: checkov passes {passed} checks, and {len(excused)} exceptions are justified in place")
