use http::Uri;

/// Whether a URL of the issuer may be used: without white space, and `https` unless `allow_http`.
pub(super) fn is_key_url(text: &str, allow_http: bool) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let scheme = uri.scheme_str().is_some_and(|scheme| scheme == "https" || allow_http && scheme == "http");
    let authority = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    scheme && authority && text.bytes().all(|byte| byte.is_ascii_graphic())
}
