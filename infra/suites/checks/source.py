"""Reads settings and table names from the functions' source."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# Name of a setting; names without an underscore are listed, to distinguish them from other constants.
SETTING = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|ARTICLES|AUTH|MASK|MODELS)"')
# Variables that Cargo and the build script set for the compiler.
CARGO = re.compile(r"CARGO_|LAMBDA_CHAT_COMMIT$")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod tests \{")
EXTERNAL_KEY = re.compile(r"^(([A-Z0-9_]+_API|(PREVIOUS_)?ORIGIN)_KEY|AZURE_CLIENT_SECRET|OTEL_EXPORTER_OTLP_HEADERS|SYSTEM_PROMPT)$")
CONSTANT = re.compile(r'const (\w+): &str = "([^"]+)";')


def crates():
    """The folders of the crates that the functions link, by name."""
    found, left = {}, ["chat", "verify"]
    for name in left:
        for manifest in [*ROOT.glob(f"functions/{name}/Cargo.toml"), *ROOT.glob(f"shared/{name}/Cargo.toml")]:
            found[name] = manifest.parent
            left += tomllib.loads(manifest.read_text())["dependencies"].keys() - set(left)
    return [found[name] for name in sorted(found)]


def sources():
    """The source of every crate of the functions, without tests."""
    for folder in crates():
        for path in sorted(folder.glob("src/**/*.rs")):
            if "tests" not in path.parts and path.name != "tests.rs":
                yield path, TESTS.split(path.read_text())[0]


def settings():
    """Every variable that the functions read, including both forms of an externally stored key."""
    names = set()
    for _, text in sources():
        if "Settings" in text or "settings" in text:
            names |= {name for name in SETTING.findall(text) if not CARGO.match(name)}
    for name in [name for name in names if EXTERNAL_KEY.match(name)]:
        names |= {f"{name}_PARAMETER", f"{name}_SECRET"}
    return names


def store_constants():
    """The store's names in DynamoDB: keys, index, attributes."""
    constants = {}
    for path, text in sources():
        if "store" in path.parts:
            constants |= dict(CONSTANT.findall(text))
    return {name: constants[name] for name in ("PK", "SK", "UPDATED_INDEX", "UPDATED_AT", "EXPIRES")}


def packed(template):
    """The template after `sam package`, which moves the code to a bucket."""
    functions = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Serverless::Function"]
    for properties in [template["Globals"]["Function"], *functions]:
        if "CodeUri" in properties:
            properties["CodeUri"] = "s3://bucket/key"
    return template
