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
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import profiles
import source
import yaml
from samtranslator.yaml_helper import yaml_parse

WORKFLOWS = source.ROOT / ".github/workflows"
PIPELINE = source.ROOT / "infra/pipeline"
RELEASE = source.ROOT / "infra/release"
PINNED = re.compile(r"^(\./\.github/workflows/[a-z]+\.yml|[a-z-]+/[a-z-]+@[0-9a-f]{40})$")
BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
SUBJECTS = [
    {"Fn::Sub": "repo:${Organisation}/${Repository}:environment:${Stage}"},
    {
        "Fn::If": [
            "HasNumbers",
            {"Fn::Sub": "repo:${Organisation}@${OrganisationId}/${Repository}@${RepositoryId}:environment:${Stage}"},
            {"Ref": "AWS::NoValue"},
        ]
    },
]


# Commands allowed in jobs with the cloud identity; none compiles, and all installed packages are pinned by hash.
WITH_IDENTITY = re.compile(r"infra/pipeline/(bundle unpack|verify|install aws-sam-cli|deploy (staging|production))|infra/release/(push|publish) \"\$TAG\"")
REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+(\[[A-Za-z0-9,._-]+\])?==[^ ;]+( ; [^\\]+)?( --hash=sha256:[0-9a-f]{64})+")

# The permissions of the jobs that may do more than read the sources.
STAGE = {"contents": "read", "id-token": "write", "attestations": "read"}
NEEDED = {
    ("deploy.yml", "attest"): {"contents": "read", "id-token": "write", "attestations": "write"},
    ("deploy.yml", "staging"): STAGE,
    ("deploy.yml", "production"): STAGE,
    ("release.yml", "publish"): {"contents": "write", "id-token": "write", "attestations": "write", "packages": "write"},
}
# What `gh` is given to verify, apart from the file.
VERIFIED = ["--repo a/b", "--signer-workflow a/b/.github/workflows/deploy.yml", "--source-ref refs/heads/main", "--source-digest 0123456789abcdef", "--deny-self-hosted-runners"]

