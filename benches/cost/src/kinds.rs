/// A kind of turn, by what is scripted of it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in tables and files.
    pub name: &'static str,
    /// What happened before it.
    pub before: Before,
    /// Whether it is asked of an instance that has served nothing yet.
    pub new_instance: bool,
    /// What the model says, reply by reply.
    pub replies: &'static [Said],
    /// Whether the product keeps the conversation; else the caller does, and asks at `/v1`.
    pub stored: bool,
    /// Whether it may be repeated by its `Idempotency-Key`, which the page always sends.
    pub has_key: bool,
}

/// What happened before a turn that is counted.
#[derive(Clone, Copy, Debug)]
pub enum Before {
    /// Nothing at all.
    Nothing,
    /// The same in another conversation.
    TheSame,
    /// So many turns of the same conversation, in which the model said this.
    Turns(usize, &'static [Said]),
}

/// A reply of the model.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    /// So many pieces of two Chinese characters.
    Pieces(usize),
    /// The same, of which the second half waits until the turn's lease was renewed and its log begun.
    Slowly(usize),
    /// A call of a tool.
    Call(&'static str),
}

use Said::{Call, Pieces, Slowly};

const SEARCH: Said = Call(r#"{"tool": "search_web", "query": "杭州 周末 天气 预报"}"#);

/// An answer of some paragraphs.
const ANSWER: Said = Pieces(300);

const PLAIN: Kind =
    Kind { name: "", before: Before::Nothing, new_instance: true, replies: &[ANSWER], stored: true, has_key: false };

/// The kind that most tables look at.
pub const USUAL: &str = "answer";
/// The kind that searches.
pub const SEARCHING: &str = "one search";
/// The same when somebody searched for it before.
pub const CACHED: &str = "the same search, cached";

/// All kinds, in the order in which they are told.
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
    /// Whether it waits for what only time brings.
    pub fn is_slow(&self) -> bool {
        self.replies.iter().any(|said| matches!(said, Slowly(_)))
    }

    /// The pieces that the model's replies come in, calls not counted.
    pub fn pieces(&self) -> usize {
        let pieces = |said: &Said| match said {
            Pieces(pieces) | Slowly(pieces) => *pieces,
            Call(_) => 0,
        };
        self.replies.iter().map(pieces).sum()
    }
}
