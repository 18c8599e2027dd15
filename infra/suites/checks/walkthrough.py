"""Runs the commands of docs/deploy.md, docs/deploy and docs/data.md, as they are printed there, against moto, an emulator of AWS.

Usage: walkthrough.py FOLDER PROGRAM: a folder with the files of a release, and the program `lambda-chat`. `aws` must be on the path.
It shows that the commands run, that they fit together, and what they leave in an account. It does not show that AWS accepts the
template: moto gets the part that it supports.
"""

import functools
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path

import boto3
import emulator
import source
from moto.server import ThreadedMotoServer

BUCKET = "lambda-chat-walkthrough"
PLATFORM = "linux-x86_64"
# The model of the examples of parameters, which needs no key.
BEDROCK = "global.amazon.nova-2-lite-v1:0"
# With --aws the program reaches AWS itself; without, the endpoint of the environment.
PROGRAM = """#!/bin/bash
options=()
for option; do [ "$option" = --aws ] || options+=("$option"); done
exec '{program}' "${{options[@]}}"
"""


@functools.cache
def exports_credentials():
    """Version 1 of the AWS CLI has no command for it."""
    return subprocess.run(["aws", "configure", "export-credentials"], capture_output=True).returncode == 0


def block(document, heading, containing, language="sh"):
    """The commands of the one block of a section that contains a text."""
    sections = re.split(r"^##+ ", (source.ROOT / "docs" / document).read_text(), flags=re.MULTILINE)
    (section,) = [one for one in sections if one.startswith(heading + "\n")]
    found = [one for one in re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL) if containing in one]
    if len(found) != 1:
        raise ValueError(f"{document}, {heading}: {len(found)} blocks have {containing}")
    return found[0]


class Person:
    """Somebody with a shell, an account and nothing but the documents."""

    def __init__(self, folder, release):
        self.folder = folder
        self.names = {"BUCKET": BUCKET, "PLATFORM": PLATFORM}
        self.variables = os.environ | {"RELEASE": f"file://{release}", "AWS_PAGER": ""}

    def run(self, commands, typed="", **names):
        """Runs commands with names in place of those that the documents leave open; returns what they print."""
        for name, value in (self.names | names).items():
            commands = re.sub(rf"(?<![A-Za-z$_]){name}(?![A-Za-z_=])", value, commands)
        # As the documents have it for a person with a release instead of a clone.
        commands = commands.replace("cargo run --", "./lambda-chat")
        if not exports_credentials():
            commands = re.sub(r'^eval "\$\(aws configure export-credentials.*\n', "", commands, flags=re.MULTILINE)
        done = subprocess.run(["bash", "-eu", "-c", commands], cwd=self.folder, env=self.variables, input=typed, capture_output=True, text=True, timeout=120)
        if done.returncode:
            sys.exit(f"  this fails as the documents have it:\n{commands}\n{done.stderr}")
        return done.stdout

    def outputs(self, commands, typed=""):
        return dict(line.split("\t", 1) for line in self.run(commands, typed).splitlines() if "\t" in line)


