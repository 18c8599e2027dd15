"""Starts the function with an example of every parameter of the template: what CloudFormation accepts, the function must accept.

Usage: examples.py FOLDER PROGRAM: a writable folder, and the function with documents and articles.
An invalid setting makes a function answer every request with 503.
"""

import json
import logging
import re
import sys
from pathlib import Path

import assertions
import profiles
import source
from samtranslator.yaml_helper import yaml_parse
from start_function import event, start

MODEL = assertions.MODEL
# Examples of parameters that the parameter files, the profiles and the accepted stacks do not have.
OTHERS = [
    MODEL | {"AllowedOrigins": "https://chat.example.com,https://intranet.example.com"},
    {"ArkModel": "m", "ArkApiKeySecret": "chat/ark"},
    MODEL | {"ArkBaseUrl": "https://ark.example.com/api/v3", "AllowPrivateUpstreams": "yes"},
    MODEL | {"Auth": "jwt", "AuthJwtIssuer": "https://id.example.com", "AuthJwtAudience": "chat", "AuthJwtJwksUrl": "https://id.example.com/keys", "AuthJwtClientId": "page", "AuthJwtScope": "openid profile", "AuthJwtTokenUrl": "https://token.example.com/oauth2/token", "AuthJwtAdminClaim": "cognito:groups", "AuthJwtAdminValue": "chat-admins", "AuthJwtNameClaim": "email", "AuthJwtGroupsClaim": "cognito:groups"},
    {"OllamaModel": "qwen3:8b", "OllamaApiUrl": "http://10.0.0.7:11434", "AllowPrivateUpstreams": "yes", "OllamaMaxContextTokens": "32768"},
    {"Models": '[{"name":"vertex","model":"gemini-3-flash","provider":"vertex","baseUrl":"https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"}]', "GoogleCredentialsFile": "/opt/google.json"},
    MODEL | {"ModelOptions": '{"volcano":{"thinking":"off"}}', "PromptLanguage": "zh", "TimeZone": "Asia/Shanghai", "ToolSecretsUnder": "/lambda-chat/tools/"},
    MODEL | {"Mask": "email,phone", "MaskPatterns": '[{"name":"employee","pattern":"E[0-9]{6}"}]', "MaskResults": "yes", "MaskAnswers": "yes"},
    MODEL | {"TavilyApiKeyParameter": "/lambda-chat/tavily", "TavilyBaseUrl": "https://search.example.com", "SearchCacheTtlSeconds": "60", "TavilyMonthlyCredits": "1000", "TavilyDailyCredits": "100"},
    MODEL | {"ChatRateLimit": "40/60s", "SearchRateLimit": "5/60s", "MaxToolRounds": "5", "HistoryTokens": "8000", "SummariseHistory": "yes", "TitleModel": "none", "TurnSeconds": "120"},
    MODEL | {"UserDailyTokens": "100000", "UserDailySearches": "50", "TotalDailyTokens": "1000000", "TotalDailySearches": "500", "GroupBudgets": '{"sales":{"dailyTokens":2000000}}'},
    MODEL | {"ModelFirstByteSeconds": "60", "ModelIdleSeconds": "60", "ModelProgressSeconds": "120", "LogLevel": "warn"},
    MODEL | {"OtlpEndpoint": "https://xray.eu-west-1.amazonaws.com"},
    MODEL | {"OtlpEndpoint": "https://cloud.langfuse.com/api/public/otel", "OtlpHeadersParameter": "/lambda-chat/otlp", "OtlpCaptureContent": "yes"},
    MODEL | {"DynamodbEndpoint": "https://dynamodb.eu-west-1.amazonaws.com", "ExistingDataTable": "lambda-chat-restored"},
    MODEL | {"AttachmentsBucket": "lambda-chat-attachments-1"},
    MODEL | {"Function": "full", "EmbeddingsModel": "text-embedding-3-small", "EmbeddingsApiKeyParameter": "/lambda-chat/embeddings", "EmbeddingsBaseUrl": "https://models.example.com/v1", "ArticlesVectorBucket": "lambda-chat-vectors-1", "ArticlesVectorIndex": "handbook"},
]
# What no parameter sets.
OWN = {"EPHEMERAL_TABLE"}
# The file of a layer, with what Google's documents call a configuration of credentials.
GOOGLE = {"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/a", "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request", "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"}}


def files():
    """Each line of the files of examples, in their comments too, with a model."""
    text = re.sub(r"^# (?=[A-Z]\w+: )", "", (source.ROOT / "parameters.example.yaml").read_text(), flags=re.MULTILINE)
    lines = json.loads((source.ROOT / "parameters.example.json").read_text())
    of_json = dict(line.removeprefix("#").split("=", 1) for line in lines if not line.startswith("#="))
    for values in (yaml_parse(text), of_json):
        yield values


def variables(template, given):
    """The variables of the function for callers in a stack with these parameters."""
    decided = profiles.decided(json.loads(json.dumps(template)), given)
    values = {name: str(one["Default"]) for name, one in decided["Parameters"].items()}

    def text(value):
        if not isinstance(value, dict):
            return str(value)
        if "Ref" in value:
            return values.get(value["Ref"], value["Ref"])
        return re.sub(r"\$\{([\w.]+)\}", lambda name: values.get(name[1], "https://resource.example.com/"), value["Fn::Sub"])

    given = decided["Resources"]["ChatFunction"]["Properties"]["Environment"]["Variables"]
    return {name: text(value) for name, value in given.items()}


def main():
    logging.disable()  # the translator logs its own metrics
    folder, program = Path(sys.argv[1]).resolve(), sys.argv[2]
    (folder / "opt/documents").mkdir(parents=True, exist_ok=True)
    (folder / "opt/google.json").write_text(json.dumps(GOOGLE))
    written = yaml_parse((source.ROOT / "template.yaml").read_text())
    template = profiles.transformed((source.ROOT / "template.yaml").read_text(), {})
    plain, found, tried = variables(template, {}), [], set()
    stacks = [*files(), *OTHERS, *assertions.ACCEPTED, *({**MODEL, **one} for one in profiles.PROFILES.values())]
    for given in stacks:
        rejected = list(assertions.rejections(written, given))
        if rejected:
            found.append(f"{rejected} rejects the example {given}")
            continue
        own = variables(template, given)
        tried |= {name for name, value in own.items() if value != plain[name]}
        own = {name: value.replace("/opt/", f"{folder}/opt/") if name in ("DOCUMENTS_DIR", "GOOGLE_APPLICATION_CREDENTIALS") else value for name, value in own.items()}
        # The key of a front door cannot be read here, and without it nothing is served.
        status = 403 if own["ORIGIN_KEY_PARAMETER"] else 200
        found += [f"with {given}: {fault}" for fault in start([program], own, [(event("GET", "/healthz"), status, b'"version"' if status == 200 else b"forbidden")])]
    for name in sorted(set(plain) - tried - OWN):
        found.append(f"no example changes {name}: add one of its parameter to OTHERS")
    for fault in found:
        print(f"  {fault}")
    if found:
        sys.exit(1)
    print(f"  ok: the function starts with the parameters of {len(stacks)} stacks, which set each of {len(plain)} variables")


main()
