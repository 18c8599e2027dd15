use std::convert::Infallible;
use std::fmt::Display;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use client_protocols::{Accumulated, NativeSse};
use domain::TurnPosition;
use futures_util::stream::unfold;
use tokio::sync::mpsc::Receiver;
use turns::TurnStream;
use web::ApiError;

pub(crate) struct ResponseFormat {
    /// As an event stream, or as one document.
    pub(crate) stream: bool,
    /// Whether each frame of the stream holds all text so far.
    pub(crate) is_accumulated: bool,
    pub(crate) request_id: String,
}

impl ResponseFormat {
    pub(crate) async fn render(self, turn: TurnStream) -> Result<Response, ApiError> {
        if !self.stream {
            return Ok(Json(web::collect(turn.events).await?).into_response());
        }
        Ok(self.render_resumed(turn, TurnPosition::default()))
    }

    /// Renders what follows a position of the turn.
    pub(crate) fn render_resumed(self, turn: TurnStream, received: TurnPosition) -> Response {
        let native = NativeSse::new(turn.turn_id, self.request_id).resume_after(received);
        if self.is_accumulated {
            web::stream_response(turn.events, Accumulated::new(native))
        } else {
            web::stream_response(turn.events, native)
        }
    }
}

/// The body with the parts that a task writes. An error before the first part is the response's; a later one ends the body
/// early.
pub(crate) async fn body_of_parts<E>(mut parts: Receiver<Result<String, E>>) -> Result<Body, E>
where
    E: Display + Send + 'static,
{
    let first = parts.recv().await.transpose()?;
    let rest = unfold((first, parts), |(first, mut parts)| async move {
        let part = match first {
            Some(first) => first,
            None => parts.recv().await?.inspect_err(|error| tracing::error!(%error, "an export ended early")).ok()?,
        };
        Some((Ok::<_, Infallible>(Bytes::from(part)), (None, parts)))
    });
    Ok(Body::from_stream(rest))
}
