//! The table of refusals: which status, code and message of which provider means what.
//!
//! The provider of a row names the source of its text and is not compared: gateways relay the errors of others. Each row
//! has a case in `fixtures/refusals.jsonl`, with the source of its text and the date.

use super::error_kind::ErrorKind;

/// One row of the table.
pub(super) struct Refusal {
    /// The HTTP statuses, or those inside a stream; empty for any.
    statuses: &'static [u16],
    pattern: Pattern,
    kind: ErrorKind,
}

enum Pattern {
    /// A code or a type, compared as a whole and ignoring case.
    Code(&'static str),
    /// A part of a code with many variants, in lower case.
    CodePart(&'static str),
    /// Parts of the message, in lower case, which must all occur.
    Text(&'static [&'static str]),
}

/// The statuses of refused requests, and those that a few servers send instead.
const REFUSED: &[u16] = &[400, 403, 404, 412, 413, 422, 451, 500, 501];

const TOO_MANY: &[u16] = &[429];

const fn code(code: &'static str, kind: ErrorKind) -> Refusal {
    Refusal { statuses: &[], pattern: Pattern::Code(code), kind }
}

const fn code_part(part: &'static str, kind: ErrorKind) -> Refusal {
    Refusal { statuses: &[], pattern: Pattern::CodePart(part), kind }
}

const fn text(parts: &'static [&'static str], kind: ErrorKind) -> Refusal {
    Refusal { statuses: REFUSED, pattern: Pattern::Text(parts), kind }
}

const fn limit(parts: &'static [&'static str], kind: ErrorKind) -> Refusal {
    Refusal { statuses: TOO_MANY, pattern: Pattern::Text(parts), kind }
}

