//! The built-in pages for people: `GET /demo/{language}/{slug}`, without a script and without data of users.

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Path, Request};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use axum::http::uri::Authority;
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use domain::{ErrorCode, Language};
use http_body_util::BodyExt;
use web::ApiError;

use crate::{PageText, SITE, page_at};

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the pages and of their style.
pub fn page_routes() -> Router {
    let style =
        || async { ([(CONTENT_TYPE, "text/css"), (CACHE_CONTROL, "no-cache")], include_str!("../demo/page.css")) };
    Router::new().route("/demo/page.css", get(style)).route("/demo/{language}/{slug}", get(page))
}

/// Routes whose requests and responses have the addresses of the pages at this server, as its client names it in `Host`.
pub fn with_own_addresses(routes: Router) -> Router {
    routes.layer(from_fn(name_own_pages))
}

async fn name_own_pages(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let is_secure = request.headers().get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let Some(host) = host else { return next.run(request).await };
    let site = format!("{}://{host}/demo/", if is_secure { "https" } else { "http" });
    let mut response = next.run(with_site(request, site.clone())).await;
    let kinds = ["application/json", "application/x-ndjson", "text/event-stream", "text/markdown"];
    if !has_type(response.headers(), &kinds) {
        return response;
    }
    response.headers_mut().remove(CONTENT_LENGTH);
    if response.body().size_hint().exact().is_some() {
        // A document, which is in memory: the server states its new length.
        let (head, body) = response.into_parts();
        let data = to_bytes(body, usize::MAX).await.unwrap_or_default();
        return Response::from_parts(head, replace(data, SITE, &site).into());
    }
    response.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(|data| replace(data, SITE, &site)))))
}

/// A message with a page's address as a response had it; contents of files stay as they are.
fn with_site(mut request: Request, site: String) -> Request {
    if request.uri().path().starts_with("/api/attachments") || !has_type(request.headers(), &["application/json"]) {
        return request;
    }
    request.headers_mut().remove(CONTENT_LENGTH);
    request.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(|data| replace(data, &site, SITE)))))
}

fn has_type(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kinds.iter().any(|kind| content_type.starts_with(kind))
}

/// Addresses of sources are whole in a frame, which has whole events or rows. A real model's own text may be divided.
fn replace(data: Bytes, site: &str, other: &str) -> Bytes {
    match std::str::from_utf8(&data) {
        Ok(text) if text.contains(site) => text.replace(site, other).into(),
        _ => data,
    }
}

async fn page(Path((language, slug)): Path<(String, String)>) -> Response {
    let Some((language, text)) = page_at(&format!("{language}/{slug}")) else {
        return ApiError::from(ErrorCode::NotFound).into_response();
    };
    let headers = [(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-cache")];
    (headers, Html(render(text, &slug, language))).into_response()
}

fn render(PageText { title, content }: &PageText, slug: &str, language: Language) -> String {
    let (other, name) = if language == Language::Zh { ("en", "English") } else { ("zh", "中文") };
    let paragraphs = content.iter().map(|text| format!("<p>{}</p>\n", escape(text))).collect::<Vec<_>>().concat();
    let (title, code) = (escape(title), language.code());
    format!(
        include_str!("../demo/page.html"),
        code = code,
        title = title,
        other = other,
        slug = slug,
        name = name,
        paragraphs = paragraphs
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PAGES;

    #[test]
    fn every_page_has_its_text_and_no_script() {
        for (page, language) in PAGES.iter().flat_map(|page| [(page, Language::Zh), (page, Language::En)]) {
            let text = page.texts.of(language);
            let html = render(text, &page.slug, language);
            assert!(text.content.iter().all(|paragraph| html.contains(&escape(paragraph))), "{html}");
            assert!(!html.contains("<script") && !html.contains("<tool_call"), "{html}");
        }
    }
}
