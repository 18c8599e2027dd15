"""Checks the workflows and the roles against the project's rules, and runs the steps' commands as far as they need no account.

Usage: workflows.py FOLDER, a writable folder. `sam` must be on the path.
"""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import assertions
import profiles
import source
from samtranslator.yaml_helper import yaml_parse
from workflow_rules import PIPELINE, VERIFIED, rules, texts, trust, unnoticed

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"


class Tokens(BaseHTTPRequestHandler):
    """Fake of the service that issues a job's token."""

    def do_GET(self):
        right = self.headers["Authorization"] == "Bearer request" and self.path == "/?api=1&audience=sts.amazonaws.com"
        self.send_response(200 if right else 403)
        self.end_headers()
        self.wfile.write(json.dumps({"value": "the token"}).encode())

    def log_message(self, *_):
        pass


def identify(work):
    server = HTTPServer(("127.0.0.1", 0), Tokens)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"http://127.0.0.1:{server.server_port}/?api=1",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request",
        "RUNNER_TEMP": str(work),
        "GITHUB_ENV": str(work / "environment"),
    }
    (work / "environment").unlink(missing_ok=True)
    variables |= {"NO_PROXY": "127.0.0.1"}
    output = subprocess.run([PIPELINE / "identify"], check=True, env=os.environ | variables, capture_output=True, text=True).stdout
    if output != f"{work}/token\n" or (work / "token").read_text() != "the token" or (work / "environment").exists():
        yield "identify: the token is not where SAM looks for it"
    if (work / "token").stat().st_mode & 0o077:
        yield "identify: others on the machine may read the token"
    yield from deploy(work, "staging", variables)
    server.shutdown()
    if (work / "token").exists():
        yield "deploy: the token is there for the steps after it"


def verify(work):
    """Checks what `gh` gets to verify, and that what it rejects is not deployed."""
    programs = work / "gh"
    programs.mkdir(exist_ok=True)
    fake_gh, calls = programs / "gh", work / "verified"
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "0123456789abcdef"}

    def run(code):
        fake_gh.write_text(f"#!/bin/sh\necho \"$*\" >'{calls}'\nexit {code}\n")
        fake_gh.chmod(0o755)
        return subprocess.run([PIPELINE / "verify"], env=variables).returncode

    if run(0) != 0 or calls.read_text() != f"attestation verify build.tar {' '.join(VERIFIED)}\n":
        yield f"verify: gh gets {calls.read_text()}"
    if run(1) == 0:
        yield "verify: what nobody attests is accepted"


def archives(work):
    """Checks that the build's template has the packed archives as code. A fake `sam` and a fake Cargo build."""
    programs, made = work / "builders", work / "packed"
    shutil.rmtree(made, ignore_errors=True)
    programs.mkdir(exist_ok=True)
    functions = ("ChatFunction", "CheckFunction")
    lines = "".join(f"  {name}:\n    Properties:\n      CodeUri: {name}\n" for name in functions)
    (programs / "sam").write_text(
        "#!/bin/sh\n" + "".join(f"mkdir -p '{made}/{name}' && echo {name} >'{made}/{name}/bootstrap'\n" for name in functions) + f"printf 'Resources:\n{lines}' >'{made}/template.yaml'\n"
    )
    (programs / "cargo").write_text(CARGO.replace('if sys.argv[1] == "tree"', 'if sys.argv[1] == "lambda":\n    pass\nelif sys.argv[1] == "tree"'))
    for program in programs.iterdir():
        program.chmod(0o755)
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "BUILD": str(made)}
    done = subprocess.run([PIPELINE / "build"], env=variables, capture_output=True, text=True)
    if done.returncode:
        yield f"build: it fails: {done.stderr}"
        return
    template = yaml_parse((made / "template.yaml").read_text())
    for name in functions:
        code = template["Resources"][name]["Properties"]["CodeUri"]
        if code != f"{name}.zip" or not zipfile.is_zipfile(made / code):
            yield f"build: {name} is deployed from {code}, which is not the archive that is attested"


