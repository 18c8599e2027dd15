//! What a turn costs.

use store::ConversationStore;

use crate::counts::{Counts, Turn, number};
use crate::{Inputs, KINDS, Kind};

/// Bytes that a unit of writing holds.
const UNIT: f64 = 1024.0;

/// Write units of what ends a log: one, doubled in a transaction.
pub(crate) const END: f64 = 2.0;

/// Counts and prices together.
#[derive(Clone, Copy)]
pub struct Bills<'a> {
    /// What was counted.
    pub counts: &'a Counts,
    /// What it is multiplied by.
    pub inputs: &'a Inputs,
}

/// A kind of turn with what it comes to.
#[derive(Clone, Copy)]
pub struct Bill<'a> {
    /// The kind.
    pub kind: &'static Kind,
    /// What was counted.
    pub turn: &'a Turn,
    all: Bills<'a>,
}

/// Requests that there are because a turn lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OfTime {
    /// Of the lease.
    pub renewals: f64,
    /// Of the log, but for its end, which is a part of the request that stores the answer.
    pub logs: f64,
    /// Write units of all, the index included.
    pub write: f64,
}

impl<'a> Bills<'a> {
    /// Those of all kinds.
    pub fn all(self) -> impl Iterator<Item = Bill<'a>> {
        KINDS.iter().map(move |kind| self.of(kind.name))
    }

    /// That of a kind.
    pub fn of(self, name: &str) -> Bill<'a> {
        let kind = KINDS.iter().find(|kind| kind.name == name).expect("it is the name of a kind");
        let turn = self.counts.turns.get(name).expect("every kind was counted");
        Bill { kind, turn, all: self }
    }
}

impl Bill<'_> {
    /// How long it takes: models and searches one after the other.
    pub fn seconds(&self) -> f64 {
        let assumed = |name| self.all.inputs.assumed(name);
        let models = self.turn.model_calls * assumed("firstTokenSeconds") + self.writing();
        assumed("storeSeconds") + models + self.turn.searches * assumed("searchSeconds")
    }

    /// How long models write.
    fn writing(&self) -> f64 {
        self.turn.output_tokens / self.all.inputs.assumed("tokensPerSecond")
    }

    /// The requests that there are because it lasts so long. Of the log it is as many as there can be: as though the model
    /// wrote all the time from the moment at which the log begins.
    pub fn of_time(&self) -> OfTime {
        let (seconds, counts) = (self.seconds(), &self.all.counts.while_it_runs);
        if !self.kind.stored {
            return OfTime::default();
        }
        let renewals = (seconds / ConversationStore::RENEWAL.as_secs_f64()).floor();
        let (after, period) = (chat::LOG_GRACE_PERIOD.as_secs_f64(), chat::LOG_FLUSH_INTERVAL.as_secs_f64());
        let mut of_time = OfTime { renewals, ..OfTime::default() };
        of_time.write = renewals * (counts.renewal.write + counts.renewal.index);
        if seconds < after {
            return of_time;
        }
        let bytes_a_second = number(self.kind.pieces()) / self.writing() * counts.log_event_bytes;
        let units = |seconds: f64| ((counts.log_item_bytes + seconds * bytes_a_second) / UNIT).ceil();
        let later = (self.writing().min(seconds - after) / period).floor();
        // The first holds what was said until then.
        of_time.logs = later + 1.0;
        of_time.write += units(after.min(self.writing())) + later * units(period) + END;
        of_time
    }

    /// Processor time, as far as it was measured: of the turn itself and of its words.
    pub fn processor_seconds(&self) -> f64 {
        let words = number(self.kind.pieces()) * self.all.inputs.assumed("processorSecondsOfAMillionWords") / 1e6;
        self.all.inputs.assumed("processorSecondsOfATurn") + words
    }

    /// Read units.
    pub fn read(&self) -> f64 {
        self.turn.requests.iter().map(|request| request.read).sum()
    }

    /// Write units of tables and index, with those that there are because it lasts.
    pub fn write(&self) -> f64 {
        self.turn.requests.iter().map(|request| request.write + request.index).sum::<f64>() + self.of_time().write
    }

    /// Lambda's share for each second, with so many MB.
    pub fn duration(&self, megabytes: f64, price: &str) -> f64 {
        megabytes / 1024.0 * self.seconds() * self.all.inputs.price(price)
    }

    /// DynamoDB's share.
    pub fn database(&self) -> f64 {
        let inputs = self.all.inputs;
        self.read() * inputs.price("dynamodbRead") + self.write() * inputs.price("dynamodbWrite")
    }

    /// Logs, which metrics are a part of, and a trace.
    pub fn observed(&self) -> f64 {
        let inputs = self.all.inputs;
        let bytes = self.turn.bytes_logged + inputs.assumed("platformLogBytes");
        inputs.of_bytes("logs", bytes) + inputs.price("trace")
    }

    /// What leaves AWS: the answer, and requests to models and search.
    pub fn data_out(&self) -> f64 {
        self.all.inputs.of_bytes("dataOut", self.turn.bytes_out + self.turn.bytes_asked)
    }

    /// All that AWS asks, at the default size on arm64 and the function's own URL.
    pub fn of_aws(&self) -> f64 {
        let function = self.all.inputs.price("lambdaRequest") + self.duration(256.0, "lambdaArm64");
        function + self.database() + self.observed() + self.data_out()
    }

    /// What the search asks.
    pub fn search(&self) -> f64 {
        self.turn.search_credits * self.all.inputs.price("tavilyCredit")
    }

    /// What the model asks.
    pub fn model(&self) -> f64 {
        let inputs = self.all.inputs;
        let Turn { input_tokens, output_tokens, .. } = self.turn;
        input_tokens * inputs.price("modelInput") + output_tokens * inputs.price("modelOutput")
    }
}
