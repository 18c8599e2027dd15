//! The table of refusals: which status, code and message of which provider means what.
//!
//! The provider of a row names the source of its text and is not compared: gateways relay the errors of others. Each row
//! has a case in `fixtures/refusals.jsonl`, with the source of its text and the date.

mod one_tool;

use super::meaning::{FAILED_CALL, Meaning, TOO_FAST, TOOL_SCHEMA, fix, is_about_a_parameter, permanent};
use crate::ModelError;
use crate::errors::CompatFix;

use one_tool::names_one_tool;

const QUOTA: Meaning = permanent(ModelError::QuotaExhausted);
/// The content was filtered; its category is added where the error has one.
pub(super) const CONTENT_FILTERED: ModelError = ModelError::ContentFiltered { category: None };

const CONTENT: Meaning = permanent(CONTENT_FILTERED);
const CONTEXT: Meaning = permanent(ModelError::ContextTooLong);
const KEY: Meaning = permanent(ModelError::Auth);
const REJECTED: Meaning = permanent(ModelError::Rejected);
const TOOLS: Meaning = permanent(ModelError::ToolsUnsupported);
const IMAGES: Meaning = permanent(ModelError::ImagesUnsupported);

pub(super) struct Refusal {
    /// The HTTP statuses, or those inside a stream; empty for any.
    statuses: &'static [u16],
    pattern: Pattern,
    meaning: Meaning,
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
const REFUSED: &[u16] = &[400, 403, 404, 412, 413, 422, 424, 451, 500, 501];

const TOO_MANY: &[u16] = &[429];

const fn code(code: &'static str, meaning: Meaning) -> Refusal {
    Refusal { statuses: &[], pattern: Pattern::Code(code), meaning }
}

const fn code_part(part: &'static str, meaning: Meaning) -> Refusal {
    Refusal { statuses: &[], pattern: Pattern::CodePart(part), meaning }
}

const fn text(parts: &'static [&'static str], meaning: Meaning) -> Refusal {
    Refusal { statuses: REFUSED, pattern: Pattern::Text(parts), meaning }
}

const fn limit(parts: &'static [&'static str], meaning: Meaning) -> Refusal {
    Refusal { statuses: TOO_MANY, pattern: Pattern::Text(parts), meaning }
}

