"""Rules for the resources around the functions: front doors, permissions to invoke, versions, alarms."""

import json
import re

PUBLIC = ["lambda:InvokeFunction", "lambda:InvokeFunctionUrl"]
OPEN_URL = {"Fn::If": ["HasOpenUrl", "NONE", "AWS_IAM"]}
# When everyone reaches the function's URL, and when CloudFront alone: with a key the function rejects what lacks it.
CLOUDFRONT = {"Fn::Equals": [{"Ref": "FrontDoor"}, "cloudfront"]}
NO_KEY = {"Fn::Equals": [{"Ref": "OriginKeyParameter"}, ""]}
URL_CONDITIONS = {
    "HasOwnUrl": {"Fn::Equals": [{"Ref": "FrontDoor"}, "url"]},
    "HasCloudFront": CLOUDFRONT,
    "HasOriginKey": {"Fn::And": [{"Condition": "HasCloudFront"}, {"Fn::Not": [NO_KEY]}]},
    "HasSignedOrigin": {"Fn::And": [{"Condition": "HasCloudFront"}, NO_KEY]},
    "HasOpenUrl": {"Fn::Or": [{"Condition": "HasOwnUrl"}, {"Condition": "HasOriginKey"}]},
}
SIGNED = {"Fn::If": ["HasSignedOrigin", {"Fn::GetAtt": ["OriginAccess", "Id"]}, {"Ref": "AWS::NoValue"}]}
SENT_KEY = [{"HeaderName": "x-origin-key", "HeaderValue": {"Fn::Sub": "{{resolve:ssm:${OriginKeyParameter}}}"}}]
KEYED = {"Fn::If": ["HasOriginKey", SENT_KEY, {"Ref": "AWS::NoValue"}]}
NOTIFIED = [
    {"Fn::If": ["HasAlarmEmail", {"Ref": "AlarmTopic"}, {"Ref": "AWS::NoValue"}]},
    {"Fn::If": ["HasAlarmTopic", {"Ref": "AlarmTopicArn"}, {"Ref": "AWS::NoValue"}]},
]
# What versions contain besides variables.
CONFIGURATION = [{"Ref": "Architecture"}, {"Ref": "SubnetIds"}, {"Ref": "SecurityGroupIds"}]
# A dimension with the number of the published version.
OF_THE_VERSION = re.compile(r'"(Executed)?Version", "Value": \{"Fn::GetAtt": \["ChatFunctionVersion')
# Settings that the description of a function's version contains instead of the settings version.
IN_THE_DESCRIPTION = [{"Ref": "MemorySize"}, {"Fn::If": ["HasCloudFront", "x-viewer-address", ""]}]


def addresses(template, _calls):
    urls = template.of_type("AWS::Lambda::Url")
    if set(urls) != {"ChatFunctionUrl", "CheckModelFunctionUrl"}:
        yield f"there are other URLs than known: {sorted(urls)}"
    if urls.get("ChatFunctionUrl", {}).get("Condition") != "HasUrl":
        yield "a REST API needs a function URL, which some regions lack"
    urls.pop("CheckModelFunctionUrl", None)
    for name, url in urls.items():
        properties = url["Properties"]
        if properties.get("InvokeMode") != "RESPONSE_STREAM":
            yield f"{name} does not stream"
        if "Cors" in properties:
            yield f"{name} adds CORS headers to those of the function"
        if not json.dumps(properties["TargetFunctionArn"]).endswith('Aliaslive"}'):
            yield f"{name} is not the alias's"
        if properties["AuthType"] != (OPEN_URL if name == "ChatFunctionUrl" else "NONE"):
            yield f"{name} is open behind another front door"
    conditions = template.written["Conditions"]
    if {name: conditions.get(name) for name in URL_CONDITIONS} != URL_CONDITIONS:
        yield "the URL is open behind CloudFront without a key"
    for name in template.chats():
        if template.environment(name).get("ORIGIN_KEY_PARAMETER") != {"Ref": "OriginKeyParameter"}:
            yield f"{name} does not require the key that CloudFront sends"
        if template.environment(name).get("AUTH") != {"Ref": "Auth"}:
            yield f"{name} is public and does not ask who is calling"
    if template.parameters.get("Auth", {}).get("Default") not in ("api_key", "jwt"):
        yield "by default nobody is asked who is calling"


def ways_around(template, _calls):
    """Rules that CloudFormation itself checks before it creates anything."""
    rules = template.written.get("Rules", {})
    if "AuthJwtIssuer" not in json.dumps(rules):
        yield "tokens may be switched on without an issuer"
    around = rules.get("NothingLeadsAroundAFrontDoor", {})
    closed = [one["Assert"] for one in around.get("Assertions", [])]
    wanted = [{"Fn::Equals": [{"Ref": "BufferedApi"}, "false"]}]
    if closed != wanted or around.get("RuleCondition") != {"Fn::Not": [{"Fn::Equals": [{"Ref": "FrontDoor"}, "url"]}]}:
        yield "another address leads around the front door"
    if template.environment("ChatFunction").get("SOURCE_IP_HEADER") != IN_THE_DESCRIPTION[1]:
        yield "anybody may say where a request came from"
    for name in set(template.functions()) - {"ChatFunction"}:
        if "SOURCE_IP_HEADER" in template.environment(name):
            yield f"{name} believes anybody who says where a request came from"


