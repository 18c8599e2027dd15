//! The chat page: one document, and the files that it loads on demand.
//!
//! `functions/chat/page/build.mjs` writes the embedded files. The document has its script and style inside, so a client
//! that has the document has one version of the page, also while two versions are deployed.

use std::iter;
use std::sync::OnceLock;
use std::time::SystemTime;

use attachments::Attachments;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use domain::ErrorCode;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use web::{ApiError, SignIn};

use super::extract::PathId;
use crate::{App, Result};

/// A file that the page loads on demand, compressed with gzip.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    /// Whether the name contains the hash of the content.
    immutable: bool,
    gzip: &'static [u8],
}

include!("../../page/dist/files.rs");

/// The text of an embedded file once a client without compression has requested it, so that a flood of such requests costs
/// no more than another.
type PlainText = OnceLock<Option<Bytes>>;

static DOCUMENT_TEXT: PlainText = OnceLock::new();

/// The description of the HTTP API, which the program `openapi` writes.
static DESCRIPTION: Asset = Asset {
    name: "openapi.json",
    content_type: "application/json",
    immutable: false,
    gzip: include_bytes!("../../openapi.json.gz"),
};

static DESCRIPTION_TEXT: PlainText = OnceLock::new();

/// The texts of [`ASSETS`], in their order.
static ASSET_TEXTS: [PlainText; ASSETS.len()] = [const { OnceLock::new() }; ASSETS.len()];

/// Clients revalidate these files on each use, so that a deployment takes effect at once.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// A file whose name contains its hash never changes.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The connections that the page makes without a sign-in.
const CONNECTIONS: &str = "connect-src 'self'";

/// The features that no script of the page uses.
const PERMISSIONS_POLICY: HeaderValue =
    HeaderValue::from_static("camera=(), microphone=(), geolocation=(), payment=(), usb=()");

/// Keeps shares out of search engines.
pub(super) const NO_INDEX: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));

/// `GET /`: the page.
pub(crate) async fn index(State(app): State<App>, headers: HeaderMap) -> Response {
    let mut addresses = app.config.auth.sign_in().map(SignIn::origins).unwrap_or_default();
    addresses.extend(app.turns.attachments.as_ref().and_then(Attachments::upload_address));
    let policy = security_policy(&addresses);
    let variant = Variant::select(&headers, DOCUMENT_GZIP, &DOCUMENT_TEXT);
    let tag = format!("\"{DOCUMENT_HASH}-{}\"", variant.name);
    if is_known(&headers, &tag) {
        return with_headers(StatusCode::NOT_MODIFIED.into_response(), document_headers(&tag, policy));
    }
    let response = with_headers(variant.into_response(), document_headers(&tag, policy));
    with_headers(response, [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))])
}

/// `GET /share/{id}`: the page, which reads the share by itself. If nobody can read it, a browser gets the
/// page with the status `404`.
pub(crate) async fn share(State(app): State<App>, PathId(id): PathId, mut headers: HeaderMap) -> Result<Response> {
    let is_shared = app.store.conversations.is_shared(&id, SystemTime::now()).await?;
    let is_browser = headers.get(header::ACCEPT).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if !is_shared && !is_browser {
        return Err(ErrorCode::NotFound.into());
    }
    if !is_shared {
        headers.remove(header::IF_NONE_MATCH);
    }
    let response = with_headers(index(State(app), headers).await, [NO_INDEX]);
    Ok(if is_shared { response } else { (StatusCode::NOT_FOUND, response).into_response() })
}

/// `GET /assets/{file}`, also below `/share`: a file that the page loads on demand.
pub(crate) async fn asset(headers: HeaderMap, name: Result<Path<String>, PathRejection>) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    let Some((asset, text)) = ASSETS.iter().zip(&ASSET_TEXTS).find(|(asset, _)| asset.name == name) else {
        return ApiError::from(ErrorCode::NotFound).into_response();
    };
    serve(&headers, asset, text)
}

/// `GET /openapi.json`: the description of the HTTP API.
pub(crate) async fn description(headers: HeaderMap) -> Response {
    serve(&headers, &DESCRIPTION, &DESCRIPTION_TEXT)
}

/// The response with a file. Its tag is the end of its gzip form: the checksum and the length of the text (RFC 1952).
fn serve(request: &HeaderMap, asset: &Asset, text: &'static PlainText) -> Response {
    let variant = Variant::select(request, asset.gzip, text);
    let checksum = asset.gzip.last_chunk().map_or(0, |end| u64::from_le_bytes(*end));
    let tag = format!("\"{checksum:016x}-{}\"", variant.name);
    let is_known = is_known(request, &tag);
    let response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { variant.into_response() };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (header::CACHE_CONTROL, if asset.immutable { IMMUTABLE } else { REVALIDATE }),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    with_headers(response, headers.into_iter().chain(HeaderValue::try_from(tag).ok().map(|tag| (header::ETAG, tag))))
}

/// The content security policy, which permits connections to the sign-in and to the bucket of uploads.
///
/// An address with other characters than those of a host, a port and a bucket is left out: it could add a directive.
fn security_policy(addresses: &[String]) -> HeaderValue {
    let is_plain = |address: &&String| address.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:/[]".contains(&b));
    let sources: Vec<&str> =
        iter::once(CONNECTIONS).chain(addresses.iter().filter(is_plain).map(String::as_str)).collect();
    let policy = CONTENT_SECURITY_POLICY.replace(CONNECTIONS, &sources.join(" "));
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY))
}

/// The headers of the document, also of a response without a body.
fn document_headers(tag: &str, policy: HeaderValue) -> impl IntoIterator<Item = (HeaderName, HeaderValue)> {
    let tag = HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag));
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS_POLICY),
        (header::CACHE_CONTROL, REVALIDATE),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    fixed.into_iter().chain(tag)
}

