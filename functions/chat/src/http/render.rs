use axum::Json;
use axum::response::{IntoResponse, Response};
use client_protocols::{Accumulated, NativeSse, SkipSeen};
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
    /// Renders the turn as a response.
    pub(crate) async fn render(self, turn: TurnStream) -> Result<Response, ApiError> {
        if !self.stream {
            return Ok(Json(web::collect(turn.events).await?).into_response());
        }
        let native = NativeSse::new(turn.turn_id, self.request_id);
        Ok(if self.is_accumulated {
            web::stream_response(turn.events, Accumulated::new(native))
        } else {
            web::stream_response(turn.events, native)
        })
    }

    /// Renders the frames of the turn after the first `seen` ones.
    pub(crate) fn render_resumed(self, turn: TurnStream, seen: u64) -> Response {
        let native = NativeSse::new(turn.turn_id, self.request_id);
        if self.is_accumulated {
            web::stream_response(turn.events, SkipSeen::new(Accumulated::new(native), seen))
        } else {
            web::stream_response(turn.events, SkipSeen::new(native, seen))
        }
    }
}
