//! Cost of a turn.

use store::ConversationStore;

use crate::counts::{Counts, Turn, to_float};
use crate::{Inputs, KINDS, Kind};

/// Bytes per write unit.
const WRITE_UNIT_BYTES: f64 = 1024.0;

/// Write units of the end of a log: one, doubled in a transaction.
pub(crate) const LOG_END_UNITS: f64 = 2.0;

/// Counts and prices.
#[derive(Clone, Copy)]
pub struct Bills<'a> {
    /// The counts.
    pub counts: &'a Counts,
    /// The prices and assumptions.
    pub inputs: &'a Inputs,
}

/// Costs of a kind of turn.
#[derive(Clone, Copy)]
pub struct Bill<'a> {
    /// The kind.
    pub kind: &'static Kind,
    /// The counts.
    pub turn: &'a Turn,
    all: Bills<'a>,
}

/// Requests that depend on the duration of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationRequests {
    /// Renewals of the lease.
    pub renewals: f64,
    /// Writes of the log, except its end, which is part of the request that stores the answer.
    pub logs: f64,
    /// Write units of all of them, including the index.
    pub write: f64,
}

impl<'a> Bills<'a> {
    /// The bills of all kinds.
    pub fn all(self) -> impl Iterator<Item = Bill<'a>> {
        KINDS.iter().map(move |kind| self.of(kind.name))
    }

    /// The bill of a kind.
    pub fn of(self, name: &str) -> Bill<'a> {
        let kind = KINDS.iter().find(|kind| kind.name == name).expect("it is the name of a kind");
        let turn = self.counts.turns.get(name).expect("every kind was counted");
        Bill { kind, turn, all: self }
    }
}

impl Bill<'_> {
    /// Duration in seconds: models and searches run one after the other.
    pub fn seconds(&self) -> f64 {
        let assumed = |name| self.all.inputs.assumption(name);
        let models = self.turn.model_calls * assumed("firstTokenSeconds") + self.writing_seconds();
        assumed("storeSeconds") + models + self.turn.searches * assumed("searchSeconds")
    }

    /// Time in seconds in which models write.
    fn writing_seconds(&self) -> f64 {
        self.turn.output_tokens / self.all.inputs.assumption("tokensPerSecond")
    }

    /// Requests that depend on the duration. Log writes are an upper bound: as if the model wrote without pause after the
    /// log began.
    pub fn duration_requests(&self) -> DurationRequests {
        let (seconds, counts) = (self.seconds(), &self.all.counts.while_it_runs);
        if !self.kind.stored {
            return DurationRequests::default();
        }
        let renewals = (seconds / ConversationStore::RENEWAL.as_secs_f64()).floor();
        let (after, period) = (chat::LOG_GRACE_PERIOD.as_secs_f64(), chat::LOG_FLUSH_INTERVAL.as_secs_f64());
        let mut requests = DurationRequests { renewals, ..DurationRequests::default() };
        requests.write = renewals * (counts.renewal.write + counts.renewal.index);
        if seconds < after {
            return requests;
        }
        let bytes_a_second = to_float(self.kind.pieces()) / self.writing_seconds() * counts.log_event_bytes;
        let units = |seconds: f64| ((counts.log_item_bytes + seconds * bytes_a_second) / WRITE_UNIT_BYTES).ceil();
        let later = (self.writing_seconds().min(seconds - after) / period).floor();
        // The first write holds all deltas until then.
        requests.logs = later + 1.0;
        requests.write += units(after.min(self.writing_seconds())) + later * units(period) + LOG_END_UNITS;
        requests
    }

    /// Processor time in seconds, as far as it was measured: of the turn itself and of its tokens.
    pub fn processor_seconds(&self) -> f64 {
        let tokens = to_float(self.kind.pieces()) * self.all.inputs.assumption("processorSecondsOfAMillionWords") / 1e6;
        self.all.inputs.assumption("processorSecondsOfATurn") + tokens
    }

    /// Read units.
    pub fn read(&self) -> f64 {
        self.turn.requests.iter().map(|request| request.read).sum()
    }

    /// Write units of tables and index, including those that depend on the duration.
    pub fn write(&self) -> f64 {
        self.turn.requests.iter().map(|request| request.write + request.index).sum::<f64>()
            + self.duration_requests().write
    }

    /// Lambda's duration charge for a memory size in MB.
    pub fn duration(&self, megabytes: f64, price: &str) -> f64 {
        megabytes / 1024.0 * self.seconds() * self.all.inputs.price(price)
    }

    /// DynamoDB's charge.
    pub fn database(&self) -> f64 {
        let inputs = self.all.inputs;
        self.read() * inputs.price("dynamodbRead") + self.write() * inputs.price("dynamodbWrite")
    }

    /// Charge for logs, which include metrics, and a trace.
    pub fn observability_charge(&self) -> f64 {
        let inputs = self.all.inputs;
        let bytes = self.turn.bytes_logged + inputs.assumption("platformLogBytes");
        inputs.charge_for_bytes("logs", bytes) + inputs.price("trace")
    }

    /// Charge for outgoing data: the answer, and requests to models and search.
    pub fn data_out(&self) -> f64 {
        self.all.inputs.charge_for_bytes("dataOut", self.turn.bytes_out + self.turn.bytes_requested)
    }

    /// Total AWS charge, at the default size on arm64 with the function's own URL.
    pub fn aws_charge(&self) -> f64 {
        let function = self.all.inputs.price("lambdaRequest") + self.duration(256.0, "lambdaArm64");
        function + self.database() + self.observability_charge() + self.data_out()
    }

    /// The search provider's charge.
    pub fn search(&self) -> f64 {
        self.turn.search_credits * self.all.inputs.price("tavilyCredit")
    }

    /// The model provider's charge.
    pub fn model(&self) -> f64 {
        let inputs = self.all.inputs;
        let Turn { input_tokens, output_tokens, .. } = self.turn;
        input_tokens * inputs.price("modelInput") + output_tokens * inputs.price("modelOutput")
    }
}
