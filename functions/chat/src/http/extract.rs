//! What handlers extract from a request: its head, names in it, and the turn that it starts.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use client_protocols::TurnOptions;
use domain::{ErrorCode, Failure, Owner, RequestOrigin};
use http::HeaderMap;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use store::UserInput;
use turns::{IdempotencyKey, ResolvedAgent, StartTurn, TurnStream};
use web::{ApiError, Caller, Credentials};

use super::render::ResponseFormat;
use crate::definitions::DEFAULT_AGENT;
use crate::{App, parsing};

/// The longest idempotency key, in characters.
const MAX_KEY: usize = 255;

/// The head of a request that starts a turn.
pub(crate) struct TurnRequestHead {
    pub(crate) app: App,
    pub(crate) headers: HeaderMap,
    credentials: Credentials,
    context: RequestOrigin,
    query: Result<Query<StreamQuery>, QueryRejection>,
}

/// The query of a route that streams.
#[derive(Deserialize)]
pub(crate) struct StreamQuery {
    sse: Option<String>,
}

/// The id in the path of a request; a path that cannot be decoded names nothing.
pub(crate) struct PathId(pub(crate) String);

/// The query of a request.
pub(crate) struct ParsedQuery<T>(pub(crate) T);

/// The JSON body of a request, as it was sent.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id)).map_err(|_| ErrorCode::NotFound.into())
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ParsedQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await.map(|Query(query)| Self(query));
        query.map_err(|_| ApiError::new(ErrorCode::InvalidRequest, "The query string cannot be read"))
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        web::read_json_body(&parts.headers, body).await.map(Self)
    }
}

/// The conversation of a turn.
#[derive(Default)]
pub(crate) struct Target {
    /// `None` for a new conversation.
    pub(crate) conversation_id: Option<String>,
    /// For a new conversation, the id by which its client knows it, if it has one.
    pub(crate) chat_id: Option<String>,
}

impl FromRequestParts<App> for TurnRequestHead {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let credentials = Credentials::from_request_parts(parts, app).await?;
        let context = Extension::<RequestOrigin>::from_request_parts(parts, app).await;
        let Extension(context) = context.map_err(|error| ApiError::caused_by(ErrorCode::Internal, error))?;
        let query = Query::from_request_parts(parts, app).await;
        Ok(Self { app: app.clone(), headers: parts.headers.clone(), credentials, context, query })
    }
}

impl TurnRequestHead {
    /// The id of the request.
    pub(crate) fn id(&self) -> &str {
        &self.context.request_id
    }

    /// Parses a body; a large one on another thread.
    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        body: &Bytes,
        parse: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (owner, body) = (self.owner(None)?, body.clone());
        parsing::parse(&owner, body.len(), move || parse(&body)).await
    }

    /// The owner of the turn: the authenticated caller, or the user that it names.
    pub(crate) fn owner(&self, user_id: Option<&str>) -> Result<Owner, ApiError> {
        Ok(self.caller(user_id)?.owner)
    }

    /// The authenticated caller, or the user that it names.
    pub(crate) fn caller(&self, user_id: Option<&str>) -> Result<Caller, ApiError> {
        self.credentials.clone().identify(user_id)
    }

    /// The id of the requested agent, from the body or the header; `None` for the default one.
    pub(crate) fn agent_id<'a>(&'a self, options: &'a TurnOptions) -> Result<Option<&'a str>, ApiError> {
        match &options.agent_id {
            Some(id) => Ok(Some(id)),
            None => agent_id(&self.headers),
        }
    }

    /// The owner and the agent of the turn; every name in the request is checked.
    pub(crate) async fn resolve(&self, options: &TurnOptions) -> Result<(Owner, ResolvedAgent), ApiError> {
        let (owner, catalog) = (self.owner(options.user_id.as_deref())?, &self.app.catalog);
        let row = catalog.agents.find(self.agent_id(options)?.unwrap_or(DEFAULT_AGENT)).await?;
        let agent = catalog.resolve(self.app.models_for(&owner), &row, options).await?;
        Ok((owner, agent))
    }

    /// The format of the response; `stream` is that of the request's body.
    pub(crate) fn response_format(&self, stream: bool) -> Result<ResponseFormat, ApiError> {
        let is_accumulated = is_accumulated(self.query.as_ref())?;
        Ok(ResponseFormat { stream, is_accumulated, request_id: self.id().to_owned() })
    }

    /// Starts the turn, or returns the one that an equal request started. Requests are equal if their `fingerprint` and
    /// their idempotency key are.
    pub(crate) async fn start(
        self,
        (owner, agent): (Owner, ResolvedAgent),
        target: Target,
        question: UserInput,
        fingerprint: &[u8],
    ) -> Result<TurnStream, ApiError> {
        let Target { conversation_id, chat_id } = target;
        let deadline = turns::deadline(&self.app.turns.limits, Some(&self.context));
        let key = idempotency_key(&self.headers)?;
        let key = key.map(|key| IdempotencyKey { key, fingerprint: fingerprint.to_vec() });
        let request = self.context;
        let turn = StartTurn { owner, agent, conversation_id, chat_id, question, deadline, request };
        Ok(turns::start_or_replay(&self.app.turns, key, turn).await?)
    }

    /// The origin of the request, for a turn that is not stored.
    pub(crate) fn into_origin(self) -> RequestOrigin {
        self.context
    }
}

/// The agent that the headers of a request name.
///
/// # Errors
/// `invalid_request` for a header that is not visible ASCII.
pub(crate) fn agent_id(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(id) = headers.get("x-agent-id") else { return Ok(None) };
    let message = "`X-Agent-ID` must be visible ASCII";
    id.to_str().map(Some).map_err(|_| ApiError::new(ErrorCode::InvalidRequest, message))
}

/// Whether the frames of a stream hold all text so far instead of deltas.
pub(crate) fn is_accumulated(query: Result<&Query<StreamQuery>, &QueryRejection>) -> Result<bool, ApiError> {
    match query.map(|Query(query)| query.sse.as_deref()) {
        Ok(None) => Ok(false),
        Ok(Some("accumulated")) => Ok(true),
        _ => Err(ApiError::new(ErrorCode::InvalidRequest, "`sse` may only be `accumulated`")),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=MAX_KEY).contains(&text.len()));
    let message = "`Idempotency-Key` must be 1 to 255 visible ASCII characters";
    text.map(|text| Some(text.to_owned())).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, message))
}