def callers(template, _calls):
    """Who may invoke the function: the public only by a URL, services only for this account's resources."""
    alias, given = {"Ref": "ChatFunctionAliaslive"}, {}
    for name, permission in template.of_type("AWS::Lambda::Permission").items():
        one, condition = permission["Properties"], permission.get("Condition")
        if not condition:
            yield f"{name} holds behind every front door"
        if one["Principal"] != "*" and "SourceArn" not in one:
            yield f"{name} lets {one['Principal']} of every account in"
        if one["Action"] == PUBLIC[0] and one["Principal"] != "apigateway.amazonaws.com" and not one.get("InvokedViaFunctionUrl"):
            yield f"{name} lets {one['Principal']} invoke around the URL"
        if one["FunctionName"] == alias:
            given.setdefault((condition, one["Principal"]), []).append(one["Action"])
    wanted = {
        ("HasOpenUrl", "*"): PUBLIC,
        ("HasSignedOrigin", "cloudfront.amazonaws.com"): PUBLIC,
        ("HasRestApi", "apigateway.amazonaws.com"): PUBLIC[:1],
    }
    if {who: sorted(actions) for who, actions in given.items()} != wanted:
        yield f"the alias may be called by others than the front doors: {given}"


def doors(template, _calls):
    distribution = template.properties("Distribution")["DistributionConfig"]
    behaviour, origin = distribution["DefaultCacheBehavior"], distribution["Origins"][0]
    if behaviour["Compress"] or behaviour["ViewerProtocolPolicy"] != "redirect-to-https":
        yield "CloudFront holds streams back, or speaks without TLS"
    if origin.get("OriginAccessControlId") != SIGNED or origin.get("OriginCustomHeaders") != KEYED:
        yield "CloudFront neither signs what it sends nor adds the key"
    if not behaviour.get("FunctionAssociations"):
        yield "a client may write the header that says where a request came from"
    if "WebACLId" not in distribution:
        yield "CloudFront takes no firewall"
    api = template.properties("RestApi")
    if api.get("EndpointConfiguration") != {"Types": ["REGIONAL"]}:
        yield "an edge endpoint cuts a stream that is silent for 30 seconds"
    for path in ("/", "/{proxy+}"):
        integration = api["Body"]["paths"][path]["x-amazon-apigateway-any-method"]["x-amazon-apigateway-integration"]
        streams = "/2021-11-15/" in json.dumps(integration["uri"]) and integration.get("responseTransferMode") == "STREAM"
        if not streams or integration.get("timeoutInMillis") != 900000:
            yield f"the REST API does not stream {path}"


def versions(template, _calls):
    """Callers use an alias, so a changed setting must publish a new version."""
    kept = template.properties("SettingsVersion")["Content"]["Fn::Join"][1]
    for name in ("ChatFunction",):
        variables = [value for key, value in template.environment(name).items() if key != "SOURCE_IP_HEADER"]
        for value in variables + CONFIGURATION:
            if value not in kept:
                yield f"a change of {value} does not reach {name}'s callers"
        for value in kept:
            if value not in variables + CONFIGURATION:
                yield f"a change of {value} asks for a version of {name} that has not changed"
        if "${Release}" not in json.dumps(template.properties(name)["Description"]):
            yield f"{name} publishes no version again that was rolled back"
    published = template.of_type("AWS::Lambda::Version")
    for name, version in published.items():
        description = json.dumps(version["Properties"].get("Description", ""))
        if "${SettingsVersion.VersionNumber}" not in description:
            yield f"{name} does not follow the settings"
        if "${Release}" not in description:
            yield f"{name} does not follow the release"
        if name.startswith("ChatFunction"):
            if "${MemorySize}" not in description or "HasCloudFront" not in description:
                yield f"{name} does not follow its own settings"
            if (version.get("DeletionPolicy"), version.get("UpdateReplacePolicy")) != ("Retain", "Retain"):
                yield f"{name} does not stay for a way back"
    if len(published) != 1:
        yield f"versions are published of {sorted(published)}"


def canary(template, _calls):
    alarms = template.of_type("AWS::CloudWatch::Alarm")
    groups = template.of_type("AWS::CodeDeploy::DeploymentGroup")
    if set(groups) != {"ChatFunctionDeploymentGroup"}:
        yield "new versions take all calls at once"
    for group in groups.values():
        watched = group["Properties"].get("AlarmConfiguration", {})
        names = {one["Name"].get("Ref") for one in watched.get("Alarms", [])}
        if not watched.get("Enabled") or names != {"NewVersionErrors", "NewVersionTooSlow", "NewVersionFaults"}:
            yield f"a new version is watched by {sorted(names)}"
        if group["Properties"].get("ServiceRoleArn") != {"Fn::GetAtt": ["DeploymentRole", "Arn"]}:
            yield "CodeDeploy has a role that nobody here wrote"
    if template.parameters["Deployment"]["Default"] != "Canary10Percent5Minutes":
        yield "by default a new version is not tried by a tenth of the calls for five minutes"
    for name, alarm in alarms.items():
        properties = alarm["Properties"]
        # A period without searches gives no new information about a budget: `ignore` keeps the alarm's state.
        wanted = "ignore" if name == "SearchCreditsLow" else "notBreaching"
        if properties.get("TreatMissingData") != wanted:
            yield f"{name} takes a time without calls for something else"
        if properties.get("AlarmActions") != NOTIFIED:
            yield f"{name} notifies {properties.get('AlarmActions')}"
        if name.startswith("NewVersion") and not OF_THE_VERSION.search(json.dumps(properties)):
            yield f"{name} looks at the old version, too"


RULES = [addresses, ways_around, callers, doors, versions, canary]
