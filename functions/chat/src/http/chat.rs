use axum::body::Body;
use axum::response::Response;
use client_protocols::TurnRequest;
use domain::ErrorCode;
use store::UserInput;
use web::ApiError;

use super::extract::{Target, TurnRequestHead};

/// `POST /api/chat`: one turn, streamed or as one document.
///
/// Everything that can be rejected is rejected before anything is stored or paid for. From then on the turn runs to its end
/// whether or not the client stays.
pub(crate) async fn chat(head: TurnRequestHead, body: Body) -> Result<Response, ApiError> {
    answer(head, body, false).await
}

/// `POST /api/agent`: the same, and the request must name an agent.
pub(crate) async fn agent(head: TurnRequestHead, body: Body) -> Result<Response, ApiError> {
    answer(head, body, true).await
}

async fn answer(head: TurnRequestHead, body: Body, requires_agent: bool) -> Result<Response, ApiError> {
    let body = web::read_json_body(&head.headers, body).await?;
    let request = head.parse(&body, TurnRequest::parse).await?;
    if requires_agent && head.agent_id(&request.options)?.is_none() {
        return Err(ApiError::new(ErrorCode::InvalidRequest, "An agent is required: `X-Agent-ID` or `agentId`"));
    }
    let format = head.response_format(request.options.stream)?;
    let resolved = head.resolve(&request.options).await?;
    let target = Target { conversation_id: request.conversation_id, chat_id: None };
    let turn = head.start(resolved, target, UserInput::Message(request.message), &body).await?;
    format.render(turn).await
}
