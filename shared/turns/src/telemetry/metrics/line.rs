//! One line in `CloudWatch`'s Embedded Metric Format: a JSON object that is a line of the log and, by what its `_aws`
//! says of its members, metrics. Written after AWS' specification of the format.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// Where `CloudWatch` keeps the metrics.
pub(super) const NAMESPACE: &str = "LambdaChat";

/// The dimension that every metric has.
const FUNCTION: &str = "FunctionName";

/// The most values of a metric in one line.
const MOST_VALUES: usize = 100;

/// The longest value of a dimension, in characters.
const LONGEST: usize = 256;

/// A metric's name and its unit, as `CloudWatch` calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metric(pub(super) &'static str, pub(super) &'static str);

/// A line that is being put together.
pub(super) struct Line {
    members: Map<String, Value>,
    dimensions: Vec<Vec<&'static str>>,
    metrics: Vec<Metric>,
}

impl Line {
    /// Of a function; its metrics are counted under the function's name.
    pub(super) fn of(function: &str) -> Self {
        let line = Self { members: Map::new(), dimensions: vec![vec![FUNCTION]], metrics: Vec::new() };
        line.member(FUNCTION, dimension(function).into())
    }

    /// Counts its metrics by these as well; what names and values there are must be bounded.
    pub(super) fn by<const N: usize>(mut self, more: [(&'static str, &str); N]) -> Self {
        self.dimensions.push([FUNCTION].into_iter().chain(more.map(|(name, _)| name)).collect());
        for (name, value) in more {
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
        values.truncate(MOST_VALUES);
        if values.is_empty() { self } else { self.metric(metric, values) }
    }

    /// Adds what is no metric, to be searched for.
    pub(super) fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// The line without its break.
    pub(super) fn written(mut self, now: SystemTime) -> String {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let metrics: Vec<_> =
            self.metrics.iter().map(|Metric(name, unit)| json!({"Name": name, "Unit": unit})).collect();
        let described = json!({
            "Timestamp": u64::try_from(since.as_millis()).unwrap_or_default(),
            "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": self.dimensions, "Metrics": metrics}],
        });
        self.members.insert("_aws".to_owned(), described);
        Value::Object(self.members).to_string()
    }
}

/// A dimension's value as `CloudWatch` takes it: printable ASCII, not empty, not beginning with a colon.
fn dimension(text: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_graphic() { letter } else { '_' };
    let value: String = text.trim_start_matches(':').chars().take(LONGEST).map(fit).collect();
    if value.is_empty() { "_".to_owned() } else { value }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_describes_its_metrics_and_holds_them_beside_what_is_searched_for() {
        let line = Line::of("chat")
            .by([("Tool", "读 网页")])
            .metric(Metric("Calls", "Count"), 2)
            .metrics(Metric("Time", "Milliseconds"), vec![10, 20])
            .metrics(Metric("None", "Count"), Vec::new())
            .member("turnId", "t\n1".into());
        let written = line.written(UNIX_EPOCH + Duration::from_millis(1_800_000_000_123));
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
    fn a_dimension_has_no_value_that_cloudwatch_refuses() {
        let long = "a".repeat(300);
        let values = ["", "::a", "a\u{7}b", &long].map(dimension);
        assert_eq!(values, ["_".to_owned(), "a".to_owned(), "a_b".to_owned(), "a".repeat(256)]);
    }
}
