use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue};

use super::*;

fn build_message(kind: &'static str, name: &'static str, payload: &'static str) -> Message {
    let header = |name: &'static str, value: &'static str| Header::new(name, HeaderValue::String(value.into()));
    let named = if kind == "event" { ":event-type" } else { ":exception-type" };
    Message::new(payload).add_header(header(":message-type", kind)).add_header(header(named, name))
}

fn encode(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        write_message_to(message, &mut bytes).unwrap();
    }
    bytes
}

fn sample_response() -> Vec<u8> {
    encode(&[
        build_message("event", "PayloadChunk", "one "),
        build_message("event", "Later", "unknown"),
        build_message("event", "PayloadChunk", "two"),
        build_message("event", "InvokeComplete", "{}"),
    ])
}

#[test]
fn output_is_independent_of_chunk_boundaries() {
    let bytes = sample_response();
    for at in 0..=bytes.len() {
        let mut frames = FrameDecoder::default();
        let (first, rest) = bytes.split_at(at);
        let read = [frames.push(first).unwrap(), frames.push(rest).unwrap()].concat();
        assert_eq!((read.as_slice(), frames.is_complete), (b"one two".as_slice(), true), "cut at {at}");
    }
}

#[test]
fn truncated_response_is_incomplete() {
    let bytes = sample_response();
    for at in 0..bytes.len() {
        let mut frames = FrameDecoder::default();
        frames.push(&bytes[..at]).unwrap();
        assert!(!frames.is_complete, "cut off at {at}");
    }
}

#[test]
fn checksum_detects_every_flipped_bit() {
    let bytes = encode(&[build_message("event", "PayloadChunk", "one")]);
    // After the lengths, which have a separate checksum: a changed length may make the decoder wait for more bytes.
    for at in 8..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(FrameDecoder::default().push(&bytes), Err(TransportError::Disconnected), "byte {at}");
    }
    let mut shorter = bytes;
    shorter[3] -= 1;
    assert_eq!(FrameDecoder::default().push(&shorter), Err(TransportError::Disconnected));
}

#[test]
fn oversized_frame_is_rejected() {
    let mut frames = FrameDecoder::default();
    frames.push(&[0x7f; 12]).unwrap();
    assert_eq!(frames.push(&vec![0; MAX_BUFFERED_BYTES + 1]), Err(TransportError::Disconnected));
}

#[test]
fn function_failure_is_reported_by_code_only() {
    let failed = r#"{"ErrorCode":"Runtime.ExitError","ErrorDetails":"canary"}"#;
    let error = FrameDecoder::default().push(&encode(&[build_message("event", "InvokeComplete", failed)])).unwrap_err();
    assert_eq!(error.to_string(), "a function that failed (Runtime.ExitError)");
    let error =
        FrameDecoder::default().push(&encode(&[build_message("exception", "ServiceException", "canary")])).unwrap_err();
    assert_eq!(error.to_string(), "a failure of Lambda (ServiceException)");
    let odd = r#"{"ErrorCode":"the canary sang"}"#;
    let error = FrameDecoder::default().push(&encode(&[build_message("event", "InvokeComplete", odd)])).unwrap_err();
    assert_eq!(error.to_string(), "a function that failed (unknown)");
}
