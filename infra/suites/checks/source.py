"""What the functions' source says about their settings and the tables."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# A setting's name; those of one word are told apart from other capitals by being listed.
SETTING = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|AUTH|MASK|MODELS)"')
# The names that Cargo gives to the compiler.
CARGO = re.compile(r"CARGO_")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod tests \{")
KEPT_ELSEWHERE = re.compile(r"^[A-Z0-9_]+_API_KEY$")
CONSTANT = re.compile(r'const (\w+): &str = "([^"]+)";')


def sources():
    """The source of every room that the functions are built from, without tests."""
    for folder in [*sorted((ROOT / "shared").iterdir()), *sorted((ROOT / "functions").iterdir())]:
        for path in sorted(folder.glob("src/**/*.rs")):
            if "tests" not in path.parts and path.name != "tests.rs":
                yield path, TESTS.split(path.read_text())[0]


def settings():
    """Every variable that the functions read, with both forms in which a key may be kept elsewhere."""
    names = set()
    for _, text in sources():
        if "Settings" in text or "settings" in text:
            names |= {name for name in SETTING.findall(text) if not CARGO.match(name)}
    for name in [name for name in names if KEPT_ELSEWHERE.match(name)]:
        names |= {f"{name}_PARAMETER", f"{name}_SECRET"}
    return names


def store_constants():
    """The names in DynamoDB on which the store relies: keys, index, attributes."""
    constants = {}
    for path, text in sources():
        if "store" in path.parts:
            constants |= dict(CONSTANT.findall(text))
    return {name: constants[name] for name in ("PK", "SK", "UPDATED_INDEX", "UPDATED_AT", "EXPIRES")}


def packed(template):
    """A template as `sam package` would leave it: what is built stands in a bucket."""
    functions = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Serverless::Function"]
    for place in [template["Globals"]["Function"], *functions]:
        if "CodeUri" in place:
            place["CodeUri"] = "s3://bucket/key"
    return template
