use articles::{ClientEmbeddings, Embeddings, EmbeddingsError, EmbeddingsRequest};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, Failure, RequestOrigin, StrictObject, Usage};
use http::{HeaderMap, header};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::timeout_at;
use web::{ApiError, Caller};

use crate::{App, Result, parsing};

/// The most texts of one request.
const MAX_TEXTS: usize = 256;

/// The answer, whose vectors are rendered as the endpoint did.
#[derive(Serialize)]
struct Document<'a> {
    object: &'static str,
    data: Vec<Row>,
    model: &'a str,
    usage: Tokens,
}

#[derive(Serialize)]
struct Row {
    object: &'static str,
    index: usize,
    embedding: Box<RawValue>,
}

#[derive(Serialize)]
struct Tokens {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// `POST /v1/embeddings`: OpenAI's embeddings, by the endpoint that articles use; `404` where none is configured. A request
/// counts as a turn for limits and budgets, and personal data is masked as in a call of a tool.
pub(crate) async fn create(
    State(app): State<App>,
    Extension(context): Extension<RequestOrigin>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response> {
    let Caller { owner, membership, .. } = caller;
    let config = app.config.articles.embeddings.clone().ok_or(ErrorCode::NotFound)?;
    let embeddings = Embeddings::new(config, app.config.http.clone());
    let body = web::read_json_body(&headers, body).await?;
    let (model, redactor) = (embeddings.model().to_owned(), app.config.redactor.clone());
    let request = parsing::parse(&owner, body.len(), move || {
        let mut request = parse(&body, &model)?;
        for text in &mut request.input {
            *text = redactor.redact_text(text).into_owned();
        }
        Ok::<_, Failure>(request)
    });
    let request = request.await?;
    drop(app.turns.admit(&owner, &membership.groups).await?);
    let deadline = turns::deadline(&app.turns.limits, Some(&context));
    let embedded = timeout_at(deadline, embeddings.embed_for_client(&request)).await;
    let ClientEmbeddings { vectors, tokens } =
        embedded.unwrap_or(Err(EmbeddingsError::Unavailable)).map_err(|error| failure(error, &request))?;
    let usage = Usage { input_tokens: tokens, ..Usage::default() };
    app.turns.record_request(&owner, &membership.groups, embeddings.model(), &usage).await;
    let row = |(index, embedding)| Row { object: "embedding", index, embedding };
    let document = Document {
        object: "list",
        data: vectors.into_iter().enumerate().map(row).collect(),
        model: embeddings.model(),
        usage: Tokens { prompt_tokens: tokens, total_tokens: tokens },
    };
    let document = serde_json::to_vec(&document).map_err(|_| ErrorCode::Internal)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], document).into_response())
}

/// # Errors
/// `invalid_request` with the field, or `model_not_found` for another model than the configured one.
fn parse(body: &[u8], model: &str) -> Result<EmbeddingsRequest, Failure> {
    let mut fields = StrictObject::parse(body)?;
    let wanted = fields.take_string("model")?.ok_or_else(|| fields.field_error("model", "given: a string"))?;
    if wanted != model {
        return Err(ErrorCode::ModelNotFound.into());
    }
    let input = if fields.is_string("input") {
        fields.take_string("input")?.map(|text| vec![text])
    } else {
        fields.take_strings("input", MAX_TEXTS)?
    };
    let accepted = format!("a text, or 1 to {MAX_TEXTS} texts, none of them empty");
    let input = input.filter(|texts| !texts.is_empty() && texts.iter().all(|text| !text.is_empty()));
    let input = input.ok_or_else(|| fields.field_error("input", &accepted))?;
    let encoding_format = fields.take_string("encoding_format")?.unwrap_or_else(|| "float".to_owned());
    if !["float", "base64"].contains(&encoding_format.as_str()) {
        return Err(fields.field_error("encoding_format", "float or base64"));
    }
    let dimensions = fields.take_u32("dimensions", 1..=u32::MAX)?;
    fields.take_string("user")?;
    fields.reject_unknown("model, input, encoding_format, dimensions, user")?;
    Ok(EmbeddingsRequest { input, encoding_format, dimensions })
}

/// A failure as callers see it, who cannot change the settings that its own message names.
fn failure(error: EmbeddingsError, request: &EmbeddingsRequest) -> ApiError {
    let message = match error {
        EmbeddingsError::Rejected(400 | 413 | 422) => {
            let dimensions = if request.dimensions.is_some() { ", or does not have these `dimensions`" } else { "" };
            let message = format!("The embeddings model does not take these texts; one may be too long{dimensions}");
            return ApiError::invalid_request(message);
        }
        EmbeddingsError::Rejected(_) => "The embeddings endpoint rejected the request.",
        EmbeddingsError::Unauthorized => "The embeddings endpoint rejected the server's key.",
        EmbeddingsError::BadResponse => "The embeddings endpoint sent an answer that could not be read.",
        EmbeddingsError::Busy => "The embeddings endpoint is busy, or its quota is used up.",
        EmbeddingsError::Unavailable => "The embeddings endpoint cannot be reached right now.",
    };
    ApiError::new(code(error), message)
}

/// The code of a failure of the embeddings endpoint.
pub(super) fn code(error: EmbeddingsError) -> ErrorCode {
    match error {
        EmbeddingsError::Unauthorized => ErrorCode::UpstreamAuth,
        EmbeddingsError::Rejected(_) => ErrorCode::UpstreamRejected,
        EmbeddingsError::BadResponse => ErrorCode::UpstreamBadResponse,
        EmbeddingsError::Unavailable | EmbeddingsError::Busy => ErrorCode::UpstreamUnavailable,
    }
}
