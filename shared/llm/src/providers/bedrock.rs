pub(super) mod models;

use super::{Provider, UNKNOWN, anthropic, openai};
use crate::Wire;
use crate::params::{Dialect, LOW_TO_HIGH, PLAIN, ThinkingControl};

/// The wire allows no higher temperature.
const COOL: Dialect = Dialect { max_temperature: 1, ..PLAIN };

const NOVA: Dialect = Dialect { cache_control: true, ..COOL };

const GPT: Dialect = Dialect { max_temperature: 1, ..openai::SWITCHED_TO_XHIGH };

const BY_EFFORT: Dialect =
    Dialect { thinking: ThinkingControl::Effort { on: None, off: None }, effort_names: LOW_TO_HIGH, ..COOL };

/// Grok reports penalties as an error of its own (503).
const GROK: Dialect = Dialect { stop_sequences: false, penalties: false, ..BY_EFFORT };

/// Amazon Bedrock over Converse, except Claude. Ids are without geography and vendor.
// Source: service model of botocore 1.44.8, and code of litellm 1.108.7, 2026-11-26.
pub(super) const ROW: Provider = Provider {
    name: "bedrock",
    wire: Wire::Converse,
    models_of_bedrock: true,
    dialects: &[
        ("nova-2", Dialect { thinking: ThinkingControl::Type { auto: false }, effort_names: LOW_TO_HIGH, ..NOVA }),
        ("nova-", NOVA),
        ("gpt-oss-", BY_EFFORT),
        ("gpt-", GPT),
        ("grok-", GROK),
        ("", COOL),
    ],
    native_tools: true,
    ..UNKNOWN
};

/// Its endpoints with OpenAI's protocols. All models accept the newer name of the limit.
pub(super) const OPENAI: Provider = Provider {
    wire: Wire::Openai,
    tagged_reasoning: true,
    dialects: &[
        ("gpt-oss-", Dialect { max_temperature: 2, limit_name: openai::COMPLETION.limit_name, ..BY_EFFORT }),
        ("gpt-", openai::SWITCHED_TO_XHIGH),
        ("grok-", Dialect { max_temperature: 2, limit_name: openai::COMPLETION.limit_name, ..GROK }),
        ("", Dialect { effort_names: LOW_TO_HIGH, ..openai::COMPLETION }),
    ],
    ..ROW
};

/// Claude at Bedrock, over Converse and Anthropic's protocol: both take Anthropic's parameters.
pub(super) const CLAUDE: Provider = Provider { name: ROW.name, models_of_bedrock: true, ..anthropic::ROW };
