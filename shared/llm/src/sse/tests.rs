//! The vectors restate the web-platform-tests for `EventSource`. A comment marks each case where this decoder departs
//! from the standard on purpose.

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedFrame {
    Event(String, String),
    Bare(String),
}

impl From<Frame<'_>> for OwnedFrame {
    fn from(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Event { kind, data } => Self::Event(kind.to_owned(), data.to_owned()),
            Frame::Bare(line) => Self::Bare(line.to_owned()),
        }
    }
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<OwnedFrame>, TooLong> {
    let mut frames = Vec::new();
    let mut decoder = SseDecoder::default();
    let mut collect = |frame: Frame<'_>| {
        frames.push(OwnedFrame::from(frame));
        Ok(())
    };
    for chunk in chunks {
        decoder.push::<TooLong>(chunk, &mut collect)?;
    }
    decoder.finish::<TooLong>(&mut collect)?;
    Ok(frames)
}

/// Decodes the whole stream, split at each position, and byte by byte; expects the same result each time.
fn expect(stream: &[u8], events: &[(&str, &str)]) {
    let events: Vec<OwnedFrame> =
        events.iter().map(|(kind, data)| OwnedFrame::Event((*kind).to_owned(), (*data).to_owned())).collect();
    let name = String::from_utf8_lossy(stream);
    for cut in 0..=stream.len() {
        let (before, after) = stream.split_at(cut);
        assert_eq!(decode([before, after]).as_ref(), Ok(&events), "{name:?} cut at {cut}");
    }
    assert_eq!(decode(stream.chunks(1)).as_ref(), Ok(&events), "{name:?} byte by byte");
}

/// The same for events of the default type.
fn expect_data(stream: &str, data: &[&str]) {
    expect(stream.as_bytes(), &data.iter().map(|data| ("", *data)).collect::<Vec<_>>());
}

#[test]
fn f036_one_byte_order_mark_is_skipped_at_start() {
    expect_data("\u{feff}data:1\n\n\u{feff}data:2\n\ndata:3\n\n", &["1", "3"]);
    expect_data("\u{feff}\u{feff}data:1\n\ndata:2\n\ndata:3\n\n", &["2", "3"]);
}

#[test]
fn f037_lines_end_in_cr_lf_or_both() {
    expect_data("data:test\r\ndata\ndata:test\r\n\r", &["test\n\ntest"]);
    expect_data("data:a\r\rdata:b\n\ndata:c\r\n\r\ndata:d\r\n\ndata:e\n\r\n", &["a", "b", "c", "d", "e"]);
}

#[test]
fn f038_comments_are_ignored_at_any_position() {
    let long = "x".repeat(2049);
    let stream = format!("data:1\r:\0\n:\r\ndata:2\n:{long}\rdata:3\n:data:fail\r:{long}\ndata:4\n\n");
    expect_data(&stream, &["1\n2\n3\n4"]);
    expect_data(": OPENROUTER PROCESSING\n\n: keep-alive\n\ndata: x\n\n", &["x"]);
}

#[test]
fn f039_fields_are_parsed_as_in_the_standard() {
    expect_data(
        "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
        &["\0\n 2\n1\n3\n\n4"],
    );
    expect_data("data:test\n data\ndata\nfoobar:xxx\njustsometext\n:comment\ndata:test\n\n", &["test\n\ntest"]);
    expect_data("data:\ttest\rdata: \ndata:test\n\n", &["\ttest\n\ntest"]);
    expect_data("data:\0\n\n\n\n", &["\0"]);
    expect_data("id:1\nretry:10\nretry:x\ndata:a\n\nid\ndata:b\n\n", &["a", "b"]);
}

#[test]
fn f040_data_lines_are_joined_by_line_feeds() {
    expect_data("data:\n\ndata\ndata\n\ndata:test\n\n", &["", "\n", "test"]);
    expect_data("data: {\ndata: \"a\": 1}\n\n", &["{\n\"a\": 1}"]);
    expect_data("data: 0\n\ndata: {\ndata: \"a\": 1}\n\n", &["0", "{\n\"a\": 1}"]);
}

#[test]
fn event_type_applies_to_one_event() {
    expect(b"event:test\ndata:x\n\ndata:x\n\n", &[("test", "x"), ("", "x")]);
    expect(b"data:x\n\ndata:y\nevent:behind\n\n", &[("", "x"), ("behind", "y")]);
    expect(b"event: \ndata:data\n\n", &[("", "data")]);
    expect(b"event:lost\n\ndata:x\n\n", &[("", "x")]);
    expect(b"event: a\nevent: b\ndata: x\n\n", &[("b", "x")]);
}

#[test]
fn final_event_without_blank_line_is_emitted() {
    // The standard drops both; then a stream that ends after its last `data:` line would lose its finish.
    expect_data("retry:1000\ndata:test1\n\nid:test\ndata:test2\n", &["test1", "test2"]);
    expect_data("data:1\n\ndata:2", &["1", "2"]);
}

#[test]
fn line_starting_with_brace_is_emitted_unchanged() {
    let stream = "data: x\n\n{\"error\":{\"code\":\"A\"}}\n\r\n";
    let expected = vec![
        OwnedFrame::Event(String::new(), "x".to_owned()),
        OwnedFrame::Bare("{\"error\":{\"code\":\"A\"}}".to_owned()),
    ];
    for cut in 0..=stream.len() {
        let (before, after) = stream.as_bytes().split_at(cut);
        assert_eq!(decode([before, after]), Ok(expected.clone()), "cut at {cut}");
    }
}

#[test]
fn f034_f035_split_utf8_is_joined_and_invalid_replaced() {
    expect_data("data: 天气🌤é\n\n", &["天气🌤é"]);
    expect(b"data: a\xff\xfeb\xe5\xa4\n\n", &[("", "a\u{fffd}\u{fffd}b\u{fffd}")]);
}

#[test]
fn f041_line_or_event_over_limit_is_rejected() {
    let line = format!("data: {}", "x".repeat(MAX_EVENT_BYTES + 1));
    assert_eq!(decode([line.as_bytes()]), Err(TooLong));
    assert_eq!(decode(line.as_bytes().chunks(1000)), Err(TooLong));
    let event = format!("data: {}\n", "x".repeat(1000)).repeat(MAX_EVENT_BYTES / 1000 + 1);
    assert_eq!(decode([event.as_bytes()]), Err(TooLong));
    let comment = format!(":{}", "x".repeat(MAX_EVENT_BYTES + 1));
    assert_eq!(decode(comment.as_bytes().chunks(1000)), Err(TooLong));
    let many = format!("data: {}\n\n", "x".repeat(1000)).repeat(MAX_EVENT_BYTES / 500);
    assert_eq!(decode([many.as_bytes()]).map(|frames| frames.len()), Ok(MAX_EVENT_BYTES / 500));
}

#[test]
fn f045_hundred_thousand_events_survive_any_split() {
    let stream = "data: {\"a\":1}\r\n\r\n".repeat(100_000);
    for chunk in [1, 7, usize::MAX] {
        let frames = decode(stream.as_bytes().chunks(chunk.min(stream.len()))).unwrap();
        assert_eq!(frames.len(), 100_000, "by {chunk}");
    }
}
