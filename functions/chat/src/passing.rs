//! Turns of conversations that their callers keep: nothing of them is stored but what they used and what tools did.

use agent::EventLog;
use conversation::{Batch, Event, Failure, FinishReason, Started, new_id};
use futures_util::{Stream, StreamExt};
use store::Owner;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use web::{ApiError, Arrival};

use crate::App;
use crate::answering::{Answering, Past};
use crate::begin::{Chosen, admitted, span};
use crate::observed::Ended;

/// A turn that is asked for, with everything in it checked.
pub(crate) struct Passing {
    pub(crate) owner: Owner,
    pub(crate) chosen: Chosen,
    pub(crate) past: Past,
    pub(crate) deadline: Instant,
    pub(crate) arrival: Arrival,
}

/// Starts the turn; it ends when nobody holds its events any more, for nobody could come back for it.
pub(crate) async fn begin(app: &App, asked: Passing) -> Result<impl Stream<Item = Batch> + Send + use<>, ApiError> {
    let _place = admitted(app, &asked.owner).await?;
    let (events, gone) = (EventLog::default(), CancellationToken::new());
    let subscriber = events.subscribe(0);
    let turn_id = new_id();
    let span = span(&asked.arrival, "", &turn_id);
    let turn = drive(app.clone(), asked, turn_id, events.clone(), gone.clone()).instrument(span);
    app.running.spawn(turn, events);
    let guard = gone.drop_guard();
    Ok(subscriber.into_stream().inspect(move |_| _ = &guard))
}

/// Runs the turn, counts what it used, and only then ends the stream.
async fn drive(app: App, asked: Passing, turn_id: String, events: EventLog, gone: CancellationToken) {
    let Passing { owner, chosen, past, deadline, arrival } = asked;
    let started_at = Instant::now();
    events.send(started(&chosen, &turn_id));
    let answering =
        Answering { app: &app, owner: &owner, chosen: &chosen, deadline, turn_id: &turn_id, events: &events };
    let answer = Box::pin(async {
        answering.learn().await;
        answering.answer(past, None).await
    });
    let shutdown = app.running.ending();
    let ended = tokio::select! {
        biased;
        ended = answering.within(&shutdown, answer) => ended,
        () = gone.cancelled() => Ok(FinishReason::Stopped),
    };
    answering.count().await;
    let end = ended.as_ref().map_or_else(|failure| Err(failure.code), |reason| Ok(*reason));
    answering.tell(&Ended { arrival: &arrival, conversation_id: "", started_at, end });
    let usage = events.draft().usage();
    events.send(Event::Usage(Box::new(usage)));
    events.send(last(ended));
}

fn started(chosen: &Chosen, turn_id: &str) -> Event {
    let model = chosen.models.first().map(|model| model.config().name.clone()).unwrap_or_default();
    Event::Started(Box::new(Started { conversation_id: String::new(), message_id: turn_id.to_owned(), model }))
}

fn last(ended: Result<FinishReason, Failure>) -> Event {
    match ended {
        Ok(finish_reason) => Event::Done { finish_reason },
        Err(failure) => Event::Failed(Box::new(failure)),
    }
}
