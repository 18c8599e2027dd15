use std::borrow::Cow;

use domain::Owner;
use percent_encoding::percent_decode_str;
use redaction::{CARD, Redactor, StreamRedactor};
use serde_json::{Map, Value};
use url::Url;
use work::SHORT_WORK;

/// How many times percent-encoding is decoded, plus one.
const MAX_DECODINGS: usize = 5;

/// Maximum length of a result that is redacted on the serving thread, in bytes: it takes up to 6 ms.
const MAX_SERVING_BYTES: usize = 32 * 1024;

/// Replaces personal data in the arguments of a call before they leave this process; by default it replaces none.
///
/// Users and models keep the original arguments. Values that an agent fixes are sent as the administrator wrote them.
#[derive(Clone, Debug, Default)]
pub struct OutboundRedactor {
    redactor: Redactor,
    fixed: Vec<String>,
}

impl OutboundRedactor {
    /// Creates it from the deployment's redactor.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, fixed: Vec::new() }
    }

    /// Returns a copy that leaves the agent's fixed arguments unchanged.
    pub(crate) fn with_fixed<'a>(&self, names: impl Iterator<Item = &'a String>) -> Self {
        Self { redactor: self.redactor.clone(), fixed: names.cloned().collect() }
    }

    /// Whether the agent fixes the argument of this name.
    pub fn is_fixed(&self, name: &str) -> bool {
        self.fixed.iter().any(|fixed| fixed == name)
    }

    /// Redacts a text.
    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.redact_text(text)
    }

    /// Redacts the result of a call before a model reads it, if the settings want that; a long one in the pool for heavy
    /// work. If that panics, nothing of the result is left.
    pub(crate) async fn redact_result(&self, owner: &Owner, text: String) -> String {
        if !self.redactor.redacts_results() {
            return text;
        }
        if text.len() <= MAX_SERVING_BYTES {
            return self.redactor.redact_text(&text).into_owned();
        }
        let redactor = self.redactor.clone();
        SHORT_WORK.run(owner, move |_| redactor.redact_text(&text).into_owned()).await.unwrap_or_default()
    }

    /// Redacts an answer that no model wrote, if the settings want that.
    pub fn redact_answer<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redactor.redacts_answers() { self.redactor.redact_text(text) } else { Cow::Borrowed(text) }
    }

    /// What redacts the answer of a model as it streams, if the settings want that.
    pub fn stream_redactor(&self) -> Option<StreamRedactor> {
        self.redactor.redacts_answers().then(|| StreamRedactor::new(self.redactor.clone()))
    }

    /// Redacts the arguments of a call.
    pub fn redact_arguments(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        if self.redactor.is_off() {
            return arguments.clone();
        }
        let sent = |(name, value): (&String, &Value)| {
            let value = if self.fixed.contains(name) { value.clone() } else { self.redactor.redact_field(name, value) };
            (name.clone(), value)
        };
        arguments.iter().map(sent).collect()
    }

    /// Whether a text contains personal data.
    pub fn finds(&self, text: &str) -> bool {
        self.redactor.contains_personal_data(text)
    }

    /// Whether an address contains personal data. It cannot be replaced, as that would make another address. Many sites
    /// number their pages like payment cards, so a card number counts only in the query.
    pub fn is_personal(&self, address: &Url) -> bool {
        let has_non_card_data = |text: &str| self.redactor.spans(text).iter().any(|span| span.placeholder != CARD);
        let query = address.query().unwrap_or_default();
        if self.redactor.is_off() {
            return false;
        }
        has_non_card_data(address.host_str().unwrap_or_default())
            || decodings(address.path()).any(|path| has_non_card_data(&path))
            || decodings(query).chain(decodings(&query.replace('+', " "))).any(|query| self.finds(&query))
    }
}

/// Yields a part of a URL and the results of decoding its percent-encoding repeatedly.
fn decodings(part: &str) -> impl Iterator<Item = String> {
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let next = move |part: &String| Some(decode(part)).filter(|decoded| decoded != part);
    std::iter::successors(Some(part.to_owned()), next).take(MAX_DECODINGS)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;

    use futures_util::{FutureExt, poll};
    use platform::settings::Settings;
    use serde_json::json;

    use super::*;

    fn redactor() -> OutboundRedactor {
        OutboundRedactor::new(Redactor::from_settings(&Settings::from_pairs([("MASK", "all")])).unwrap())
    }

    #[test]
    fn fixed_arguments_are_sent_unchanged() {
        let arguments = json!({"sender": "13800138000", "to": "13800138000", "text": "hi"});
        let fixed = ["sender".to_owned()];
        let sent = redactor().with_fixed(fixed.iter()).redact_arguments(arguments.as_object().unwrap());
        assert_eq!(Value::Object(sent), json!({"sender": "13800138000", "to": "[phone]", "text": "hi"}));
        let off = OutboundRedactor::default().redact_arguments(arguments.as_object().unwrap());
        assert_eq!(Value::Object(off), arguments);
    }

    #[tokio::test]
    async fn long_results_are_masked_in_the_pool() {
        let settings = Settings::from_pairs([("MASK", "all"), ("MASK_RESULTS", "yes")]);
        let redactor = OutboundRedactor::new(Redactor::from_settings(&settings).unwrap());
        let owner = Owner::new("long results");
        let (open, gate) = mpsc::channel::<()>();
        let (started, begun) = tokio::sync::oneshot::channel();
        // The owner's only slot is in use.
        let mut other = pin!(SHORT_WORK.run(&owner, move |_| {
            started.send(()).unwrap();
            gate.recv().is_ok()
        }));
        tokio::select! {
            _ = &mut other => unreachable!("the gate is closed"),
            begun = begun => begun.unwrap(),
        }
        let short = "电话 13800138000".to_owned();
        let long = format!("{}\n{short}", "x".repeat(MAX_SERVING_BYTES));
        let mut masked = pin!(redactor.redact_result(&owner, long.clone()));
        assert!(poll!(masked.as_mut()).is_pending());
        assert_eq!(redactor.redact_result(&owner, short).now_or_never().as_deref(), Some("电话 [phone]"));
        open.send(()).unwrap();
        assert_eq!(other.await, Some(true));
        assert_eq!(masked.await, long.replace("13800138000", "[phone]"));
    }

    #[test]
    fn encoded_personal_data_in_address_is_found() {
        let personal = |address: &str| redactor().is_personal(&Url::parse(address).unwrap());
        for address in [
            "https://a.example/?to=ada@example.com",
            "https://a.example/?to=ada%40example.com",
            "https://a.example/u/%31%33800138000",
            "https://a.example/u?t=+86+138+0013+8000",
            "https://a.example/?c=4111222233334448",
            "https://a.example/?to=%2B16502530000",
            "https://a.example/?to=+16502530000",
            "https://a.example/?to=ada%2540example.com",
            "https://a.example/u/%2531%2533800138000",
            "https://a.example/u/138%090013%098000",
            "https://a.example/u/138%C2%850013%E2%80%8B8000",
            "https://13800138000.example/",
        ] {
            assert!(personal(address), "{address}");
        }
        for address in ["https://a.example/2024/05/06/title", "https://a.example/status/4111222233334448"] {
            assert!(!personal(address), "{address}");
        }
        assert!(
            !OutboundRedactor::default().is_personal(&Url::parse("https://a.example/?to=ada@example.com").unwrap())
        );
    }
}
