"""Creates SAM's output for the template on moto, an emulator of AWS, with every profile, and checks the created resources.

Usage: created.py FOLDER, with the output of profiles.py. It shows that the parts fit: each reference has a target, and an order of
creation exists. It does not show that AWS accepts them. Resource types that moto does not support are skipped and listed.
"""

import json
import logging
import os
import sys
from pathlib import Path

import boto3
import emulator
from moto import mock_aws

# The data table of the profile that makes none; in step with profiles.py.
TABLE = "lambda-chat-restored"

# Settings of every function.
FUNCTION = {"Runtime": "provided.al2023", "Handler": "bootstrap"}


# The functions that verify a deployment, with their roles.
CHECKS_ROLE = {"CheckFunction": "CheckRole", "CheckModelFunction": "CheckModelRole"}
CHECKS = set(CHECKS_ROLE)


def create(name, template):
    reduced, kinds = emulator.reduced(template)
    resources = reduced["Resources"]
    for one in resources.values():
        if one["Type"] == "AWS::Lambda::Function":
            one["Properties"]["Code"] = {"ZipFile": "there is no bucket here"}
    stack = boto3.client("cloudformation")
    body = json.dumps({"Parameters": template["Parameters"], "Resources": resources})
    stack.create_stack(StackName="chat", TemplateBody=body, Capabilities=["CAPABILITY_IAM"])
    listed = stack.describe_stack_resources(StackName="chat")["StackResources"]
    made = {one["LogicalResourceId"]: one.get("PhysicalResourceId") for one in listed}
    print(f"  {name}: {len(made)} made; unknown to moto: {', '.join(kinds)}")
    return resources, made


def check_resources(resources, made):
    if set(made) != set(resources):
        yield f"not made: {sorted(set(resources) - set(made))}"
    yield from tables(made)
    functions = {name for name, one in resources.items() if one["Type"] == "AWS::Lambda::Function"}
    for name in functions & CHECKS:
        configuration = boto3.client("lambda").get_function_configuration(FunctionName=made[name])
        if {key: configuration[key] for key in FUNCTION} != FUNCTION or made[CHECKS_ROLE[name]] not in configuration["Role"]:
            yield f"{name} runs otherwise, or has another role"
    for name in functions - CHECKS:
        configuration = boto3.client("lambda").get_function_configuration(FunctionName=made[name])
        if {key: configuration[key] for key in FUNCTION} != FUNCTION:
            yield f"{name} runs otherwise"
        variables = configuration["Environment"]["Variables"]
        if (variables["DATA_TABLE"], variables["EPHEMERAL_TABLE"]) != (made.get("DataTable", TABLE), made["EphemeralTable"]):
            yield f"{name} knows other tables"
        if (variables["AUTH"], str(variables["TURN_SECONDS"])) != ("api_key", "300"):
            yield f"{name} has other settings"
        if "arn:aws:iam::" not in configuration["Role"] or made["ChatRole"] not in configuration["Role"]:
            yield f"{name} has another role"
        document = json.dumps(boto3.client("iam").get_role_policy(RoleName=made["ChatRole"], PolicyName="chat")["PolicyDocument"])
        under = variables["MODEL_KEYS_UNDER"]
        if (f":parameter{under}*" in document) != bool(under):
            yield f"the role and {name} have other keys of models: {document}"
        bucket = variables["ATTACHMENTS_BUCKET"]
        if (f":::{bucket}/attachments/*" in document) != bool(bucket):
            yield f"the role and {name} have other files of users: {document}"
    (group,) = boto3.client("logs").describe_log_groups()["logGroups"]
    if group.get("retentionInDays") != 30:
        yield "logs are kept for ever"
    document = json.dumps(boto3.client("iam").get_role_policy(RoleName=made["ChatRole"], PolicyName="chat")["PolicyDocument"])
    if made.get("DataTable", TABLE) not in document or "AWS::" in document or "${" in document:
        yield f"the role's policy is not about these tables: {document}"


def tables(made):
    dynamodb = boto3.client("dynamodb")
    for name in {"DataTable", "EphemeralTable"} & set(made):
        keys = [one["AttributeName"] for one in dynamodb.describe_table(TableName=made[name])["Table"]["KeySchema"]]
        if keys != ["pk", "sk"]:
            yield f"{name} has other keys: {keys}"
    if "DataTable" not in made:
        return
    data = dynamodb.describe_table(TableName=made["DataTable"])["Table"]
    if [one["IndexName"] for one in data.get("LocalSecondaryIndexes", [])] != ["by-updated"]:
        yield "the data table has another index"
    if not data["DeletionProtectionEnabled"]:
        yield "the data table may be deleted"


def main():
    logging.disable()  # unsupported types are listed in one line
    os.environ |= {"AWS_DEFAULT_REGION": "eu-west-1", "MOTO_IAM_LOAD_MANAGED_POLICIES": "false"}
    faults, paths = [], sorted(Path(sys.argv[1]).glob("*.json"))
    for path in paths:
        with mock_aws():
            resources, made = create(path.stem, json.loads(path.read_text()))
            faults += [f"{path.stem}: {fault}" for fault in check_resources(resources, made)]
    for fault in faults:
        print(f"  {fault}")
    if faults or not paths:
        sys.exit(1)
    print(f"  ok: {len(paths)} profiles can be made")


main()
