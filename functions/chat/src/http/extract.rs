//! What handlers extract from a request: its head, names in it, and the turn that it starts.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use client_protocols::TurnOptions;
use domain::{Attachment, ErrorCode, Failure, Owner, RequestOrigin};
use http::HeaderMap;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use store::UserInput;
use turns::{ClientTurn, IdempotencyKey, ResolvedAgent, StartTurn, TurnStream};
use web::{Administrator, ApiError, Caller, Credentials};

use super::render::ResponseFormat;
use crate::definitions::DEFAULT_AGENT;
use crate::{App, Result, parsing};

/// The longest idempotency key, in characters.
const MAX_KEY: usize = 255;

/// The head of a request that starts a turn.
pub(crate) struct TurnRequestHead {
    pub(crate) app: App,
    pub(crate) headers: HeaderMap,
    pub(crate) context: RequestOrigin,
    credentials: Credentials,
    query: Result<Query<StreamQuery>, QueryRejection>,
}

#[derive(Deserialize)]
pub(crate) struct StreamQuery {
    sse: Option<String>,
}

/// The id in the path of a request, or the ids of a resource and of a part of it; a path that cannot be decoded names
/// nothing.
pub(crate) struct PathId<T = String>(pub(crate) T);

/// A request about what a caller has and its path names, as [`PathId`] does.
pub(crate) struct Own<T = String> {
    pub(crate) app: App,
    pub(crate) owner: Owner,
    pub(crate) id: T,
}

/// A request of an administrator about what its path names.
pub(crate) struct Administered {
    pub(crate) app: App,
    pub(crate) administrator: Caller,
    pub(crate) id: String,
}

pub(crate) struct ParsedQuery<T>(pub(crate) T);

/// The JSON body of a request, as it was sent.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(ids)| Self(ids)).map_err(|_| ErrorCode::NotFound.into())
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Own<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Caller { owner, .. } = Caller::from_request_parts(parts, app).await?;
        let PathId(id) = PathId::from_request_parts(parts, app).await?;
        Ok(Self { app: app.clone(), owner, id })
    }
}

impl FromRequestParts<App> for Administered {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let administrator = Administrator::from_request_parts(parts, app).await?.0;
        let PathId(id) = PathId::from_request_parts(parts, app).await?;
        Ok(Self { app: app.clone(), administrator, id })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ParsedQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = Query::from_request_parts(parts, state).await.map(|Query(query)| Self(query));
        query.map_err(|_| ApiError::invalid_request("The query string cannot be read"))
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
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
    /// The message of the conversation that the turn refers to.
    pub(crate) message: store::Target,
    /// The files of a new message, which the owner has.
    pub(crate) attachments: Vec<Attachment>,
    /// Whether it is temporary, or must be.
    pub(crate) temporary: bool,
    /// What a client with tools of its own adds.
    pub(crate) client: Option<Box<ClientTurn>>,
}

impl FromRequestParts<App> for TurnRequestHead {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let credentials = Credentials::from_request_parts(parts, app).await?;
        let context = Extension::<RequestOrigin>::from_request_parts(parts, app).await;
        let Extension(context) = context.map_err(|error| ApiError::caused_by(ErrorCode::Internal, error))?;
        let query = Query::from_request_parts(parts, app).await;
        Ok(Self { app: app.clone(), headers: parts.headers.clone(), credentials, context, query })
    }
}

impl TurnRequestHead {
    /// Parses a body; a large one on another thread.
    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        body: &Bytes,
        parse: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        let (owner, body) = (self.caller(None)?.owner, body.clone());
        parsing::parse(&owner, body.len(), move || parse(&body)).await
    }

    /// The authenticated caller, or the user that it names.
    pub(crate) fn caller(&self, user_id: Option<&str>) -> Result<Caller> {
        self.credentials.clone().identify(user_id)
    }

    /// The id of the requested agent, from the body or the header; `None` for the default one.
    pub(crate) fn agent_id<'a>(&'a self, options: &'a TurnOptions) -> Result<Option<&'a str>> {
        match &options.agent_id {
            Some(id) => Ok(Some(id)),
            None => agent_id(&self.headers),
        }
    }

    /// The caller and the agent of the turn; every name in the request is checked.
    pub(crate) async fn resolve(&self, options: &TurnOptions) -> Result<(Caller, ResolvedAgent)> {
        let (caller, catalog) = (self.caller(options.user_id.as_deref())?, &self.app.catalog);
        let row = catalog.agents.find(self.agent_id(options)?.unwrap_or(DEFAULT_AGENT), &caller).await?;
        let agent = catalog.resolve(self.app.models_for(&caller), &row, options).await?;
        Ok((caller, agent))
    }

    /// The format of the response; `stream` is that of the request's body.
    pub(crate) fn response_format(&self, stream: bool) -> Result<ResponseFormat> {
        let is_accumulated = is_accumulated(self.query.as_ref())?;
        Ok(ResponseFormat { stream, is_accumulated, request_id: self.context.request_id.clone() })
    }

    /// Starts the turn, or returns the one that an equal request started. Requests are equal if their `fingerprint` and
    /// their idempotency key are.
    pub(crate) async fn start(
        self,
        (caller, agent): (Caller, ResolvedAgent),
        target: Target,
        question: UserInput,
        fingerprint: &[u8],
    ) -> Result<TurnStream> {
        let Target { conversation_id, chat_id, message: target, attachments, temporary, client } = target;
        let deadline = turns::deadline(&self.app.turns.limits, Some(&self.context));
        let key = idempotency_key(&self.headers)?;
        let key = key.map(|key| IdempotencyKey { key, fingerprint: fingerprint.to_vec() });
        let (membership, owner, request) = (caller.membership, caller.owner, self.context);
        let turn = StartTurn {
            owner,
            membership,
            agent,
            conversation_id,
            chat_id,
            question,
            attachments,
            target,
            temporary,
            client,
            deadline,
            request,
        };
        Ok(turns::start_or_replay(&self.app.turns, key, turn).await?)
    }
}

/// The agent that the headers of a request name.
pub(crate) fn agent_id(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(id) = headers.get("x-agent-id") else { return Ok(None) };
    let message = "`X-Agent-ID` must be visible ASCII";
    id.to_str().map(Some).map_err(|_| ApiError::invalid_request(message))
}

/// Whether the frames of a stream hold all text so far instead of deltas.
pub(crate) fn is_accumulated(query: Result<&Query<StreamQuery>, &QueryRejection>) -> Result<bool> {
    match query.map(|Query(query)| query.sse.as_deref()) {
        Ok(None) => Ok(false),
        Ok(Some("accumulated")) => Ok(true),
        _ => Err(ApiError::invalid_request("`sse` may only be `accumulated`")),
    }
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=MAX_KEY).contains(&text.len()));
    let message = "`Idempotency-Key` must be 1 to 255 visible ASCII characters";
    text.map(|text| Some(text.to_owned())).ok_or_else(|| ApiError::invalid_request(message))
}

const MAX_ROWS: u32 = 100;

/// The query of a list that is read page by page.
#[derive(Deserialize)]
pub(crate) struct Paging {
    limit: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl Paging {
    pub(crate) fn limit(&self, default: u32) -> Result<u32> {
        let Some(text) = &self.limit else { return Ok(default) };
        text.parse().ok().filter(|limit| (1..=MAX_ROWS).contains(limit)).ok_or_else(|| {
            let message = format!("`limit` must be a whole number from 1 to {MAX_ROWS}");
            ApiError::invalid_request(message)
        })
    }
}
