use crate::ModelError;
use crate::attempt_error::AttemptError;

/// One element of a response that is an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// An event with its type (empty for the default one) and its data.
    Event { kind: &'a str, data: &'a str },
    /// A line that starts with `{`: some endpoints write an error or a chunk without `data:`.
    Bare(&'a str),
}

impl<'a> Frame<'a> {
    /// Selects what a wire decodes; `None` for any other line outside the format. An event over the size limit is an error.
    ///
    /// A field `error` with an object is an error event: llama-box and older versions of llama.cpp send it.
    pub(crate) fn from_sse(frame: sse::Frame<'a>) -> Result<Option<Self>, AttemptError> {
        match frame {
            sse::Frame::Event(sse::Event { kind, data, .. }) => Ok(Some(Self::Event { kind, data })),
            sse::Frame::Unknown(line) => Ok(Self::outside_format(line)),
            sse::Frame::TooLong => Err(AttemptError::fatal(ModelError::BadResponse)),
        }
    }

    fn outside_format(line: &'a str) -> Option<Self> {
        if line.starts_with('{') {
            return Some(Self::Bare(line));
        }
        let data = line.strip_prefix("error:")?.trim_ascii();
        data.starts_with('{').then_some(Self::Event { kind: "error", data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_starting_with_brace_are_bare() {
        let unknown = |line| Frame::from_sse(sse::Frame::Unknown(line));
        assert_eq!(unknown("{\"error\":{}}"), Ok(Some(Frame::Bare("{\"error\":{}}"))));
        let error = Frame::Event { kind: "error", data: r#"{"error":{}}"# };
        assert_eq!(unknown(r#"error: {"error":{}}"#), Ok(Some(error)));
        for line in [" {}", "error", "error: no", "errors: {}", "Data: {}", "[{}]"] {
            assert_eq!(unknown(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn f041_event_over_limit_fails_the_response() {
        let expected = Err(AttemptError::fatal(ModelError::BadResponse));
        assert_eq!(Frame::from_sse(sse::Frame::TooLong), expected);
    }
}
