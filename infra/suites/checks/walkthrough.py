"""Runs the commands of docs/deploy.md and docs/data.md, as they are printed there, against moto, an emulator of AWS.

Usage: walkthrough.py FOLDER PROGRAM: a folder with the files of a release, and the program `lambda-chat`. `aws` must be on the path.
It shows that the commands run, that they fit together, and what they leave in an account. It does not show that AWS accepts the
template: moto gets the part that it supports.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import boto3
import emulator
import source
from moto.server import ThreadedMotoServer

BUCKET = "lambda-chat-walkthrough"
STACK = "lambda-chat"


def block(document, heading, containing):
    """The commands of the one block of a section that contains a text."""
    sections = re.split(r"^##+ ", (source.ROOT / "docs" / document).read_text(), flags=re.MULTILINE)
    (section,) = [one for one in sections if one.startswith(heading + "\n")]
    found = [one for one in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) if containing in one]
    if len(found) != 1:
        raise ValueError(f"{document}, {heading}: {len(found)} blocks have {containing}")
    return found[0]


class Person:
    """Somebody with a shell, an account and nothing but the documents."""

    def __init__(self, folder, program):
        self.folder, self.program, self.names = folder, program, {"BUCKET": BUCKET}
        self.variables = os.environ | {"ARK_API_KEY": "secret of ark", "AWS_PAGER": ""}

    def run(self, commands, **names):
        """Runs commands with names in place of those that the documents leave open; returns what they print."""
        for name, value in (self.names | names).items():
            commands = re.sub(rf"(?<![A-Za-z$_]){name}(?![A-Za-z_=])", value, commands)
        done = subprocess.run(["bash", "-eu", "-c", commands], cwd=self.folder, env=self.variables, capture_output=True, text=True, timeout=120)
        if done.returncode:
            sys.exit(f"  this fails as the documents have it:\n{commands}\n{done.stderr}")
        return done.stdout

    def outputs(self, commands):
        return dict(line.split("\t", 1) for line in self.run(commands).splitlines() if "\t" in line)


def readme():
    """Checks that README.md shows the same commands."""
    shown = [line.split("    #")[0] for line in (source.ROOT / "README.md").read_text().splitlines()]
    for containing in ("curl", "aws cloudformation deploy"):
        for line in block("deploy.md", "From a release", containing).splitlines():
            if line not in shown:
                yield f"README.md does not have: {line}"


def download(person, release):
    """The files of a release, the template without what moto lacks."""
    commands = block("deploy.md", "From a release", "curl")
    person.run(re.sub(r"^RELEASE=.*$", f"RELEASE=file://{release}", commands, flags=re.MULTILINE))
    path = person.folder / "template-arm64.json"
    shutil.copy(path, person.folder / "whole.json")
    use_resources(person, {"MakesDataTable"})


def use_resources(person, conditions):
    """Replaces the release's template with what moto supports of it, under these conditions."""
    template, _ = emulator.reduced(json.loads((person.folder / "whole.json").read_text()), conditions)
    (person.folder / "template-arm64.json").write_text(json.dumps(template))


def first_deployment(person):
    commands = block("deploy.md", "From a release", "aws cloudformation deploy")
    outputs = person.outputs(commands)
    # The whole template has more functions than moto gets.
    person.run(re.search(r"^aws cloudformation package.*", commands, re.MULTILINE)[0].replace("template-arm64.json", "whole.json").replace("packaged.yaml", "whole.yaml"))
    stored = boto3.client("ssm").get_parameter(Name="/lambda-chat/ark", WithDecryption=True)["Parameter"]
    if (stored["Type"], stored["Value"]) != ("SecureString", "secret of ark"):
        yield f"the key of the model is stored as {stored}"
    configuration = boto3.client("lambda").get_function_configuration(FunctionName=outputs["FunctionName"])
    variables = configuration["Environment"]["Variables"]
    if (variables["ARK_MODEL"], variables["ARK_API_KEY_PARAMETER"], variables["OPENAI_MODEL"]) != ("doubao-seed-1-6-250615", "/lambda-chat/ark", ""):
        yield f"the parameters of the file do not arrive: {variables}"
    archives = [boto3.client("s3").get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read() for one in boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]]
    for name in ("chat-arm64.zip", "verify-arm64.zip"):
        if (person.folder / name).read_bytes() not in archives:
            yield f"{name} is not uploaded as it is"
    person.names |= {"FUNCTION": outputs["FunctionName"], "DATA_TABLE": variables["DATA_TABLE"], "EPHEMERAL_TABLE": variables["EPHEMERAL_TABLE"]}