# Mutations of the workflows and their scripts, each of which a rule must notice: a file, a text of it, and its replacement.
MUTATIONS = [
    ("check.yml", "cargo-deny@0.20.2", "cargo-deny"),
    ("check.yml", "--locked cargo-deny", "cargo-deny"),
    ("deploy.yml", "      - run: infra/pipeline/install aws-sam-cli\n", "      - run: pip install aws-sam-cli\n"),
    ("deploy.yml", "      - id: deploy\n", "      - run: cargo build --locked\n      - id: deploy\n"),
    ("deploy.yml", "      - id: deploy\n", "      - run: .aws-sam/lambda-chat smoke a\n      - id: deploy\n"),
    ("deploy.yml", "  try-staging:\n", "  try-staging:\n    container: a\n"),
    ("deploy.yml", "    environment: staging\n    permissions:\n      contents: read\n    steps", "    environment: staging\n    permissions:\n      contents: read\n      id-token: write\n    steps"),
    ("deploy.yml", "          SHA256: ${{ needs.build.outputs.sha256 }}\n", "          SHA256: ${{ needs.staging.outputs.sha256 }}\n"),
    ("deploy.yml", "needs: [build, try-staging]", "needs: [build, staging]"),
    ("deploy.yml", "needs: [build, staging]", "needs: [build, check]"),
    ("deploy.yml", "needs: [check, build, attest]", "needs: [check, build]"),
    ("deploy.yml", "      - run: infra/pipeline/verify\n", "      - run: infra/pipeline/identify\n"),
    ("deploy.yml", "        if: vars.ATTEST != 'no'\n        env:\n", "        if: vars.ATTEST == 'yes'\n        env:\n"),
    ("deploy.yml", "        if: vars.ATTEST != 'no'\n        with:\n", "        if: false\n        with:\n"),
    ("deploy.yml", "            .aws-sam/build/ChatFunction.zip\n", ""),
    ("deploy.yml", "    needs: build\n    runs-on", "    needs: build\n    environment: attest\n    runs-on"),
    ("deploy.yml", "      - uses: actions/attest-build-provenance", "      - run: infra/pipeline/build\n      - uses: actions/attest-build-provenance"),
    ("deploy.yml", "      attestations: read\n", "      attestations: write\n"),
    ("deploy.yml", "    timeout-minutes: 60\n    outputs:\n      sha256", "    timeout-minutes: 60\n    permissions:\n      contents: read\n      id-token: write\n    outputs:\n      sha256"),
    ("verify", "--source-digest \"$GITHUB_SHA\" ", ""),
    ("verify", "--source-ref refs/heads/main ", ""),
    ("verify", " --deny-self-hosted-runners", ""),
    ("release.yml", "needs: [check, assemble]", "needs: [assemble]"),
    ("release.yml", 'tags: ["v*"]', 'branches: ["*"]'),
    ("release.yml", "subject-checksums: release/SHA256SUMS", "subject-path: a"),
    ("release.yml", "subject-digest: ", "subject-path: "),
    ("release.yml", "    needs: [functions, programs]\n", "    needs: [functions, programs]\n    permissions:\n      contents: write\n"),
    ("release.yml", "      - run: infra/release/publish", "      - run: cargo run -- smoke a\n      - run: infra/release/publish"),
    ("program", "-unknown-linux-musl", "-unknown-linux-gnu"),
    ("publish", "gh release create", "cargo run; gh release create"),
    ("push", "skopeo --insecure", "cargo run; skopeo --insecure"),
    ("push", " --password-stdin", ' --password "$GH_TOKEN"'),
    ("push", "sha256sum --check --strict", "true"),
    ("tools", "--require-hashes ", ""),
    ("tools", "--only-binary :all: ", ""),
    ("deploy", "command -v sam >/dev/null ||", "command -v sam >/dev/null || pip install aws-sam-cli ||"),
    ("identify", 'echo "$TOKEN"', 'echo "AWS_WEB_IDENTITY_TOKEN_FILE=$TOKEN" >>"$GITHUB_ENV"'),
    ("bundle", " | sha256sum --check --strict --quiet", ""),
    ("zizmor.txt", "    --hash=sha256:", "    # sha256:"),
    ("aws-sam-cli.txt", "boto3==", "boto3 @ git+a#"),
    ("moto.txt", "moto==", "--index-url a\nmoto=="),
]


def texts():
    """All checked files by name."""
    folders = (WORKFLOWS, PIPELINE, RELEASE, source.ROOT / "infra/suites/locks")
    return {path.name: path.read_text() for folder in folders for path in sorted(folder.iterdir())}


def rules(files):
    workflows = {name: yaml.load(files[name], yaml.BaseLoader) for name in files if name.endswith(".yml")}
    if re.search(r"secrets\.|vars\.|id-token|pull_request_target", files["check.yml"]):
        yield "check.yml: what runs for anybody's pull request reaches a credential"
    for name, parsed in workflows.items():
        yield from held_short(name, files[name], parsed)
    yield from stages(workflows["deploy.yml"])
    yield from released(workflows["release.yml"])
    yield from pinned(files)


def stages(deploy):
    jobs = deploy["jobs"]
    before = {"attest": "build", "staging": ["check", "build", "attest"], "try-staging": ["build", "staging"], "production": ["build", "try-staging"], "try-production": ["build", "production"]}
    if {name: job["needs"] for name, job in jobs.items() if "needs" in job} != before:
        yield "deploy.yml: a stage does not wait for what has to come before"
    if deploy["on"].get("push") != {"branches": ["main"]} or "pull_request" in deploy["on"]:
        yield "deploy.yml: something else than main is deployed"
    for stage in ("staging", "production"):
        commands = [step.get("run") for step in jobs[stage]["steps"]]
        if f"infra/pipeline/deploy {stage}" not in commands:
            yield f"deploy.yml: {stage} is not deployed"
        elif "infra/pipeline/verify" not in commands[: commands.index(f"infra/pipeline/deploy {stage}")]:
            yield f"deploy.yml: {stage} takes what nobody attests"
        if not any(" smoke " in step.get("run", "") for step in jobs[f"try-{stage}"]["steps"]):
            yield f"deploy.yml: {stage} is not tried"
    for name in before:
        unpacked = [step.get("env") for step in jobs[name]["steps"] if step.get("run") == "infra/pipeline/bundle unpack"]
        if unpacked != [{"SHA256": "${{ needs.build.outputs.sha256 }}"}]:
            yield f"deploy.yml: {name} does not compare what it takes with what was built"
        if "container" in jobs[name] or "services" in jobs[name]:
            yield f"deploy.yml: {name} runs in what somebody else made"


    yield from attested(jobs)


