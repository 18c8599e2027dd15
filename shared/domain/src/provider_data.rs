use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a provider sent with a reply and must receive back with it: signatures and encrypted reasoning.
///
/// It is opaque, and meant for the model that made it only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderData {
    /// The model and its endpoint (`ModelClient::origin`).
    pub origin: String,
    /// The signatures of calls, by the call's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub call_signatures: BTreeMap<String, String>,
    /// The parts of the reasoning, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<ReasoningItem>,
}

/// A part of a reply's reasoning as its provider must receive it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReasoningItem {
    /// Anthropic's `thinking` block.
    Thinking {
        /// The text, unchanged.
        text: String,
        /// The signature of the text.
        signature: String,
    },
    /// Anthropic's `redacted_thinking` block.
    RedactedThinking {
        /// Encrypted.
        data: String,
    },
    /// Gemini's signature of the text of a reply.
    TextSignature {
        /// Encrypted.
        signature: String,
    },
    /// Encrypted reasoning of `OpenAI`'s Responses API.
    EncryptedReasoning {
        /// Encrypted.
        data: String,
        /// How many calls of the reply precede it.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        calls: usize,
    },
    /// An element of `reasoning_details`, as defined by OpenRouter.
    Detail(ReasoningDetail),
    /// An item of a later version of the product; it is not sent back.
    #[serde(other)]
    Unknown,
}

/// An element of `reasoning_details`: `reasoning.text`, `reasoning.summary` or `reasoning.encrypted`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReasoningDetail {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The text of `reasoning.text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text of `reasoning.summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The content of `reasoning.encrypted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The signature of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The id of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's format, such as `anthropic-claude-v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The position among the elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

impl ReasoningDetail {
    /// Appends a fragment of a stream; returns it if it belongs to another element.
    pub fn append(&mut self, fragment: Self) -> Option<Self> {
        let is_same = self.kind == fragment.kind && self.index == fragment.index && fragment.data.is_none();
        if !is_same || self.data.is_some() {
            return Some(fragment);
        }
        append_text(&mut self.text, fragment.text);
        append_text(&mut self.summary, fragment.summary);
        self.signature = fragment.signature.or(self.signature.take());
        self.id = self.id.take().or(fragment.id);
        self.format = self.format.take().or(fragment.format);
        None
    }
}

fn append_text(text: &mut Option<String>, more: Option<String>) {
    if let Some(more) = more {
        text.get_or_insert_default().push_str(&more);
    }
}

impl ProviderData {
    /// Whether there is nothing to send back.
    pub fn is_empty(&self) -> bool {
        self.call_signatures.is_empty() && self.reasoning.is_empty()
    }

    /// The size of the data in bytes.
    pub fn size(&self) -> usize {
        let signatures = self.call_signatures.values().map(String::len).sum::<usize>();
        signatures + self.reasoning.iter().map(ReasoningItem::size).sum::<usize>()
    }
}

impl ReasoningItem {
    fn size(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Thinking { text, signature } => text.len() + signature.len(),
            Self::RedactedThinking { data } | Self::EncryptedReasoning { data, .. } => data.len(),
            Self::TextSignature { signature } => signature.len(),
            Self::Detail(detail) => {
                [&detail.text, &detail.summary, &detail.data, &detail.signature].map(len).iter().sum()
            }
            Self::Unknown => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(kind: &str, text: Option<&str>, index: u64) -> ReasoningDetail {
        let text = text.map(str::to_owned);
        ReasoningDetail { kind: kind.to_owned(), text, index: Some(index), ..ReasoningDetail::default() }
    }

    #[test]
    fn fragments_of_one_detail_are_joined() {
        let mut first = detail("reasoning.text", Some("1"), 0);
        assert_eq!(first.append(detail("reasoning.text", Some("5"), 0)), None);
        let signed = ReasoningDetail { signature: Some("s".to_owned()), ..detail("reasoning.text", None, 0) };
        assert_eq!(first.append(signed), None);
        let other = detail("reasoning.text", Some("6"), 1);
        assert_eq!(first.append(other.clone()), Some(other));
        let data = ReasoningDetail { data: Some("e".to_owned()), ..detail("reasoning.encrypted", None, 0) };
        assert_eq!(first.append(data.clone()), Some(data.clone()));
        assert_eq!((first.text.as_deref(), first.signature.as_deref()), (Some("15"), Some("s")));
        assert_eq!(data.clone().append(data.clone()), Some(data));
    }

    #[test]
    fn every_item_is_read_as_written() {
        let reasoning = vec![
            ReasoningItem::Thinking { text: "t".to_owned(), signature: "s".to_owned() },
            ReasoningItem::RedactedThinking { data: "d".to_owned() },
            ReasoningItem::TextSignature { signature: "s".to_owned() },
            ReasoningItem::EncryptedReasoning { data: "e".to_owned(), calls: 1 },
            ReasoningItem::Detail(detail("reasoning.text", Some("x"), 0)),
        ];
        let call_signatures = BTreeMap::from([("call_1".to_owned(), "s".to_owned())]);
        let data = ProviderData { origin: "o".to_owned(), call_signatures, reasoning };
        let json = serde_json::to_string(&data).unwrap();
        assert_eq!(serde_json::from_str::<ProviderData>(&json).unwrap(), data);
        assert_eq!(data.size(), 7);
    }

    #[test]
    fn item_of_later_version_is_read() {
        let json =
            r#"{"origin":"o","reasoning":[{"kind":"later","data":{"a":1}},{"kind":"redacted_thinking","data":"d"}]}"#;
        let data: ProviderData = serde_json::from_str(json).unwrap();
        let expected = [ReasoningItem::Unknown, ReasoningItem::RedactedThinking { data: "d".to_owned() }];
        assert_eq!((data.reasoning.as_slice(), data.size()), (expected.as_slice(), 1));
    }
}
