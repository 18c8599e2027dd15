"""Checks template.yaml against the settings and calls of the function; deployment.py checks the resources around it.

Usage: template.py CALLS, the JSON output of the suite's program `calls`.
Every rule is tested: a rule must notice each of MUTATIONS.
"""

import json
import logging
import re
import sys
import tomllib

import assertions
import deployment
import source
import verification
from mutations import MUTATIONS
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

TEXT = (source.ROOT / "template.yaml").read_text()

# Settings of the function that the template must not set, with the reason.
NOT_IN_THE_TEMPLATE = {
    "ARK_API_KEY": "a key is never a template's value",
    "OPENAI_API_KEY": "a key is never a template's value",
    **{
        f"{provider}_{name}": "rows of Models with apiKeyParameter have any number of such models"
        for provider in ("ANTHROPIC", "GEMINI")
        for name in ("API_KEY", "API_KEY_PARAMETER", "API_KEY_SECRET", "MODEL", "BASE_URL")
    },
    "TAVILY_API_KEY": "a key is never a template's value",
    "EMBEDDINGS_API_KEY": "a key is never a template's value",
    "CHECK_API_KEY": "a key is never a template's value",
    "CHECK_API_KEY_SECRET": "the stack's own key has one place",
    "ORIGIN_KEY": "a key is never a template's value",
    "ORIGIN_KEY_SECRET": "CloudFormation reads the key from the parameter",
    "PREVIOUS_ORIGIN_KEY": "a key is never a template's value",
    "PREVIOUS_ORIGIN_KEY_SECRET": "CloudFormation reads the key from the parameter",
    "SYSTEM_PROMPT_SECRET": "a long prompt has one place",
    "OTEL_EXPORTER_OTLP_HEADERS": "a key is never a template's value",
    "OTEL_EXPORTER_OTLP_HEADERS_SECRET": "the headers have one place",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "the path of traces is the standard one",
    "AZURE_CLIENT_SECRET": "a key is never a template's value",
    "AZURE_CLIENT_SECRET_SECRET": "the application's secret has one place",
    "AZURE_FEDERATED_TOKEN_FILE": "nothing writes such a file in a function",
    "AZURE_AUTHORITY_HOST": "for tests, and for clouds of Azure that few accounts are in",
    "AWS_BEARER_TOKEN_BEDROCK": "the role of the function signs",
    "AUTH_NONE_ON_LAMBDA": "nobody shall open a deployed function by a parameter",
    "ALLOW_PRIVATE_TOOLS": "the deployed function refuses it",
    "AWS_SAM_LOCAL": "set by the emulator",
    "AWS_LAMBDA_FUNCTION_NAME": "set by Lambda",
    "AWS_LAMBDA_FUNCTION_VERSION": "set by Lambda",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "set by Lambda",
    "AWS_REGION": "set by Lambda",
    "AWS_DEFAULT_REGION": "set by Lambda",
    "AWS_ACCESS_KEY_ID": "set by Lambda",
    "AWS_SECRET_ACCESS_KEY": "set by Lambda",
    "AWS_SESSION_TOKEN": "set by Lambda",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "for containers",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "for containers",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN": "for containers",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "for containers",
    "AWS_ENDPOINT_URL": "a name inside the SDK",
    "AWS_ENDPOINT_URL_S3": "for tests",
    "AWS_ENDPOINT_URL_S3VECTORS": "for tests",
    "AWS_SEARCH_BASE_URL": "for tests",
    "AWS_ENDPOINT_URL_SSM": "for tests",
    "AWS_ENDPOINT_URL_SECRETS_MANAGER": "for tests",
    "AWS_ENDPOINT_URL_LAMBDA": "for tests",
    "AWS_ENDPOINT_URL_CODEDEPLOY": "for tests",
}
TABLES = {"DataTable": "lambda-chat-data", "EphemeralTable": "lambda-chat-ephemeral"}
# The data table of the stack, or one that is named; and its ARN.
DATA_TABLE = {"Fn::If": ["MakesDataTable", {"Ref": "DataTable"}, {"Ref": "ExistingDataTable"}]}
TABLE_ARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${Table}"
# Resources with a known prefix only: Lambda names its streams, definitions name their secrets, and CloudFormation generates the
# names that CodeDeploy uses.
OPEN_ENDS = (
    'log-group:${ChatLogs}:log-stream:*"}',
    ':parameter${ToolSecretsUnder}*"}',
    ':parameter${ModelKeysUnder}*"}',
    ':secret:${ToolSecretsUnder}*"}',
    ':${DocumentsBucket}/${DocumentsPrefix}*"}',
    ':${AttachmentsBucket}/attachments/*"}',
    ':function:${AWS::StackName}-ChatFunction-*"}',
    ':function:${AWS::StackName}-CheckFunction-*"}',
    '"${ChatFunction.Arn}:*"}',
    ':alarm:*"}',
    ':recovery-point:*"}',
    ':key/*"}',
)
# DynamoDB chooses the names of a table's backups.
BACKUPS = {"Fn::Sub": [f"{TABLE_ARN}/backup/*", {"Table": DATA_TABLE}]}
# The model of an inference profile, in regions that its id does not name: a geography and the id of the model, in which a version may have a point.
# The ARN of a profile does not name the model at all. `bedrock` compares the condition, which admits requests to the profile only.
PROFILE_PARTS = {"Fn::Split": [".", {"Fn::Sub": "${BedrockModel}.."}]}
PROFILE_NAMES = {"Provider": {"Fn::Select": [1, PROFILE_PARTS]}, "Model": {"Fn::Select": [2, PROFILE_PARTS]}}
MODELS_OF_PROFILES = {
    "Fn::If": [
        "HasBedrockArn",
        {"Fn::Sub": "arn:${AWS::Partition}:bedrock:*::foundation-model/*"},
        {"Fn::Sub": ["arn:${AWS::Partition}:bedrock:*::foundation-model/${Provider}.${Model}*", PROFILE_NAMES]},
    ]
}
# Actions of X-Ray have no resource, and Lambda requires those of networks for any resource.
NETWORK = {
    f"ec2:{action}"
    for action in ("AssignPrivateIpAddresses", "CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "UnassignPrivateIpAddresses")
}
SPANS = {"xray:PutSpans", "xray:PutSpansForIndexing"}
WITHOUT_RESOURCE = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"} | SPANS | NETWORK
# The conditions of the keys of the front door, which only CloudFront sends, and their parameters.
ORIGIN_KEYS = {"HasOriginKey": "OriginKeyParameter", "HasPreviousOriginKey": "PreviousOriginKeyParameter"}
# Time reserved for storing an answer and ending its stream.
RESERVE_SECONDS = 8


class Template:
    """The template as written, and as CloudFormation receives it."""

    def __init__(self, text):
        self.written = yaml_parse(text)
        self.resources = transform(source.packed(yaml_parse(text)), {}, NoManagedPolicies())["Resources"]
        self.parameters = self.written["Parameters"]

    def of_type(self, kind):
        return {name: one for name, one in self.resources.items() if one["Type"] == kind}

    def properties(self, name):
        return self.resources.get(name, {}).get("Properties", {})

    def functions(self):
        return self.of_type("AWS::Lambda::Function")

    def chats(self):
        """The functions for callers: all except those that verify a deployment."""
        return {name: one for name, one in self.functions().items() if name not in verification.FUNCTIONS}

    def environment(self, name):
        return self.properties(name)["Environment"]["Variables"]

    def statements(self, role="ChatRole"):
        """A role's statements with their conditions."""
        for policy in self.properties(role).get("Policies", []):
            for statement in policy["PolicyDocument"]["Statement"]:
                condition, one = None, statement
                if "Fn::If" in statement:
                    condition, one, _ = statement["Fn::If"]
                yield condition, one


class NoManagedPolicies:
    def load(self):
        return {}


def listed(value):
    return value if isinstance(value, list) else [value]


def environment(template, _calls):
    read = source.settings()
    for name in template.functions():
        for variable in set(template.environment(name)) - read:
            yield f"{name} gets {variable}, which nothing reads"
    given = set().union(*(template.environment(name) for name in template.functions()))
    for variable in read - given - set(NOT_IN_THE_TEMPLATE):
        yield f"{variable} is read but not in the template"
    for variable in set(NOT_IN_THE_TEMPLATE) & given:
        yield f"{variable} must not be in the template: {NOT_IN_THE_TEMPLATE[variable]}"
    for variable in set(NOT_IN_THE_TEMPLATE) - read:
        yield f"{variable} is excused but nothing reads it"


def tables(template, _calls):
    name = source.store_constants()
    keys = [(name["PK"], "HASH"), (name["SK"], "RANGE")]
    for table in TABLES:
        properties = template.properties(table)
        if key_schema(properties) != keys:
            yield f"{table} has other keys than the store's {keys}"
        if properties.get("BillingMode") != "PAY_PER_REQUEST":
            yield f"{table} is not billed on demand"
        if not properties.get("SSESpecification", {}).get("SSEEnabled"):
            yield f"{table} is not encrypted with a key of the account"
    data, ephemeral = template.properties("DataTable"), template.properties("EphemeralTable")
    indexes = {one["IndexName"]: one for one in data.get("LocalSecondaryIndexes", [])}
    index = indexes.get(name["UPDATED_INDEX"], {})
    if set(indexes) != {name["UPDATED_INDEX"]} or key_schema(index) != [keys[0], (name["UPDATED_AT"], "RANGE")]:
        yield "DataTable's index is not the store's"
    if index.get("Projection") != {"ProjectionType": "ALL"}:
        yield "DataTable's index lacks attributes"
    types = {one["AttributeName"]: one["AttributeType"] for one in data.get("AttributeDefinitions", [])}
    if types != {name["PK"]: "S", name["SK"]: "S", name["UPDATED_AT"]: "N"}:
        yield "DataTable's attributes have other types than the store's"
    if not data.get("PointInTimeRecoverySpecification", {}).get("PointInTimeRecoveryEnabled"):
        yield "DataTable cannot be recovered"
    if template.resources["DataTable"].get("Condition") != "MakesDataTable":
        yield "a second data table is made where one is named"
    if data.get("DeletionProtectionEnabled") is not True:
        yield "DataTable is not protected from deletion"
    for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
        if template.resources["DataTable"].get(policy) != "Retain":
            yield f"DataTable's {policy} loses what users own"
    for table in ("DataTable", "EphemeralTable"):
        if template.properties(table).get("TimeToLiveSpecification") != {"AttributeName": name["EXPIRES"], "Enabled": True}:
            yield f"{table} does not expire by the store's attribute"
    for function in template.chats():
        if template.environment(function).get("DATA_TABLE") != DATA_TABLE:
            yield f"{function} stores in another table than the role permits"
    copied = template.properties("BackupSelection").get("BackupSelection", {})
    if copied.get("Resources") != [{"Fn::Sub": [TABLE_ARN, {"Table": DATA_TABLE}]}]:
        yield "backups are not of the data table alone"


def key_schema(properties):
    return [(one["AttributeName"], one["KeyType"]) for one in properties.get("KeySchema", [])]


def wildcards(template, _calls):
    for role in template.of_type("AWS::IAM::Role"):
        yield from wildcards_of(template, role)
    for name, function in template.chats().items():
        if function["Properties"].get("Role") != {"Fn::GetAtt": ["ChatRole", "Arn"]}:
            yield f"{name} runs with another role"


def wildcards_of(template, role):
    for condition, statement in template.statements(role):
        sid = statement.get("Sid", "a statement")
        if NETWORK & set(listed(statement["Action"])) and condition != "HasNetwork":
            yield f"{sid} reaches networks without one"
        if SPANS & set(listed(statement["Action"])) and condition != "HasAmazonSpans":
            yield f"{sid} sends spans to Amazon without an address of it"
        for action in listed(statement["Action"]):
            if "*" in action:
                yield f"{sid} allows {action}"
        for resource in listed(statement["Resource"]):
            text = json.dumps(resource)
            if resource == "*" and set(listed(statement["Action"])) <= WITHOUT_RESOURCE:
                continue
            if ("*" in text and not text.endswith(OPEN_ENDS) and resource not in (BACKUPS, MODELS_OF_PROFILES)) or statement["Effect"] != "Allow":
                yield f"{sid} reaches {text}"
    if template.properties(role).get("ManagedPolicyArns"):
        yield f"{role} has policies that nobody here wrote"


def permissions(template, calls):
    allowed = {}
    for condition, statement in template.statements():
        actions = {action for action in listed(statement["Action"]) if action.startswith("dynamodb:")}
        for resource in listed(statement["Resource"]) if actions else []:
            allowed.setdefault(table_of(resource), set()).update(actions)
            if condition:
                yield f"{statement['Sid']} is conditional"
    for resource in sorted(set(allowed) | set(calls)):
        has, needs = allowed.get(resource, set()), set(calls.get(resource, []))
        if needs - has:
            yield f"missing on {resource}: {sorted(needs - has)}"
        if has - needs:
            yield f"not needed on {resource}: {sorted(has - needs)}"


def table_of(resource):
    """The program `calls`'s name of a resource."""
    if not isinstance(resource, dict):
        return resource
    if "Fn::GetAtt" in resource:
        return TABLES.get(resource["Fn::GetAtt"][0], str(resource))
    text, values = resource["Fn::Sub"]
    return TABLES["DataTable"] + text.removeprefix(TABLE_ARN) if values == {"Table": DATA_TABLE} and text.startswith(TABLE_ARN) else str(resource)


def keys(template, _calls):
    """Checks that the role may read exactly the external keys that its settings name."""
    wanted = set()
    for name in template.functions():
        for variable, value in template.environment(name).items():
            if variable.endswith(("_KEY_PARAMETER", "_CLIENT_SECRET_PARAMETER", "_HEADERS_PARAMETER", "SYSTEM_PROMPT_PARAMETER")):
                wanted.add((value["Ref"], "ssm:GetParameter"))
            elif variable.endswith("_API_KEY_SECRET"):
                wanted.add((value["Ref"], "secretsmanager:GetSecretValue"))
            elif variable == "MODEL_KEYS_UNDER":
                wanted.add((value["Ref"], "ssm:GetParameter"))
            elif variable == "TOOL_SECRETS_UNDER":
                wanted |= {(value["Ref"], "ssm:GetParameter"), (value["Ref"], "secretsmanager:GetSecretValue")}
    found = set()
    for condition, statement in template.statements():
        for action in listed(statement["Action"]):
            if not action.startswith(("ssm:", "secretsmanager:")):
                continue
            name = condition.removeprefix("Has") if condition else ""
            name = ORIGIN_KEYS.get(condition, name)
            if (name, action) not in wanted:
                yield f"{statement['Sid']} allows {action} for {name or 'nothing'}, which the function does not call"
            elif not statement["Resource"]["Fn::Sub"].endswith(ending(name, action)):
                yield f"{statement['Sid']} reads something else than its parameter names"
            found.add((name, action))
    for name, action in sorted(wanted - found):
        yield f"nothing allows {action} for what {name} names"


def ending(name, action):
    """Suffix of the resource in a permission to read a key."""
    kind = ":parameter" if action == "ssm:GetParameter" else ":secret:"
    if name in ("ToolSecretsUnder", "ModelKeysUnder"):
        return f"{kind}${{{name}}}*"
    return f"{kind}${{{name}}}" + ("-??????" if kind == ":secret:" else "")


def documents(template, _calls):
    """Checks that the role may read exactly the documents' prefix, and only where a bucket is named."""
    bucket = {"Fn::Sub": "arn:${AWS::Partition}:s3:::${DocumentsBucket}"}
    objects = {"Fn::Sub": "arn:${AWS::Partition}:s3:::${DocumentsBucket}/${DocumentsPrefix}*"}
    prefix = {"StringEquals": {"s3:prefix": {"Ref": "DocumentsPrefix"}}}
    wanted = [("s3:ListBucket", bucket, prefix), ("s3:GetObject", objects, None)]
    found = []
    for condition, statement in template.statements():
        if condition != "HasAttachmentsBucket" and any(action.startswith("s3:") for action in listed(statement["Action"])):
            found.append((statement["Action"], statement["Resource"], statement.get("Condition")))
            if condition != "HasDocumentsBucket":
                yield f"{statement['Sid']} reaches documents without a bucket"
    if found != wanted:
        yield f"the role reaches {found} in S3"
    source_of = {"Fn::If": ["HasDocumentsBucket", {"Fn::Sub": "s3://${DocumentsBucket}/${DocumentsPrefix}"}, {"Ref": "DocumentsDir"}]}
    for name in template.chats():
        if template.environment(name).get("DOCUMENTS_DIR") != source_of:
            yield f"{name} reads other documents than the parameters name"


def attachments(template, _calls):
    """Checks that the role may do with files of users what `shared/attachments` does, and only where a bucket is named."""
    bucket = "arn:${AWS::Partition}:s3:::${AttachmentsBucket}"
    actions = [f"s3:{action}" for action in ("DeleteObject", "DeleteObjectTagging", "GetObject", "PutObject", "PutObjectTagging")]
    wanted = [(actions, {"Fn::Sub": f"{bucket}/attachments/*"}), ("s3:ListBucket", {"Fn::Sub": bucket})]
    found = [(one["Action"], one["Resource"]) for condition, one in template.statements() if condition == "HasAttachmentsBucket"]
    if found != wanted:
        yield f"the role reaches {found} among files of users"
    for name in template.chats():
        if template.environment(name).get("ATTACHMENTS_BUCKET") != {"Ref": "AttachmentsBucket"}:
            yield f"{name} stores files in another bucket than the parameter names"


def vectors(template, _calls):
    """Checks that the role may use exactly the vector index of the parameters, and only where a bucket is named."""
    index = {"Fn::Sub": "arn:${AWS::Partition}:s3vectors:${AWS::Region}:${AWS::AccountId}:bucket/${ArticlesVectorBucket}/index/${ArticlesVectorIndex}"}
    # A query with a filter or metadata needs GetVectors too.
    actions = ["DeleteVectors", "GetIndex", "GetVectors", "PutVectors", "QueryVectors"]
    found = []
    for condition, statement in template.statements():
        if any(action.startswith("s3vectors:") for action in listed(statement["Action"])):
            found.append((condition, statement["Action"], statement["Resource"]))
    if found != [("HasArticlesVectorBucket", [f"s3vectors:{action}" for action in actions], index)]:
        yield f"the role reaches {found} in S3 Vectors"
    address = {"Fn::If": ["HasArticlesVectorBucket", {"Fn::Sub": "s3vectors://${ArticlesVectorBucket}/${ArticlesVectorIndex}"}, ""]}
    for name in template.chats():
        if template.environment(name).get("ARTICLES_VECTORS") != address:
            yield f"{name} uses another vector index than the parameters name"


def bedrock(template, _calls):
    """Checks that the role may call exactly the models that parameters name, and only where they do."""
    actions = ["bedrock:GetInferenceProfile", "bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
    arn = "arn:${AWS::Partition}:bedrock:${AWS::Region}:"
    profile = {"Fn::If": ["HasBedrockArn", {"Ref": "BedrockModel"}, {"Fn::Sub": f"{arn}${{AWS::AccountId}}:inference-profile/${{BedrockModel}}"}]}
    model = {"Fn::If": ["HasBedrockArn", {"Ref": "AWS::NoValue"}, {"Fn::Sub": f"{arn}:foundation-model/${{BedrockModel}}"}]}
    wanted = [
        ("HasBedrockModel", actions, [profile, model], None),
        ("HasBedrockModel", actions[1:], MODELS_OF_PROFILES, {"StringEquals": {"bedrock:InferenceProfileArn": profile}}),
        ("HasBedrockArns", ["bedrock-mantle:CreateInference", *actions], {"Fn::Split": [",", {"Ref": "BedrockArns"}]}, None),
    ]
    found = [
        (condition, statement["Action"], statement["Resource"], statement.get("Condition"))
        for condition, statement in template.statements()
        if any(action.startswith(("bedrock:", "bedrock-mantle:")) for action in listed(statement["Action"]))
    ]
    if found != wanted:
        yield f"the role reaches {found} in Bedrock"


def web_search(template, _calls):
    """Checks that the role may use exactly Amazon's web search, in the region of the settings, and only where it searches."""
    region = {"Fn::If": ["HasSearchRegion", {"Ref": "SearchRegion"}, {"Ref": "AWS::Region"}]}
    tool = {"Fn::Sub": ["arn:${AWS::Partition}:bedrock-agentcore:${Region}:aws:tool/web-search.v1", {"Region": region}]}
    found = []
    for condition, statement in template.statements():
        if any(action.startswith("bedrock-agentcore:") for action in listed(statement["Action"])):
            found.append((condition, statement["Action"], statement["Resource"]))
    if found != [("HasAwsSearch", "bedrock-agentcore:InvokeWebSearch", tool)]:
        yield f"the role reaches {found} in Amazon's web search"


def limits(template, _calls):
    max_seconds = template.parameters["TurnSeconds"]["MaxValue"]
    timeout = template.properties("ChatFunction")["Timeout"]
    if max_seconds + RESERVE_SECONDS > timeout:
        yield f"a turn of {max_seconds} s does not end within {timeout} s"
    for name, function in template.functions().items():
        properties = function["Properties"]
        bounds = {"ReservedConcurrentExecutions", "FunctionScalingConfig"}
        if not bounds & set(properties):
            yield f"{name} may take all of the account's concurrency"
        if properties.get("LoggingConfig") != {"LogGroup": {"Ref": "ChatLogs"}}:
            yield f"{name} logs where nothing is deleted"
        if (properties.get("Runtime"), properties.get("Handler")) != ("provided.al2023", "bootstrap"):
            yield f"{name} has another runtime"
        if properties.get("Architectures") != [{"Ref": "Architecture"}]:
            yield f"{name} does not run on the chosen processor"
    if "RetentionInDays" not in template.properties("ChatLogs"):
        yield "logs are kept for ever"


def parameters(template, _calls):
    text = json.dumps({key: template.written.get(key) for key in ("Globals", "Resources", "Conditions")})
    for name, parameter in template.parameters.items():
        if not parameter.get("Description", "").strip():
            yield f"{name} says nothing of itself"
        bounds = ("AllowedPattern", "AllowedValues", "MaxLength")
        if parameter["Type"] == "Number":
            bounds = ("AllowedValues", "MinValue")
        if not any(bound in parameter for bound in bounds):
            yield f"{name} takes anything"
        if f'"Ref": "{name}"' not in text and f"${{{name}}}" not in text:
            yield f"{name} is not used"


def example(template, _calls):
    """Checks that the examples of parameter files name parameters with accepted values, in their comments too."""
    text = re.sub(r"^# (?=[A-Z]\w+: )", "", (source.ROOT / "parameters.example.yaml").read_text(), flags=re.MULTILINE)
    lines = json.loads((source.ROOT / "parameters.example.json").read_text())
    of_json = dict(line.removeprefix("#").split("=", 1) for line in lines if not line.startswith("#="))
    for file, values in (("yaml", yaml_parse(text)), ("json", of_json)):
        for name, value in values.items():
            parameter = template.parameters.get(name)
            if parameter is None:
                yield f"parameters.example.{file} names {name}, which is no parameter"
            elif not re.search(parameter.get("AllowedPattern", ""), value) or value not in parameter.get("AllowedValues", [value]):
                yield f"parameters.example.{file} has a value that {name} does not accept"


def documented(template, _calls):
    """Checks that each parameter is in one group of the console's form, and in the table of docs/deploy/parameters.md."""
    groups = template.written["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = sorted(name for group in groups for name in group["Parameters"])
    if grouped != sorted(template.parameters):
        yield f"these are in no group, or in two: {set(grouped) ^ set(template.parameters) or grouped}"
    text = (source.ROOT / "docs/deploy/parameters.md").read_text()
    rows = " ".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    for name in template.parameters:
        if f"`{name}`" not in rows:
            yield f"docs/deploy/parameters.md has no row of {name}"


def version(template, _calls):
    """Checks that the stack names the version of Cargo.toml."""
    number = tomllib.loads((source.ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    chat = template.properties("ChatFunction")
    texts = {"its output": template.written["Outputs"].get("Version", {}).get("Value"), "its function": chat["Description"]}
    texts |= {"its versions": one["Properties"]["Description"] for name, one in template.of_type("AWS::Lambda::Version").items() if name.startswith("ChatFunction")}
    texts |= {name: template.properties(name)["Description"] for name in template.chats()}
    for name, text in texts.items():
        if not re.search(rf"\b{re.escape(number)}\b", json.dumps(text)):
            yield f"{name} does not name the version {number}: {text}"
    if "${Function}" not in json.dumps(chat["Description"]):
        yield "its function does not name what it is built with"


def pins(_template, _calls):
    """Checks that the documents install the versions of the tools that the suites run."""
    pinned = set((source.ROOT / "infra/suites/requirements.txt").read_text().split())
    for name in ("README.md", "docs/deploy/from-sources.md"):
        installed = set(re.findall(r"[a-z-]+==[0-9.]+[0-9]", (source.ROOT / name).read_text()))
        if installed - pinned:
            yield f"{name} installs {sorted(installed)}, which is not what the suites run"


RULES = [environment, tables, wildcards, permissions, keys, documents, attachments, vectors, bedrock, web_search, limits, parameters, example, version, pins, documented, *assertions.RULES, *deployment.RULES, *verification.RULES]


def findings(text, calls):
    try:
        template = Template(text)
    except InvalidDocumentException as refused:
        return [str(refused)]
    return [finding for rule in RULES for finding in rule(template, calls)]


def main():
    logging.disable()  # the translator logs its own metrics
    with open(sys.argv[1], encoding="utf-8") as file:
        calls = json.load(file)
    found = findings(TEXT, calls)
    for finding in found:
        print(f"  template.yaml: {finding}")
    for old, new in MUTATIONS:
        if old not in TEXT:
            found.append(old)
            print(f"  this mutation changes nothing: {old!r}")
        elif not findings(TEXT.replace(old, new, 1), calls):
            found.append(old)
            print(f"  no rule notices {old!r} becoming {new!r}")
    if found:
        sys.exit(1)
    print(f"  ok: {len(RULES)} rules hold, and notice {len(MUTATIONS)} ways of breaking them")


main()