def attested(jobs):
    """Checks that what is deployed is attested, unless the repository has no attestations, by a job that can become no role."""
    (attestation,) = [step for step in jobs["attest"]["steps"] if step.get("uses", "").startswith("actions/attest-build-provenance@")]
    if attestation["with"]["subject-path"].split() != ["build.tar", ".aws-sam/build/ChatFunction.zip", ".aws-sam/build/CheckFunction.zip"]:
        yield "deploy.yml: something is deployed that is not attested"
    verifications = [step for stage in ("staging", "production") for step in jobs[stage]["steps"] if step.get("run") == "infra/pipeline/verify"]
    if any(step.get("if") != "vars.ATTEST != 'no'" for step in (attestation, *verifications)):
        yield "deploy.yml: an attestation is left out although the repository can have it"
    commands = [step["run"] for step in jobs["attest"]["steps"] if "run" in step]
    if commands != ["infra/pipeline/bundle unpack"] or "environment" in jobs["attest"]:
        yield "deploy.yml: the job that attests runs something else, or has an environment whose role it could become"


def released(release):
    before = {"assemble": ["functions", "programs"], "publish": ["check", "assemble"]}
    if {name: job["needs"] for name, job in release["jobs"].items() if "needs" in job} != before:
        yield "release.yml: something is published that was not checked or built"
    if release["on"] != {"push": {"tags": ["v*"]}}:
        yield "release.yml: something else than a tag is released"
    if "subject-checksums" not in json.dumps(release["jobs"]["publish"]):
        yield "release.yml: nothing attests where the files come from"
    if "subject-digest" not in json.dumps(release["jobs"]["publish"]):
        yield "release.yml: nothing attests where the image comes from"


def pinned(files):
    """Checks that all installed packages are pinned by hash."""
    if "--require-hashes" not in files["tools"] or "--only-binary :all:" not in files["tools"]:
        yield "tools: what is installed is not held to its hash, or built"
    for name in ("deploy", "identify", "publish", "push", "verify"):
        if re.search(r"\b(pip|npm|cargo|tool|source) ", re.sub(r"#.*", "", files[name]).replace("infra/pipeline/tools", "tool ")):
            yield f"{name}: something is installed or built where the identity is"
    if "cargo zigbuild --locked" not in files["program"] or "-unknown-linux-musl" not in files["program"]:
        yield "program: the program for Linux needs the libraries of the machine that built it"
    if "sha256sum --check --strict" not in files["push"] or "--password-stdin" not in files["push"]:
        yield "push: what comes is not compared with its checksum, or the token is an argument"
    for option in VERIFIED:
        if option.split()[0] not in files["verify"]:
            yield f"verify: an attestation of something else is accepted: {option}"
    if "GITHUB_ENV" in files["identify"] + files["deploy"]:
        yield "identify: steps get the token that do not need it"
    if '"${SHA256:?}  build.tar" | sha256sum --check --strict' not in files["bundle"]:
        yield "bundle: what comes is not compared with its checksum"
    for name in files:
        if (source.ROOT / "infra/suites/locks" / name).exists():
            lines = files[name].replace("\\\n", " ").splitlines()
            for line in lines:
                if not REQUIREMENT.fullmatch(re.sub(r" +", " ", line).strip()):
                    yield f"{name}: not pinned by hashes: {line[:60]}"


