use articles::{ClientEmbeddings, Embeddings, EmbeddingsError, EmbeddingsRequest};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, Failure, StrictObject};
use http::{HeaderMap, header};
use serde::Serialize;
use serde_json::value::RawValue;
use web::{ApiError, Caller};

use crate::{App, Result};

/// The most texts of one request.
const MAX_TEXTS: usize = 256;

/// The answer, whose vectors are rendered as the endpoint did.
#[derive(Serialize)]
struct Document<'a> {
    object: &'static str,
    data: Vec<Row>,
    model: &'a str,
    usage: Usage,
}

#[derive(Serialize)]
struct Row {
    object: &'static str,
    index: usize,
    embedding: Box<RawValue>,
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// `POST /v1/embeddings`: OpenAI's embeddings, by the endpoint that articles use; `404` where none is configured. A request
/// counts as a turn for the rate limit, and personal data is masked as in prompts.
pub(crate) async fn create(State(app): State<App>, caller: Caller, headers: HeaderMap, body: Body) -> Result<Response> {
    let config = app.config.articles.embeddings.clone().ok_or(ErrorCode::NotFound)?;
    let embeddings = Embeddings::new(config, app.config.http.clone());
    let mut request = parse(&web::read_json_body(&headers, body).await?, embeddings.model())?;
    let permit = app.turns.admit(&caller.owner, &caller.membership.groups).await?;
    drop(permit);
    for text in &mut request.input {
        *text = app.config.redactor.redact_text(text).into_owned();
    }
    let ClientEmbeddings { vectors, tokens } = embeddings.embed_for_client(&request).await.map_err(failure)?;
    let row = |(index, embedding)| Row { object: "embedding", index, embedding };
    let document = Document {
        object: "list",
        data: vectors.into_iter().enumerate().map(row).collect(),
        model: embeddings.model(),
        usage: Usage { prompt_tokens: tokens, total_tokens: tokens },
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

fn failure(error: EmbeddingsError) -> ApiError {
    ApiError::new(code(error), error.to_string())
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
