use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::HeaderMap;
use protocols::AgainRequest;
use store::Question;
use tokio::time::Instant;
use web::{ApiError, Arrival, Credentials, RequestId};

use crate::begin::{self, Asked};
use crate::chat::{self, Form, Options, Wanted};
use crate::conversations::no_such_path;
use crate::{App, agents};

/// `POST /api/conversations/{id}/regenerate`: answers the last message of the user again.
///
/// Everything else is as with a message: limits, budgets, repeats, the forms of the answer.
#[expect(clippy::too_many_arguments, reason = "a handler takes what it needs of a request one by one")]
pub(crate) async fn regenerate(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    credentials: Credentials,
    Extension(arrival): Extension<Arrival>,
    id: Result<Path<String>, PathRejection>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    let body = web::optional_json_body(&headers, body).await?;
    let request = AgainRequest::parse(&body)?;
    let form =
        Form { stream: request.stream, accumulated: chat::wants_accumulated(options)?, request_id: request_id.0 };
    let owner = credentials.identify(request.user_id.as_deref())?.owner;
    let wanted = Wanted {
        agent_id: agents::named(request.agent_id.as_deref(), &headers)?,
        model: request.model.as_deref(),
        tool_choice: request.tool_choice.as_ref(),
    };
    let chosen = chat::choose(&app, &owner, wanted).await?;
    let deadline = begin::deadline(&app, arrival.invocation.as_ref(), Instant::now());
    // An equal body about another conversation, or on another route, is another request.
    let same = [b"again ", id.as_bytes(), b" ", &body].concat();
    let (conversation_id, question) = (Some(id), Question::Again);
    let asked = Asked { owner, chosen, conversation_id, chat_id: None, question, deadline, arrival };
    chat::answered(chat::told(&app, &headers, &same, asked).await?, form).await
}