def held_short(name, text, parsed):
    if parsed["permissions"] != {"contents": "read"}:
        yield f"{name}: its jobs may do more than read"
    if "AWS_ACCESS_KEY_ID" in text or "AWS_SECRET_ACCESS_KEY" in text:
        yield f"{name}: a stored key of AWS"
    for job, of in parsed["jobs"].items():
        permissions = of.get("permissions", {})
        # The trust of the roles is by environment, so an identity without one opens none.
        if permissions.get("id-token") and of.get("environment") != job and (name, job) != ("deploy.yml", "attest"):
            yield f"{name}: {job} may become a role outside of its environment"
        needed = NEEDED.get((name, job), {"contents": "read"})
        if any(permission != needed.get(one) for one, permission in permissions.items()):
            yield f"{name}: {job} may do more than it needs"
        for step in of.get("steps", []):
            run = step.get("run", "")
            if permissions.get("id-token") and run and not WITH_IDENTITY.fullmatch(run):
                yield f"{name}: {job} runs beside the cloud identity: {run}"
            if re.search(r"\b(pip|npm|npx) ", run) or re.search(r"cargo install (?!--locked [a-z-]+@[0-9.]+$)", run):
                yield f"{name}: {job} installs what is not pinned: {run}"
        for used in [of.get("uses"), *(step.get("uses") for step in of.get("steps", []))]:
            if used and not PINNED.match(used):
                yield f"{name}: {used} may change under us"


def unnoticed():
    """Mutations that no rule notices."""
    files = texts()
    for name, old, new in MUTATIONS:
        if old not in files[name]:
            yield f"a mutation of {name} changes nothing: {old.strip()}"
        elif not list(rules(files | {name: files[name].replace(old, new)})):
            yield f"nobody notices in {name}: {new.strip()}"


