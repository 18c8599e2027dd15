use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Request;

/// Relative tolerance between two runs for bytes and tokens: times and random ids differ slightly in length.
const TOLERANCE: f64 = 0.03;

/// Counts of all kinds of turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// By kind name.
    pub turns: BTreeMap<String, Turn>,
    /// Counts that depend on the duration of a turn, and are not in `turns`.
    pub while_it_runs: DurationCounts,
}

/// Counts of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Requests to the tables, sorted.
    pub requests: Vec<Request>,
    /// Bytes of new items without an expiry.
    pub bytes_stored: f64,
    /// Model calls.
    pub model_calls: f64,
    /// Requests to the search provider.
    pub searches: f64,
    /// Input tokens, as the product estimates them.
    pub input_tokens: f64,
    /// Output tokens.
    pub output_tokens: f64,
    /// Credits that the search charged.
    pub search_credits: f64,
    /// Bytes of the response body to the client.
    pub bytes_out: f64,
    /// Bytes of request bodies to models and the search.
    #[serde(rename = "bytesAsked")]
    pub bytes_requested: f64,
    /// Bytes of the function's log lines.
    pub bytes_logged: f64,
}

/// Requests that repeat while a turn runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DurationCounts {
    /// A renewal of the lease.
    pub renewal: Request,
    /// Bytes of a log item without its events.
    pub log_item_bytes: f64,
    /// Bytes of a delta of two Chinese characters in a log item.
    pub log_event_bytes: f64,
}

impl Counts {
    /// Describes the differences from other counts; empty if they are equal within the tolerance.
    pub fn describe_differences(&self, other: &Self) -> Vec<String> {
        let names: Vec<_> = self.turns.keys().chain(other.turns.keys()).collect();
        let mut found: Vec<String> = names
            .into_iter()
            .filter_map(|name| match (self.turns.get(name), other.turns.get(name)) {
                (Some(one), Some(two)) => one.describe_difference(two).map(|what| format!("{name}: {what}")),
                _ => Some(format!("{name} is in one of them alone")),
            })
            .collect();
        found.dedup();
        found.extend(self.while_it_runs.describe_difference(&other.while_it_runs));
        found
    }
}

impl Turn {
    fn describe_difference(&self, other: &Self) -> Option<String> {
        if self.requests != other.requests {
            let missing = |one: &Self, two: &Self| -> Vec<String> {
                let gone = one.requests.iter().filter(|request| !two.requests.contains(request));
                gone.map(ToString::to_string).collect()
            };
            return Some(format!(
                "{} and {} requests; here alone {:?}, there alone {:?}",
                self.requests.len(),
                other.requests.len(),
                missing(self, other),
                missing(other, self)
            ));
        }
        let about = first_difference(&[
            ("bytes stored", self.bytes_stored, other.bytes_stored),
            ("input tokens", self.input_tokens, other.input_tokens),
            ("output tokens", self.output_tokens, other.output_tokens),
            ("bytes out", self.bytes_out, other.bytes_out),
            ("bytes asked", self.bytes_requested, other.bytes_requested),
            ("bytes logged", self.bytes_logged, other.bytes_logged),
        ]);
        let exact = |turn: &Self| [turn.model_calls, turn.searches, turn.search_credits].map(|count| count.to_string());
        about.or_else(|| (exact(self) != exact(other)).then(|| format!("{:?} {:?}", exact(self), exact(other))))
    }
}

impl DurationCounts {
    fn describe_difference(&self, other: &Self) -> Option<String> {
        if self.renewal != other.renewal {
            return Some(format!("while a turn runs: {self:?} and {other:?}"));
        }
        first_difference(&[
            ("bytes of a log's item", self.log_item_bytes, other.log_item_bytes),
            ("bytes of an event", self.log_event_bytes, other.log_event_bytes),
        ])
    }
}

fn first_difference(pairs: &[(&str, f64, f64)]) -> Option<String> {
    let far = |(_, one, two): &&(&str, f64, f64)| (one - two).abs() > TOLERANCE * one.max(*two);
    pairs.iter().find(far).map(|(what, one, two)| format!("{what}: {one} and {two}"))
}

impl Turn {
    /// Parses the log lines of a turn. Those about work that held a thread for long are left out: a busy machine has them.
    pub(crate) fn from_log(log: &[u8]) -> Self {
        let lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines
            .map(|line| (line.len() + 1, serde_json::from_slice::<Value>(line).expect("a line of the log is JSON")));
        let lines: Vec<_> = lines.filter(|(_, line)| line["SlowWork"].is_null()).collect();
        let turn = lines.iter().find(|(_, line)| line["Turns"] == 1).map(|(_, line)| line).expect("a turn is logged");
        let of = |name: &str| turn[name].as_f64().unwrap_or_default();
        Self {
            model_calls: of("ModelCalls"),
            input_tokens: of("InputTokens"),
            output_tokens: of("OutputTokens"),
            search_credits: of("SearchCredits"),
            bytes_logged: to_float(lines.iter().map(|(bytes, _)| bytes).sum()),
            ..Self::default()
        }
    }
}

/// Converts a count; all counts are small enough to be exact in a float.
#[expect(clippy::cast_precision_loss, reason = "no count comes near 2⁵³")]
pub(crate) fn to_float(count: usize) -> f64 {
    count as f64
}
