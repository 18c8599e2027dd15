//! The built-in pages for people: `GET /demo/{language}/{slug}`, without a script and without data of users.

use axum::Router;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use domain::{ErrorCode, Language};
use web::ApiError;

use crate::demo::{PageText, page_at};

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the pages and of their style.
pub fn page_routes() -> Router {
    let style =
        || async { ([(CONTENT_TYPE, "text/css"), (CACHE_CONTROL, "no-cache")], include_str!("../../demo/page.css")) };
    Router::new().route("/demo/page.css", get(style)).route("/demo/{language}/{slug}", get(page))
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
        include_str!("../../demo/page.html"),
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
    use crate::demo::PAGES;

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
