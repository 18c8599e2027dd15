"""The rules that workflows, their scripts and the pipeline's roles keep, and mutations of them that a rule must notice."""

import json
import re

import source
import yaml
from samtranslator.yaml_helper import yaml_parse

WORKFLOWS = source.ROOT / ".github/workflows"
PIPELINE = source.ROOT / "infra/pipeline"
RELEASE = source.ROOT / "infra/release"
PINNED = re.compile(r"^(\./\.github/workflows/[a-z]+\.yml|[a-z-]+/[a-z-]+@[0-9a-f]{40})$")
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
    ("release.yml", "infra/release/version \"$TAG\"", "true"),
    ("release.yml", "    needs: version\n    strategy", "    strategy"),
    ("release.yml", "        if: vars.ATTEST != 'no'\n", ""),
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
    before = {"functions": "version", "programs": "version", "assemble": ["functions", "programs"], "publish": ["check", "assemble"]}
    if {name: job["needs"] for name, job in release["jobs"].items() if "needs" in job} != before:
        yield "release.yml: something is published that was not checked or built"
    if [step.get("run") for step in release["jobs"]["version"]["steps"]][-1] != 'infra/release/version "$TAG"':
        yield "release.yml: a tag may name another version"
    attestations = [step for step in release["jobs"]["publish"]["steps"] if step.get("uses", "").startswith("actions/attest-build-provenance@")]
    if any(step.get("if") != "vars.ATTEST != 'no'" for step in attestations):
        yield "release.yml: an attestation is left out although the repository can have it, or none can be released without one"
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
    # The summary of a new template, descriptions of networks, the storage of backups and saved queries have no resource.
    if "*" in resources and statement["Sid"] not in ("NewTemplate", "Networks", "VaultStorage", "Queries"):
        yield f"bootstrap.yaml: {role} reaches everything in {statement['Sid']}"