fn with_headers(mut response: Response, headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Response {
    for (name, value) in headers {
        response.headers_mut().insert(name, value);
    }
    response
}

/// One encoding of a file.
struct Variant {
    /// The name of the content coding.
    name: &'static str,
    gzip: &'static [u8],
    text: &'static PlainText,
}

impl Variant {
    /// A client that does not accept gzip gets `identity`.
    fn select(request: &HeaderMap, gzip: &'static [u8], text: &'static PlainText) -> Self {
        Self { name: if accepts(request, "gzip") { "gzip" } else { "identity" }, gzip, text }
    }

    fn into_response(self) -> Response {
        if self.name == "identity" {
            let text = self.text.get_or_init(|| decompress(self.gzip).map(Bytes::from));
            return text.clone().ok_or(ApiError::from(ErrorCode::Internal)).into_response();
        }
        with_headers(self.gzip.into_response(), [(header::CONTENT_ENCODING, HeaderValue::from_static(self.name))])
    }
}

/// The text of an embedded file, whose size the build fixes; `None` if it is not compressed as expected.
///
/// `build.mjs` writes the shortest form of gzip (RFC 1952): 10 bytes of header, the deflated text, 8 bytes of trailer.
fn decompress(gzip: &[u8]) -> Option<Vec<u8>> {
    let deflated = gzip.get(10..gzip.len().saturating_sub(8)).unwrap_or_default();
    miniz_oxide::inflate::decompress_to_vec(deflated).ok()
}

/// Whether the request accepts a content coding, which `q=0` excludes (RFC 9110, section 12.5.3).
fn accepts(request: &HeaderMap, coding: &str) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        named && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// Whether the client has the document with this tag. A proxy that compresses makes a tag weak.
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|known| known.trim().trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn document() -> String {
        String::from_utf8(decompress(DOCUMENT_GZIP).unwrap()).unwrap()
    }

    /// The hash of each inline element as the policy names it.
    fn hashes(document: &str, element: &str) -> Vec<String> {
        let (start, end) = (format!("<{element}>"), format!("</{element}>"));
        let texts = document.split(&start).skip(1).map(|part| part.split(&end).next().unwrap());
        texts
            .map(|text| {
                format!("'sha256-{}'", STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes())))
            })
            .collect()
    }

    #[test]
    fn f138_policy_permits_exactly_the_inline_code() {
        let document = document();
        let directive = |name: &str| {
            CONTENT_SECURITY_POLICY.split("; ").find_map(|item| item.strip_prefix(name)).unwrap().trim().to_owned()
        };
        let [scripts, styles] = [hashes(&document, "script"), hashes(&document, "style")];
        assert_eq!((scripts.len(), styles.len()), (2, 1));
        assert_eq!(directive("script-src "), format!("'self' {}", scripts.join(" ")));
        assert_eq!(directive("style-src "), styles[0]);
        assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none';"));
        assert!(!CONTENT_SECURITY_POLICY.contains("unsafe") && !CONTENT_SECURITY_POLICY.contains("http"));
    }

    #[test]
    fn policy_permits_connections_to_sign_in_and_uploads() {
        let origins =
            ["https://id.example:8443", "https://a;script-src *", "https://files.s3.eu-west-1.amazonaws.com/"];
        let policy = security_policy(&origins.map(str::to_owned));
        let policy = policy.to_str().unwrap();
        let expected = "connect-src 'self' https://id.example:8443 https://files.s3.eu-west-1.amazonaws.com/; ";
        assert_eq!(policy.replace(expected, "connect-src 'self'; "), CONTENT_SECURITY_POLICY);
        assert!(policy.contains(expected));
        assert_eq!(security_policy(&[]), CONTENT_SECURITY_POLICY);
    }

    #[tokio::test]
    async fn page_is_decompressed_once() {
        let plain = || async {
            let response = Variant::select(&HeaderMap::new(), DOCUMENT_GZIP, &DOCUMENT_TEXT).into_response();
            axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap()
        };
        let (first, second) = (plain().await, plain().await);
        assert_eq!(first, document());
        assert_eq!(first.as_ptr(), second.as_ptr(), "both responses share one text");
    }

    #[test]
    fn f145_no_page_may_frame_the_page() {
        assert!(CONTENT_SECURITY_POLICY.contains("frame-ancestors 'none'"));
    }

    #[test]
    fn document_names_only_embedded_files() {
        let document = document();
        let names = document.split("assets/").skip(1);
        let names: Vec<&str> = names.map(|rest| rest.split(['"', '`', '\'']).next().unwrap()).collect();
        for name in &names {
            assert!(ASSETS.iter().any(|asset| asset.name == *name), "{name}");
        }
        assert!(names.contains(&"manifest.webmanifest"));
    }

    #[test]
    fn content_coding_is_negotiated() {
        let coding = |accept: &'static str| {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accept))]);
            Variant::select(&headers, DOCUMENT_GZIP, &DOCUMENT_TEXT).name
        };
        let accepted = ["gzip, deflate, br, zstd", "gzip", "br;q=0, gzip;q=0.5", "gzip;q=0", "deflate", ""];
        assert_eq!(accepted.map(coding), ["gzip", "gzip", "gzip", "identity", "identity", "identity"]);
    }

    #[test]
    fn any_known_tag_matches() {
        let known = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(value))]);
            is_known(&headers, "\"a-gzip\"")
        };
        assert_eq!(["\"a-gzip\"", "W/\"a-gzip\"", "\"b\", \"a-gzip\"", "\"b\""].map(known), [true, true, true, false]);
    }
}
