"""Rules for the verification of a deployment: the hook that checks a new version, and its scripted model."""

import json
import re

FUNCTIONS = {"CheckFunction": "CheckRole", "CheckModelFunction": "CheckModelRole"}
ON = "HasCheckKeyParameter"
KEYED = {"Fn::Not": [{"Fn::Equals": [{"Ref": "CheckKeyParameter"}, ""]}]}
KEY = {"CHECK_API_KEY_PARAMETER": {"Ref": "CheckKeyParameter"}}
ENVIRONMENT = {
    "CheckFunction": {
        "CHECKED_FUNCTION": {"Ref": "ChatFunction"},
        "CHECKED_VERSION": {"Fn::GetAtt": ["ChatFunctionVersion…", "Version"]},
        **KEY,
    },
    "CheckModelFunction": KEY,
}
URL = {"TargetFunctionArn": {"Ref": "CheckModelFunction"}, "AuthType": "NONE", "InvokeMode": "RESPONSE_STREAM"}
KEPT = "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${CheckKeyParameter}"
LOGS = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${ChatLogs}:log-stream:*"
GROUP = "deploymentgroup:${ServerlessDeploymentApplication}/${ChatFunctionDeploymentGroup}"
ANYBODY = {
    ("ssm:GetParameter", KEPT),
    ("logs:CreateLogStream", LOGS),
    ("logs:PutLogEvents", LOGS),
}
MAY = {
    "CheckRole": ANYBODY
    | {
        ("lambda:InvokeFunction", "${ChatFunction.Arn}:*"),
        ("codedeploy:PutLifecycleEventHookExecutionStatus", f"arn:${{AWS::Partition}}:codedeploy:${{AWS::Region}}:${{AWS::AccountId}}:{GROUP}"),
    },
    "CheckModelRole": ANYBODY,
}


def on_demand(template, _calls):
    """Checks that all verification resources depend on the check key."""
    parts = {name: one for name, one in template.resources.items() if name.startswith("Check")}
    if not set(FUNCTIONS) | set(MAY) <= set(parts):
        yield f"nothing verifies a deployment: {sorted(parts)}"
    for name, part in parts.items():
        if part.get("Condition") != ON:
            yield f"{name} is there without a key"
    policy = template.resources["ChatFunctionAliaslive"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    wanted = {"Fn::If": [ON, {"Ref": "CheckFunction"}, {"Ref": "AWS::NoValue"}]}
    if policy.get("BeforeAllowTrafficHook") != wanted:
        yield "a new version has callers before it was tried"
    has_instances = {"Fn::Not": [{"Fn::Contains": [["0", "1"], {"Ref": "ReservedConcurrency"}]}]}
    rules = template.written.get("Rules", {})
    rule = rules.get("ChecksNeedInstances", {})
    if rule.get("RuleCondition") != KEYED or [one["Assert"] for one in rule.get("Assertions", [])] != [has_instances]:
        yield "versions are tried where there are no instances to try them with"
    rule = rules.get("ChecksNeedAKey", {})
    if '"Fn::Equals": [{"Ref": "Auth"}, "api_key"]' not in json.dumps(rule.get("Assertions")):
        yield "versions are tried with a key where no key is believed"


def what_they_are(template, _calls):
    for name, role in FUNCTIONS.items():
        # SAM appends a hash of the code to a version's name.
        given = json.loads(re.sub(r'"ChatFunctionVersion\w+"', '"ChatFunctionVersion…"', json.dumps(template.environment(name))))
        if given != ENVIRONMENT[name]:
            yield f"{name} is given {given}"
        if template.properties(name)["Role"] != {"Fn::GetAtt": [role, "Arn"]}:
            yield f"{name} runs with another role"
    if template.properties("CheckModelFunctionUrl") != URL:
        yield "the version cannot read the model as a stream, or browsers can"
    _, row, otherwise = template.environment("ChatFunction")["EXTRA_MODELS"]["Fn::If"]
    (row,) = json.loads(row["Fn::Sub"])
    if row["onlyFor"] != "deployment-check" or row["baseUrl"] != "${CheckModelFunctionUrl.FunctionUrl}" or otherwise:
        yield f"the model is another one, or for others: {row}"


def permissions(template, _calls):
    for role, wanted in MAY.items():
        given = set()
        for condition, statement in template.statements(role):
            if statement["Sid"] == "OwnKey" and condition == "HasKmsKey":
                continue
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            given |= {(action, json.dumps(statement["Resource"])) for action in actions}
        if given != {(action, json.dumps({"Fn::Sub": resource})) for action, resource in wanted}:
            yield f"{role} may do {sorted(given)}"
    hook = [(condition, one) for condition, one in template.statements("DeploymentRole") if one["Sid"] == "Hook"]
    if [(condition, one["Action"]) for condition, one in hook] != [(ON, "lambda:InvokeFunction")]:
        yield "CodeDeploy may not call the hook, or calls one that is not there"


def circles(template, _calls):
    """Checks that resources, including their update policies, have no circular references."""
    needs = {name: named(one, set(template.resources)) for name, one in template.resources.items()}
    while ready := {name for name, of in needs.items() if not of & set(needs)}:
        needs = {name: of for name, of in needs.items() if name not in ready}
    if needs:
        yield f"these wait for each other: {sorted(needs)}"


def named(value, resources):
    """The resources that a part of a template references."""
    if isinstance(value, list):
        return set().union(*(named(one, resources) for one in value))
    if not isinstance(value, dict):
        return set()
    found = set().union(*(named(one, resources) for one in value.values()))
    texts = value.get("Fn::Sub", "")
    text = texts[0] if isinstance(texts, list) else texts
    found |= set(re.findall(r"\$\{(\w+)[.}]", text)) & resources
    for key in ("Ref", "DependsOn"):
        found |= set(value[key] if isinstance(value.get(key), list) else [value.get(key)]) & resources
    if "Fn::GetAtt" in value:
        of = value["Fn::GetAtt"]
        found |= {of.split(".")[0] if isinstance(of, str) else of[0]} & resources
    return found


RULES = [on_demand, what_they_are, permissions, circles]
