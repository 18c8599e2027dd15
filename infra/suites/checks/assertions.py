"""Which parameters CloudFormation accepts before it creates anything: the template's Rules and the constraints of parameters."""

import re

MODEL = {"ArkModel": "m", "ArkApiKeyParameter": "/chat/ark"}
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-4000-8000-000000000000"
LAYER = "arn:aws:lambda:eu-west-1:123456789012:layer:documents:1"
# The rule with what only a full function can do.
FULL_ONLY = "DocumentsAndArticlesNeedTheFullFunction"
PROFILE = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/0123456789ab"

# Parameters of stacks that are accepted.
ACCEPTED = [
    MODEL,
    {"BedrockModel": "global.amazon.nova-2-lite-v1:0", "DefaultModel": "bedrock"},
    {"BedrockModel": PROFILE, "BedrockArns": f"{PROFILE},arn:aws:bedrock:*::foundation-model/amazon.nova-2-lite-v1:0,arn:aws:bedrock-mantle:eu-west-1:123456789012:project/*"},
    {"OpenaiModel": "m", "OpenaiApiKeySecret": "chat/openai", "DefaultModel": "openai"},
    {"OpenaiModel": "m", "OpenaiBaseUrl": "https://models.example.com/v1"},
    {"OllamaModel": "m", "OllamaApiUrl": "http://10.0.0.7:11434", "AllowPrivateUpstreams": "yes", "DefaultModel": "local"},
    {"Models": '[{"name":"volcano","model":"m","baseUrl":"https://models.example.com/v1"}]', "DefaultModel": "volcano"},
    {"Models": '[{"name":"claude","model":"m","apiKeyParameter":"/chat/models/claude"}]', "ModelKeysUnder": "/chat/models/"},
    MODEL | {"FrontDoor": "rest", "DomainName": "chat.example.com", "CertificateArn": CERTIFICATE, "HostedZoneId": "Z1"},
    MODEL | {"FrontDoor": "rest", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"},
    MODEL | {"CheckKeyParameter": "/chat/check", "ReservedConcurrency": "2"},
    MODEL | {"FrontDoor": "cloudfront", "OriginKeyParameter": "/chat/origin-2", "PreviousOriginKeyParameter": "/chat/origin"},
    MODEL | {"BackupDays": "90"},
    MODEL | {"BackupDays": "90", "ExistingBackupVault": "chat"},
    MODEL | {"MaskResults": "yes", "Mask": "all"},
    MODEL | {"MaskAnswers": "yes", "Mask": "all"},
    MODEL | {"Function": "full", "ArticlesVectorBucket": "chat-vectors", "EmbeddingsModel": "m", "EmbeddingsApiKeySecret": "chat/embeddings"},
    MODEL | {"Function": "full", "DocumentsBucket": "lambda-chat-documents-1", "DocumentsPrefix": "team/handbook/", "DocumentsHidden": "yes"},
    MODEL | {"Function": "full", "DocumentsDir": "/opt/documents", "DocumentsLayer": LAYER, "Articles": "yes", "DocumentGroups": '{"legal/":["legal"]}'},
    MODEL | {"EmbeddingsModel": "m", "EmbeddingsBaseUrl": "https://models.example.com/v1", "EmbeddingsApiKeyParameter": "/chat/embeddings", "Articles": "no"},
    MODEL | {"AttachmentsBucket": "lambda-chat-attachments-1"},
    MODEL | {"SystemPromptParameter": "/chat/prompt"},
    MODEL | {"OtlpEndpoint": "https://xray.eu-west-1.amazonaws.com"},
    MODEL | {"Auth": "jwt", "AuthJwtIssuer": "https://id.example.com/", "AuthJwtAudience": "chat"},
    MODEL | {"AzureTenantId": "contoso.example", "AzureClientId": "00000000-0000-4000-8000-000000000000", "AzureClientSecretParameter": "/chat/azure"},
    MODEL | {"SearchProvider": "aws", "SearchRegion": "us-east-1"},
    MODEL | {"SearchProvider": "tavily,aws", "TavilyApiKeySecret": "chat/tavily"},
    MODEL | {"Auth": "jwt", "AuthJwtIssuer": "https://id.example.com", "AuthJwtAudience": "chat", "AuthJwtAdminClaim": "cognito:groups", "AuthJwtAdminValue": "Chat 管理员", "AuthJwtGroupsClaim": "https://chat.example.com/groups"},
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
    (MODEL | {"DefaultModel": "bedrock"}, "BedrockIsConfigured"),
    ({"BedrockModel": "arn:aws:bedrock:*"}, "BedrockModel"),
    (MODEL | {"BedrockArns": "*"}, "BedrockArns"),
    (MODEL | {"BedrockArns": "arn:aws:s3:::a/b"}, "BedrockArns"),
    (MODEL | {"BedrockArns": f"{PROFILE},"}, "BedrockArns"),
    (MODEL | {"DefaultModel": "openai"}, "OpenaiIsConfigured"),
    (MODEL | {"DefaultModel": "local"}, "LocalIsConfigured"),
    (MODEL | {"ModelKeysUnder": "/chat/models/"}, "ModelKeysNeedRows"),
    ({"Models": "[]", "ModelKeysUnder": "/chat/models"}, "ModelKeysUnder"),
    (MODEL | {"MaskResults": "yes"}, "MaskedResultsNeedKinds"),
    (MODEL | {"MaskAnswers": "yes"}, "MaskedAnswersNeedKinds"),
    (MODEL | {"EmbeddingsModel": "m", "Articles": "no", "EmbeddingsApiKeyParameter": "/a", "EmbeddingsApiKeySecret": "a"}, "KeysHaveOnePlace"),
    (MODEL | {"SystemPrompt": "a", "SystemPromptParameter": "/a"}, "KeysHaveOnePlace"),
    (MODEL | {"DocumentsDir": "/opt/documents"}, FULL_ONLY),
    (MODEL | {"DocumentsBucket": "lambda-chat-documents-1"}, FULL_ONLY),
    (MODEL | {"Articles": "yes"}, FULL_ONLY),
    (MODEL | {"EmbeddingsModel": "m"}, FULL_ONLY),
    (MODEL | {"EmbeddingsModel": "m", "Articles": "no", "ArticlesVectorBucket": "chat-vectors"}, FULL_ONLY),
    (MODEL | {"Function": "full", "DocumentsDir": "/opt/documents", "DocumentsBucket": "lambda-chat-documents-1"}, "DocumentsHaveOnePlace"),
    (MODEL | {"Function": "full", "DocumentsDir": "/opt/documents", "DocumentsPrefix": "team/"}, "PrefixesNeedABucket"),
    (MODEL | {"AttachmentsBucket": "chat.attachments"}, "AttachmentsBucket"),
    (MODEL | {"AttachmentsBucket": "arn:aws:s3:::chat"}, "AttachmentsBucket"),
    (MODEL | {"DocumentsHidden": "yes"}, "HiddenDocumentsNeedDocuments"),
    (MODEL | {"DocumentGroups": '{"legal/":["legal"]}'}, "GroupsOfDocumentsNeedDocuments"),
    (MODEL | {"SearchRegion": "us-east-1", "SearchProvider": "tavily", "TavilyApiKeyParameter": "/a"}, "SearchRegionsNeedAwsSearch"),
    (MODEL | {"EmbeddingsApiKeyParameter": "/a"}, "EmbeddingsNeedAModel"),
    (MODEL | {"EmbeddingsBaseUrl": "https://models.example.com/v1"}, "EmbeddingsNeedAModel"),
    (MODEL | {"OllamaApiUrl": "http://10.0.0.7:11434"}, "OllamaNeedsAModel"),
    (MODEL | {"AzureTenantId": "contoso.example", "AzureClientId": "a"}, "ApplicationsOfAzureAreWhole"),
    (MODEL | {"AzureClientSecretParameter": "/a"}, "ApplicationsOfAzureAreWhole"),
    (MODEL | {"AuthJwtIssuer": "https://id.example.com/"}, "IssuersNeedTokens"),
    (MODEL | {"CertificateArn": CERTIFICATE, "FrontDoor": "cloudfront"}, "CertificatesNeedADomain"),
    (MODEL | {"SecurityGroupIds": "sg-1", "FrontDoor": "rest"}, "SecurityGroupsNeedANetwork"),
    (MODEL | {"Function": "full", "ArticlesVectorBucket": "chat-vectors"}, "VectorsNeedEmbeddings"),
    (MODEL | {"SearchProvider": "tavily"}, "TavilyNeedsAKey"),
    (MODEL | {"SearchProvider": "aws,tavily"}, "TavilyNeedsAKey"),
    (MODEL | {"SearchProvider": "bing"}, "SearchProvider"),
    (MODEL | {"SearchProvider": "aws", "SearchRegion": "us.east"}, "SearchRegion"),
    ({"OpenaiModel": "m", "OpenaiBaseUrl": "https://a.example", "DefaultModel": "volcano"}, "VolcanoIsConfigured"),
    (MODEL | {"Auth": "jwt"}, "TokensNeedAnIssuer"),
    (MODEL | {"AuthJwtAdminClaim": "my claim"}, "AuthJwtAdminClaim"),
    (MODEL | {"AuthJwtGroupsClaim": "my groups"}, "AuthJwtGroupsClaim"),
    (MODEL | {"CheckKeyParameter": "/chat/check", "ReservedConcurrency": "1"}, "ChecksNeedInstances"),
    (MODEL | {"DomainName": "chat.example.com", "CertificateArn": CERTIFICATE}, "DomainsNeedACertificate"),
    (MODEL | {"DomainName": "chat.example.com", "FrontDoor": "rest"}, "DomainsNeedACertificate"),
    (MODEL | {"HostedZoneId": "Z1"}, "ZonesNeedADomain"),
    (MODEL | {"OtlpHeadersParameter": "/chat/otlp"}, "SpansNeedACollector"),
    (MODEL | {"OtlpCaptureContent": "yes"}, "SpansNeedACollector"),
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