def full(work):
    """Checks that the full function is built with its features and no other, with the commit, and that it is deployed as one."""
    copy, made = work / "full", work / "full/.aws-sam/build"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source.ROOT / "infra", copy / "infra", ignore=shutil.ignore_patterns("src"))
    (copy / "functions/chat").mkdir(parents=True)
    shutil.copy(source.ROOT / "functions/chat/Cargo.toml", copy / "functions/chat")
    for name in ("Cargo.toml", "LICENSE-APACHE"):
        shutil.copy(source.ROOT / name, copy)
    programs = copy / "bin"
    programs.mkdir()
    (programs / "sam").write_text(
        f"#!/bin/sh\ngrep '^default' functions/chat/Cargo.toml >'{copy}/built'; echo \"$LAMBDA_CHAT_COMMIT\" >>'{copy}/built'\n"
        f"mkdir -p '{made}/ChatFunction' && echo a >'{made}/ChatFunction/bootstrap'\n"
        f"printf 'Resources:\\n  ChatFunction:\\n    Properties:\\n      CodeUri: ChatFunction\\n' >'{made}/template.yaml'\n"
    )
    (programs / "cargo").write_text(CARGO.replace('if sys.argv[1] == "tree"', 'if sys.argv[1] == "lambda":\n    pass\nelif sys.argv[1] == "tree"'))
    for program in programs.iterdir():
        program.chmod(0o755)
    manifest = (copy / "functions/chat/Cargo.toml").read_text()
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "LAMBDA_CHAT_COMMIT": "0123456789ab", "TOOLS": str(source.ROOT / "target/pipeline-tools")}
    for function, features in (("full", 'default = ["documents", "articles", "files"]'), ("small", "default = []")):
        done = subprocess.run([copy / "infra/pipeline/build"], env=variables | {"FUNCTION": function}, capture_output=True, text=True)
        if done.returncode or (copy / "built").read_text() != f"{features}\n0123456789ab\n":
            yield f"build: the {function} function is built with {(copy / 'built').read_text()} {done.stderr}"
        if (copy / "functions/chat/Cargo.toml").read_text() != manifest:
            yield "build: the sources are others after it"
        if (made / "function").read_text() != f"{function}\n":
            yield f"build: the {function} function is deployed as the other one"


def packed(work):
    """Checks that an archive has its files with their modes, and is smaller than zlib makes it."""
    folder = work / "function"
    folder.mkdir(exist_ok=True)
    texts = {"bootstrap": (source.ROOT / "template.yaml").read_bytes(), "THIRD-PARTY": (source.ROOT / "LICENSE-APACHE").read_bytes()}
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    (folder / "bootstrap").chmod(0o755)
    sizes = []
    for variables in ({}, {"ITERATIONS": "0"}):
        made = work / "function.zip"
        subprocess.run([PIPELINE / "pack", folder, made], env=os.environ | variables, check=True, capture_output=True)
        with zipfile.ZipFile(made) as archive:
            modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
            if modes != {"bootstrap": 0o100755, "THIRD-PARTY": 0o100644} or any(archive.read(name) != text for name, text in texts.items()):
                yield f"pack: the archive has {modes}, or other contents"
        sizes.append(made.stat().st_size)
    if sizes[0] > 0.98 * sizes[1]:
        yield f"pack: an archive of {sizes[1]} bytes is compressed to {sizes[0]}"


def checkout(work):
    """Checks that only an earlier commit of the branch can be deployed instead of its head."""
    copy = work / "checkout"
    shutil.rmtree(copy, ignore_errors=True)
    (copy / "infra/pipeline").mkdir(parents=True)
    shutil.copy(PIPELINE / "checkout", copy / "infra/pipeline")
    who = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*command):
        return subprocess.run(["git", "-C", copy, *command], env=os.environ | who, check=True, capture_output=True, text=True).stdout.strip()

    def commit(name):
        (copy / "file").write_text(name)
        git("add", ".")
        git("commit", "--quiet", "--message", name)
        return git("rev-parse", "HEAD")

    def run(commit):
        return subprocess.run([copy / "infra/pipeline/checkout", commit], capture_output=True).returncode

    git("init", "--quiet", "--initial-branch", "main")
    first = commit("first")
    git("checkout", "--quiet", "-b", "other")
    other = commit("other")
    git("checkout", "--quiet", "main")
    commit("second")
    if run(other) == 0 or run("--help") == 0 or run("missing") == 0 or (copy / "file").read_text() != "second":
        yield "checkout: something else than an earlier commit of the branch is deployed"
    if run(first) != 0 or (copy / "file").read_text() != "first":
        yield "checkout: an earlier commit is not deployed"