/// The first match wins: codes come before messages, and narrow messages before wide ones.
pub(super) const REFUSALS: &[Refusal] = &[
    // Bedrock: service model of botocore 1.44.8, 2026-11-26.
    code("ServiceQuotaExceededException", QUOTA),
    // Bedrock: https://github.com/minorun365/agent-book/issues/29, 2026-11-26.
    limit(&["tokens per day, please wait"], QUOTA),
    // Bedrock, before its messages, which speak of tokens: https://github.com/RooCodeInc/Roo-Code/issues/5050, 2026-11-26.
    code("ThrottlingException", TOO_FAST),
    // Bedrock: recorded answer in crmne/ruby_llm, 2026-11-26.
    text(&["number of input tokens exceeds"], CONTEXT),
    // Bedrock: https://github.com/aws-samples/assessment-generator/issues/2, 2026-11-26.
    text(&["input is too long"], CONTEXT),
    // Bedrock: https://github.com/earendil-works/pi/issues/3739, 2026-11-26.
    text(&["tool use in streaming mode"], fix(CompatFix::NoStream)),
    // Bedrock: https://github.com/BerriAI/litellm/pull/39210, 2026-11-26.
    text(&["did not allow prompt caching"], fix(CompatFix::NoCacheControl)),
    // Bedrock: https://github.com/NousResearch/hermes-agent/pull/97327, 2026-11-26.
    text(&["cachepoint"], fix(CompatFix::NoCacheControl)),
    // Bedrock: https://github.com/strands-agents/harness-sdk/issues/1241, 2026-11-26.
    text(&["support", "toolconfig.toolchoice"], fix(CompatFix::NoForcedChoice)),
    // Bedrock: https://github.com/RooCodeInc/Roo-Code/pull/11238, 2026-11-26.
    text(&["must start with a thinking block"], fix(CompatFix::NoThinking)),
    // Bedrock: https://github.com/aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws/issues/895, 2026-11-26.
    text(&["invalid sequence as part of tooluse"], FAILED_CALL),
    // Azure: https://github.com/langchain-ai/langchain-azure/issues/228, 2026-11-28.
    text(&["chatcompletion operation does not work"], fix(CompatFix::UseResponses)),
    // OpenAI, Azure: recorded answer in crmne/ruby_llm, 2026-11-23.
    code("insufficient_quota", QUOTA),
    // OpenAI, Azure: https://github.com/dfinke/PowerShellAI/issues/127, 2026-11-25.
    code("billing_hard_limit_reached", QUOTA),
    // OpenAI, Azure: https://github.com/Oaklight/argo-proxy/issues/91, 2026-11-23.
    code("content_filter", CONTENT),
    // OpenAI, Azure: https://github.com/songquanpeng/one-api/issues/737, 2026-11-26.
    code("content_policy_violation", CONTENT),
    // OpenAI, Azure: https://github.com/openai/openai-dotnet/issues/55, 2026-11-26.
    code("ResponsibleAIPolicyViolation", CONTENT),
    // OpenAI, Azure: https://github.com/assafelovic/gpt-researcher/issues/680, 2026-11-25.
    code("context_length_exceeded", CONTEXT),
    // OpenAI, Azure: https://github.com/VectorlyApp/bluebox/issues/31, 2026-11-25.
    code("string_above_max_length", CONTEXT),
    // OpenAI, Azure: https://github.com/evalstate/fast-agent/issues/143, 2026-11-26.
    code("invalid_function_parameters", TOOL_SCHEMA),
    // OpenAI, Azure: https://github.com/caozhiyuan/copilot-api/issues/102, 2026-11-25.
    code("unsupported_api_for_model", fix(CompatFix::UseResponses)),
    // OpenAI, Azure: https://github.com/pipecat-ai/pipecat/issues/4043, 2026-11-25.
    text(&["chat/completions", "v1/responses"], fix(CompatFix::UseResponses)),
    // OpenAI, Azure: https://github.com/SciSharp/BotSharp/pull/959, 2026-11-26.
    text(&["not a chat model"], fix(CompatFix::UseResponses)),
    // OpenAI, Azure: https://github.com/openai/codex/issues/8145, 2026-11-25.
    code("invalid_encrypted_content", fix(CompatFix::NoReasoningEcho)),
    // OpenAI, Azure: https://github.com/continuedev/continue/issues/8933, 2026-11-25.
    text(&["provided without its required"], fix(CompatFix::NoReasoningEcho)),
    // OpenAI, Azure: https://github.com/vercel/ai/issues/7543, 2026-11-25.
    text(&["items are not persisted"], fix(CompatFix::NoReasoningEcho)),
    // OpenAI, Azure: https://github.com/pydantic/pydantic-ai/issues/2865, 2026-11-26.
    text(&["encrypted content", "not supported"], fix(CompatFix::NoEncryptedReasoning)),
    // OpenAI, Azure: https://github.com/can1357/oh-my-pi/issues/11928, 2026-11-26.
    text(&["encrypted_content"], fix(CompatFix::NoEncryptedReasoning)),
    // OpenAI, Azure: quoted in public code, 2026-11-28.
    text(&["'include'"], fix(CompatFix::NoEncryptedReasoning)),
    // OpenAI, Azure: https://github.com/openai/openai-cookbook/issues/2271, 2026-11-25.
    text(&["verified", "reasoning summar"], fix(CompatFix::NoReasoningSummary)),
    // OpenAI, Azure: https://github.com/continuedev/continue/issues/9283, 2026-11-25.
    text(&["reasoning.summary"], fix(CompatFix::NoReasoningSummary)),
    // OpenAI, Azure: https://github.com/lobehub/lobehub/issues/9385, 2026-11-25.
    text(&["verified to stream"], fix(CompatFix::NoStream)),
    // OpenAI, Azure: https://github.com/ChatGPTNextWeb/NextChat/issues/6252, 2026-11-25.
    text(&["'stream' does not support"], fix(CompatFix::NoStream)),
    // OpenAI, Azure: https://github.com/gptscript-ai/gptscript/issues/393, 2026-11-25.
    limit(&["request too large for"], CONTEXT),
    // OpenAI, Azure: https://github.com/openai/codex/issues/7250, 2026-11-25.
    text(&["prompt was flagged"], CONTENT),
    // Ark: quoted in public code, 2026-11-23.
    code("AccountOverdueError", QUOTA),
    // Ark: documentation and SDK of Ark, 2026-11-21.
    code("QuotaExceeded", QUOTA),
    // Ark: quoted in public code, 2026-11-28; its message: https://github.com/volcengine/MineContext/issues/328.
    code("SetLimitExceeded", QUOTA),
    // Ark: documentation and SDK of Ark, 2026-11-21.
    code_part("sensitivecontent", CONTENT),
    // Ark: https://www.volcengine.com/docs/82379/1099476, 2026-11-25.
    code_part("riskdetection", CONTENT),
    // Ark: quoted in public code, 2026-11-23.
    text(&["total tokens", "exceed max"], CONTEXT),
    // Moonshot: quoted in public code, 2026-11-23.
    code("exceeded_current_quota_error", QUOTA),
    // 0G: https://docs.0g.ai/developer-hub/building-on-0g/compute-network/router/errors, 2026-11-28.
    code("insufficient_balance", QUOTA),
    // Moonshot: https://github.com/continuedev/continue/issues/11600, 2026-11-25.
    text(&["reasoning_content is missing"], fix(CompatFix::EchoReasoning)),
    // Moonshot: quoted in public code, 2026-11-23.
    text(&["exceeded model token limit"], CONTEXT),
    // DashScope: https://help.aliyun.com/en/model-studio/error-code, 2026-11-25.
    code("Arrearage", QUOTA),
    // DashScope: https://docs.qwencloud.com/resources/free-quota, 2026-11-28.
    code("AllocationQuota.FreeTierOnly", QUOTA),
    // DashScope: quoted in public code, 2026-11-23.
    code("data_inspection_failed", CONTENT),
    // DashScope: https://github.com/QwenLM/qwen-code/issues/3145, 2026-11-26.
    code("DataInspectionFailed", CONTENT),
    // DashScope: https://www.alibabacloud.com/help/es/model-studio/coding-plan-faq, 2026-11-25.
    text(&["range of input length"], CONTEXT),
    // Zhipu: quoted in public code, 2026-11-23.
    code("1113", QUOTA),
    // Zhipu: https://docs.bigmodel.cn/cn/api/api-code, 2026-11-25.
    code("1308", QUOTA),
    code("1309", QUOTA),
    code("1310", QUOTA),
    // Zhipu: quoted in public code, 2026-11-23.
    code("1301", CONTENT),
    // Zhipu: https://docs.bigmodel.cn/cn/api/api-code, 2026-11-25.
    code("1261", CONTEXT),
    // MiniMax, with status 200 and the code in `base_resp`: https://platform.minimax.io/docs/api-reference/errorcode.md, 2026-11-25.
    code("base_resp.1004", KEY),
    // MiniMax, with status 200 and the code in `base_resp`: recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    code("base_resp.2049", KEY),
    // MiniMax, with status 200 and the code in `base_resp`: quoted in public code, 2026-11-23.
    code("base_resp.1008", QUOTA),
    // MiniMax, with status 200 and the code in `base_resp`: https://github.com/MiniMax-AI/MiniMax-M2.7/issues/36, 2026-11-26.
    code("base_resp.2056", QUOTA),
    // MiniMax, with status 200 and the code in `base_resp`: https://platform.minimax.io/docs/api-reference/errorcode.md, 2026-11-25.
    code("base_resp.1002", TOO_FAST),
    // MiniMax, with status 200 and the code in `base_resp`: a copy in public repositories of
    // https://platform.minimax.io/docs/api-reference/errorcode.md, 2026-11-28.
    code("base_resp.1039", TOO_FAST),
    code("base_resp.1041", TOO_FAST),
    // MiniMax, with status 200 and the code in `base_resp`: https://platform.minimaxi.com/docs/api-reference/errorcode.md, 2026-11-26.
    code("base_resp.1026", CONTENT),
    code("base_resp.1027", CONTENT),
    // MiniMax, with status 200 and the code in `base_resp`: https://github.com/MiniMax-AI/MiniMax-M2/issues/119, 2026-11-26.
    Refusal { statuses: &[], pattern: Pattern::Text(&["base_resp.2013", "context window"]), meaning: CONTEXT },
    code("base_resp.2013", REJECTED),
    // MiniMax, with status 200 and the code in `base_resp`: quoted in public code, MiniMax-AI/cli, 2026-11-26.
    code("base_resp.2061", REJECTED),
    // SiliconFlow: quoted in public code, 2026-11-28.
    code("30001", QUOTA),
    // SiliconFlow: https://github.com/langgenius/dify/issues/19394, 2026-11-26.
    text(&["max_seq_len"], CONTEXT),
    // Perplexity: recorded answer in crmne/ruby_llm, 2026-11-23.
    code("too_many_prompt_tokens", CONTEXT),
    // Gemini: recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    code("API_KEY_INVALID", KEY),
    // Gemini: recorded answer in crmne/ruby_llm, 2026-11-23.
    limit(&["perday"], QUOTA),
    // Gemini: https://github.com/google-gemini/gemini-cli/issues/6678, 2026-11-25.
    text(&["token count", "exceeds the maximum"], CONTEXT),
    // Gemini: quoted in public code, 2026-11-23.
    text(&["thought_signature"], fix(CompatFix::AddSignatures)),
    text(&["reasoning details to be preserved"], fix(CompatFix::AddSignatures)),
    // Mistral: https://github.com/anomalyco/opencode/issues/1680, 2026-11-25.
    text(&["tool call id", "length of 9"], fix(CompatFix::ShortIds)),
    // Groq: recorded answer in vkryukov/req_llm, 2026-11-23.
    code("tool_use_failed", FAILED_CALL),
    // Novita, jiekou.ai: https://docs.jiekou.ai/en/docs/models/reference-error-code, 2026-11-28.
    code("NOT_ENOUGH_BALANCE", QUOTA),
    // Novita, new-api, Fireworks: https://github.com/songquanpeng/one-api/issues/1270, 2026-11-26.
    code("insufficient_user_quota", QUOTA),
    // Novita, new-api, Fireworks: https://github.com/pollinations/pollinations/issues/12136, 2026-11-26.
    text(&["suspended", "spending limit"], QUOTA),
    // StepFun: quoted in public code, 2026-11-23.
    code("censorship_blocked", CONTENT),
    // xAI: recorded answer in social-growth-studio/req_llm, 2026-11-23.
    text(&["violates usage guidelines"], CONTENT),
    // xAI: https://github.com/openai/codex/issues/1352, 2026-11-25.
    text(&["incorrect api key"], KEY),
    // xAI: https://github.com/continuedev/continue/issues/12670, 2026-11-26.
    text(&["doesn't have any credits"], QUOTA),
    // xAI: https://github.com/continuedev/continue/issues/10373, 2026-11-25.
    limit(&["used all available credits"], QUOTA),
    // xAI: quoted in public code, 2026-11-23.
    text(&["maximum prompt length"], CONTEXT),
    // OpenRouter: quoted in public code, 2026-11-23.
    text(&["input was flagged"], CONTENT),
    // Anthropic: https://github.com/anthropics/claude-quickstarts/issues/229, 2026-11-25.
    text(&["credit balance is too low"], QUOTA),
    // Anthropic: https://github.com/anthropics/claude-code/issues/2127, 2026-11-25.
    text(&["reached your specified api usage limits"], QUOTA),
    // Anthropic: https://github.com/anthropics/claude-code/issues/12186, 2026-11-25.
    text(&["prompt is too long"], CONTEXT),
    // Anthropic: quoted in public code, 2026-11-23.
    text(&["context limit"], CONTEXT),
    // Anthropic: recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    text(&["schema is too complex"], TOOL_SCHEMA),
    text(&["too many parameters with union types"], TOOL_SCHEMA),
    // DeepSeek: https://github.com/sst/opencode/issues/24722, 2026-11-21.
    text(&["reasoning_content", "must be passed back"], fix(CompatFix::EchoReasoning)),
    // DeepSeek: https://github.com/deepseek-ai/DeepSeek-V2/issues/30, 2026-11-25.
    text(&["content exists risk"], CONTENT),
    // DeepSeek: quoted in public code, 2026-11-23.
    text(&["insufficient balance"], QUOTA),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama: recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    code("exceed_context_size_error", CONTEXT),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama: https://github.com/coddy-project/coddy-agent/pull/106, 2026-11-25.
    text(&["available context size"], CONTEXT),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama: https://github.com/QwenLM/Qwen3/issues/1321, 2026-11-26.
    text(&["longer than the model's context length"], CONTEXT),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2205, 2026-11-25.
    text(&["greater than the context length"], CONTEXT),
    // llama.cpp, vLLM, SGLang, LM Studio, Ollama: recorded answer in crmne/ruby_llm, 2026-11-23.
    text(&["context length", "exceed"], CONTEXT),
    // Several: https://github.com/earendil-works/pi/issues/7938, 2026-11-26.
    text(&["cache_control"], fix(CompatFix::NoCacheControl)),
    // Several: recorded answer in crmne/ruby_llm, 2026-11-23.
    text(&["maximum context length"], CONTEXT),
    // Several: https://github.com/the-open-agent/openagent/issues/2344, 2026-11-26.
    text(&["context window"], CONTEXT),
    // Several: https://github.com/QuantumNous/new-api/issues/418, 2026-11-26.
    text(&["stream_options"], fix(CompatFix::NoUsageOption)),
    // Several: https://github.com/gpustack/gpustack/issues/429, 2026-11-26.
    text(&["include_usage"], fix(CompatFix::NoUsageOption)),
    // Several: recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    text(&["not support", "tool_choice"], fix(CompatFix::NoForcedChoice)),
    // OpenRouter: https://github.com/JohnnyZ93/oai-compatible-copilot/issues/229, 2026-11-27.
    text(&["no endpoints found that support image"], IMAGES),
    // OpenAI, Azure: https://github.com/browser-use/web-ui/issues/274, 2026-11-27.
    text(&["image_url is only supported by certain models"], IMAGES),
    // DeepSeek: https://github.com/rikkahub/rikkahub/issues/1433, 2026-11-27.
    text(&["unknown variant", "image_url"], IMAGES),
    // Bedrock: quoted in public code, 2026-11-27.
    text(&["support the image content block"], IMAGES),
    // Gemini: quoted in public code, 2026-11-27.
    text(&["image input modality is not enabled"], IMAGES),
    // Zhipu: https://github.com/TriDefender/zcode-api/pull/26, 2026-11-27.
    text(&["messages.content.type", "['text']"], IMAGES),
    // Groq: https://github.com/vercel/ai/issues/2837, 2026-11-27.
    text(&["content must be a string"], IMAGES),
    // Groq: https://github.com/gptme/gptme/pull/896, 2026-11-27.
    text(&["content' : value must be a string"], IMAGES),
    // llama.cpp, LM Studio, Ollama: https://github.com/ollama/ollama/issues/17301, 2026-11-27.
    text(&["not support image input"], IMAGES),
    // llama.cpp, LM Studio, Ollama: https://github.com/xlinx/sd-webui-decadetw-auto-prompt-llm/issues/16, 2026-11-27.
    text(&["not support images"], IMAGES),
    // llama.cpp, LM Studio, Ollama: https://github.com/ggml-org/llama.cpp/issues/15377, 2026-11-27.
    text(&["image input is not supported"], IMAGES),
    // llama.cpp, LM Studio, Ollama: https://github.com/ggml-org/llama.cpp/issues/12947, 2026-11-27.
    text(&["unsupported content part type", "image_url"], IMAGES),
    // vLLM: https://github.com/vllm-project/vllm/issues/23402, 2026-11-27.
    text(&["is not a multimodal model"], IMAGES),
    // mlx-lm: quoted in public code, 2026-11-27.
    text(&["only 'text' content type"], IMAGES),
    // Several: https://github.com/BerriAI/litellm/issues/7785, 2026-11-25.
    text(&["not support", "tools"], TOOLS),
    // Several: recorded answer in social-growth-studio/req_llm, 2026-11-23.
    text(&["support tool use"], TOOLS),
    text(&["not support", "tool call"], TOOLS),
    // Several: https://github.com/BerriAI/litellm/issues/1827, 2026-11-25.
    text(&["not support", "function call"], TOOLS),
    // Several: recorded answer of llama.cpp in 0xPlaygrounds/rig, 2026-11-21.
    text(&["tools param requires"], TOOLS),
    // Several: https://github.com/agno-agi/agno/issues/3505, 2026-11-26.
    text(&["function calling is not enabled"], TOOLS),
    // Several: https://github.com/run-llama/llama_index/issues/9062, 2026-11-25.
    text(&["unrecognized request argument", "tools"], TOOLS),
    // Several: https://github.com/partITech/php-mistral/issues/76, 2026-11-26.
    text(&["extra inputs are not permitted", "body.tools\n"], TOOLS),
    // TensorZero: quoted in public code, 2026-11-28.
    text(&["unknown field", "tools"], TOOLS),
    // LiteLLM before vLLM: https://github.com/BerriAI/litellm/issues/12222, 2026-11-28.
    text(&["unexpected keyword argument", "tools"], TOOLS),
    // Several: https://github.com/langchain4j/langchain4j/issues/3475, 2026-11-25.
    text(&["tool choice requires", "--enable-auto-tool-choice"], TOOLS),
];

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
pub(super) fn meaning(status: u16, codes: &[String], message: &str) -> Option<Meaning> {
    let row = REFUSALS.iter().find(|row| row.matches(status, codes, message)).map(|row| row.meaning.clone());
    // A schema may contain any name: a refusal of one tool is not a refusal by the endpoint of all.
    let is_schema = REFUSED.contains(&status) && names_one_tool(message);
    match row {
        Some(meaning) if is_schema && is_about_a_parameter(&meaning) => Some(TOOL_SCHEMA),
        None if is_schema => Some(TOOL_SCHEMA),
        None if REFUSED.contains(&status) => super::parameters::fix_of_message(message).map(fix),
        meaning => meaning,
    }
}

#[cfg(test)]
mod tests;