def keys(person):
    """The first key, by the AWS CLI alone, is one that the product lists; and a further one by the program."""
    command = person.run(block("deploy.md", "The first key", "FirstKey"))
    key = person.run(command).strip()
    (item,) = boto3.client("dynamodb").scan(TableName=person.names["DATA_TABLE"])["Items"]
    if item["digest"]["S"] != hashlib.sha256(key.encode()).hexdigest() or item["sk"]["S"] not in key:
        yield f"the first key {key} is not the stored one"
    tables = " ".join(f"{name}={person.names[name]}" for name in ("DATA_TABLE", "EPHEMERAL_TABLE"))
    (more,) = [line for line in block("deploy.md", "The first key", "keys create").splitlines() if "keys create" in line]
    # With --aws the program reaches AWS itself; without, the endpoint of the environment.
    more = re.sub(r"AWS_REGION=.* cargo run --", f"{tables} {person.program}", more).replace(" --aws", "")
    if "lc_" not in person.run(more, NAME="ann"):
        yield "no further key is made"
    listed = person.run(f"{tables} {person.program} keys list")
    if not re.search(r"\badmin\b", listed) or not re.search(r"\bann\b", listed):
        yield f"the product does not know the keys: {listed}"


def variables_after(person, lines):
    """The function's variables after a deployment with these lines in the file."""
    (person.folder / "parameters.json").write_text(json.dumps(lines))
    commands = block("deploy.md", "Upgrade, roll back, tear down", "aws cloudformation deploy")
    person.run(commands)
    return boto3.client("lambda").get_function_configuration(FunctionName=person.names["FUNCTION"])["Environment"]["Variables"]


def upgrade(person):
    """A parameter that the file no longer names keeps its value."""
    variables = variables_after(person, ["#= a comment", "SystemPrompt=You are nice.", 'ModelOptions={"volcano":{"thinking":"off"}}'])
    wanted = {"ARK_MODEL": "doubao-seed-1-6-250615", "SYSTEM_PROMPT": "You are nice.", "MODEL_OPTIONS": '{"volcano":{"thinking":"off"}}'}
    if {name: variables[name] for name in wanted} != wanted:
        yield f"after an upgrade the function has {variables}"
    if variables_after(person, ["SystemPrompt="])["SYSTEM_PROMPT"] != "":
        yield "an empty value does not arrive"


def alias(person):
    """Moves the alias to an earlier version. Moto creates no alias of a stack."""
    client, function = boto3.client("lambda"), person.names["FUNCTION"]
    version = client.publish_version(FunctionName=function)["Version"]
    client.create_alias(FunctionName=function, Name="live", FunctionVersion=version)
    person.run(block("deploy.md", "New versions", "update-alias").replace("--function-version 41", f"--function-version {version}"))
    if client.get_alias(FunctionName=function, Name="live")["FunctionVersion"] != version:
        yield "the alias does not move"


def switch(person):
    off, on = block("deploy.md", "Upgrade, roll back, tear down", "put-function-concurrency").splitlines()
    for command, wanted in ((off, 0), (on, None)):
        person.run(command)
        if boto3.client("lambda").get_function_concurrency(FunctionName=person.names["FUNCTION"]).get("ReservedConcurrentExecutions") != wanted:
            yield f"{command} does not switch"