/// The first match wins: codes come before messages, and narrow messages before wide ones.
pub(super) const REFUSALS: &[Refusal] = &[
    // OpenAI, Azure
    code("insufficient_quota", ErrorKind::Quota),
    code("billing_hard_limit_reached", ErrorKind::Quota),
    code("content_filter", ErrorKind::Content),
    code("content_policy_violation", ErrorKind::Content),
    code("ResponsibleAIPolicyViolation", ErrorKind::Content),
    code("context_length_exceeded", ErrorKind::Context),
    code("string_above_max_length", ErrorKind::Context),
    code("invalid_function_parameters", ErrorKind::ToolSchema),
    code("unsupported_api_for_model", ErrorKind::ChatCompletions),
    text(&["chat/completions", "v1/responses"], ErrorKind::ChatCompletions),
    text(&["not a chat model"], ErrorKind::ChatCompletions),
    code("invalid_encrypted_content", ErrorKind::ReasoningEcho),
    text(&["provided without its required"], ErrorKind::ReasoningEcho),
    text(&["items are not persisted"], ErrorKind::ReasoningEcho),
    text(&["encrypted content", "not supported"], ErrorKind::EncryptedReasoning),
    text(&["encrypted_content"], ErrorKind::EncryptedReasoning),
    text(&["'include'"], ErrorKind::EncryptedReasoning),
    text(&["verified", "reasoning summar"], ErrorKind::ReasoningSummary),
    text(&["reasoning.summary"], ErrorKind::ReasoningSummary),
    text(&["verified to stream"], ErrorKind::Stream),
    text(&["'stream' does not support"], ErrorKind::Stream),
    limit(&["request too large for"], ErrorKind::Context),
    text(&["prompt was flagged"], ErrorKind::Content),
    // Ark
    code("AccountOverdueError", ErrorKind::Quota),
    code("QuotaExceeded", ErrorKind::Quota),
    code("SetLimitExceeded", ErrorKind::Quota),
    code_part("sensitivecontent", ErrorKind::Content),
    code_part("riskdetection", ErrorKind::Content),
    text(&["total tokens", "exceed max"], ErrorKind::Context),
    // Moonshot
    code("exceeded_current_quota_error", ErrorKind::Quota),
    code("insufficient_balance", ErrorKind::Quota),
    text(&["reasoning_content is missing"], ErrorKind::Reasoning),
    text(&["exceeded model token limit"], ErrorKind::Context),
    // DashScope
    code("Arrearage", ErrorKind::Quota),
    code("AllocationQuota.FreeTierOnly", ErrorKind::Quota),
    code("data_inspection_failed", ErrorKind::Content),
    code("DataInspectionFailed", ErrorKind::Content),
    text(&["range of input length"], ErrorKind::Context),
    // Zhipu
    code("1113", ErrorKind::Quota),
    code("1308", ErrorKind::Quota),
    code("1309", ErrorKind::Quota),
    code("1310", ErrorKind::Quota),
    code("1301", ErrorKind::Content),
    code("1261", ErrorKind::Context),
    // MiniMax, with status 200 and the code in `base_resp`
    code("base_resp.1004", ErrorKind::Key),
    code("base_resp.2049", ErrorKind::Key),
    code("base_resp.1008", ErrorKind::Quota),
    code("base_resp.2056", ErrorKind::Quota),
    code("base_resp.1002", ErrorKind::Rate),
    code("base_resp.1039", ErrorKind::Rate),
    code("base_resp.1041", ErrorKind::Rate),
    code("base_resp.1026", ErrorKind::Content),
    code("base_resp.1027", ErrorKind::Content),
    Refusal { statuses: &[], pattern: Pattern::Text(&["base_resp.2013", "context window"]), kind: ErrorKind::Context },
    code("base_resp.2013", ErrorKind::Request),
    code("base_resp.2061", ErrorKind::Request),
    // SiliconFlow
    code("30001", ErrorKind::Quota),
    text(&["max_seq_len"], ErrorKind::Context),
    // Perplexity
    code("too_many_prompt_tokens", ErrorKind::Context),
    // Gemini
    code("API_KEY_INVALID", ErrorKind::Key),
    limit(&["perday"], ErrorKind::Quota),
    text(&["token count", "exceeds the maximum"], ErrorKind::Context),
    text(&["thought_signature"], ErrorKind::Signatures),
    text(&["reasoning details to be preserved"], ErrorKind::Signatures),
    // Mistral
    text(&["tool call id", "length of 9"], ErrorKind::CallIds),
    // Groq
    code("tool_use_failed", ErrorKind::FailedCall),
    // Novita, new-api, Fireworks
    code("NOT_ENOUGH_BALANCE", ErrorKind::Quota),
    code("insufficient_user_quota", ErrorKind::Quota),
    text(&["suspended", "spending limit"], ErrorKind::Quota),
    // StepFun
    code("censorship_blocked", ErrorKind::Content),
    // xAI
    text(&["violates usage guidelines"], ErrorKind::Content),
    text(&["incorrect api key"], ErrorKind::Key),
    text(&["doesn't have any credits"], ErrorKind::Quota),
    limit(&["used all available credits"], ErrorKind::Quota),
    text(&["maximum prompt length"], ErrorKind::Context),
    // OpenRouter
    text(&["input was flagged"], ErrorKind::Content),
    // Anthropic
    text(&["credit balance is too low"], ErrorKind::Quota),
    text(&["reached your specified api usage limits"], ErrorKind::Quota),
    text(&["prompt is too long"], ErrorKind::Context),
    text(&["context limit"], ErrorKind::Context),
    text(&["schema is too complex"], ErrorKind::ToolSchema),
    text(&["too many parameters with union types"], ErrorKind::ToolSchema),
    // DeepSeek
    text(&["reasoning_content", "must be passed back"], ErrorKind::Reasoning),
    text(&["content exists risk"], ErrorKind::Content),
    text(&["insufficient balance"], ErrorKind::Quota),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama
    code("exceed_context_size_error", ErrorKind::Context),
    text(&["available context size"], ErrorKind::Context),
    text(&["longer than the model's context length"], ErrorKind::Context),
    text(&["greater than the context length"], ErrorKind::Context),
    text(&["context length", "exceed"], ErrorKind::Context),
    // Several
    text(&["cache_control"], ErrorKind::CacheControl),
    text(&["maximum context length"], ErrorKind::Context),
    text(&["context window"], ErrorKind::Context),
    text(&["stream_options"], ErrorKind::UsageOption),
    text(&["include_usage"], ErrorKind::UsageOption),
    text(&["not support", "tool_choice"], ErrorKind::ForcedChoice),
    text(&["not support", "tools"], ErrorKind::Tools),
    text(&["not support", "tool use"], ErrorKind::Tools),
    text(&["support tool use"], ErrorKind::Tools),
    text(&["not support", "tool call"], ErrorKind::Tools),
    text(&["not support", "function call"], ErrorKind::Tools),
    text(&["tools param requires"], ErrorKind::Tools),
    text(&["function calling is not enabled"], ErrorKind::Tools),
    text(&["unrecognized request argument", "tools"], ErrorKind::Tools),
    text(&["extra inputs are not permitted", "body.tools\n"], ErrorKind::Tools),
    text(&["unknown field", "tools"], ErrorKind::Tools),
    text(&["unexpected keyword argument", "tools"], ErrorKind::Tools),
    text(&["tool choice requires", "--enable-auto-tool-choice"], ErrorKind::Tools),
];

/// Names of the request's fields that belong to one tool.
const TOOL_FIELDS: &[&str] = &["input_schema", "invalid schema for function", "function_declarations"];

/// Names of lists of tools, which a position in brackets or after a dot follows.
const TOOL_LISTS: &[&str] = &["tools", "functions", "function_declarations", "functiondeclarations"];

impl Refusal {
    fn matches(&self, status: u16, codes: &[String], message: &str) -> bool {
        let matches = match self.pattern {
            Pattern::Code(known) => codes.iter().any(|code| code.eq_ignore_ascii_case(known)),
            Pattern::CodePart(part) => codes.iter().any(|code| code.to_ascii_lowercase().contains(part)),
            Pattern::Text(parts) => parts.iter().all(|part| message.contains(part)),
        };
        matches && (self.statuses.is_empty() || self.statuses.contains(&status))
    }
}

