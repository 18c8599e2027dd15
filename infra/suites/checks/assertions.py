"""Which parameters CloudFormation accepts before it creates anything: the template's Rules and the constraints of parameters."""

import re

MODEL = {"ArkModel": "m", "ArkApiKeyParameter": "/chat/ark"}
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-4000-8000-000000000000"

# Parameters of stacks that are accepted.
ACCEPTED = [
    MODEL,
    {"OpenaiModel": "m", "OpenaiApiKeySecret": "chat/openai", "DefaultModel": "openai"},
    {"OpenaiModel": "m", "OpenaiBaseUrl": "https://models.example.com/v1"},
    {"OllamaModel": "m", "OllamaApiUrl": "http://10.0.0.7:11434", "DefaultModel": "local"},
    {"Models": '[{"name":"volcano","model":"m"}]', "DefaultModel": "volcano"},
    MODEL | {"FrontDoor": "rest", "DomainName": "chat.example.com", "CertificateArn": CERTIFICATE, "HostedZoneId": "Z1"},
    MODEL | {"FrontDoor": "rest", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"},
    MODEL | {"CheckKeyParameter": "/chat/check", "ReservedConcurrency": "2"},
    MODEL | {"FrontDoor": "cloudfront", "OriginKeyParameter": "/chat/origin-2", "PreviousOriginKeyParameter": "/chat/origin"},
    MODEL | {"BackupDays": "90"},
    MODEL | {"BackupDays": "90", "ExistingBackupVault": "chat"},
    MODEL | {"MaskResults": "yes", "Mask": "all"},
    MODEL | {"MaskAnswers": "yes", "Mask": "all"},
    MODEL | {"ArticlesVectorBucket": "chat-vectors", "EmbeddingsModel": "m"},
    MODEL | {"TotalDailyCost": "0.50", "UserDailyCost": "10", "AlarmEmail": "ann@example.com"},
]
# Parameters that are not, each with the name of the rule or of the parameter that rejects them.
REJECTED = [
    ({}, "SomethingAnswers"),
    ({"ArkModel": "m"}, "ArkNeedsAKey"),
    ({"OpenaiModel": "m"}, "OpenaiNeedsAKey"),
    ({"OllamaModel": "m"}, "OllamaNeedsAnAddress"),
    (MODEL | {"ArkApiKeySecret": "chat/ark"}, "KeysHaveOnePlace"),
    (MODEL | {"TavilyApiKeyParameter": "/a", "TavilyApiKeySecret": "a"}, "KeysHaveOnePlace"),
    (MODEL | {"OpenaiApiKeyParameter": "/a", "OpenaiApiKeySecret": "a"}, "KeysHaveOnePlace"),
    (MODEL | {"DefaultModel": "openai"}, "OpenaiIsConfigured"),
    (MODEL | {"DefaultModel": "local"}, "LocalIsConfigured"),
    (MODEL | {"MaskResults": "yes"}, "MaskedResultsNeedKinds"),
    (MODEL | {"MaskAnswers": "yes"}, "MaskedAnswersNeedKinds"),
    (MODEL | {"ArticlesVectorBucket": "chat-vectors"}, "VectorsNeedEmbeddings"),
    ({"OpenaiModel": "m", "OpenaiBaseUrl": "https://a.example", "DefaultModel": "volcano"}, "VolcanoIsConfigured"),
    (MODEL | {"Auth": "jwt"}, "TokensNeedAnIssuer"),
    (MODEL | {"CheckKeyParameter": "/chat/check", "ReservedConcurrency": "1"}, "ChecksNeedInstances"),
    (MODEL | {"DomainName": "chat.example.com", "CertificateArn": CERTIFICATE}, "DomainsNeedACertificate"),
    (MODEL | {"DomainName": "chat.example.com", "FrontDoor": "rest"}, "DomainsNeedACertificate"),
    (MODEL | {"HostedZoneId": "Z1"}, "ZonesNeedADomain"),
    (MODEL | {"OriginKeyParameter": "/chat/origin"}, "OriginKeysNeedCloudFront"),
    (MODEL | {"FrontDoor": "rest", "OriginKeyParameter": "/chat/origin"}, "OriginKeysNeedCloudFront"),
    (MODEL | {"FrontDoor": "cloudfront", "OriginKeyParameter": "chat"}, "OriginKeyParameter"),
    (MODEL | {"FrontDoor": "cloudfront", "PreviousOriginKeyParameter": "/chat/origin"}, "PreviousOriginKeysNeedANewOne"),
    (MODEL | {"FrontDoor": "cloudfront", "OriginKeyParameter": "/a", "PreviousOriginKeyParameter": "/a"}, "PreviousOriginKeysNeedANewOne"),
    (MODEL | {"ExistingBackupVault": "chat"}, "BackupVaultsNeedBackups"),
    (MODEL | {"FrontDoor": "rest", "BufferedApi": "true"}, "NothingLeadsAroundAFrontDoor"),
    (MODEL | {"SubnetIds": "subnet-1", "SecurityGroupIds": "sg-1"}, "NetworksNeedARestApi"),
    (MODEL | {"FrontDoor": "rest", "SubnetIds": "subnet-1"}, "NetworksNeedARestApi"),
    (MODEL | {"FrontDoor": "rest", "SubnetIds": "subnet-1, subnet-2", "SecurityGroupIds": "sg-1"}, "SubnetIds"),
    (MODEL | {"TotalDailyCost": "0"}, "TotalDailyCost"),
    (MODEL | {"UserDailyCost": "0.00"}, "UserDailyCost"),
    (MODEL | {"ReservedConcurrency": "many"}, "ReservedConcurrency"),
    (MODEL | {"AlarmEmail": "ann"}, "AlarmEmail"),
    (MODEL | {"ExistingDataTable": "a/b"}, "ExistingDataTable"),
    (MODEL | {"MaxTableUnits": "0"}, "MaxTableUnits"),
]


def rejections(template, given):
    """The rules and the parameters that reject these parameters."""
    values = {name: str(one.get("Default", "")) for name, one in template["Parameters"].items()} | given
    for name, parameter in template["Parameters"].items():
        if not re.search(parameter.get("AllowedPattern", ""), values[name]) or values[name] not in map(str, parameter.get("AllowedValues", [values[name]])):
            yield name
    for name, rule in template["Rules"].items():
        if holds(rule.get("RuleCondition", True), values) and not all(holds(one["Assert"], values) for one in rule["Assertions"]):
            yield name


def holds(condition, values):
    if condition is True:
        return True
    ((kind, of),) = condition.items()
    if kind == "Fn::Equals":
        left, right = (value_of(one, values) for one in of)
        return left == right
    if kind == "Fn::Contains":
        return value_of(of[1], values) in of[0]
    inner = [holds(one, values) for one in of]
    return {"Fn::Not": not inner[0], "Fn::And": all(inner), "Fn::Or": any(inner)}[kind]


def value_of(one, values):
    return values[one["Ref"]] if isinstance(one, dict) else one


def assertions(template, _calls):
    for given in ACCEPTED:
        for name in rejections(template.written, given):
            yield f"{name} rejects {given}"
    for given, wanted in REJECTED:
        if list(rejections(template.written, given)) != [wanted]:
            yield f"{given} is rejected by {list(rejections(template.written, given))}, not by {wanted}"
    tried = {name for _, name in REJECTED}
    for name in set(template.written["Rules"]) - tried - set(COMPARED):
        yield f"nothing tries the rule {name}"


# Rules that verification.py and deployment.py compare as they are written.
COMPARED = ["ChecksNeedAKey", "FirewallsNeedADoor"]
RULES = [assertions]
