"""Compares Cargo.lock with a copy of the RustSec advisory database: advisories.py CARGO_LOCK DATABASE.

The database is a checkout of https://github.com/rustsec/advisory-db, or its bare repository. Its format, as of November 2026:
crates/NAME/ID.md begins with TOML between lines of backticks. Exits with 1 if a locked crate has a vulnerability, with 2 if the
database cannot be read. Notices (unmaintained crates and the like) are printed only.
"""
import pathlib
import re
import subprocess
import sys
import tomllib


def texts(database):
    folder = pathlib.Path(database)
    if (folder / "crates").is_dir():
        yield from (path.read_text("utf-8") for path in sorted(folder.glob("crates/*/*.md")))
        return
    git = ["git", "--git-dir", database]
    listed = subprocess.run([*git, "ls-tree", "-r", "HEAD", "crates"], capture_output=True, text=True, check=True).stdout
    blobs = [line.split()[2] for line in listed.splitlines() if line.endswith(".md")]
    batch = subprocess.run([*git, "cat-file", "--batch"], input="\n".join(blobs).encode(), capture_output=True, check=True).stdout
    while batch:
        head, batch = batch.split(b"\n", 1)
        length = int(head.split()[2])
        yield batch[:length].decode()
        batch = batch[length + 1:]


def key(version):
    """The order of versions; a pre-release comes before its release."""
    release, _, pre = version.split("+")[0].partition("-")
    numbers = [int(number) for number in release.split(".")]
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")] if pre else []
    return (numbers + [0, 0])[:3], not pre, parts


def fits(version, requirement):
    for part in requirement.split(","):
        sign, bound = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*", part).groups()
        own, low = key(version), key(bound)
        numbers = [int(number) for number in bound.split("-")[0].split("+")[0].split(".")]
        at = len(numbers) - 1 if sign == "~" and len(numbers) < 2 else 1 if sign == "~" else next(
            (at for at, number in enumerate(numbers) if number), len(numbers) - 1)
        high = (numbers[:at] + [numbers[at] + 1] + [0, 0])[:3]
        holds = {">=": own >= low, "<=": own <= low, ">": own > low, "<": own < low, "=": own == low}
        if not holds.get(sign or "^", own >= low and own[0] < high):
            return False
    return True


def main(lock, database):
    locked = tomllib.loads(pathlib.Path(lock).read_text("utf-8"))["package"]
    versions = {}
    for package in locked:
        if "source" in package:
            versions.setdefault(package["name"], []).append(package["version"])
    count, found, notices = 0, [], []
    for text in texts(database):
        document = tomllib.loads(re.match(r"```toml\n(.*?)```", text, re.DOTALL)[1])
        advisory, ranges = document["advisory"], document.get("versions", {})
        count += 1
        if "withdrawn" in advisory:
            continue
        title = re.search(r"^# (.*)", text, re.MULTILINE)
        for version in versions.get(advisory["package"], []):
            if any(fits(version, safe) for safe in ranges.get("patched", []) + ranges.get("unaffected", [])):
                continue
            line = f"{advisory['id']} {advisory['package']} {version}: {title[1] if title else ''}"
            (notices if "informational" in advisory else found).append(line)
    if not count:
        raise ValueError("it has no advisory")
    for line in found + [f"notice: {line}" for line in notices]:
        print(line)
    print(f"{sum(map(len, versions.values()))} crates against {count} advisories: {len(found)} found, {len(notices)} notices")
    return bool(found)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"the advisory database cannot be read: {error}", file=sys.stderr)
        sys.exit(2)