def bundle(work):
    """Checks that only the packed build is unpacked."""
    copy = work / "bundle"
    shutil.rmtree(copy, ignore_errors=True)
    (copy / "infra/pipeline").mkdir(parents=True)
    shutil.copy(PIPELINE / "bundle", copy / "infra/pipeline")
    for file in (".aws-sam/build/template.yaml", "target/release/lambda-chat"):
        (copy / file).parent.mkdir(parents=True)
        (copy / file).write_text(file)
    output = copy / "output"

    def run(command, **more):
        variables = {key: value for key, value in os.environ.items() if key != "CARGO_TARGET_DIR"} | {"GITHUB_OUTPUT": str(output)} | more
        return subprocess.run([copy / "infra/pipeline/bundle", command], env=variables, capture_output=True).returncode

    run("pack")
    checksum = output.read_text().strip().removeprefix("sha256=")
    shutil.rmtree(copy / ".aws-sam")
    if run("unpack", SHA256="0" * 64) == 0 or run("unpack") == 0 or (copy / ".aws-sam").exists():
        yield "bundle: something else than what was built is taken"
    if run("unpack", SHA256=checksum) or not all((copy / ".aws-sam" / file).exists() for file in ("build/template.yaml", "lambda-chat")):
        yield "bundle: what was built does not arrive"


CARGO = """#!/usr/bin/env python3
import json, sys
PACKAGES = ("chat", "verify", "server")
if sys.argv[1] == "tree":
    if sys.argv[sys.argv.index("--package") + 1] not in PACKAGES:
        sys.exit("no such package")
    print("linked v1.0.0 (registry)")
else:
    own = [{"name": name, "version": "0.1.0", "source": None} for name in PACKAGES]
    linked = {"name": "linked", "version": "1.0.0", "source": "registry", "license": "MIT/Apache-2.0", "repository": None, "homepage": "h"}
    print(json.dumps({"packages": [*own, {**linked, "license_file": None, "manifest_path": __file__}]}))
"""


def as_sam_makes_it(texts, architecture):
    """Checks that a release's template is what SAM's macro would give CloudFormation, with every profile and every kind of canary."""
    for profile, parameters in {**profiles.PROFILES, "linear": {"Deployment": "Linear10PercentEvery1Minute"}}.items():
        parameters = parameters | {"Architecture": architecture}
        written = profiles.transformed((source.ROOT / "template.yaml").read_text(), parameters)
        function = parameters.get("Function", "small")
        released = json.loads(texts[function])
        if comparable(written, parameters).replace("${Function}", function) != comparable(released, parameters):
            yield f"template: with the profile {profile} a release deploys something else than SAM does"
        rules = {name: one for name, one in written["Rules"].items() if (name, function) != (assertions.FULL_ONLY, "full")}
        if function == "small":
            rules[assertions.FULL_ONLY].pop("RuleCondition")
        if written["Outputs"] != released["Outputs"] or rules != released["Rules"] or "Function" in released["Parameters"]:
            yield f"template: a release with the {function} function has other outputs, rules or parameters"


def as_its_function(texts):
    """Checks that the template of a small function rejects what only a full one can do, and that of a full one takes it."""
    small, full = (json.loads(texts[function]) for function in ("small", "full"))
    written = yaml_parse((source.ROOT / "template.yaml").read_text())
    for given in [*assertions.ACCEPTED, *(given for given, name in assertions.REJECTED if name == assertions.FULL_ONLY)]:
        needs_full = bool(list(assertions.rejections(written, given | {"Function": "small"})))
        given = {name: value for name, value in given.items() if name != "Function"} | {"Architecture": small["Parameters"]["Architecture"]["Default"]}
        if list(assertions.rejections(small, given)) != [assertions.FULL_ONLY] * needs_full or assertions.FULL_ONLY in assertions.rejections(full, given):
            yield f"template: {given} is not for the function of the template"


