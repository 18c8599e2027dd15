use std::time::SystemTime;

use articles::{AddError, ArticleSource, ArticleWriter, Format, VectorIndexError, article_id};
use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use client_protocols::without_nulls;
use domain::{ErrorCode, Failure, Owner, StrictObject};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ArticleCollection, StoredArticle};
use web::{Administrator, ApiError};

use crate::http::audit::Changed;
use crate::http::embeddings;
use crate::http::extract::{Administered, JsonBody, Paging, ParsedQuery};
use crate::{App, Result, parsing};

/// The fields that can hold the content of an article, of which a request has one.
const CONTENTS: [(&str, Format); 3] = [("text", Format::Text), ("markdown", Format::Markdown), ("html", Format::Html)];

/// The longest title, in characters.
const MAX_TITLE: usize = 300;

/// The longest address and the longest name of an owner, in characters.
const MAX_NAME: usize = 2048;

#[derive(Deserialize)]
pub(crate) struct CollectionQuery {
    /// A name as callers are known by; absent for the articles of all callers.
    owner: Option<String>,
}

/// An article that an administrator sent, with the name of its owner.
struct NewArticle {
    owner: Option<String>,
    source: ArticleSource,
}

/// An article without its text; `embeddingsModel` is absent without embeddings.
fn view(stored: &StoredArticle) -> Value {
    without_nulls(json!({
        "id": stored.id,
        "title": stored.title,
        "url": stored.url,
        "groups": stored.groups,
        "chunkCount": stored.chunks,
        "embeddingsModel": stored.model.as_ref().map(|model| &model.name),
        "createdAt": stored.created_at(),
        "updatedAt": stored.updated_at(),
    }))
}

/// `GET /api/admin/articles`: the articles for all callers, or those of `owner`, without their text.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    ParsedQuery(scope): ParsedQuery<CollectionQuery>,
    ParsedQuery(paging): ParsedQuery<Paging>,
) -> Result<Json<Value>> {
    let collection = named_collection(&app, scope.owner.as_deref())?;
    let (limit, after) = (paging.limit(100)?, paging.cursor.as_deref());
    let (articles, next_cursor) = app.store.articles.page(&collection, limit, after).await?;
    let articles: Vec<Value> = articles.iter().map(view).collect();
    Ok(Json(json!({ "articles": articles, "nextCursor": next_cursor })))
}

/// `POST /api/admin/articles`: stores an article, in place of an earlier one of the same address or title.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Extension<Changed>, Json<Value>)> {
    let stored = store(&app, &administrator.0.owner, body, None, None).await?;
    let created = Json(view(&stored));
    Ok((StatusCode::CREATED, Extension(Changed(stored.id)), created))
}

/// `PUT /api/admin/articles/{id}`: replaces an article, which keeps its id.
pub(crate) async fn replace(
    Administered { app, administrator, id }: Administered,
    ParsedQuery(scope): ParsedQuery<CollectionQuery>,
    JsonBody(body): JsonBody,
) -> Result<Json<Value>> {
    Ok(Json(view(&store(&app, &administrator.owner, body, scope.owner, Some(id)).await?)))
}

/// Stores the article of a body for its owner, else for `owner`: in place of the one with this id, which must exist, else of
/// the one of the same address or title.
async fn store(
    app: &App,
    administrator: &Owner,
    body: Bytes,
    owner: Option<String>,
    id: Option<String>,
) -> Result<StoredArticle> {
    let parsed = parsing::parse(administrator, body.len(), move || NewArticle::parse(&body, owner)).await?;
    let (collection, now) = (named_collection(app, parsed.owner.as_deref())?, SystemTime::now());
    let must_exist = id.is_some();
    let id = id.unwrap_or_else(|| article_id(&parsed.source.key));
    let known = app.store.articles.get(&collection, &id).await?;
    if must_exist && known.is_none() {
        return Err(ErrorCode::NotFound.into());
    }
    let writer = ArticleWriter::new(app.store.articles.clone(), &app.config.articles, &app.config.http);
    writer.prepare(&collection, now).await?;
    let added = writer.add(administrator, &collection, parsed.source, known.as_ref(), now).await;
    Ok(added.map_err(add_failure)?.or(known).ok_or(ErrorCode::NotFound)?)
}

