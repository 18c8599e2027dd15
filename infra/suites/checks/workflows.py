"""Holds the workflows and the roles to our own rules, and runs the steps' commands as far as they need no account.

Usage: workflows.py FOLDER, where it may write. `sam` has to be on the path.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import source
import yaml
from samtranslator.yaml_helper import yaml_parse

WORKFLOWS = source.ROOT / ".github/workflows"
PIPELINE = source.ROOT / "infra/pipeline"
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


def workflow(name):
    text = (WORKFLOWS / name).read_text()
    return text, yaml.load(text, yaml.BaseLoader)


def rules():
    check, _ = workflow("check.yml")
    if re.search(r"secrets\.|vars\.|id-token|pull_request_target", check):
        yield "check.yml: what runs for anybody's pull request reaches a credential"
    for path in WORKFLOWS.iterdir():
        text, parsed = workflow(path.name)
        yield from held_short(path.name, text, parsed)
    _, deploy = workflow("deploy.yml")
    jobs = deploy["jobs"]
    if jobs["staging"]["needs"] != ["check", "build"] or jobs["production"]["needs"] != "staging":
        yield "deploy.yml: a stage does not wait for what has to come before"
    if deploy["on"].get("push") != {"branches": ["main"]} or "pull_request" in deploy["on"]:
        yield "deploy.yml: something else than main is deployed"
    for stage in ("staging", "production"):
        steps = [step.get("run", "") for step in jobs[stage]["steps"]]
        if f"infra/pipeline/deploy {stage}" not in steps or not any("-- smoke" in step for step in steps):
            yield f"deploy.yml: {stage} is not deployed, or not tried afterwards"


def held_short(name, text, parsed):
    if parsed["permissions"] != {"contents": "read"}:
        yield f"{name}: its jobs may do more than read"
    if "AWS_ACCESS_KEY_ID" in text or "AWS_SECRET_ACCESS_KEY" in text:
        yield f"{name}: a stored key of AWS"
    for job, of in parsed["jobs"].items():
        permissions = of.get("permissions", {})
        if permissions.get("id-token") and of.get("environment") != job:
            yield f"{name}: {job} may become a role outside of its environment"
        if set(permissions) - {"contents", "id-token"}:
            yield f"{name}: {job} may do more than it needs"
        for used in [of.get("uses"), *(step.get("uses") for step in of.get("steps", []))]:
            if used and not PINNED.match(used):
                yield f"{name}: {used} may change under us"


def trust():
    """The pipeline's role is one environment's of one repository, in either form of its subject."""
    template = yaml_parse((PIPELINE / "bootstrap.yaml").read_text())["Resources"]
    (statement,) = template["PipelineRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    told = statement["Condition"]
    if set(told) != {"StringEquals"} or statement["Action"] != "sts:AssumeRoleWithWebIdentity":
        yield "bootstrap.yaml: the pipeline's role is not for exact subjects"
    claims = {name.split(":")[-1]: value for name, value in told["StringEquals"].items()}
    if claims != {"aud": "sts.amazonaws.com", "sub": SUBJECTS}:
        yield f"bootstrap.yaml: other subjects than ours may become the pipeline: {claims}"
    for name in ("PipelineRole", "ExecutionRole"):
        for policy in template[name]["Properties"]["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                yield from least(name, statement)


def least(role, statement):
    actions, resources = (statement[key] if isinstance(statement[key], list) else [statement[key]] for key in ("Action", "Resource"))
    if any("*" in action for action in actions):
        yield f"bootstrap.yaml: {role} may do anything in {statement['Sid']}"
    # Asking what a new template says has no resource.
    if "*" in resources and statement["Sid"] != "NewTemplate":
        yield f"bootstrap.yaml: {role} reaches everything in {statement['Sid']}"


class Tokens(BaseHTTPRequestHandler):
    """What gives a job its token."""

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
    subprocess.run([PIPELINE / "identify"], check=True, env=os.environ | variables | {"NO_PROXY": "127.0.0.1"})
    server.shutdown()
    if (work / "environment").read_text() != f"AWS_WEB_IDENTITY_TOKEN_FILE={work}/token\n" or (work / "token").read_text() != "the token":
        yield "identify: the token is not where SAM looks for it"
    if (work / "token").stat().st_mode & 0o077:
        yield "identify: others on the machine may read the token"


def deploy(work, stage):
    """Without an account: the real `sam` is asked whether it knows each option, and a stand-in tells the outputs."""
    stand_in = work / "bin/sam"
    stand_in.parent.mkdir(exist_ok=True)
    outputs = json.dumps([{"OutputKey": "FunctionName", "OutputValue": "f"}, {"OutputKey": "ChatUrl", "OutputValue": "https://a.example/"}])
    stand_in.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >>"{work}/calls"\n"{shutil.which("sam")}" "$@" --help >/dev/null || exit 1\n'
        f"[ \"$1\" != list ] || echo '{outputs}'\n"
    )
    stand_in.chmod(0o755)
    (work / "calls").unlink(missing_ok=True)
    (work / "output").unlink(missing_ok=True)
    variables = {
        "PATH": f"{stand_in.parent}:{os.environ['PATH']}",
        "AWS_REGION": "eu-west-1",
        "EXECUTION_ROLE": "arn:aws:iam::123456789012:role/execution",
        "ARTEFACTS": "bucket",
        "PARAMETERS": "ArkModel=a DefaultModel=volcano",
        "GITHUB_OUTPUT": str(work / "output"),
    }
    subprocess.run([PIPELINE / "deploy", stage], check=True, env=os.environ | variables, stdout=subprocess.DEVNULL)
    calls = (work / "calls").read_text()
    for part in ("--role-arn arn:aws:iam::123456789012:role/execution", f"{stage}.toml", "ArkModel=a DefaultModel=volcano", "--stack-name lambda-chat"):
        if part not in calls:
            yield f"deploy {stage}: sam is not told {part}"
    if (work / "output").read_text() != "url=https://a.example/\n":
        yield f"deploy {stage}: the next step is not told where it is"


def main():
    work = Path(sys.argv[1]).resolve()
    faults = [*rules(), *trust(), *identify(work), *deploy(work, "staging"), *deploy(work, "production")]
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print("  ok: the rules hold, and the steps' commands run")


main()
