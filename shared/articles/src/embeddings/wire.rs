use serde::Deserialize;
use store::QuantisedVector;

use crate::vectors::quantise;

/// The maximum length of a vector.
const MAX_DIMENSIONS: usize = 8192;

/// <https://platform.openai.com/docs/api-reference/embeddings/create>, as of November 2026.
#[derive(Deserialize)]
struct Reply {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    /// Absent in replies of some endpoints, which are in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of `count` texts, in their order; `None` unless each text has one.
pub(crate) fn parse(body: &[u8], count: usize) -> Option<Vec<QuantisedVector>> {
    let Reply { data } = serde_json::from_slice(body).ok()?;
    let mut vectors: Vec<Option<QuantisedVector>> = vec![None; count];
    for (position, Row { index, embedding }) in data.into_iter().enumerate() {
        let slot = vectors.get_mut(index.unwrap_or(position))?;
        *slot = Some(embedding).filter(|vector| vector.len() <= MAX_DIMENSIONS).and_then(|vector| quantise(&vector));
    }
    vectors.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scales(body: &str, count: usize) -> Option<Vec<Vec<i8>>> {
        Some(parse(body.as_bytes(), count)?.into_iter().map(|vector| vector.values).collect())
    }

    #[test]
    fn vectors_are_in_order_of_their_texts() {
        let body = r#"{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[4,0]}],"usage":{}}"#;
        assert_eq!(scales(body, 2), Some(vec![vec![127, 0], vec![0, -127]]));
        let unordered = r#"{"data":[{"embedding":[4,0]},{"embedding":[0,-2]}]}"#;
        assert_eq!(scales(unordered, 2), Some(vec![vec![127, 0], vec![0, -127]]));
    }

    #[test]
    fn incomplete_replies_are_refused() {
        let row = r#"{"index":0,"embedding":[1]}"#;
        for body in [
            "",
            "{}",
            r#"{"data":[]}"#,
            &format!(r#"{{"data":[{row}]}}"#),
            &format!(r#"{{"data":[{row},{row}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":2,"embedding":[1]}}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":1,"embedding":[0]}}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":1,"embedding":"AAAA"}}]}}"#),
        ] {
            assert_eq!(scales(body, 2), None, "{body}");
        }
    }
}