def backup(person):
    """A parameter has the data table backed up. Moto knows of that only the role."""
    text = (source.ROOT / "docs/data.md").read_text()
    (line,) = set(re.findall(r'`"(BackupDays=\d+)"`', text))
    use_resources(person, {"MakesDataTable", "HasBackups"})
    variables_after(person, [line])
    use_resources(person, {"MakesDataTable"})
    (policy,) = [
        boto3.client("iam").get_role_policy(RoleName=one["RoleName"], PolicyName="backup")["PolicyDocument"]
        for one in boto3.client("iam").list_roles()["Roles"]
        if "backup.amazonaws.com" in json.dumps(one["AssumeRolePolicyDocument"])
    ]
    tables = set(re.findall(r"table/([^/'\"]+)", str(policy)))
    if tables != {person.names["DATA_TABLE"]}:
        yield f"the backups are of {tables}"


def origin_key(person):
    """The key that CloudFront sends is stored in the form that CloudFormation can resolve."""
    for containing, name in (("origin --value", "/lambda-chat/origin"), ("origin-2 --value", "/lambda-chat/origin-2")):
        person.run(block("deploy.md", "CloudFront for every client", containing))
        stored = boto3.client("ssm").get_parameter(Name=name)["Parameter"]
        if stored["Type"] != "String" or not re.fullmatch("[0-9a-f]{64}", stored["Value"]):
            yield f"{name} is {stored['Type']} {stored['Value']}"


def restore(person):
    """A table restored to a point in time has the items, and the stack takes it in place of its own."""
    old, new = person.names["DATA_TABLE"], "lambda-chat-restored"
    person.run(block("data.md", "Backup and restore", "restore-table-to-point-in-time"), OLD=old, NEW=new)
    client = boto3.client("dynamodb")
    if client.scan(TableName=new)["Items"] != client.scan(TableName=old)["Items"]:
        yield "the restored table has other items"
    if not client.describe_table(TableName=new)["Table"]["DeletionProtectionEnabled"]:
        yield "the restored table may be deleted"
    if variables_after(person, [f"ExistingDataTable={new}"])["DATA_TABLE"] != new:
        yield "the stack does not use the restored table"


def tear_down(person):
    """The commands after a failed first deployment also remove a stack with all of its data."""
    commands = block("deploy.md", "If the first deployment fails", "describe-stack-events").splitlines()
    events = commands.index(next(one for one in commands if "delete-stack" in one))
    person.run("\n".join(commands[:events]))
    person.run("\n".join(commands[events:]))
    tables = boto3.client("dynamodb").list_tables()["TableNames"]
    if person.names["DATA_TABLE"] in tables or "lambda-chat-restored" not in tables:
        yield f"these tables remain: {tables}"
    stacks = [one["StackName"] for one in boto3.client("cloudformation").list_stacks()["StackSummaries"] if one["StackStatus"] != "DELETE_COMPLETE"]
    if stacks:
        yield f"these stacks remain: {stacks}"


def main():
    logging.disable()  # unsupported types of resources
    warnings.simplefilter("ignore")
    folder, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    person_folder = folder.parent / "person"
    shutil.rmtree(person_folder, ignore_errors=True)
    person_folder.mkdir()
    os.environ |= {"MOTO_IAM_LOAD_MANAGED_POLICIES": "false"}
    emulator.by_change_set()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    # By its name: moto reads the bucket of a template's address from the path of such an address only.
    port = server.get_host_and_port()[1]
    os.environ |= {"AWS_ENDPOINT_URL": f"http://localhost:{port}", "AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{port}", "NO_PROXY": "localhost,127.0.0.1"}
    person = Person(person_folder, program)
    download(person, folder)
    failed = False
    for name, step in STEPS.items():
        faults = list(step(person))
        failed |= bool(faults)
        print("\n".join([f"  {name}: {'failed' if faults else 'ok'}", *(f"    {fault}" for fault in faults)]), flush=True)
    server.stop()
    if failed:
        sys.exit(1)


STEPS = {
    "README.md": lambda _: readme(),
    "the first deployment": first_deployment,
    "the first key, and another": keys,
    "an upgrade": upgrade,
    "the alias": alias,
    "switching off and on": switch,
    "the key of CloudFront": origin_key,
    "backups": backup,
    "a restore": restore,
    "the end": tear_down,
}
main()