def trust():
    """Checks that only one environment of one repository may assume the pipeline's role, in either form of its subject."""
    template = yaml_parse((PIPELINE / "bootstrap.yaml").read_text())["Resources"]
    (statement,) = template["PipelineRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    condition = statement["Condition"]
    if set(condition) != {"StringEquals"} or statement["Action"] != "sts:AssumeRoleWithWebIdentity":
        yield "bootstrap.yaml: the pipeline's role is not for exact subjects"
    claims = {name.split(":")[-1]: value for name, value in condition["StringEquals"].items()}
    if claims != {"aud": "sts.amazonaws.com", "sub": SUBJECTS}:
        yield f"bootstrap.yaml: other subjects than ours may become the pipeline: {claims}"
    for name in ("PipelineRole", "ExecutionRole"):
        for policy in template[name]["Properties"]["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                yield from least(name, statement)
    for statement in template["ExecutionPolicy"]["Properties"]["PolicyDocument"]["Statement"]:
        yield from least("ExecutionPolicy", statement)


def least(role, statement):
    actions, resources = (statement[key] if isinstance(statement[key], list) else [statement[key]] for key in ("Action", "Resource"))
    if any("*" in action for action in actions):
        yield f"bootstrap.yaml: {role} may do anything in {statement['Sid']}"
    # The summary of a new template, descriptions of networks and the storage of backups have no resource.
    if "*" in resources and statement["Sid"] not in ("NewTemplate", "Networks", "VaultStorage"):
        yield f"bootstrap.yaml: {role} reaches everything in {statement['Sid']}"


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
if sys.argv[1] == "tree":
    print("linked v1.0.0 (registry)")
else:
    own = [{"name": name, "version": "0.1.0", "source": None} for name in ("chat", "verify", "local")]
    linked = {"name": "linked", "version": "1.0.0", "source": "registry", "license": "MIT/Apache-2.0", "repository": None, "homepage": "h"}
    print(json.dumps({"packages": [*own, {**linked, "license_file": None, "manifest_path": __file__}]}))
"""


def as_sam_makes_it(text, architecture):
    """Checks that a release's template is what SAM's macro would give CloudFormation, with every profile and every kind of canary."""
    for profile, parameters in {**profiles.PROFILES, "linear": {"Deployment": "Linear10PercentEvery1Minute"}}.items():
        parameters = parameters | {"Architecture": architecture}
        written = profiles.transformed((source.ROOT / "template.yaml").read_text(), parameters)
        released = json.loads(text)
        if comparable(written, parameters) != comparable(released, parameters):
            yield f"template: with the profile {profile} a release deploys something else than SAM does"
        if written["Outputs"] != released["Outputs"] or written["Rules"] != released["Rules"]:
            yield "template: a release has other outputs or rules"


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
    for file in ("template.yaml", "parameters.example.json", "Cargo.toml", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"):
        copy.mkdir(exist_ok=True)
        shutil.copy(source.ROOT / file, copy)
    shutil.copytree(source.ROOT / "infra", copy / "infra", ignore=shutil.ignore_patterns("suites", "local"))
    made, programs = copy / "release", copy / "bin"
    for folder in (made, programs):
        folder.mkdir()
    (programs / "cargo").write_text(CARGO)
    (programs / "gh").write_text(f"#!/bin/sh\necho \"$*\" >'{copy}/published'\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}

    def run(*command):
        return subprocess.run([copy / "infra/release" / command[0], *command[1:]], env=variables, capture_output=True).returncode

    if run("assemble") == 0:
        yield "assemble: a release without functions is complete"
    for name in ("chat", "verify"):
        for architecture in ("arm64", "x86_64"):
            (made / f"{name}-{architecture}.zip").write_text(name)
    if run("assemble") == 0:
        yield "assemble: a release without the layers of the image is complete"
    layers(copy)
    if run("assemble") != 0 or run("publish", "v1") != 0:
        yield "assemble: a complete release is not"
        return
    for architecture in ("arm64", "x86_64"):
        text = (made / f"template-{architecture}.json").read_text()
        template = json.loads(text)
        code = {one["Properties"]["Code"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"}
        if code != {f"./{name}-{architecture}.zip" for name in ("chat", "verify")}:
            yield f"assemble: the template for {architecture} has the code {code}"
        if template["Parameters"]["Architecture"] | {"Description": ""} != {"Description": "", "Type": "String", "AllowedValues": [architecture], "Default": architecture}:
            yield f"assemble: the template for {architecture} deploys to another processor"
        yield from as_sam_makes_it(text, architecture)
    with zipfile.ZipFile(made / "terraform.zip") as archive:
        wanted = {"main.tf", "parameters.tf", "outputs.tf"} | {name.format(one) for one in ("arm64", "x86_64") for name in ("template-{}.json", "chat-{}.zip", "verify-{}.zip")}
        if set(archive.namelist()) != wanted:
            yield f"assemble: the Terraform module has {archive.namelist()}"
    versions = [re.findall(r"ChatFunctionVersion\w+", (made / "template-arm64.json").read_text())[0]]
    (made / "chat-arm64.zip").write_text("other code")
    layers(copy)
    run("assemble")
    if versions == [re.findall(r"ChatFunctionVersion\w+", (made / "template-arm64.json").read_text())[0]]:
        yield "assemble: other code is no other version"
    components = json.loads((made / "local.cdx.json").read_text())["components"]
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
    }
    subprocess.run([PIPELINE / "deploy", stage], check=True, env=os.environ | variables | (identity or {}), stdout=subprocess.DEVNULL)
    calls = (work / "calls").read_text()
    if identity and not all(line.endswith(" the token") for line in calls.splitlines()):
        yield f"deploy {stage}: sam has no token"
    for part in (
        "--role-arn arn:aws:iam::123456789012:role/execution",
        f"{stage}.toml",
        f"ArkModel=a DefaultModel=volcano Architecture=arm64 Release=0123456789ab-7.2 PermissionsBoundaryArn={BOUNDARY} ",
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
    build(work, 0)
    if subprocess.run([PIPELINE / "deploy", stage], env=variables, capture_output=True).returncode == 0:
        yield f"deploy {stage}: what runs on no processor is deployed"


def overridden(work, stage, variables):
    """The parameters that SAM itself reads from the options it gets."""
    read = "import sys; from samcli.cli.types import CfnParameterOverridesType as T; import json; print(json.dumps(T().convert(tuple(sys.argv[1:]), None, None)))"
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
    faults = [*rules(texts()), *unnoticed(), *trust(), *identify(work), *verify(work), *archives(work), *packed(work), *checkout(work), *bundle(work), *release(work), *deploy(work, "staging"), *deploy(work, "production")]
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print("  ok: the rules hold, and the steps' commands run")


main()
