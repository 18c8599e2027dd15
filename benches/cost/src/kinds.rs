/// A scripted kind of turn.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in tables and files.
    pub name: &'static str,
    /// The turns before it.
    pub before: Before,
    /// Whether it runs on an instance that has served no request yet.
    pub new_instance: bool,
    /// The model's replies, in order.
    pub replies: &'static [Said],
    /// Whether the product stores the conversation; else the caller does, and uses `/v1`.
    pub stored: bool,
    /// Whether the request has an `Idempotency-Key`, which the page always sends.
    pub has_key: bool,
}

/// The turns before a counted turn.
#[derive(Clone, Copy, Debug)]
pub enum Before {
    /// No turn.
    Nothing,
    /// The same turn in another conversation.
    TheSame,
    /// This many turns of the same conversation, with these replies.
    Turns(usize, &'static [Said]),
}

/// A scripted reply of the model.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    /// This many deltas of two Chinese characters.
    Pieces(usize),
    /// The same, but the second half waits until the turn's lease was renewed and its log begun.
    Slowly(usize),
    /// A tool call.
    Call(&'static str),
}

use Said::{Call, Pieces, Slowly};

const SEARCH: Said = Call(r#"{"tool": "search_web", "query": "杭州 周末 天气 预报"}"#);

/// An answer of several paragraphs.
const ANSWER: Said = Pieces(300);

const PLAIN: Kind =
    Kind { name: "", before: Before::Nothing, new_instance: true, replies: &[ANSWER], stored: true, has_key: false };

/// The default kind of the tables.
pub const USUAL: &str = "answer";
/// The kind with a search.
pub const SEARCHING: &str = "one search";
/// The same with a cached search.
pub const CACHED: &str = "the same search, cached";

/// All kinds, in the order of the tables.
pub const KINDS: [Kind; 11] = [
    Kind { name: "short answer", replies: &[Pieces(30)], ..PLAIN },
    Kind {
        name: "short answer, warm instance",
        replies: &[Pieces(30)],
        before: Before::TheSame,
        new_instance: false,
        ..PLAIN
    },
    Kind { name: USUAL, ..PLAIN },
    Kind { name: "answer, asked by the page", has_key: true, ..PLAIN },
    Kind { name: "long answer", replies: &[Slowly(1000)], ..PLAIN },
    Kind { name: SEARCHING, replies: &[SEARCH, ANSWER], ..PLAIN },
    Kind { name: CACHED, replies: &[SEARCH, ANSWER], before: Before::TheSame, ..PLAIN },
    Kind { name: "the turn after a search", before: Before::Turns(1, &[SEARCH, ANSWER]), ..PLAIN },
    Kind {
        name: "three rounds of tools",
        replies: &[
            SEARCH,
            Call(r#"{"tool": "read_url", "url": "https://example.com/1"}"#),
            Call(r#"{"tool": "calculator", "expression": "(23 + 17) / 2"}"#),
            ANSWER,
        ],
        ..PLAIN
    },
    Kind { name: "tenth turn", before: Before::Turns(9, &[ANSWER]), ..PLAIN },
    Kind { name: "`/v1`, nothing stored", stored: false, ..PLAIN },
];

impl Kind {
    /// Whether it waits for requests that depend on the duration.
    pub fn is_slow(&self) -> bool {
        self.replies.iter().any(|said| matches!(said, Slowly(_)))
    }

    /// Number of deltas of the model's replies, without calls.
    pub fn pieces(&self) -> usize {
        let pieces = |said: &Said| match said {
            Pieces(pieces) | Slowly(pieces) => *pieces,
            Call(_) => 0,
        };
        self.replies.iter().map(pieces).sum()
    }
}
