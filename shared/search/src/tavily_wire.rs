//! Replies of Tavily's `POST /search` and `POST /extract`, parsed as leniently as possible without inventing data.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::fmt::rfc2822;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use crate::failure::SearchFailure;
use crate::provider_request::ProviderReply;
use crate::results::{PageText, SearchHit, SearchResults, clean_summary};

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
    /// With the topic `news`, such as `Tue, 24 Nov 2026 08:00:00 GMT` (Tavily's API reference, November 2026).
    #[serde(default, deserialize_with = "lenient")]
    published_date: Option<String>,
}

#[derive(Deserialize)]
struct Extract {
    url: String,
    raw_content: String,
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
}

/// Parses search results; invalid rows are skipped. `None` if the body is not a reply.
pub(crate) fn parse_search(body: &[u8], max_results: usize) -> Option<ProviderReply<SearchResults>> {
    let body = Body::parse(body)?;
    let credits = body.credits();
    let rows = body.results.unwrap_or_default();
    let pages = rows.into_iter().filter_map(parse_hit).take(max_results).collect();
    let answer = SearchResults { answer: body.answer.as_deref().and_then(clean_summary), pages };
    Some(ProviderReply { answer, credits })
}

pub(crate) fn parse_extract(body: &[u8]) -> Result<ProviderReply<PageText>, SearchFailure> {
    let body = Body::parse(body).ok_or(SearchFailure::BadResponse)?;
    let credits = body.credits();
    let rows = body.results.unwrap_or_default().into_iter().filter_map(from_object::<Extract>);
    let mut pages = rows.filter_map(|row| PageText::new(row.title.as_deref(), &row.url, &row.raw_content));
    match pages.next() {
        Some(answer) => Ok(ProviderReply { answer, credits }),
        None => Err(SearchFailure::Unreadable),
    }
}

impl Body {
    fn parse(body: &[u8]) -> Option<Self> {
        let text = str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed);
        let body: Self = from_object(serde_json::from_str(&text).ok()?)?;
        (body.results.is_some() || (body.detail.is_none() && body.error.is_none())).then_some(body)
    }

    fn credits(&self) -> Option<u64> {
        self.usage.as_ref().and_then(|usage| parse_whole(&usage.credits))
    }
}

fn parse_hit(row: Value) -> Option<SearchHit> {
    let row: Row = from_object(row)?;
    let page = SearchHit::new(row.title.as_deref().unwrap_or_default(), &row.url, &row.content)?;
    let date = row.published_date.as_deref().and_then(parse_date);
    Some(SearchHit { score: row.score, date, ..page })
}

/// The day of a time in the form of e-mail headers or of ISO 8601, as it is at the place of publication.
pub(crate) fn parse_date(text: &str) -> Option<String> {
    let text = text.trim();
    let of_header = rfc2822::parse(text).ok().map(|time| time.date());
    let date: Option<Date> = of_header.or_else(|| text.get(..10)?.parse().ok());
    date.map(|date| date.to_string())
}

/// Deserializes an object. An array is rejected, although serde would read its items as fields in their order.
pub(crate) fn from_object<T: DeserializeOwned>(value: Value) -> Option<T> {
    value.is_object().then(|| serde_json::from_value(value).ok()).flatten()
}

/// Parses credits, which are whole; some servers write them as `2.0`.
fn parse_whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok())
}

/// Deserializes a value of the expected type; any other value is `None`.
pub(crate) fn lenient<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_titles(body: &Value) -> Option<(Option<String>, Vec<String>, Option<u64>)> {
        let ProviderReply { answer, credits } = parse_search(body.to_string().as_bytes(), 10)?;
        Some((answer.answer, answer.pages.into_iter().map(|page| page.title).collect(), credits))
    }

    fn row(title: &str) -> Value {
        json!({"title": title, "url": "https://example.com/a", "content": "c", "score": 0.9})
    }

    #[test]
    fn reply_has_summary_rows_and_cost() {
        let body = json!({"query": "q", "answer": "yes", "images": [], "results": [row("a"), row("b")],
            "response_time": 1.2, "usage": {"credits": 2}, "request_id": "r"});
        assert_eq!(parse_titles(&body), Some((Some("yes".into()), vec!["a".into(), "b".into()], Some(2))));
    }

    #[test]
    fn publication_date_is_parsed_or_left_out() {
        let date = |published: Value| {
            let mut row = row("a");
            row["published_date"] = published;
            let reply = parse_search(json!({ "results": [row] }).to_string().as_bytes(), 10).unwrap();
            reply.answer.pages[0].date.clone()
        };
        let known = ["Tue, 24 Nov 2026 23:30:00 -0800", "2026-11-24", " 2026-11-24T08:00:00Z", "2026-11-24T08:00:00"];
        for text in known {
            assert_eq!(date(json!(text)).as_deref(), Some("2026-11-24"), "{text}");
        }
        for value in
            [json!(null), json!(7), json!(""), json!("yesterday"), json!("2026-13-01\n来源：https://evil.example")]
        {
            assert_eq!(date(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn f067_invalid_rows_are_skipped() {
        let rows = json!([null, 1, "x", {}, ["t", "https://example.com/", "c"], {"title": "no address", "content": "c"},
            {"title": "null content", "url": "https://example.com/", "content": null},
            {"title": "script", "url": "javascript:alert(1)", "content": "c"},
            {"title": 7, "url": "https://example.com/untitled", "content": "c"}, row("good")]);
        let titles = vec!["https://example.com/untitled".to_owned(), "good".to_owned()];
        assert_eq!(parse_titles(&json!({"results": rows})), Some((None, titles, None)));
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
            assert_eq!(parse_titles(&case), nothing, "{case}");
        }
        assert_eq!(parse_titles(&json!({"results": [], "usage": {"credits": 1.0}})), Some((None, Vec::new(), Some(1))));
    }

    #[test]
    fn f067_invalid_reply_is_rejected() {
        for body in ["", "null", "[]", "\"ok\"", "<html>", r#"{"results":{}}"#, r#"{"results":[]"#] {
            assert_eq!(parse_search(body.as_bytes(), 10), None, "{body}");
        }
    }

    #[test]
    fn error_with_success_status_is_no_empty_result() {
        assert_eq!(parse_titles(&json!({"detail": {"error": "no"}})), None);
        assert_eq!(parse_titles(&json!({"detail": "no"})), None);
        assert_eq!(parse_titles(&json!({"error": {"code": "x", "message": "no"}})), None);
    }

    #[test]
    fn f056_invalid_utf_8_is_replaced() {
        let body = b"{\"results\":[{\"title\":\"a\xff\",\"url\":\"https://example.com/\",\"content\":\"c\"}]}";
        assert_eq!(parse_search(body, 10).unwrap().answer.pages[0].title, "a\u{fffd}");
    }

    #[test]
    fn surplus_rows_are_ignored() {
        let body = json!({"results": vec![row("a"); 30]}).to_string();
        assert_eq!(parse_search(body.as_bytes(), 3).unwrap().answer.pages.len(), 3);
    }
}
