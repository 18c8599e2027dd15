use conversation::ErrorCode;
use http::HeaderMap;
use store::Owner;
use web::ApiError;

/// The longest name of a caller, in characters.
const MAX_NAME: usize = 256;

/// Who a caller says to be, where authentication is off: header `X-User-Id`, else `userId` of the body, else `local`.
///
/// # Errors
/// `invalid_request` for a name that is blank, not Unicode or too long.
pub(crate) fn identify(headers: &HeaderMap, user_id: Option<&str>) -> Result<Owner, ApiError> {
    let name = match headers.get("x-user-id") {
        Some(value) => std::str::from_utf8(value.as_bytes()).map_err(|_| unusable())?,
        None => user_id.unwrap_or("local"),
    };
    if name.trim().is_empty() || name.chars().nth(MAX_NAME).is_some() {
        return Err(unusable());
    }
    Ok(Owner::new(name))
}

fn unusable() -> ApiError {
    let sentence = format!("The user's id must be 1 to {MAX_NAME} characters, not blank");
    ApiError::new(ErrorCode::InvalidRequest, sentence)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn with_header(value: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-user-id", HeaderValue::from_bytes(value).unwrap());
        headers
    }

    #[test]
    fn the_header_wins_over_the_body_and_local_is_the_default() {
        assert_eq!(identify(&with_header("小王".as_bytes()), Some("b")).unwrap(), Owner::new("小王"));
        assert_eq!(identify(&HeaderMap::new(), Some("b")).unwrap(), Owner::new("b"));
        assert_eq!(identify(&HeaderMap::new(), None).unwrap(), Owner::new("local"));
    }

    #[test]
    fn a_name_that_cannot_be_used_is_refused() {
        for bad in [b"  ".as_slice(), b"\xff", &[b'a'; 257]] {
            assert_eq!(identify(&with_header(bad), None).unwrap_err().0.code, ErrorCode::InvalidRequest);
        }
    }
}
