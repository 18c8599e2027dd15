use agent::Subscriber;
use domain::EventBatch;
use futures_util::stream::{BoxStream, Stream, StreamExt};

/// A turn's id and its events, from the first on. Dropping it does not end a stateful turn.
pub struct TurnStream {
    /// The turn.
    pub turn_id: String,
    /// Its events, in batches of those that are ready.
    pub events: BoxStream<'static, EventBatch>,
}

impl TurnStream {
    pub(crate) fn new(turn_id: String, events: impl Stream<Item = EventBatch> + Send + 'static) -> Self {
        Self { turn_id, events: events.boxed() }
    }

    pub(crate) fn of_subscriber(turn_id: String, subscriber: Subscriber) -> Self {
        Self::new(turn_id, subscriber.into_stream())
    }
}