/// Returns the meaning of a refusal; `message` is in lower case.
pub(super) fn meaning(status: u16, codes: &[String], message: &str) -> Option<ErrorKind> {
    let row = || REFUSALS.iter().find(|row| row.matches(status, codes, message)).map(|row| row.kind);
    // A schema may contain any name: a refusal of one tool is not a refusal by the endpoint of all.
    let is_schema = REFUSED.contains(&status) && names_one_tool(message);
    match row() {
        Some(kind) if is_schema && kind.is_about_a_parameter() => Some(ErrorKind::ToolSchema),
        None if is_schema => Some(ErrorKind::ToolSchema),
        None if REFUSED.contains(&status) => super::parameters::kind_of_parameter(message),
        kind => kind,
    }
}

/// Whether a message in lower case is about one tool of a request, and not about tools as such.
fn names_one_tool(message: &str) -> bool {
    let is_indexed = |list: &str| {
        message.match_indices(list).any(|(at, _)| {
            let mut rest = message[at + list.len()..].chars();
            matches!(rest.next(), Some('.' | '[')) && rest.next().is_some_and(|digit| digit.is_ascii_digit())
        })
    };
    TOOL_FIELDS.iter().any(|field| message.contains(field)) || TOOL_LISTS.iter().any(|list| is_indexed(list))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use serde::Deserialize;

    use super::super::EndpointError;
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        /// Which server sends it.
        provider: String,
        /// Where it was seen, and the date.
        source: String,
        status: u16,
        /// The body as it was sent.
        body: String,
        /// The kind of the error for the caller (`ModelError::kind`).
        error: String,
        /// The requested wait in milliseconds, without a header.
        #[serde(default)]
        wait: Option<u128>,
    }

    fn cases() -> Vec<Case> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/refusals.jsonl");
        fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn f003_f006_f007_f008_each_refusal_is_recognised() {
        for case in cases() {
            let fault = EndpointError::parse(&case.body).to_attempt_error(case.status, None);
            assert_eq!(fault.error.kind(), case.error, "{} {}", case.provider, case.body);
            let date = case.source.split([' ', ':']).find(|part| part.starts_with("20") && part.len() == 10);
            assert!(date.is_some() && case.source.len() > 20, "{} has no dated source: {}", case.provider, case.body);
            assert_eq!(fault.retry_after.map(|wait| wait.as_millis()), case.wait, "{} {}", case.provider, case.body);
        }
    }

    #[test]
    fn f001_reset_in_relayed_headers_is_a_wait() {
        let reset = (SystemTime::now() + Duration::from_secs(9)).duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let headers = format!(r#"{{"X-RateLimit-Limit":"16","X-RateLimit-Reset":"{}"}}"#, reset.as_millis());
        let body =
            format!(r#"{{"error":{{"code":429,"message":"Rate limit exceeded","metadata":{{"headers":{headers}}}}}}}"#);
        let wait = EndpointError::parse(&body).to_attempt_error(429, None).retry_after;
        assert!(wait.is_some_and(|wait| wait <= Duration::from_secs(9)), "{wait:?}");
        let header = Some(Duration::from_secs(1));
        assert_eq!(EndpointError::parse(&body).to_attempt_error(429, header).retry_after, header);
    }

    #[test]
    fn every_row_is_matched_by_a_case() {
        let cases = cases();
        let first = |case: &Case| {
            let error = EndpointError::parse(&case.body);
            REFUSALS.iter().position(|row| row.matches(case.status, &error.codes, &error.text))
        };
        let found: Vec<_> = cases.iter().filter_map(first).collect();
        let unused: Vec<_> = (0..REFUSALS.len()).filter(|row| !found.contains(row)).collect();
        let describe = |row: &usize| match REFUSALS[*row].pattern {
            Pattern::Code(code) | Pattern::CodePart(code) => code.to_owned(),
            Pattern::Text(parts) => parts.join(" … "),
        };
        assert!(unused.is_empty(), "{:?}", unused.iter().map(describe).collect::<Vec<_>>());
    }

    #[test]
    fn refusal_of_one_tool_keeps_all_tools() {
        for message in [
            "tools.0.custom.input_schema: input_schema does not support oneof, allof, or anyof at the top level",
            "invalid schema for function 'f': 'temperature' is not supported",
            "* generatecontentrequest.tools[0].function_declarations[1].parameters: unknown field `tools`",
            "body.tools.0.function.strict\nextra inputs are not permitted",
        ] {
            assert_eq!(meaning(400, &[], message), Some(ErrorKind::ToolSchema), "{message}");
        }
        assert_eq!(meaning(400, &[], "m does not support tools."), Some(ErrorKind::Tools));
        assert_eq!(meaning(200, &[], "tools.0.custom"), None);
    }
}
