//! Replies of Tavily's `POST /search` and `POST /extract`, parsed as leniently as possible without inventing data.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use crate::page::PageText;
use crate::search::{FoundPage, Reply, SearchFailure, SearchResults, summary};

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    results: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "lenient")]
    answer: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Usage>,
    /// An error with a success status: text or an object.
    #[serde(default)]
    detail: Option<Value>,
    /// The same, as an endpoint without keys sends it.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    credits: Number,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    url: String,
    content: String,
    #[serde(default, deserialize_with = "lenient")]
    score: Option<f64>,
}

#[derive(Deserialize)]
struct Extract {
    url: String,
    raw_content: String,
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
}

/// Parses search results; invalid rows are skipped. `None` if the body is not a reply.
pub(crate) fn found(body: &[u8], max_results: usize) -> Option<Reply<SearchResults>> {
    let body = Body::read(body)?;
    let credits = body.credits();
    let rows = body.results.unwrap_or_default();
    let pages = rows.into_iter().filter_map(page).take(max_results).collect();
    let answer = SearchResults { answer: body.answer.as_deref().and_then(summary), pages };
    Some(Reply { answer, credits })
}

/// Parses the text of the requested page.
pub(crate) fn extracted(body: &[u8]) -> Result<Reply<PageText>, SearchFailure> {
    let body = Body::read(body).ok_or(SearchFailure::BadResponse)?;
    let credits = body.credits();
    let rows = body.results.unwrap_or_default().into_iter().filter_map(object::<Extract>);
    let mut pages = rows.filter_map(|row| PageText::new(row.title.as_deref(), &row.url, &row.raw_content));
    match pages.next() {
        Some(answer) => Ok(Reply { answer, credits }),
        None => Err(SearchFailure::Unreadable),
    }
}

impl Body {
    fn read(body: &[u8]) -> Option<Self> {
        let body: Self = object(serde_json::from_str(&String::from_utf8_lossy(body)).ok()?)?;
        (body.results.is_some() || (body.detail.is_none() && body.error.is_none())).then_some(body)
    }

    fn credits(&self) -> Option<u64> {
        self.usage.as_ref().and_then(|usage| whole(&usage.credits))
    }
}

fn page(row: Value) -> Option<FoundPage> {
    let row: Row = object(row)?;
    let page = FoundPage::new(row.title.as_deref().unwrap_or_default(), &row.url, &row.content)?;
    Some(FoundPage { score: row.score, ..page })
}

/// Deserializes an object. An array is rejected, although serde would read its items as fields in their order.
fn object<T: DeserializeOwned>(value: Value) -> Option<T> {
    value.is_object().then(|| serde_json::from_value(value).ok()).flatten()
}

/// Parses credits, which are whole; some servers write them as `2.0`.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok())
}

/// Deserializes a value of the expected type; any other value is `None`.
fn lenient<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> Option<(Option<String>, Vec<String>, Option<u64>)> {
        let Reply { answer, credits } = found(body.to_string().as_bytes(), 10)?;
        Some((answer.answer, answer.pages.into_iter().map(|page| page.title).collect(), credits))
    }

    fn row(title: &str) -> Value {
        json!({"title": title, "url": "https://example.com/a", "content": "c", "score": 0.9})
    }

    #[test]
    fn reply_has_summary_rows_and_cost() {
        let body = json!({"query": "q", "answer": "yes", "images": [], "results": [row("a"), row("b")],
            "response_time": 1.2, "usage": {"credits": 2}, "request_id": "r"});
        assert_eq!(read(&body), Some((Some("yes".into()), vec!["a".into(), "b".into()], Some(2))));
    }

    #[test]
    fn f067_invalid_rows_are_skipped() {
        let rows = json!([null, 1, "x", {}, ["t", "https://example.com/", "c"], {"title": "no address", "content": "c"},
            {"title": "null content", "url": "https://example.com/", "content": null},
            {"title": "script", "url": "javascript:alert(1)", "content": "c"},
            {"title": 7, "url": "https://example.com/untitled", "content": "c"}, row("good")]);
        let titles = vec!["https://example.com/untitled".to_owned(), "good".to_owned()];
        assert_eq!(read(&json!({"results": rows})), Some((None, titles, None)));
    }

    #[test]
    fn f067_missing_null_and_invalid_fields_are_none() {
        let nothing = Some((None, Vec::new(), None));
        let cases = [
            json!({}),
            json!({"results": null, "answer": null, "usage": null}),
            json!({"results": [], "answer": 7, "usage": {"credits": "two"}}),
            json!({"results": [], "answer": " ", "usage": []}),
        ];
        for case in cases {
            assert_eq!(read(&case), nothing, "{case}");
        }
        assert_eq!(read(&json!({"results": [], "usage": {"credits": 1.0}})), Some((None, Vec::new(), Some(1))));
    }

    #[test]
    fn f067_invalid_reply_is_rejected() {
        for body in ["", "null", "[]", "\"ok\"", "<html>", r#"{"results":{}}"#, r#"{"results":[]"#] {
            assert_eq!(found(body.as_bytes(), 10), None, "{body}");
        }
    }

    #[test]
    fn error_with_success_status_is_no_empty_result() {
        assert_eq!(read(&json!({"detail": {"error": "no"}})), None);
        assert_eq!(read(&json!({"detail": "no"})), None);
        assert_eq!(read(&json!({"error": {"code": "x", "message": "no"}})), None);
    }

    #[test]
    fn f056_invalid_utf_8_is_replaced() {
        let body = b"{\"results\":[{\"title\":\"a\xff\",\"url\":\"https://example.com/\",\"content\":\"c\"}]}";
        assert_eq!(found(body, 10).unwrap().answer.pages[0].title, "a\u{fffd}");
    }

    #[test]
    fn surplus_rows_are_ignored() {
        let body = json!({"results": vec![row("a"); 30]}).to_string();
        assert_eq!(found(body.as_bytes(), 3).unwrap().answer.pages.len(), 3);
    }
}
