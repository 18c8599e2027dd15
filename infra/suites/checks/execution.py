"""Checks the role with which CloudFormation creates the stack (infra/pipeline/bootstrap.yaml) against the needs of the resources.

The needs of a type come from its provider: cfn-lint's schemas list the permissions of each handler and of tagging. A
provider lists the needs of all properties of the type, so handlers.py lists the permissions of properties that this template never
sets. Both directions are checked: permissions that the role lacks for a resource, in every profile, and permissions that none needs.
Every rule is tested: mutations.py breaks either template, and a rule must notice each break.
"""

import json
import logging
import re
import sys
from fnmatch import fnmatchcase

import source
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from handlers import ARNS, NAMES, NOT_HERE, ONLY_WITH, PASSED
from mutations import BOOTSTRAP, RESOURCES
from profiles import PROFILES, decided, transformed
from samtranslator.yaml_helper import yaml_parse

REGION, ACCOUNT, STACK = "eu-west-1", "123456789012", "lambda-chat"
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::StackName": STACK,
    "StackName": STACK,
    "Artefacts.Arn": "arn:aws:s3:::artefacts",
}
# The role, and the policy that is attached to it.
ROLE, POLICY = "ExecutionRole", "ExecutionPolicy"
# The most characters of a role's own policies together, and of another policy. IAM does not count spaces.
MAX_CHARACTERS = {"own": 10_240, "managed": 6_144}
LONGEST = {"AWS::Region": "ap-southeast-2", "StackName": 31 * "a", "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
# What could give a role more permissions than its boundary, if the boundary were not required.
UNBOUNDED = ["iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"]
# Permissions for what the template refers to and does not create.
REFERENCES = {"ssm:getparameters"}
# Permissions of the roles for parameters that no profile sets.
OPTIONAL = {"kms:Decrypt", "secretsmanager:GetSecretValue"}


def listed(value):
    return value if isinstance(value, list) else [value]


def resolved(value):
    """Resolves the references in a text of a template."""
    if isinstance(value, dict):
        ((kind, of),) = value.items()
        value = {"Fn::Sub": of, "Ref": f"${{{of}}}", "Fn::GetAtt": "${" + ".".join(listed(of)) + "}"}[kind]
    return re.sub(r"\$\{([^}]+)\}", lambda found: PSEUDO.get(found[1], named(found[1])), value)


def named(resource):
    """The name that CloudFormation generates for a resource without one."""
    return f"{STACK}-{resource}-1A2B3C"


def matches(pattern, text):
    """Matches IAM's patterns, which support * and ?, but no brackets."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


class Role:
    """Permissions of a role: pairs of an action, in lower case as IAM compares it, and an ARN pattern."""

    def __init__(self, bootstrap):
        policies = [*bootstrap["Resources"][ROLE]["Properties"]["Policies"], bootstrap["Resources"][POLICY]["Properties"]]
        self.statements = [one for policy in policies for one in policy["PolicyDocument"]["Statement"]]
        self.allowed = [
            (action.lower(), resolved(pattern), one)
            for one in self.statements
            for action in listed(one["Action"])
            for pattern in listed(one["Resource"])
        ]

    def may(self, action, arns):
        return any(held == action and any(matches(pattern, arn) for arn in arns) for held, pattern, _ in self.allowed)


class Resource:
    """A resource of the stack, with the permissions to create, change, read and delete it."""

    def __init__(self, name, of, functions):
        self.name, self.kind, self.of = name, of["Type"], of
        self.function = next((one for one in functions if one in json.dumps(of)), name)
        self.schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, self.kind).schema

    def sets(self, wanted):
        """Whether a property is set, or one within it."""

        def within(value):
            if isinstance(value, list):
                return any(within(one) for one in value)
            return isinstance(value, dict) and (wanted in value or any(within(one) for one in value.values()))

        return within(self.of.get("Properties", {}))

    def listed_permissions(self):
        """All permissions that the provider lists."""
        handlers = self.schema.get("handlers", {})
        tagging = self.schema.get("tagging", {})
        permissions = {action for name, one in handlers.items() if name != "list" for action in one["permissions"]}
        if tagging.get("cloudFormationSystemTags") or self.sets("Tags"):
            permissions |= set(tagging.get("permissions", []))
        return {action.lower() for action in permissions}

    def needs(self):
        unset = [one for key, actions in ONLY_WITH.get(self.kind, {}).items() if not self.sets(key) for one in actions]
        other = [pattern for pattern, _ in NOT_HERE.get(self.kind, [])]
        left_out = [pattern.lower() for pattern in unset + other]
        return {action for action in self.listed_permissions() if not any(matches(pattern, action) for pattern in left_out)}

    def uses(self, action, pattern):
        """Whether this resource needs an action on a pattern. A role is passed on behalf of other resources."""
        wanted = action in self.needs() or action == PASSED and self.kind == "AWS::IAM::Role"
        return wanted and any(matches(pattern, arn) for arn in self.arns())

    def arns(self):
        """ARNs of this resource and its parts in policies."""
        values = {"name": self.physical(), "function": named(self.function), "region": REGION, "account": ACCOUNT}
        return [f"arn:aws:{pattern.format(**values)}" for pattern in ARNS[self.kind]]

    def physical(self):
        given = self.of.get("Properties", {}).get(NAMES.get(self.kind))
        return resolved(given) if given else named(self.name)


def deployed(text):
    """Every resource of the stack in every profile that has it."""
    every = []
    for parameters in PROFILES.values():
        resources = decided(transformed(text, parameters), parameters)["Resources"]
        functions = [name for name, one in resources.items() if one["Type"] == "AWS::Lambda::Function"]
        every += [Resource(name, of, functions) for name, of in resources.items()]
    return every


def every_way(text, resources):
    for name in set(transformed(text, {})["Resources"]) - {one.name for one in resources}:
        yield f"no profile deploys {name}"


def known(resources):
    for kind in sorted({one.kind for one in resources} - set(ARNS)):
        yield f"handlers.py does not say what an {kind} is called"
    for kind in sorted((set(ARNS) | set(ONLY_WITH) | set(NOT_HERE)) - {one.kind for one in resources}):
        yield f"handlers.py speaks of {kind}, of which there is none"
    for one in {one.kind: one for one in resources}.values():
        schema = json.dumps(one.schema)
        permissions = {action.lower() for handler in one.schema["handlers"].values() for action in handler["permissions"]}
        for key, actions in ONLY_WITH.get(one.kind, {}).items():
            if f'"{key}"' not in schema:
                yield f"{one.kind} has no property {key}"
            for action in actions:
                if not any(matches(action.lower(), each) for each in permissions):
                    yield f"the provider of {one.kind} does not ask for {action}"
        for pattern, _ in NOT_HERE.get(one.kind, []):
            if not any(matches(pattern.lower(), each) for each in permissions):
                yield f"the provider of {one.kind} does not ask for {pattern}"


def missing_permissions(role, resources):
    for one in resources:
        for action in sorted(one.needs()):
            if action != PASSED and not role.may(action, one.arns()):
                yield f"the role lacks {action} for {one.name}"


def surplus_permissions(role, resources):
    needed = REFERENCES.union(*(one.needs() for one in resources))
    for action in sorted({action for action, _, _ in role.allowed} - needed):
        yield f"the role may {action}, which no resource needs"
    reached = {}
    for action, pattern, statement in role.allowed:
        reached.setdefault((statement["Sid"], pattern), []).append(action)
    for (sid, pattern), actions in reached.items():
        if set(actions) <= REFERENCES:
            continue
        if not any(one.uses(action, pattern) for one in resources for action in actions):
            yield f"{sid} reaches {pattern}, where no resource needs it"


def passed_roles(role, resources):
    """Checks that roles are passed only to the services that they trust."""
    given = [one for one in role.statements if PASSED in (action.lower() for action in listed(one["Action"]))]
    services = [one.get("Condition", {}).get("StringEquals", {}).get("iam:PassedToService", []) for one in given]
    trusted = set()
    for one in resources:
        if one.kind == "AWS::IAM::Role":
            statements = one.of["Properties"]["AssumeRolePolicyDocument"]["Statement"]
            trusted |= {name for each in statements for name in listed(each["Principal"]["Service"])}
            if not role.may(PASSED, one.arns()):
                yield f"the role may not hand {one.name} over"
    if sorted(trusted) != sorted(set().union(*map(set, map(listed, services)))) or not all(services):
        yield f"roles are handed to {services}, and are for {sorted(trusted)}"


def bounded(bootstrap, resources):
    """Checks that every role of the stack has a boundary, which contains its actions and none that make further roles."""
    permissions = Role(bootstrap).statements
    for action in UNBOUNDED:
        for one in permissions:
            if action in listed(one["Action"]) and one.get("Condition") != {"StringEquals": {"iam:PermissionsBoundary": {"Ref": "Boundary"}}}:
                yield f"{one['Sid']} allows {action} for roles without a boundary"
    statements = bootstrap["Resources"]["Boundary"]["Properties"]["PolicyDocument"]["Statement"]
    inside = {action for one in statements for action in listed(one["Action"])}
    if inside & set(UNBOUNDED) or any(action.startswith("iam:") or "*" in action for action in inside):
        yield "the boundary contains what makes roles"
    used = set()
    for one in resources:
        if one.kind == "AWS::IAM::Role":
            for statement in (each for policy in one.of["Properties"].get("Policies", []) for each in policy["PolicyDocument"]["Statement"]):
                used |= set(listed(statement["Action"]))
    # Some permissions depend on parameters that no profile sets.
    for action in sorted(used - inside):
        yield f"the boundary lacks {action}"
    for action in sorted(inside - used - OPTIONAL):
        yield f"the boundary contains {action}, which no role of the stack has"


def sizes(bootstrap):
    """Checks that IAM accepts the policies, with the longest name of a stack."""
    own = [one["PolicyDocument"] for one in bootstrap["Resources"][ROLE]["Properties"]["Policies"]]
    for name, documents, limit in (
        (ROLE, own, MAX_CHARACTERS["own"]),
        *((name, [bootstrap["Resources"][name]["Properties"]["PolicyDocument"]], MAX_CHARACTERS["managed"]) for name in (POLICY, "Boundary")),
    ):
        length = sum(len(json.dumps(written_out(one), separators=(",", ":"))) for one in documents)
        if length > limit:
            yield f"{name} has {length} characters, and IAM accepts {limit}"


def written_out(value):
    """A part of a policy as IAM gets it; a reference to a resource has at most as many characters as this."""
    if isinstance(value, list):
        return [written_out(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Sub" in value:
        return re.sub(r"\$\{([^}]+)\}", lambda found: LONGEST.get(found[1], PSEUDO.get(found[1], 80 * "a")), value["Fn::Sub"])
    if set(value) <= {"Ref", "Fn::GetAtt"}:
        return 100 * "a"
    return {key: written_out(one) for key, one in value.items()}


def findings(resources, bootstrap):
    unknown = sorted(known(resources))
    if unknown:
        return unknown
    parsed = yaml_parse(bootstrap)
    role = Role(parsed)
    needs = {*missing_permissions(role, resources), *surplus_permissions(role, resources), *passed_roles(role, resources)}
    return sorted(needs | {*bounded(parsed, resources), *sizes(parsed)})


def main():
    logging.disable()  # the translator logs its own metrics
    text = (source.ROOT / "template.yaml").read_text()
    bootstrap = (source.ROOT / "infra/pipeline/bootstrap.yaml").read_text()
    resources = deployed(text)
    found = [*every_way(text, resources), *findings(resources, bootstrap)]
    for old, new in BOOTSTRAP:
        if old not in bootstrap or not findings(resources, bootstrap.replace(old, new, 1)):
            found.append(f"no rule notices {old!r} becoming {new!r}, or it is not there")
    for old, new in RESOURCES:
        if old not in text or not findings(deployed(text.replace(old, new, 1)), bootstrap):
            found.append(f"no rule notices {old!r} becoming {new!r}, or it is not there")
    for finding in found:
        print(f"  bootstrap.yaml: {finding}")
    if found:
        sys.exit(1)
    kinds, breaks = len({one.kind for one in resources}), len(BOOTSTRAP) + len(RESOURCES)
    print(f"  ok: the role has what {kinds} types of resources need and no more, and {breaks} ways of breaking that are noticed")


main()
