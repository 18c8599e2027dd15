//! One line in `CloudWatch`'s Embedded Metric Format: a JSON object whose `_aws` member declares which of the other members
//! are metrics and which are dimensions. Source: "Specification: Embedded metric format" in the `CloudWatch` user guide.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// The namespace of the metrics in `CloudWatch`.
pub(super) const NAMESPACE: &str = "LambdaChat";

/// The dimension that every metric has.
const FUNCTION: &str = "FunctionName";

/// Maximum number of values of a metric in one line.
const MAX_VALUES: usize = 100;

/// Maximum length of a dimension's value, in characters.
const MAX_DIMENSION: usize = 256;

/// A metric's name and its unit in `CloudWatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metric(pub(super) &'static str, pub(super) &'static str);

/// Builds a line.
pub(super) struct Line {
    members: Map<String, Value>,
    dimensions: Vec<Vec<&'static str>>,
    metrics: Vec<Metric>,
}

impl Line {
    /// A line with the dimension of a function.
    pub(super) fn of(function: &str) -> Self {
        let line = Self { members: Map::new(), dimensions: vec![vec![FUNCTION]], metrics: Vec::new() };
        line.member(FUNCTION, dimension(function).into())
    }

    /// Adds dimensions, by which the metrics are counted as well. The number of their values must be bounded.
    pub(super) fn by<const N: usize>(mut self, dimensions: [(&'static str, &str); N]) -> Self {
        self.dimensions.push([FUNCTION].into_iter().chain(dimensions.map(|(name, _)| name)).collect());
        for (name, value) in dimensions {
            self = self.member(name, dimension(value).into());
        }
        self
    }

    /// Adds a metric.
    pub(super) fn metric(mut self, metric: Metric, value: impl Into<Value>) -> Self {
        self.metrics.push(metric);
        self.member(metric.0, value.into())
    }

    /// Adds a metric with many values, if there are any.
    pub(super) fn metrics(self, metric: Metric, mut values: Vec<u64>) -> Self {
        values.truncate(MAX_VALUES);
        if values.is_empty() { self } else { self.metric(metric, values) }
    }

    /// Adds a searchable member that is not a metric.
    pub(super) fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// The line as JSON, without a line break.
    pub(super) fn into_json(mut self, now: SystemTime) -> String {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let metrics: Vec<_> =
            self.metrics.iter().map(|Metric(name, unit)| json!({"Name": name, "Unit": unit})).collect();
        let declaration = json!({
            "Timestamp": u64::try_from(since.as_millis()).unwrap_or_default(),
            "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": self.dimensions, "Metrics": metrics}],
        });
        self.members.insert("_aws".to_owned(), declaration);
        Value::Object(self.members).to_string()
    }
}

/// A value that `CloudWatch` accepts for a dimension: printable ASCII, not empty, without a leading colon.
fn dimension(text: &str) -> String {
    let replace = |letter: char| if letter.is_ascii_graphic() { letter } else { '_' };
    let value: String = text.trim_start_matches(':').chars().take(MAX_DIMENSION).map(replace).collect();
    if value.is_empty() { "_".to_owned() } else { value }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn line_declares_metrics_and_holds_other_members() {
        let line = Line::of("chat")
            .by([("Tool", "读 网页")])
            .metric(Metric("Calls", "Count"), 2)
            .metrics(Metric("Time", "Milliseconds"), vec![10, 20])
            .metrics(Metric("None", "Count"), Vec::new())
            .member("turnId", "t\n1".into());
        let written = line.into_json(UNIX_EPOCH + Duration::from_millis(1_800_000_000_123));
        assert!(!written.contains('\n'));
        let expected = json!({
            "_aws": {
                "Timestamp": 1_800_000_000_123_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "LambdaChat",
                    "Dimensions": [["FunctionName"], ["FunctionName", "Tool"]],
                    "Metrics": [{"Name": "Calls", "Unit": "Count"}, {"Name": "Time", "Unit": "Milliseconds"}],
                }],
            },
            "FunctionName": "chat",
            "Tool": "____",
            "Calls": 2,
            "Time": [10, 20],
            "turnId": "t\n1",
        });
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), expected);
    }

    #[test]
    fn dimension_values_are_valid_for_cloudwatch() {
        let long = "a".repeat(300);
        let values = ["", "::a", "a\u{7}b", &long].map(dimension);
        assert_eq!(values, ["_".to_owned(), "a".to_owned(), "a_b".to_owned(), "a".repeat(256)]);
    }
}
