use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse, Response};
use domain::ErrorCode;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use web::ApiError;

/// The content security policy: the page loads only its own files, and no inline code runs.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
     frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Rows of name, content type and content; the files are embedded at build time.
macro_rules! assets {
    ($($kind:expr => $($name:literal)*;)*) => {
        &[$($(($name, $kind, include_bytes!(concat!("../../page/", $name))),)*)*]
    };
}

const INDEX: &[u8] = include_bytes!("../../page/index.html");

const ASSETS: &[(&str, &str, &[u8])] = assets! {
    "text/css; charset=utf-8" => "style.css";
    "image/svg+xml" => "icon.svg";
    SCRIPT => "agents.js"
        "answer.js"
        "api.js"
        "app.js"
        "call-details.js"
        "chat.js"
        "composer.js"
        "conversations.js"
        "dialogs.js"
        "dom.js"
        "drawer.js"
        "export-check.js"
        "history.js"
        "key.js"
        "markdown-blocks.js"
        "markdown-emphasis.js"
        "markdown-inline.js"
        "markdown-lines.js"
        "markdown-links.js"
        "markdown-list.js"
        "markdown-table.js"
        "markdown-tokens.js"
        "markdown.js"
        "models.js"
        "privacy.js"
        "render-scheduler.js"
        "sse.js"
        "steps.js"
        "strings.js"
        "theme.js"
        "thinking.js"
        "thread.js"
        "toast.js"
        "turn.js";
};

/// `GET /`: the page.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    file(INDEX, "text/html; charset=utf-8", &headers)
}

/// `GET /assets/{file}`: a file that the page loads.
pub(crate) async fn asset(headers: HeaderMap, name: Result<Path<String>, PathRejection>) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, content)) => file(content, kind, &headers),
        None => ApiError::from(ErrorCode::NotFound).into_response(),
    }
}

/// A file as a response. Browsers cache it but revalidate it each time, so that a deployment takes effect at once.
fn file(content: &'static [u8], kind: &'static str, request: &HeaderMap) -> Response {
    let tag = entity_tag(content);
    let known = request.get(header::IF_NONE_MATCH).is_some_and(|tags| tags.as_bytes() == tag.as_bytes());
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { content.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The entity tag: the 64-bit FNV-1a hash of the content. Files change only with the build, so a short hash is enough.
fn entity_tag(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("\"{hash:016x}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_referenced_files_are_embedded() {
        let known = |name: &str| ASSETS.iter().any(|(known, ..)| *known == name);
        let text = |content: &[u8]| String::from_utf8(content.to_vec()).unwrap();
        for reference in text(INDEX).split("/assets/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(known(name), "index.html names {name}");
        }
        for (file, kind, content) in ASSETS {
            let content = text(content);
            let imports = content.split("from \"./").skip(1).filter(|_| *kind == SCRIPT);
            for import in imports {
                let name = import.split('"').next().unwrap();
                assert!(known(name), "{file} imports {name}");
            }
        }
    }

    #[test]
    fn f138_policy_allows_no_inline_and_no_foreign_code() {
        let policy = CONTENT_SECURITY_POLICY.to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"));
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"));
    }

    #[test]
    fn f145_no_page_may_frame_the_page() {
        assert!(CONTENT_SECURITY_POLICY.to_str().unwrap().contains("frame-ancestors 'none'"));
    }
}
