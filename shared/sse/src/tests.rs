//! The vectors restate the web-platform-tests for `EventSource`. A comment marks each case where this decoder departs
//! from the standard on purpose.

use std::convert::Infallible;

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedFrame {
    Event { kind: String, id: Option<String>, data: String },
    Unknown(String),
    TooLong,
}

impl From<Frame<'_>> for OwnedFrame {
    fn from(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Event(Event { kind, id, data }) => {
                Self::Event { kind: kind.to_owned(), id: id.map(str::to_owned), data: data.to_owned() }
            }
            Frame::Unknown(line) => Self::Unknown(line.to_owned()),
            Frame::TooLong => Self::TooLong,
        }
    }
}

fn event(kind: &str, id: Option<&str>, data: &str) -> OwnedFrame {
    Frame::Event(Event { kind, id, data }).into()
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<OwnedFrame> {
    let mut frames = Vec::new();
    let mut decoder = Decoder::default();
    let mut collect = |frame: Frame<'_>| -> Result<(), Infallible> {
        frames.push(OwnedFrame::from(frame));
        Ok(())
    };
    for chunk in chunks {
        let Ok(()) = decoder.push(chunk, &mut collect);
    }
    let Ok(()) = decoder.finish(&mut collect);
    frames
}

/// Decodes the whole stream, split at each position, and byte by byte; expects the same frames each time.
fn expect_frames(stream: &[u8], frames: &[OwnedFrame]) {
    let name = String::from_utf8_lossy(stream);
    for cut in 0..=stream.len() {
        let (before, after) = stream.split_at(cut);
        assert_eq!(decode([before, after]), frames, "{name:?} cut at {cut}");
    }
    assert_eq!(decode(stream.chunks(1)), frames, "{name:?} byte by byte");
}

/// Decodes the whole stream, split at each position, and byte by byte; expects the same types and data each time.
fn expect(stream: &[u8], events: &[(&str, &str)]) {
    let kind_and_data = |frame: OwnedFrame| match frame {
        OwnedFrame::Event { kind, data, .. } => Some((kind, data)),
        OwnedFrame::Unknown(_) => None,
        OwnedFrame::TooLong => panic!("an event is too long"),
    };
    let events: Vec<(String, String)> =
        events.iter().map(|(kind, data)| ((*kind).to_owned(), (*data).to_owned())).collect();
    let name = String::from_utf8_lossy(stream);
    let check = |frames: Vec<OwnedFrame>, cut: &str| {
        let decoded: Vec<(String, String)> = frames.into_iter().filter_map(kind_and_data).collect();
        assert_eq!(decoded, events, "{name:?} {cut}");
    };
    for cut in 0..=stream.len() {
        let (before, after) = stream.split_at(cut);
        check(decode([before, after]), &format!("cut at {cut}"));
    }
    check(decode(stream.chunks(1)), "byte by byte");
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
    expect(b"data:x\n\ndata:y\nevent:after\n\n", &[("", "x"), ("after", "y")]);
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
fn lines_outside_the_format_are_emitted() {
    let stream = "data: x\n\n{\"error\":{\"code\":\"A\"}}\n\r\n Data:1\ndata: y\nfoo\n\nretry\nid:2\n:\nevent";
    let unknown = |line: &str| OwnedFrame::Unknown(line.to_owned());
    let expected = [
        event("", None, "x"),
        unknown("{\"error\":{\"code\":\"A\"}}"),
        unknown(" Data:1"),
        unknown("foo"),
        event("", None, "y"),
    ];
    expect_frames(stream.as_bytes(), &expected);
}

#[test]
fn id_applies_to_its_own_event() {
    let stream =
        b"id: T-1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid:x\0\ndata: d\n\nid:lost\n\ndata: e\n\nid:1\nid:2\ndata:f";
    let ids = [Some("T-1"), None, Some(""), None, None, Some("2")];
    let events: Vec<OwnedFrame> =
        ids.iter().zip(["a", "b", "c", "d", "e", "f"]).map(|(id, data)| event("", *id, data)).collect();
    expect_frames(stream, &events);
}

#[test]
fn f034_f035_split_utf8_is_joined_and_invalid_replaced() {
    expect_data("data: 天气🌤é\n\n", &["天气🌤é"]);
    expect(b"data: a\xff\xfeb\xe5\xa4\n\n", &[("", "a\u{fffd}\u{fffd}b\u{fffd}")]);
}

/// Expects the frames of the stream as a whole and in chunks of 1000 bytes.
fn expect_any_chunks(stream: &str, frames: &[OwnedFrame]) {
    for chunk in [stream.len(), 1000] {
        assert!(decode(stream.as_bytes().chunks(chunk)) == frames, "{}… by {chunk}", &stream[..10]);
    }
}

#[test]
fn f041_line_or_event_over_limit_is_skipped() {
    let too_long = "x".repeat(MAX_EVENT_BYTES + 1);
    let line = format!("data: {}\n", "x".repeat(1000));
    let lines = line.repeat(MAX_EVENT_BYTES / 1000 + 1).trim_end().to_owned();
    for event_over_limit in [format!("data: {too_long}"), format!(":{too_long}"), too_long.clone(), lines.clone()] {
        expect_any_chunks(&event_over_limit, &[OwnedFrame::TooLong]);
        let stream = format!("data: a\n\ndata: b\n{event_over_limit}\n{line}{{}}\n{lines}\n\ndata: c\n\n");
        expect_any_chunks(&stream, &[event("", None, "a"), OwnedFrame::TooLong, event("", None, "c")]);
    }
    let many = format!("data: {}\n\n", "x".repeat(1000)).repeat(MAX_EVENT_BYTES / 500);
    assert_eq!(decode([many.as_bytes()]).len(), MAX_EVENT_BYTES / 500);
}

#[test]
fn event_of_maximum_size_is_emitted() {
    let longest = "x".repeat(MAX_EVENT_BYTES - "data:".len());
    expect_any_chunks(&format!("data:{longest}\n\n"), &[event("", None, &longest)]);
    expect_any_chunks(&format!("\ndata:{longest}\n\n"), &[event("", None, &longest)]);
    expect_any_chunks(&format!("\ndata:{longest}x\n\ndata:a\n\n"), &[OwnedFrame::TooLong, event("", None, "a")]);
    let half = "x".repeat(MAX_EVENT_BYTES / 2);
    expect_any_chunks(
        &format!("data:{half}\ndata:{}\n\n", &half[1..]),
        &[event("", None, &format!("{half}\n{}", &half[1..]))],
    );
    expect_any_chunks(&format!("data:{half}\ndata:{half}\n\n"), &[OwnedFrame::TooLong]);
}

#[test]
fn f045_hundred_thousand_events_survive_any_split() {
    let stream = "data: {\"a\":1}\r\n\r\n".repeat(100_000);
    for chunk in [1, 7, usize::MAX] {
        let frames = decode(stream.as_bytes().chunks(chunk.min(stream.len())));
        assert_eq!(frames.len(), 100_000, "by {chunk}");
    }
}