def complete(release, program):
    """Adds to the files of a release the program's archive, and the checksums."""
    folder = release.parent / "program"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "lambda-chat").write_text(PROGRAM.format(program=program))
    (folder / "lambda-chat").chmod(0o755)
    name = f"lambda-chat-{PLATFORM}"
    with tarfile.open(release / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(folder, name)
    sums = "".join(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in sorted(release.iterdir()))
    (release / "SHA256SUMS").write_text(sums)


def download(person):
    """The files of a release, the template without what moto lacks; and the program."""
    commands = block("deploy.md", "From a release", "parameters.example.json; do curl")
    person.run(re.sub(r"^RELEASE=.*\n", "", commands, flags=re.MULTILINE))
    person.run(block("deploy.md", "From a release", "SHA256SUMS").strip().splitlines()[0])
    path = person.folder / "template-arm64.json"
    shutil.copy(path, person.folder / "whole.json")
    use_resources(person, {"MakesDataTable"})
    if not re.fullmatch(r"lambda-chat \d+\.\d+\.\d+ \(\w+\)\n", person.run(block("deploy/releases.md", "The program of a release", "curl"))):
        yield "the program of a release does not start"


def use_resources(person, conditions):
    """Replaces the release's template with what moto supports of it, under these conditions."""
    template, _ = emulator.reduced(json.loads((person.folder / "whole.json").read_text()), conditions)
    (person.folder / "template-arm64.json").write_text(json.dumps(template))


def first_deployment(person):
    commands = block("deploy.md", "From a release", "aws cloudformation deploy")
    outputs = person.outputs(commands)
    if f"BedrockModel\t{BEDROCK}\n" not in person.run(block("deploy.md", "From a release", "Parameters[?ParameterValue")):
        yield "the parameters of the stack are not listed"
    stack = boto3.client("cloudformation").describe_stacks(StackName="lambda-chat")["Stacks"][0]
    release = {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}["Release"]
    if stack["Tags"] != [{"Key": "app", "Value": "lambda-chat"}] or not release.isdigit() or not re.fullmatch(rf"\d+\.\d+\.\d+, release {release}", outputs["Version"]):
        yield f"the stack has the tags {stack['Tags']}, the release {release} and the version {outputs['Version']}"
    # The whole template has more functions than moto gets.
    person.run(re.search(r"^aws cloudformation package.*", commands, re.MULTILINE)[0].replace("template-arm64.json", "whole.json").replace("packaged.yaml", "whole.yaml"))
    configuration = boto3.client("lambda").get_function_configuration(FunctionName=outputs["FunctionName"])
    variables = configuration["Environment"]["Variables"]
    if (variables["BEDROCK_MODEL"], variables["ARK_MODEL"], variables["ARK_API_KEY_PARAMETER"]) != (BEDROCK, "", ""):
        yield f"the parameters of the file do not arrive: {variables}"
    policies = str(boto3.client("iam").get_role_policy(RoleName=configuration["Role"].split("/")[-1], PolicyName="chat")["PolicyDocument"])
    if f"inference-profile/{BEDROCK}'" not in policies or "ssm:" in policies:
        yield f"the role may not call the model alone: {policies}"
    archives = [boto3.client("s3").get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read() for one in boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]]
    for name in ("chat-arm64.zip", "verify-arm64.zip"):
        if (person.folder / name).read_bytes() not in archives:
            yield f"{name} is not uploaded as it is"
    person.names |= {"FUNCTION": outputs["FunctionName"], "DATA_TABLE": variables["DATA_TABLE"], "EPHEMERAL_TABLE": variables["EPHEMERAL_TABLE"]}


def model_with_a_key(person):
    """A key is stored as the provider gave it, and its model takes the place of the one without."""
    store_key(person, "secret of ark")
    stored = boto3.client("ssm").get_parameter(Name="/lambda-chat/ark", WithDecryption=True)["Parameter"]
    if (stored["Type"], stored["Value"]) != ("SecureString", "secret of ark"):
        yield f"the key of the model is stored as {stored}"
    lines = block("deploy.md", "A model with a key", "ArkModel", "json")
    variables = variables_after(person, [*json.loads(lines), "BedrockModel="])
    if (variables["ARK_MODEL"], variables["ARK_API_KEY_PARAMETER"], variables["BEDROCK_MODEL"]) != ("doubao-seed-1-6-250615", "/lambda-chat/ark", ""):
        yield f"the model with a key is not the only one: {variables}"


def models_with_keys(person):
    """Keys of several models are stored under the path of the parameters. Moto updates no role; created.py looks at one."""
    person.run(block("deploy.md", "Keys of several models", "read -rs"), typed="secret of claude\nsecret of gemini\n")
    lines = json.loads(block("deploy.md", "Keys of several models", "ModelKeysUnder", "json"))
    variables = variables_after(person, lines)
    for row in json.loads(variables["MODELS"]):
        stored = boto3.client("ssm").get_parameter(Name=row["apiKeyParameter"], WithDecryption=True)["Parameter"]
        if (stored["Type"], stored["Value"]) != ("SecureString", f"secret of {row['name']}"):
            yield f"the key of {row['name']} is stored as {stored}"
        if not row["apiKeyParameter"].startswith(variables["MODEL_KEYS_UNDER"]):
            yield f"the key of {row['name']} is under another path than {variables['MODEL_KEYS_UNDER']}"
    variables_after(person, ["ModelKeysUnder=", "Models="])


def store_key(person, key):
    person.run(block("deploy.md", "A model with a key", "read -rs"), typed=f"{key}\n")


