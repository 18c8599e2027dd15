/// A scripted kind of turn.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in tables and files.
    pub name: &'static str,
    /// The turns before it.
    pub earlier_turns: EarlierTurns,
    /// Whether it runs on an instance that has served no request yet.
    pub new_instance: bool,
    /// The model's replies, in order.
    pub replies: &'static [ScriptedReply],
    /// Whether the product stores the conversation; else the caller does, and uses `/v1`.
    pub stored: bool,
    /// Whether the request has an `Idempotency-Key`, which the page always sends.
    pub has_key: bool,
}

/// The turns before a counted turn.
#[derive(Clone, Copy, Debug)]
pub enum EarlierTurns {
    /// No turn.
    Nothing,
    /// A turn of another conversation, with these replies.
    Other(&'static [ScriptedReply]),
    /// This many turns of the same conversation, with these replies.
    Turns(usize, &'static [ScriptedReply]),
}

/// A scripted reply of the model.
#[derive(Clone, Copy, Debug)]
pub enum ScriptedReply {
    /// This many deltas of two Chinese characters.
    Pieces(usize),
    /// The same, but the second half waits until the turn's lease was renewed and its log begun.
    SlowPieces(usize),
    /// A tool call.
    Call(&'static str),
}

use ScriptedReply::{Call, Pieces, SlowPieces};

const SEARCH: ScriptedReply = Call(r#"{"tool": "search_web", "query": "杭州 周末 天气 预报"}"#);

const OTHER_SEARCH: ScriptedReply = Call(r#"{"tool": "search_web", "query": "苏州 周末 天气 预报"}"#);

/// An answer of several paragraphs.
const ANSWER: ScriptedReply = Pieces(300);

const PLAIN: Kind = Kind {
    name: "",
    earlier_turns: EarlierTurns::Nothing,
    new_instance: true,
    replies: &[ANSWER],
    stored: true,
    has_key: false,
};

/// The default kind of the tables.
pub const DEFAULT_KIND: &str = "answer";
/// The kind with a search.
pub const SEARCH_KIND: &str = "one search";
/// The same with a cached search.
pub const CACHED_SEARCH_KIND: &str = "the same search, cached";

/// All kinds, in the order of the tables.
pub const KINDS: [Kind; 12] = [
    Kind { name: "short answer", replies: &[Pieces(30)], ..PLAIN },
    Kind {
        name: "short answer, warm instance",
        replies: &[Pieces(30)],
        earlier_turns: EarlierTurns::Other(&[Pieces(30)]),
        new_instance: false,
        ..PLAIN
    },
    Kind { name: DEFAULT_KIND, ..PLAIN },
    Kind { name: "answer, asked by the page", has_key: true, ..PLAIN },
    Kind { name: "long answer", replies: &[SlowPieces(1000)], ..PLAIN },
    Kind { name: SEARCH_KIND, replies: &[SEARCH, ANSWER], ..PLAIN },
    Kind {
        name: "one search, warm instance",
        replies: &[SEARCH, ANSWER],
        earlier_turns: EarlierTurns::Other(&[OTHER_SEARCH, ANSWER]),
        new_instance: false,
        ..PLAIN
    },
    Kind {
        name: CACHED_SEARCH_KIND,
        replies: &[SEARCH, ANSWER],
        earlier_turns: EarlierTurns::Other(&[SEARCH, ANSWER]),
        ..PLAIN
    },
    Kind { name: "the turn after a search", earlier_turns: EarlierTurns::Turns(1, &[SEARCH, ANSWER]), ..PLAIN },
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
    Kind { name: "tenth turn", earlier_turns: EarlierTurns::Turns(9, &[ANSWER]), ..PLAIN },
    Kind { name: "`/v1`, nothing stored", stored: false, ..PLAIN },
];

impl Kind {
    /// Whether it waits for requests that depend on the duration.
    pub fn is_slow(&self) -> bool {
        self.replies.iter().any(|reply| matches!(reply, SlowPieces(_)))
    }

    /// Number of deltas of the model's replies, without calls.
    pub fn pieces(&self) -> usize {
        let pieces = |reply: &ScriptedReply| match reply {
            Pieces(pieces) | SlowPieces(pieces) => *pieces,
            Call(_) => 0,
        };
        self.replies.iter().map(pieces).sum()
    }
}
