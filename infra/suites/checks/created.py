"""Creates what SAM makes of the template on moto, a stand-in for AWS, by every profile, and asks the services what is there.

Usage: created.py FOLDER, the profiles as profiles.py writes them. It shows that the parts fit: each reference is to something that
is made, in an order that can be made. It does not show that AWS takes them. What moto does not know is left out, and named.
"""

import json
import logging
import os
import re
import sys
from pathlib import Path

import boto3
from moto import mock_aws
from moto.cloudformation.parsing import resource_class_from_type

# How every function runs.
FUNCTION = {"Runtime": "provided.al2023", "Handler": "bootstrap"}


# What verifies a deployment, each with a role of its own.
CHECKS_ROLE = {"CheckFunction": "CheckRole", "CheckModelFunction": "CheckModelRole"}
CHECKS = set(CHECKS_ROLE)

# Moto knows a deployment, but not the methods of an API that takes any.
NOT_UNDERSTOOD = {"AWS::ApiGateway::Deployment"}


def known(kind):
    if kind in NOT_UNDERSTOOD:
        return False
    try:
        return resource_class_from_type(kind) is not None
    except (KeyError, NotImplementedError):
        return False


def without(value, gone):
    """A part of a template in which what is gone is replaced by its name."""
    if isinstance(value, list):
        return [without(one, gone) for one in value]
    if isinstance(value, str):
        for name in gone:
            value = re.sub(rf"\$\{{{name}(\.\w+)*\}}", name, value)
        return value
    if not isinstance(value, dict):
        return value
    if value.get("Ref") in gone:
        # A function stands for its alias.
        name = value["Ref"].removesuffix("Aliaslive")
        return name if name == value["Ref"] else {"Ref": name}
    if value.get("Fn::GetAtt", [None])[1:] == ["Version"]:
        # Moto makes versions, and cannot say their numbers.
        return "1"
    if value.get("Fn::GetAtt", [None])[0] in gone:
        return "-".join(value["Fn::GetAtt"])
    return {key: without(one, gone) for key, one in value.items()}


def create(name, template):
    gone = {resource for resource, one in template["Resources"].items() if not known(one["Type"])}
    kinds = sorted({template["Resources"][one]["Type"].removeprefix("AWS::") for one in gone})
    resources = {one: without(of, gone) for one, of in template["Resources"].items() if one not in gone}
    for one in resources.values():
        one.pop("UpdatePolicy", None)
        if one["Type"] == "AWS::Lambda::Function":
            one["Properties"]["Code"] = {"ZipFile": "there is no bucket here"}
    stack = boto3.client("cloudformation")
    body = json.dumps({"Parameters": template["Parameters"], "Resources": resources})
    stack.create_stack(StackName="chat", TemplateBody=body, Capabilities=["CAPABILITY_IAM"])
    listed = stack.describe_stack_resources(StackName="chat")["StackResources"]
    made = {one["LogicalResourceId"]: one.get("PhysicalResourceId") for one in listed}
    print(f"  {name}: {len(made)} made; unknown to moto: {', '.join(kinds)}")
    return resources, made


def looked_at(resources, made):
    if set(made) != set(resources):
        yield f"not made: {sorted(set(resources) - set(made))}"
    yield from tables(made)
    functions = {name for name, one in resources.items() if one["Type"] == "AWS::Lambda::Function"}
    for name in functions & CHECKS:
        told = boto3.client("lambda").get_function_configuration(FunctionName=made[name])
        if {key: told[key] for key in FUNCTION} != FUNCTION or made[CHECKS_ROLE[name]] not in told["Role"]:
            yield f"{name} runs otherwise, or has another role"
    for name in functions - CHECKS:
        told = boto3.client("lambda").get_function_configuration(FunctionName=made[name])
        if {key: told[key] for key in FUNCTION} != FUNCTION:
            yield f"{name} runs otherwise"
        variables = told["Environment"]["Variables"]
        if (variables["DATA_TABLE"], variables["EPHEMERAL_TABLE"]) != (made["DataTable"], made["EphemeralTable"]):
            yield f"{name} knows other tables"
        if (variables["AUTH"], str(variables["TURN_SECONDS"])) != ("api_key", "300"):
            yield f"{name} has other settings"
        if "arn:aws:iam::" not in told["Role"] or made["ChatRole"] not in told["Role"]:
            yield f"{name} has another role"
    (group,) = boto3.client("logs").describe_log_groups()["logGroups"]
    if group.get("retentionInDays") != 30:
        yield "logs are kept for ever"
    document = json.dumps(boto3.client("iam").get_role_policy(RoleName=made["ChatRole"], PolicyName="chat")["PolicyDocument"])
    if made["DataTable"] not in document or "AWS::" in document or "${" in document:
        yield f"the role's policy is not about these tables: {document}"


def tables(made):
    dynamodb = boto3.client("dynamodb")
    data, other = (dynamodb.describe_table(TableName=made[name])["Table"] for name in ("DataTable", "EphemeralTable"))
    keys = [[one["AttributeName"] for one in table["KeySchema"]] for table in (data, other)]
    if keys != [["pk", "sk"], ["pk", "sk"]]:
        yield f"the tables have other keys: {keys}"
    if [one["IndexName"] for one in data.get("LocalSecondaryIndexes", [])] != ["by-updated"]:
        yield "the data table has another index"
    if not data["DeletionProtectionEnabled"]:
        yield "the data table may be deleted"


def main():
    logging.disable()  # what moto does not know is said in one line
    os.environ |= {"AWS_DEFAULT_REGION": "eu-west-1", "MOTO_IAM_LOAD_MANAGED_POLICIES": "false"}
    faults, paths = [], sorted(Path(sys.argv[1]).glob("*.json"))
    for path in paths:
        with mock_aws():
            resources, made = create(path.stem, json.loads(path.read_text()))
            faults += [f"{path.stem}: {fault}" for fault in looked_at(resources, made)]
    for fault in faults:
        print(f"  {fault}")
    if faults or not paths:
        sys.exit(1)
    print(f"  ok: {len(paths)} profiles can be made")


main()
