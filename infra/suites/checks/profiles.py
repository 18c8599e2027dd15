"""The template as CloudFormation receives it, in all profiles of deployment.

As a program: profiles.py FOLDER writes each profile there, with its conditions evaluated, for tools that cannot do so.
The template's exceptions from checkov's rules are removed and written to FOLDER/excuses.list. And
profiles.py --environment FUNCTION prints a function's variables with default parameters, as JSON.
"""

import json
import logging
import sys
from pathlib import Path

import source
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

FIREWALL = "arn:aws:wafv2:us-east-1:123456789012:global/webacl/chat/00000000-0000-4000-8000-000000000000"
REGIONAL = "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/chat/00000000-0000-4000-8000-000000000000"
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-4000-8000-000000000000"
DOMAIN = {"DomainName": "chat.example.com", "CertificateArn": CERTIFICATE, "HostedZoneId": "Z0123456789"}
LAYER = "arn:aws:lambda:eu-west-1:123456789012:layer:documents:1"
TABLE = "lambda-chat-restored"
BOUNDARY = "arn:aws:iam::123456789012:policy/lambda-chat-production-boundary"
ORIGIN_KEYS = {"OriginKeyParameter": "/lambda-chat/origin-2", "PreviousOriginKeyParameter": "/lambda-chat/origin"}
VAULT = {"BackupDays": "30", "ExistingBackupVault": "lambda-chat-0123456789ab"}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"
PROFILE = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/0123456789ab"
MODELS = '[{"name":"claude","wire":"anthropic","model":"m","apiKeyParameter":"/lambda-chat/models/claude"}]'
PROFILES = {
    "plain": {},
    "hardened": {"FrontDoor": "cloudfront", "WebAclArn": FIREWALL, "AlarmTopicArn": TOPIC, "CheckKeyParameter": "/lambda-chat/check", "ReservedConcurrency": "20", "PermissionsBoundaryArn": BOUNDARY, "BackupDays": "90", "AttachmentsBucket": "lambda-chat-attachments-1", "BedrockModel": "global.amazon.nova-2-lite-v1:0", "OtlpEndpoint": "https://xray.eu-west-1.amazonaws.com", "OtlpHeadersParameter": "/lambda-chat/otlp"},
    "buffered": {"Function": "full", "BufferedApi": "true", "MaxTableUnits": "500", "DocumentsDir": "/opt/documents", "DocumentsLayer": LAYER, "EmbeddingsModel": "m", "ArticlesVectorBucket": "lambda-chat-vectors-1", "BedrockArns": PROFILE},
    "rest": {"FrontDoor": "rest", "WebAclArn": REGIONAL, "Deployment": "AllAtOnce", "BedrockModel": PROFILE, "Models": MODELS, "ModelKeysUnder": "/lambda-chat/models/"},
    "own-domain": {"FrontDoor": "cloudfront", "WebAclArn": FIREWALL, **DOMAIN, **ORIGIN_KEYS, "ExistingDataTable": TABLE, **VAULT, "AlarmEmail": "ann@example.com"},
    "own-rest-domain": {"FrontDoor": "rest", **DOMAIN, "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1", "Function": "full", "DocumentsBucket": "lambda-chat-documents-1", "DocumentsPrefix": "team/", "AttachmentsBucket": "lambda-chat-attachments-1"},
}
NOTHING = object()


class NoManagedPolicies:
    def load(self):
        return {}


def transformed(text, parameters):
    """SAM's CloudFormation output for a template."""
    return transform(source.packed(yaml_parse(text)), parameters, NoManagedPolicies())


def decided(template, parameters):
    """Evaluates the conditions of a template and removes what they exclude."""
    values = {name: one.get("Default") for name, one in template["Parameters"].items()} | parameters
    conditions = {name: holds(one, values, template["Conditions"]) for name, one in template["Conditions"].items()}
    resources = {}
    for name, resource in template["Resources"].items():
        if conditions.get(resource.pop("Condition", None), True):
            resources[name] = chosen(resource, conditions)
    for name, one in template["Parameters"].items():
        one["Default"] = values[name]
    return {"Parameters": template["Parameters"], "Resources": resources}


def holds(condition, values, conditions):
    ((kind, of),) = condition.items()
    if kind == "Condition":
        return holds(conditions[of], values, conditions)
    if kind == "Fn::Equals":
        left, right = (value_of(one, values) for one in of)
        return left == right
    inner = [holds(one, values, conditions) for one in of]
    return {"Fn::Not": not inner[0], "Fn::And": all(inner), "Fn::Or": any(inner)}[kind]


def value_of(one, values):
    if isinstance(one, dict) and "Fn::Select" in one:
        index, parts = one["Fn::Select"]
        separator, text = parts["Fn::Split"]
        return value_of(text, values).split(separator)[int(index)]
    return str(values[one["Ref"]] if isinstance(one, dict) else one)


def chosen(value, conditions):
    if isinstance(value, list):
        return [one for one in (chosen(each, conditions) for each in value) if one is not NOTHING]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value:
        condition, then, otherwise = value["Fn::If"]
        return chosen(then if conditions[condition] else otherwise, conditions)
    if value == {"Ref": "AWS::NoValue"}:
        return NOTHING
    pairs = {key: chosen(one, conditions) for key, one in value.items()}
    return {key: one for key, one in pairs.items() if one is not NOTHING}


def excuses(resources):
    """Removes the exceptions of resources; returns pairs of a resource's name and a rule."""
    found = set()
    for name, resource in resources.items():
        for one in resource.get("Metadata", {}).pop("checkov", {}).get("skip", []):
            if not one["comment"].strip():
                raise ValueError(f"{name} is excused from {one['id']} without a reason")
            found.add((name, one["id"]))
    return found


def environment(function):
    """A function's variables as Lambda sets them; a reference to a resource becomes its logical id."""
    template = decided(transformed((source.ROOT / "template.yaml").read_text(), {}), {})
    values = {name: str(one["Default"]) for name, one in template["Parameters"].items()}
    variables = template["Resources"][function]["Properties"]["Environment"]["Variables"]
    return {name: values.get(of["Ref"], of["Ref"]) if isinstance(of, dict) else of for name, of in variables.items()}


def main():
    logging.disable()  # the translator logs its own metrics
    if sys.argv[1] == "--environment":
        print(json.dumps(environment(sys.argv[2])))
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    text, excused = (source.ROOT / "template.yaml").read_text(), set()
    for name, parameters in PROFILES.items():
        template = decided(transformed(text, parameters), parameters)
        excused |= excuses(template["Resources"])
        (folder / f"{name}.json").write_text(json.dumps(template, indent=1))
    (folder / "excuses.list").write_text(json.dumps(sorted(excused)))


if __name__ == "__main__":
    main()
