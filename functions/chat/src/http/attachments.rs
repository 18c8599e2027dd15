//! Files of users: uploads, downloads, and files inside of requests.

use std::time::Duration;

use attachments::{Attachments, MAX_DIRECT_BYTES, MAX_FILE_BYTES};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{Attachment, AttachmentContent, AttachmentKind, ErrorCode, Message, Owner, StrictObject};
use egress::{Egress, Limits, Request, SystemNetwork};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use llm::ModelClient;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use turns::ResolvedAgent;
use web::{ApiError, Caller};

use super::extract::{Own, ParsedQuery};
use crate::upload::{data_url, form_file};
use crate::{App, Result};

/// What the frame of a form takes in addition to its file, in bytes.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// The maximum number of files inside of a request, which may have several messages.
const MAX_INLINE_FILES: usize = 30;

/// The most characters of a token that a window is taken to have, so that nothing is refused that might fit.
const CHARS_PER_TOKEN: u64 = 8;

const NO_FILES: &str = "This deployment stores no files";

#[derive(Deserialize)]
pub(crate) struct NameQuery {
    name: Option<String>,
}

/// `POST /api/attachments?name=`: takes a file as the body.
pub(crate) async fn upload(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    query: Result<ParsedQuery<NameQuery>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response> {
    let (files, ParsedQuery(NameQuery { name })) = (stored_files(&app)?, query?);
    let name = name.ok_or_else(|| ApiError::invalid_request("`name` must be the name of the file"))?;
    let bytes = web::read_body_up_to(&headers, body, MAX_DIRECT_BYTES).await?;
    Ok((StatusCode::CREATED, Json(files.upload(&owner, &name, bytes.into()).await?)).into_response())
}

/// `POST /api/attachments/uploads`: prepares the upload of a larger file as a form.
pub(crate) async fn begin(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response> {
    let (files, body) = (stored_files(&app)?, web::read_json_body(&headers, body).await?);
    let mut fields = StrictObject::parse(&body)?;
    let required = |name| ApiError::invalid_request(format!("`{name}` is required"));
    let name = fields.take_string("name")?.ok_or_else(|| required("name"))?;
    let media_type = fields.take_string("type")?.unwrap_or_default();
    let bytes = fields.take_u32("bytes", 1..=u32::MAX)?.ok_or_else(|| required("bytes"))?;
    let form = files.begin_upload(&owner, &name, &media_type, bytes.into()).await?;
    let url = form.url.unwrap_or_else(|| own_address(&headers, &form.id));
    Ok((StatusCode::CREATED, Json(json!({ "id": form.id, "url": url, "fields": form.fields }))).into_response())
}

/// The address of the form of an upload at this server, as its client reaches it.
fn own_address(headers: &HeaderMap, id: &str) -> String {
    let path = format!("/api/attachments/{id}/content");
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let scheme = if text("x-forwarded-proto") == Some("https") { "https" } else { "http" };
    text("host").map_or_else(|| path.clone(), |host| format!("{scheme}://{host}{path}"))
}

/// `POST /api/attachments/{id}/content`: the form of an upload, where no bucket takes it.
pub(crate) async fn receive(Own { app, owner, id }: Own, headers: HeaderMap, body: Body) -> Result<StatusCode> {
    let files = stored_files(&app)?;
    let body = web::read_body_up_to(&headers, body, MAX_FILE_BYTES + MAX_FORM_BYTES).await?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let file = form_file(content_type, &body).ok_or_else(|| {
        ApiError::invalid_request("The body must be a multipart/form-data form whose last field is `file`")
    })?;
    if file.len() > MAX_FILE_BYTES {
        return Err(ErrorCode::TooLarge.into());
    }
    files.receive(&owner, &id, file.to_vec()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/attachments/{id}/complete`: reads a file that was uploaded as a form.
pub(crate) async fn complete(Own { app, owner, id }: Own) -> Result<Response> {
    let file = stored_files(&app)?.complete(&owner, &id).await?;
    Ok((StatusCode::CREATED, Json(file)).into_response())
}

/// `GET /api/attachments/{id}`: the file, as a download unless it is a picture.
pub(crate) async fn content(Own { app, owner, id }: Own) -> Result<Response> {
    let files = stored_files(&app)?;
    let file = files.get(&owner, &id).await?;
    let bytes = files.content(&owner, &id).await?;
    let is_image = file.kind == AttachmentKind::Image;
    let content_type = if is_image { file.media_type.as_str() } else { "application/octet-stream" };
    let disposition = if is_image { "inline" } else { "attachment" };
    let disposition = format!("{disposition}; filename*=UTF-8''{}", utf8_percent_encode(&file.name, NON_ALPHANUMERIC));
    Ok((served(content_type, &disposition), bytes).into_response())
}

/// How many files of other hosts a process reads at the same time, and how long others wait.
static DOWNLOADS: Semaphore = Semaphore::const_new(8);
const DOWNLOAD_WAIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
pub(crate) struct PictureQuery {
    url: String,
}

/// `GET /api/pictures?url=`: a picture of another host without its metadata, so that the page itself contacts no host.
pub(crate) async fn picture(
    State(app): State<App>,
    _: Caller,
    ParsedQuery(PictureQuery { url }): ParsedQuery<PictureQuery>,
) -> Result<Response> {
    let (_, bytes) = download(&app, &url).await?;
    let (media_type, content) = attachments::read_picture(bytes).await?;
    Ok((served(media_type, "inline"), content).into_response())
}

/// The headers of content that is not the server's own.
fn served(content_type: &str, disposition: &str) -> [(header::HeaderName, String); 5] {
    [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, disposition.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "private, max-age=3600".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ]
}

/// `GET /api/attachments/{id}/text`: the text of a document, with form feeds between its pages.
pub(crate) async fn text(Own { app, owner, id }: Own) -> Result<Response> {
    let files = stored_files(&app)?;
    files.get(&owner, &id).await?;
    let text = files.text(&owner, &id).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// `DELETE /api/attachments/{id}`: deletes a file, whichever messages use it.
pub(crate) async fn remove(Own { app, owner, id }: Own) -> Result<StatusCode> {
    stored_files(&app)?.delete(&owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn stored_files(app: &App) -> Result<&Attachments> {
    app.turns.attachments.as_ref().ok_or_else(|| ApiError::new(ErrorCode::NotFound, NO_FILES))
}

/// The files that a message names by their ids, for a model that takes what they are.
pub(crate) async fn attach(app: &App, owner: &Owner, ids: &[String], agent: &ResolvedAgent) -> Result<Vec<Attachment>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let files = stored_files(app)?;
    let found = files.find(owner, ids).await?;
    let pictures = found.iter().filter(|file| file.kind == AttachmentKind::Image);
    check_pictures(app, agent, pictures.map(|file| (file.media_type.as_str(), file.bytes)).collect()).await?;
    Ok(found)
}

/// # Errors
/// `images_unsupported` if there are pictures, of these media types and lengths, and each model is known not to take one.
async fn check_pictures(app: &App, agent: &ResolvedAgent, pictures: Vec<(&str, u64)>) -> Result<()> {
    if pictures.is_empty() {
        return Ok(());
    }
    let mut takes_others = false;
    for model in &agent.models {
        if turns::known_image_support(&app.store, model).await != Some(false) {
            if pictures.iter().all(|(media_type, bytes)| model.takes_picture(media_type, *bytes)) {
                return Ok(());
            }
            takes_others = true;
        }
    }
    let limits = "Gemini takes no GIF, Claude and Amazon Bedrock no image above 3.75 MiB: send it in another form";
    Err(if takes_others {
        ApiError::new(ErrorCode::ImagesUnsupported, limits)
    } else {
        ErrorCode::ImagesUnsupported.into()
    })
}

/// Reads the files inside of a request whose conversation its client keeps; nothing is stored.
pub(crate) async fn read_inline<'a>(
    app: &App,
    owner: &Owner,
    agent: &ResolvedAgent,
    question: &'a mut [Attachment],
    earlier: impl Iterator<Item = &'a mut Message>,
) -> Result<()> {
    let new = question.len();
    let (files, contents) = fetch_all(app, agent, question, earlier).await?;
    let mut characters: u64 = 0;
    for (position, (file, (name, bytes))) in files.into_iter().zip(contents).enumerate() {
        *file = attachments::read_once(owner, &app.config.reader, &name, bytes).await?;
        // Earlier messages are left out if they do not fit.
        characters += if position < new { file.characters } else { 0 };
    }
    check_window(app, agent, characters).await
}

/// Checks the length of a question's documents, which no tool can read because they are not stored.
///
/// # Errors
/// `too_large` beyond the windows of all models, if these are known.
async fn check_window(app: &App, agent: &ResolvedAgent, characters: u64) -> Result<()> {
    let mut largest = 0;
    for model in &agent.models {
        let fits = |model: &ModelClient| characters <= model.context_tokens() * CHARS_PER_TOKEN;
        if fits(model) {
            return Ok(());
        }
        // This reads the provider's list, which may have the window.
        turns::known_tool_support(&app.store, model).await;
        if fits(model) || model.is_context_assumed() {
            return Ok(());
        }
        largest = largest.max(model.context_tokens());
    }
    let message = format!(
        "The documents have {characters} characters, which do not fit the model's window of {largest} tokens: upload \
         them to `/api/attachments`, or send them to a conversation that is stored"
    );
    Err(ApiError::new(ErrorCode::TooLarge, message))
}

/// Stores the files inside of a request, as if they had been uploaded.
pub(crate) async fn store_inline<'a>(
    app: &App,
    owner: &Owner,
    agent: &ResolvedAgent,
    question: &'a mut [Attachment],
    earlier: impl Iterator<Item = &'a mut Message>,
) -> Result<()> {
    let (inline, contents) = fetch_all(app, agent, question, earlier).await?;
    if inline.is_empty() {
        return Ok(());
    }
    let files = app.turns.attachments.as_ref().ok_or_else(|| ApiError::invalid_request(NO_FILES))?;
    for (file, (name, bytes)) in inline.into_iter().zip(contents) {
        *file = files.upload(owner, &name, bytes).await?.attachment();
    }
    Ok(())
}

/// The name and the content of a file inside of a request.
type Content = (String, Vec<u8>);

/// The files inside of a request with their contents, of which a model takes the pictures of the question and of the
/// user's messages directly before it.
async fn fetch_all<'a>(
    app: &App,
    agent: &ResolvedAgent,
    question: &'a mut [Attachment],
    earlier: impl Iterator<Item = &'a mut Message>,
) -> Result<(Vec<&'a mut Attachment>, Vec<Content>)> {
    let (new, earlier) = (question.len(), earlier.collect::<Vec<_>>());
    // Messages of the user directly before the question are parts of it.
    let parts = earlier.iter().rev().take_while(|message| matches!(message, Message::User { .. }));
    let joined: usize = parts.map(|message| message.attachments().len()).sum();
    let earlier = earlier.into_iter().flat_map(Message::attachments_mut);
    let files: Vec<&mut Attachment> = question.iter_mut().chain(earlier).collect();
    let contents = fetch_contents(app, &files).await?;
    // Earlier pictures are named to a model that takes none.
    let picture = |(_, bytes): &Content| Some((attachments::picture_type(bytes)?, bytes.len() as u64));
    let pictures = contents[..new].iter().chain(&contents[contents.len() - joined..]).filter_map(picture);
    check_pictures(app, agent, pictures.collect()).await?;
    Ok((files, contents))
}

/// The contents of the files of which a request has the addresses, one after the other: they are in memory together.
async fn fetch_contents(app: &App, files: &[&mut Attachment]) -> Result<Vec<Content>> {
    if files.len() > MAX_INLINE_FILES {
        let message = format!("At most {MAX_INLINE_FILES} files are accepted in one request");
        return Err(ApiError::invalid_request(message));
    }
    let (mut contents, mut length) = (Vec::with_capacity(files.len()), 0);
    for file in files {
        let content = fetch(app, file).await?;
        length += content.1.len();
        if length > MAX_FILE_BYTES {
            let message = format!("The files of a request may have at most {} MiB", MAX_FILE_BYTES / 1024 / 1024);
            return Err(ApiError::new(ErrorCode::TooLarge, message));
        }
        contents.push(content);
    }
    Ok(contents)
}

async fn fetch(app: &App, file: &Attachment) -> Result<Content> {
    let AttachmentContent::Address(address) = &file.content else { return Err(ErrorCode::Internal.into()) };
    let (found, bytes) = if address.starts_with("data:") {
        let unreadable = || ApiError::invalid_request("A `data:` address cannot be read");
        (String::new(), data_url(address).ok_or_else(unreadable)?)
    } else {
        download(app, address).await?
    };
    let names = [file.name.clone(), found, "file".to_owned()];
    Ok((names.into_iter().find(|name| !name.is_empty()).unwrap_or_default(), bytes))
}

/// The last name of the path of a public address, and what is there.
async fn download(app: &App, address: &str) -> Result<Content> {
    let Ok(Ok(_permit)) = timeout(DOWNLOAD_WAIT, DOWNLOADS.acquire()).await else {
        return Err(ErrorCode::RateLimited.into());
    };
    let unreachable = |reason: String| ApiError::new(ErrorCode::InvalidAttachment, reason);
    let egress = Egress::new(app.config.tool_policy.with_http(), SystemNetwork);
    let url =
        egress.policy().parse(address).map_err(|why| unreachable(format!("An address is not accepted: {why}")))?;
    let name = url.path_segments().and_then(|mut path| path.next_back()).unwrap_or_default().to_owned();
    let limits = Limits { max_body_bytes: MAX_DIRECT_BYTES, ..Limits::default() };
    let sent = egress.send(Request::new(Method::GET, url).redirects(3).limits(limits)).await;
    let response = sent.map_err(|why| unreachable(format!("An address cannot be read: {why}")))?;
    if !response.status.is_success() {
        return Err(unreachable(format!("An address answers with status {}", response.status.as_u16())));
    }
    Ok((name, response.body))
}
