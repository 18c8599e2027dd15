//! Fuzzing of event streams.

use std::convert::Infallible;

use ::fuzz::{ensure, run, split_bytes};

use crate::{Decoder, Frame};

const SAMPLES: [&[u8]; 5] = [
    b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n: keep-alive\n\ndata: [DONE]\n\n",
    b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
    b"event: message\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\n: ping\n\n",
    "\u{feff}data\rdata:汉\r\r".as_bytes(),
    b"retry: 1000\n\n{\"error\":{\"message\":\"x\"}}\nevent: error\ndata: {}",
];

const FRAGMENTS: [&str; 12] = [
    "data: ",
    "data:",
    "data",
    "\n\n",
    "\r\n\r\n",
    "\r\n",
    "event: x\n",
    "id: 1\n",
    "retry: 1\n",
    ": ",
    "{\"error\"",
    "\u{feff}",
];

/// Decodes the pieces; returns the frames and the bytes of text in them.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, usize) {
    let (mut decoder, mut frames, mut size) = (Decoder::default(), Vec::new(), 0);
    let mut sink = |frame: Frame<'_>| -> Result<(), Infallible> {
        size += match frame {
            Frame::Event(event) => event.data.len(),
            Frame::Unknown(line) => line.len(),
            Frame::TooLong => 0,
        };
        frames.push(format!("{frame:?}"));
        Ok(())
    };
    for piece in pieces {
        let Ok(()) = decoder.push(piece, &mut sink);
    }
    let Ok(()) = decoder.finish(&mut sink);
    (frames, size)
}

#[test]
fn fuzz_event_streams_at_any_chunk_boundary() {
    run("event stream", &SAMPLES, &FRAGMENTS, |bytes| {
        let ((whole, size), (cut, _)) = (decode([bytes]), decode(split_bytes(bytes)));
        ensure(whole == cut, || format!("whole {whole:?}\ncut {cut:?}"))?;
        // An invalid byte becomes a character of three bytes.
        ensure(size <= 3 * bytes.len(), || format!("{size} bytes of {}", bytes.len()))
    });
}