def comparable(template, parameters):
    """A template's resources without what a release does otherwise: code, metadata, and the names of versions, which hash the code."""
    resources = profiles.decided(json.loads(json.dumps(template)), parameters)["Resources"]
    for one in resources.values():
        one.pop("Metadata", None)
        if one["Type"] == "AWS::Lambda::Function":
            one["Properties"].pop("Code")
        if one["Type"] == "AWS::CodeDeploy::DeploymentGroup":
            name, values = one["Properties"]["DeploymentConfigName"]["Fn::Sub"]
            chosen = values["ConfigName"] if isinstance(values["ConfigName"], str) else parameters.get(values["ConfigName"]["Ref"], "Canary10Percent5Minutes")
            one["Properties"]["DeploymentConfigName"] = name.replace("${ConfigName}", chosen)
    return re.sub(r"(FunctionVersion|ApiDeployment)[0-9a-f]{10}\b|[0-9a-f]{40}", r"\1", json.dumps(resources, sort_keys=True))


def layers(copy):
    """The layers of the image, of programs for both processors that have only a header."""
    for name, machine in (("arm64", 0xB7), ("x86_64", 0x3E)):
        (copy / "lambda-chat").write_bytes(b"\x7fELF" + bytes(14) + bytes([machine]) + bytes(35) + b"\x38" + bytes(9))
        subprocess.run([copy / "infra/release/image", "layer", copy, copy / f"release/layer-{name}.tar.gz"], check=True)


