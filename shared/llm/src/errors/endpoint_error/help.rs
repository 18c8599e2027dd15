//! What the operator can do about an error, in sentences that contain nothing of the endpoint.

/// Parts of the codes and messages, in lower case, which must all occur, with the sentence; the first match wins.
const HELP: &[(&[&str], &str)] = &[
    // https://github.com/strands-agents/harness-sdk/issues/38, 2026-11-26.
    (
        &["on-demand throughput"],
        "the model exists only in inference profiles: put us., eu., apac. or global. before its id, as the region \
         requires, or give the ARN of a profile",
    ),
    // Recorded answer in pydantic/pydantic-ai, 2026-11-26.
    (
        &["model identifier is invalid"],
        "Bedrock has no such model or inference profile in this region: compare the id and the region with its console",
    ),
    // Recorded answer in 0xPlaygrounds/rig, 2026-11-26.
    (&["end of its life"], "the model was retired: give the id of a later one"),
    // https://github.com/aws-samples/sample-host-openclaw-on-amazon-bedrock-agentcore/issues/41, 2026-11-26.
    (
        &["aws-marketplace"],
        "the account has not subscribed to the model: open it once in Bedrock's console with a role that may call \
         aws-marketplace:Subscribe, and wait a few minutes",
    ),
    // https://github.com/dirkpetersen/our-chat/issues/3, 2026-11-26.
    (
        &["have access to the model"],
        "the account has no access to the model: request it in Bedrock's console, in this region",
    ),
    // https://github.com/BerriAI/litellm/pull/39210, 2026-11-26.
    (&["did not allow prompt caching"], "the model takes no cache points: they are left out from now on"),
    // IAM of Converse: https://docs.aws.amazon.com/bedrock/latest/userguide/inference.html, 2026-11-26.
    (
        &["accessdenied"],
        "the role may not call the model: allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream on it, \
         and for an inference profile on the profile and on the model in each of its regions",
    ),
    // Written from memory, 2026-11-26.
    (&["operation not allowed"], "the account may not use this model yet: request access in Bedrock's console"),
    // Recorded answer in crmne/ruby_llm, 2026-11-26.
    (
        &["unrecognizedclient"],
        "AWS does not know these credentials: compare the role, or AWS_ACCESS_KEY_ID and its session token",
    ),
    // Known to botocore 1.44.8 as a code of expired credentials, 2026-11-26.
    (&["expiredtoken"], "the AWS credentials have run out, and no newer ones were found"),
    // Written from memory, 2026-11-26.
    (&["invalidsignature"], "AWS computed another signature: compare the clock, AWS_SECRET_ACCESS_KEY and the region"),
    // Service model of botocore 1.44.8, 2026-11-26.
    (&["servicequota"], "a quota of the AWS account is too low: request more in Service Quotas"),
    (&["modelnotready"], "an imported model is being loaded: it takes some minutes after a pause"),
    // https://github.com/minorun365/agent-book/issues/29, 2026-11-26.
    (
        &["tokens per day"],
        "the daily tokens of the account are used up: request more in Service Quotas, or set a \"fallback\"",
    ),
    // https://github.com/RooCodeInc/Roo-Code/issues/5050, 2026-11-26.
    (
        &["throttling"],
        "the account's rate for this model is used up: use an inference profile of several regions, set a \
         \"fallback\", or request more in Service Quotas",
    ),
    // Written from memory, 2026-11-26.
    (
        &["use case details have not been submitted"],
        "Anthropic requires a form on the use case, once for each account: open the model in Bedrock's console",
    ),
    // https://github.com/RooCodeInc/Roo-Code/issues/248, 2026-11-26.
    (&["maximum tokens you requested exceed"], "\"maxTokens\" in MODEL_OPTIONS is more than the model can write"),
    // https://github.com/BerriAI/litellm/pull/29490, 2026-11-26.
    (
        &["does not support the", "/responses' api"],
        "the model has no Responses API: set \"wire\": \"openai\" in its row of MODELS",
    ),
    // Recorded answer in openllmetry, 2026-11-26.
    (
        &["deploymentnotfound"],
        "Azure has no such deployment: \"model\" is the name of the deployment, not of the model",
    ),
    // Written from memory, 2026-11-26.
    (
        &["authenticationtypedisabled"],
        "the Azure resource takes no keys: set AZURE_TENANT_ID and AZURE_CLIENT_ID for tokens of Entra ID",
    ),
    (
        &["lacks the required data action"],
        "the identity may not call the model: give it the role Cognitive Services OpenAI User on the Azure resource",
    ),
    // https://github.com/Azure-Samples/azure-search-openai-demo/issues/458, 2026-11-26.
    (
        &["audience is incorrect"],
        "Azure did not accept the token of Entra ID: compare AZURE_TENANT_ID and AZURE_CLIENT_ID",
    ),
    // Written from memory, 2026-11-26.
    (&["service_disabled"], "the API is disabled in the Google Cloud project: enable aiplatform.googleapis.com there"),
    // https://github.com/rhel-lightspeed/linux-mcp-server/pull/450, 2026-11-26.
    (
        &["aiplatform.", "denied on resource"],
        "the Google account may not call the model: give it the role roles/aiplatform.user in the project",
    ),
    // Recorded answer in open-telemetry/opentelemetry-python-contrib, 2026-11-26.
    (
        &["publisher model", "not found"],
        "Vertex AI has no such model at this location: compare the id and the location",
    ),
];

/// Returns the sentence for an error with these codes and this text in lower case.
pub(super) fn of(codes: &[String], text: &str) -> Option<&'static str> {
    let all = format!("{}{text}", codes.join("\n").to_lowercase());
    HELP.iter().find(|(parts, _)| parts.iter().all(|part| all.contains(part))).map(|(_, help)| *help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_help_is_found_by_its_parts() {
        for (parts, help) in HELP {
            assert_eq!(of(&[parts[0].to_uppercase()], &parts[1..].join("\n")), Some(*help), "{parts:?}");
        }
        assert_eq!(of(&[], "no such words"), None);
    }
}
