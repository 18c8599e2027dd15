"""What moto, an emulator of AWS, can create of a template."""

import re

from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.parsing import resource_class_from_type
from moto.dynamodb.models import Table

# Moto supports deployments, but not of an API with the method ANY; and records, but only of zones that it made.
UNSUPPORTED = {"AWS::ApiGateway::Deployment", "AWS::Route53::RecordSet"}


def is_supported(kind):
    if kind in UNSUPPORTED:
        return False
    try:
        return resource_class_from_type(kind) is not None
    except (KeyError, NotImplementedError):
        return False


def without_missing(value, gone):
    """Replaces references to missing resources in a part of a template with their names."""
    if isinstance(value, list):
        return [without_missing(one, gone) for one in value]
    if isinstance(value, str):
        for name in gone:
            value = re.sub(rf"\$\{{{name}(\.\w+)*\}}", name, value)
        return value
    if not isinstance(value, dict):
        return value
    if value.get("Ref") in gone:
        # Use the function instead of its alias.
        name = value["Ref"].removesuffix("Aliaslive")
        return name if name == value["Ref"] else {"Ref": name}
    if value.get("Fn::GetAtt", [None])[1:] == ["Version"]:
        # Moto creates versions, but cannot return their numbers.
        return "1"
    if value.get("Fn::GetAtt", [None])[0] in gone:
        return "-".join(value["Fn::GetAtt"])
    return {key: without_missing(one, gone) for key, one in value.items()}


def reduced(template, conditions=None):
    """The template without what moto does not support, and the types of that; if `conditions` are given, with the resources of these only.

    Moto updates no stack with a resource whose condition is false.
    """
    kept = {name: one for name, one in template["Resources"].items() if conditions is None or one.get("Condition") in [None, *conditions]}
    gone = set(template["Resources"]) - {name for name, one in kept.items() if is_supported(one["Type"])}
    kinds = sorted({template["Resources"][name]["Type"].removeprefix("AWS::") for name in gone})
    parts = {key: without_missing(of, gone) for key, of in template.items()}
    parts["Resources"] = {name: one for name, one in parts["Resources"].items() if name not in gone}
    for one in parts["Resources"].values():
        one.pop("UpdatePolicy", None)
    return parts, kinds


def with_macro(expanded):
    """Gives moto, which lacks SAM's macro, this text in place of each template that needs the macro."""
    create = CloudFormationBackend.create_change_set

    def create_expanded(backend, stack_name, change_set_name, template, *rest, **more):
        if re.search(r"^Transform: AWS::Serverless-", template, re.MULTILINE):
            template = expanded
        return create(backend, stack_name, change_set_name, template, *rest, **more)

    CloudFormationBackend.create_change_set = create_expanded


def by_change_set():
    """Mends what moto lacks of change sets: it forgets the outputs of their stacks, and loses tables in an update."""
    execute = CloudFormationBackend.execute_change_set

    def execute_with_outputs(backend, change_set_name, stack_name=None):
        execute(backend, change_set_name, stack_name)
        for stack in backend.stacks.values():
            stack._parse_template()
            stack.output_map = stack._create_output_map()

    def unchanged(original_resource, *_, **__):
        return original_resource

    CloudFormationBackend.execute_change_set = execute_with_outputs
    Table.update_from_cloudformation_json = unchanged