def keys(person):
    """The first key, by the AWS CLI alone, is one that the product lists; and further ones by the program."""
    key = person.run(block("deploy.md", "The first key", "FirstKey")).strip()
    (item,) = boto3.client("dynamodb").scan(TableName=person.names["DATA_TABLE"])["Items"]
    if item["digest"]["S"] != hashlib.sha256(key.encode()).hexdigest() or item["sk"]["S"] not in key:
        yield f"the first key {key} is not the stored one"
    if "lc_" not in person.run(block("deploy.md", "The first key", "keys create"), NAME="ann"):
        yield "no further key is made"
    person.run(block("deploy/releases.md", "Deployment checks", "keys create"))
    stored = boto3.client("ssm").get_parameter(Name="/lambda-chat/check", WithDecryption=True)["Parameter"]
    if stored["Type"] != "SecureString" or not re.fullmatch("lc_[0-9A-Z]{26}_[0-9a-f]{64}", stored["Value"]):
        yield f"the key of the deployment checks is stored as {stored}"
    listed = listed_keys(person)
    if not all(re.search(rf"\b{user}\b", listed) for user in ("admin", "ann", "deployment-check")):
        yield f"the product does not know the keys: {listed}"
    address = person.run("KEY=a\n" + block("deploy.md", "The first message", "export KEY") + 'echo "$URL"').strip()
    # Moto makes no function URL; the suite has its attribute's name there.
    if address != "ChatFunctionUrl-FunctionUrl":
        yield f"the URL is {address}"


def listed_keys(person):
    """The keys in the tables of the stack, as the program lists them."""
    variables = [line for line in block("deploy.md", "The first key", "keys create").splitlines() if "'Variables'" in line]
    return person.run("\n".join([*variables, "cargo run -- keys list --aws"]))


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
    earlier = client.publish_version(FunctionName=function)["Version"]
    commands = block("deploy/releases.md", "New versions", "update-alias").splitlines()
    shown = person.run("\n".join(commands[:2]))
    if not re.search(rf"^{version}\t.*\bLambda Chat [\d.]+, small, streamed, release \d+", shown, re.MULTILINE) or shown.splitlines()[-1] != version:
        yield f"the versions are not listed, or the alias's is another: {shown}"
    person.run(commands[2].replace("--function-version 41", f"--function-version {earlier}"))
    version = earlier
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


def domain(person):
    """The certificate of a domain of one's own, in the region of CloudFront."""
    request, describe = block("deploy/front-doors.md", "A domain of your own", "request-certificate").splitlines()
    arn = json.loads(person.run(request))["CertificateArn"]
    if ":us-east-1:" not in arn or json.loads(person.run(describe, ARN=arn))["Type"] != "CNAME":
        yield f"{arn} has no record to prove the domain"


def origin_key(person):
    """The key that CloudFront sends is stored in the form that CloudFormation can resolve."""
    for containing, name in (("origin --value", "/lambda-chat/origin"), ("origin-2 --value", "/lambda-chat/origin-2")):
        person.run(block("deploy/front-doors.md", "CloudFront for every client", containing))
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


def tables():
    return boto3.client("dynamodb").list_tables()["TableNames"]


def stacks():
    return [one["StackName"] for one in boto3.client("cloudformation").list_stacks()["StackSummaries"] if one["StackStatus"] != "DELETE_COMPLETE"]


def free_log_group():
    """Deletes the log group of a deleted stack, which moto keeps if the stack was updated."""
    client = boto3.client("logs")
    for group in client.describe_log_groups(logGroupNamePrefix="/lambda-chat/")["logGroups"]:
        client.delete_log_group(logGroupName=group["logGroupName"])


def tear_down(person):
    """The stack, the bucket and the key are gone; the data tables remain."""
    variables_after(person, ["ExistingDataTable="])
    person.run(block("deploy.md", "Upgrade, roll back, tear down", "aws s3 rb"))
    buckets = [one["Name"] for one in boto3.client("s3").list_buckets()["Buckets"]]
    names = [one["Name"] for one in boto3.client("ssm").describe_parameters()["Parameters"]]
    if stacks() or BUCKET in buckets or "/lambda-chat/ark" in names:
        yield f"these remain: {stacks()} {buckets} {names}"
    if not {person.names["DATA_TABLE"], "lambda-chat-restored"} <= set(tables()):
        yield f"only these tables remain: {tables()}"


