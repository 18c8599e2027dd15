use axum::Json;
use axum::response::{IntoResponse, Response};
use client_protocols::{Accumulated, NativeSse};
use domain::TurnPosition;
use turns::TurnStream;
use web::ApiError;

/// The format of a response with an answer.
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