/// `GET /api/admin/articles/{id}`: an article with its text in chunks.
pub(crate) async fn get(
    Administered { app, id, .. }: Administered,
    ParsedQuery(scope): ParsedQuery<CollectionQuery>,
) -> Result<Json<Value>> {
    let collection = named_collection(&app, scope.owner.as_deref())?;
    let stored = app.store.articles.get(&collection, &id).await?.ok_or(ErrorCode::NotFound)?;
    let chunks = app.store.articles.chunks(&collection, &stored).await?;
    let mut article = view(&stored);
    article["chunks"] = chunks.into_iter().map(|chunk| chunk.text).collect();
    Ok(Json(article))
}

/// `DELETE /api/admin/articles/{id}`: deletes an article.
pub(crate) async fn delete(
    Administered { app, id, .. }: Administered,
    ParsedQuery(scope): ParsedQuery<CollectionQuery>,
) -> Result<StatusCode> {
    let collection = named_collection(&app, scope.owner.as_deref())?;
    let deleted = app.store.articles.delete(&collection, &id, SystemTime::now()).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(ErrorCode::NotFound.into()) }
}

impl NewArticle {
    fn parse(body: &[u8], owner: Option<String>) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        let title = fields.take_non_blank("title", MAX_TITLE)?;
        let url = fields.take_non_blank("url", MAX_NAME)?;
        let owner = fields.take_non_blank("owner", MAX_NAME)?.or(owner);
        let groups = fields.take_groups("groups")?;
        if owner.is_some() && groups.is_some() {
            return Err(fields.field_error("groups", "left out with `owner`: the article is for that caller alone"));
        }
        let mut contents = Vec::new();
        for (name, format) in CONTENTS {
            contents.extend(fields.take_string(name)?.map(|text| (text, format)));
        }
        let (Some((text, format)), true) = (contents.pop(), contents.is_empty()) else {
            return Err(fields.field_error("text", "given, or `markdown` or `html` instead: one of the three"));
        };
        if text.starts_with("%PDF-") {
            return Err(fields.field_error("text", "text: `articles add` on the command line reads PDF documents"));
        }
        let key = url.clone().or_else(|| title.clone());
        let key = key.ok_or_else(|| fields.field_error("title", "given for an article without `url`"))?;
        fields.reject_unknown("`title`, `url`, `text`, `markdown`, `html`, `owner`, `groups`")?;
        Ok(Self { owner, source: ArticleSource { key, title, url, groups, text, format } })
    }
}

/// The articles of the owner of that name, or those of all callers.
fn named_collection(app: &App, owner: Option<&str>) -> Result<ArticleCollection> {
    let Some(name) = owner else { return Ok(ArticleCollection::Shared) };
    let owner = app.config.auth.owner_of(name);
    owner.map(ArticleCollection::Of).ok_or_else(|| ErrorCode::AuthNotConfigured.into())
}

fn add_failure(error: AddError) -> ApiError {
    let code = match error {
        AddError::Store(error) => return error.into(),
        AddError::Embeddings(error) => embeddings::code(error),
        AddError::Index(ref error) => match error {
            VectorIndexError::Denied => ErrorCode::UpstreamAuth,
            VectorIndexError::BadResponse => ErrorCode::UpstreamBadResponse,
            VectorIndexError::Unavailable => ErrorCode::UpstreamUnavailable,
            _ => ErrorCode::UpstreamRejected,
        },
        AddError::NoText | AddError::TooLong | AddError::TooComplex(_) | AddError::InvalidUrl => {
            ErrorCode::InvalidRequest
        }
        AddError::Unreadable => ErrorCode::Internal,
    };
    ApiError::new(code, format!("The article was not stored: {error}"))
}