def release(work):
    """Checks that a release is complete, deploys without a build, and is published only as it was assembled."""
    copy = work / "release"
    shutil.rmtree(copy, ignore_errors=True)
    for file in ("template.yaml", "parameters.example.json", "Cargo.toml", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"):
        copy.mkdir(exist_ok=True)
        shutil.copy(source.ROOT / file, copy)
    shutil.copytree(source.ROOT / "infra", copy / "infra", ignore=shutil.ignore_patterns("suites"))
    made, programs = copy / "release", copy / "bin"
    for folder in (made, programs):
        folder.mkdir()
    (programs / "cargo").write_text(CARGO)
    (programs / "gh").write_text(f"#!/bin/sh\necho \"$*\" >'{copy}/published'\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "0123", "GITHUB_REF_NAME": "v1"}

    def run(*command):
        return subprocess.run([copy / "infra/release" / command[0], *command[1:]], env=variables, capture_output=True).returncode

    number = tomllib.loads((source.ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    if run("version", f"v{number}") != 0 or run("version", number) == 0 or run("version", f"v{number}-rc.1") == 0:
        yield "version: the tag of the version is not released, or another one is"
    for name in ("CHANGELOG.md", "template.yaml"):
        text = (copy / name).read_text()
        (copy / name).write_text(text.replace(number, "0.0.1"))
        if run("version", f"v{number}") == 0:
            yield f"version: {name} may have another version"
        (copy / name).write_text(text)
    if run("assemble") == 0:
        yield "assemble: a release without functions is complete"
    for name in ("chat", "chat-full", "verify"):
        for architecture in ("arm64", "x86_64"):
            (made / f"{name}-{architecture}.zip").write_text(name)
    if run("assemble") == 0:
        yield "assemble: a release without the layers of the image is complete"
    layers(copy)
    if run("assemble") == 0:
        yield "assemble: a release without programs is complete"
    for platform in ("linux-arm64", "linux-x86_64", "macos-arm64", "macos-x86_64"):
        (made / f"lambda-chat-{platform}.tar.gz").write_text(platform)
    layers(copy)
    if run("assemble") != 0 or run("publish", "v1") != 0:
        yield "assemble: a complete release is not"
        return
    for architecture in ("arm64", "x86_64"):
        texts = {"small": (made / f"template-{architecture}.json").read_text(), "full": (made / f"template-full-{architecture}.json").read_text()}
        for function, text in texts.items():
            template = json.loads(text)
            code = {one["Properties"]["Code"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"}
            if code != {f"./{name}-{architecture}.zip" for name in ("chat" if function == "small" else "chat-full", "verify")}:
                yield f"assemble: the template for {architecture} has the code {code}"
            if template["Parameters"]["Architecture"] | {"Description": ""} != {"Description": "", "Type": "String", "AllowedValues": [architecture], "Default": architecture}:
                yield f"assemble: the template for {architecture} deploys to another processor"
        yield from as_sam_makes_it(texts, architecture)
        yield from as_its_function(texts)
    with zipfile.ZipFile(made / "terraform.zip") as archive:
        wanted = {"main.tf", "parameters.tf", "outputs.tf"} | {name.format(one) for one in ("arm64", "x86_64") for name in ("template-{}.json", "template-full-{}.json", "chat-{}.zip", "chat-full-{}.zip", "verify-{}.zip")}
        if set(archive.namelist()) != wanted:
            yield f"assemble: the Terraform module has {archive.namelist()}"
    script, formula, sums = ((made / name).read_text() for name in ("install.sh", "lambda-chat.rb", "SHA256SUMS"))
    if "https://github.com/a/b/releases/download/v1}" not in script or "https://github.com/a/b/releases/download/v1/lambda-chat-macos-arm64.tar.gz" not in formula:
        yield "assemble: the install script or the formula is of another release"
    if " install.sh\n" not in sums or " lambda-chat.rb\n" not in sums:
        yield "assemble: what installs the program has no checksum"
    versions = [re.findall(r"ChatFunctionVersion\w+", (made / "template-arm64.json").read_text())[0]]
    (made / "chat-arm64.zip").write_text("other code")
    layers(copy)
    run("assemble")
    if versions == [re.findall(r"ChatFunctionVersion\w+", (made / "template-arm64.json").read_text())[0]]:
        yield "assemble: other code is no other version"
    for name in ("vectors.yaml", "attachments.yaml", "waf.yaml", "budget.yaml", "bootstrap.yaml", "chat-full.cdx.json"):
        if f"release/{name}" not in (copy / "published").read_text():
            yield f"publish: the release lacks {name}"
    components = json.loads((made / "server.cdx.json").read_text())["components"]
    if [(one["purl"], one["licenses"]) for one in components] != [("pkg:cargo/linked@1.0.0", [{"expression": "MIT OR Apache-2.0"}])]:
        yield f"sbom: it lists {components}"
    if "release/lambda-chat-image.tar" not in (copy / "published").read_text():
        yield "publish: the release lacks the container image"
    if "release/template-arm64.json" not in (copy / "published").read_text() or "--draft" not in (copy / "published").read_text():
        yield "publish: the release lacks files, or is public at once"
    (made / "chat-arm64.zip").write_text("another")
    if run("publish", "v1") == 0:
        yield "publish: a file that was changed is published"


def deploy(work, stage, identity=None):
    """Runs without an account: the real `sam` validates the options, and a fake prints the outputs."""
    fake_sam = work / "bin/sam"
    fake_sam.parent.mkdir(exist_ok=True)
    outputs = json.dumps([{"OutputKey": "FunctionName", "OutputValue": "f"}, {"OutputKey": "ChatUrl", "OutputValue": "https://a.example/"}])
    fake_sam.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$* $(cat "$AWS_WEB_IDENTITY_TOKEN_FILE" 2>/dev/null)" >>"{work}/calls"\n"{shutil.which("sam")}" "$@" --help >/dev/null || exit 1\n'
        f"[ \"$1\" != list ] || echo '{outputs}'\n"
    )
    fake_sam.chmod(0o755)
    (work / "calls").unlink(missing_ok=True)
    (work / "output").unlink(missing_ok=True)
    variables = {
        "PATH": f"{fake_sam.parent}:{os.environ['PATH']}",
        "AWS_REGION": "eu-west-1",
        "EXECUTION_ROLE": "arn:aws:iam::123456789012:role/execution",
        "ARTEFACTS": "bucket",
        "PARAMETERS": "ArkModel=a DefaultModel=volcano",
        "GITHUB_OUTPUT": str(work / "output"),
        "GITHUB_SHA": "0123456789abcdef",
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "2",
        "BUILD": str(build(work, 0xB7)),
        "BOUNDARY": BOUNDARY,
        "TAGS": "app=lambda-chat team=a",
    }
    subprocess.run([PIPELINE / "deploy", stage], check=True, env=os.environ | variables | (identity or {}), stdout=subprocess.DEVNULL)
    calls = (work / "calls").read_text()
    if identity and not all(line.endswith(" the token") for line in calls.splitlines()):
        yield f"deploy {stage}: sam has no token"
    for part in (
        "--role-arn arn:aws:iam::123456789012:role/execution",
        f"{stage}.toml",
        f"ArkModel=a DefaultModel=volcano Architecture=arm64 Release=0123456789ab-7.2 PermissionsBoundaryArn={BOUNDARY} --tags app=lambda-chat team=a ",
        "--stack-name lambda-chat",
    ):
        if part not in calls:
            yield f"deploy {stage}: sam is not told {part}"
    if (work / "output").read_text() != "url=https://a.example/\n":
        yield f"deploy {stage}: the next step is not told where it is"
    yield from parameters(work, stage, os.environ | variables)


def build(work, machine):
    """A build whose executable is for a processor, by its number in ELF."""
    executable = work / "build/ChatFunction/bootstrap"
    executable.parent.mkdir(parents=True, exist_ok=True)
    executable.write_bytes(b"\x7fELF" + bytes(14) + bytes([machine, 0]))
    return work / "build"


def parameters(work, stage, variables):
    """Checks what SAM makes of the forms of PARAMETERS, and that the stack has the processor of the build."""
    wanted = {"SystemPrompt": "You are nice.", "ModelOptions": '{"a":{"thinking":"off"}}', "ReservedConcurrency": "none"}
    lines = "".join(f"{name}: '{value}'\n" for name, value in wanted.items())
    forms = {json.dumps(wanted): wanted, json.dumps(wanted, indent=2): wanted, lines: wanted, "": {}, " A=b\n C=d ": {"A": "b", "C": "d"}}
    for form, values in forms.items():
        for machine, name in ((0xB7, "arm64"), (0x3E, "x86_64")):
            build(work, machine)
            arrived = overridden(work, stage, variables | {"PARAMETERS": form})
            if arrived.pop("Release", "") != "0123456789ab-7.2" or arrived.pop("Architecture", "") != name or arrived.pop("PermissionsBoundaryArn", "") != BOUNDARY or arrived != values:
                yield f"deploy {stage}: of {form!r} sam gets {arrived}"
    build(work, 0xB7)
    (work / "build/function").write_text("full\n")
    if overridden(work, stage, variables | {"PARAMETERS": "", "TAGS": ""}).get("Function") != "full":
        yield f"deploy {stage}: the full function is deployed as a small one"
    (work / "build/function").unlink()
    build(work, 0)
    if subprocess.run([PIPELINE / "deploy", stage], env=variables, capture_output=True).returncode == 0:
        yield f"deploy {stage}: what runs on no processor is deployed"


def overridden(work, stage, variables):
    """The parameters that SAM itself reads from the options it gets."""
    read = "import sys; from samcli.cli.types import CfnParameterOverridesType as T; import json; given = [*sys.argv[1:], \"--tags\"]; print(json.dumps(T().convert(tuple(given[: given.index(\"--tags\")]), None, None)))"
    fake_sam = work / "bin/sam"
    own = fake_sam.read_text()
    fake_sam.write_text(
        f"#!/bin/sh\nif [ \"$1\" = list ]; then echo '[{{\"OutputKey\":\"ChatUrl\",\"OutputValue\":\"u\"}}]'; exit; fi\n"
        f"while [ \"$1\" != --parameter-overrides ]; do shift; done; shift\n'{sys.executable}' -c '{read}' \"$@\" >'{work}/parameters'\n"
    )
    subprocess.run([PIPELINE / "deploy", stage], check=True, env=variables, stdout=subprocess.DEVNULL)
    fake_sam.write_text(own)
    return json.loads((work / "parameters").read_text())


def main():
    logging.disable()  # the translator logs its own metrics
    work = Path(sys.argv[1]).resolve()
    faults = [*rules(texts()), *unnoticed(), *trust(), *identify(work), *verify(work), *archives(work), *full(work), *packed(work), *checkout(work), *bundle(work), *release(work), *deploy(work, "staging"), *deploy(work, "production")]
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print("  ok: the rules hold, and the steps' commands run")


main()