def second_stack(person):
    """A new stack takes the table of the former one, with its keys."""
    (person.folder / "parameters.json").write_text(json.dumps(["ArkModel=a", "ArkApiKeyParameter=/lambda-chat/ark", f"ExistingDataTable={person.names['DATA_TABLE']}"]))
    use_resources(person, set())
    free_log_group()
    store_key(person, "another secret")
    person.run(block("deploy.md", "From a release", "aws cloudformation deploy"))
    use_resources(person, {"MakesDataTable"})
    listed = listed_keys(person)
    if not re.search(r"\badmin\b", listed):
        yield f"the keys of the table are not there: {listed}"


def failed_deployment(person):
    """The commands after a failed first deployment leave neither the stack nor its data table."""
    commands = block("deploy/troubleshooting.md", "If the first deployment fails", "describe-stack-events").splitlines()
    events = commands.index(next(one for one in commands if "delete-stack" in one))
    person.run("\n".join(commands[:events]))
    if person.names["DATA_TABLE"] not in person.run("\n".join(commands[events:])):
        yield "the data table is not listed"
    if person.names["DATA_TABLE"] in tables() or "lambda-chat-restored" not in tables():
        yield f"these tables remain: {tables()}"
    if stacks():
        yield f"these stacks remain: {stacks()}"


def from_sources(person):
    """`sam deploy` with the files of a clone: the parameters arrive, and the built archives are uploaded as they are."""
    clone, build = person.folder / "clone", person.folder / "clone/.aws-sam/build"
    build.mkdir(parents=True)
    for name in ("samconfig.toml", "parameters.example.yaml"):
        shutil.copy(source.ROOT / name, clone)
    for name in ("chat-arm64.zip", "verify-arm64.zip"):
        shutil.copy(person.folder / name, build)
    template = (source.ROOT / "template.yaml").read_text()
    (build / "template.yaml").write_text(re.sub(r"CodeUri: functions/(\w+)", r"CodeUri: \1-arm64.zip", template))
    person.run(re.search(r"^aws cloudformation package.*", block("deploy.md", "From a release", "aws cloudformation deploy"), re.MULTILINE)[0])
    emulator.with_macro((person.folder / "packaged.yaml").read_text())
    free_log_group()
    commands = [line for line in block("deploy/from-sources.md", "From clone to URL", "sam deploy").splitlines() if not line.startswith(("git clone", "sam build"))]
    printed = person.run("\n".join(["cd clone", *commands]), typed="y\n")
    stack = boto3.client("cloudformation").describe_stacks(StackName="lambda-chat")["Stacks"][0]
    parameters = {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}
    if {"Key": "app", "Value": "lambda-chat"} not in stack["Tags"] or not parameters["Release"].isdigit():
        yield f"the stack has the tags {stack['Tags']} and the release {parameters['Release']}"
    if (parameters["BedrockModel"], parameters["ArkModel"]) != (BEDROCK, "") or "ChatUrl" not in printed:
        yield f"the parameters of the file do not arrive, or no output is shown: {parameters}"
    buckets = [one["Name"] for one in boto3.client("s3").list_buckets()["Buckets"] if one["Name"].startswith("aws-sam-cli-managed")]
    uploaded = [boto3.client("s3").get_object(Bucket=one, Key=key["Key"])["Body"].read() for one in buckets for key in boto3.client("s3").list_objects_v2(Bucket=one)["Contents"]]
    if not all((build / name).read_bytes() in uploaded for name in ("chat-arm64.zip", "verify-arm64.zip")):
        yield "SAM uploads other archives than those of the build"
    person.run("cd clone\nsam delete", typed="y\ny\n")
    if "lambda-chat" in stacks():
        yield "the stack remains"


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
    complete(folder, program)
    person = Person(person_folder, folder)
    failed = False
    for name, step in STEPS.items():
        faults = list(step(person))
        failed |= bool(faults)
        print("\n".join([f"  {name}: {'failed' if faults else 'ok'}", *(f"    {fault}" for fault in faults)]), flush=True)
    server.stop()
    if failed:
        sys.exit(1)


STEPS = {
    "the files of a release": download,
    "the first deployment": first_deployment,
    "the first key, and others": keys,
    "a model with a key": model_with_a_key,
    "keys of several models": models_with_keys,
    "an upgrade": upgrade,
    "the alias": alias,
    "switching off and on": switch,
    "the key of CloudFront": origin_key,
    "backups": backup,
    "a certificate": domain,
    "a restore": restore,
    "the end": tear_down,
    "a second stack with the same table": second_stack,
    "after a failure": failed_deployment,
    "a deployment from sources": from_sources,
}
main()
