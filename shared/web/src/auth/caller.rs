use axum::extract::FromRequestParts;
use domain::{ErrorCode, Groups, Membership, Owner};
use http::HeaderMap;
use http::request::Parts;
use store::KeyRecord;

use crate::ApiError;

pub(super) const MAX_NAME_CHARS: usize = 256;

/// The owner of all data if authentication is off and the request names no user.
const DEFAULT_NAME: &str = "local";

/// The authenticated caller; as a handler's argument it is determined by the request's head alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// The owner whose data the caller can access.
    pub owner: Owner,
    /// Its groups, as its key or token names them, and whether it is an administrator.
    pub membership: Membership,
    /// What people call the caller, if its token has a name.
    pub name: Option<String>,
    /// Whether answers to OpenAI's clients end with link definitions of the cited pages, unless a request decides.
    pub citation_links: bool,
}

impl Caller {
    /// The holder of a key.
    pub(super) fn of_key(record: &KeyRecord) -> Self {
        let membership = Membership { groups: record.groups.clone(), is_administrator: record.administrator };
        Self { owner: record.holder(), membership, name: None, citation_links: record.citation_links }
    }

    pub(super) fn new(owner: Owner, administrator: bool) -> Self {
        let membership = Membership { groups: Groups::default(), is_administrator: administrator };
        Self { owner, membership, name: None, citation_links: false }
    }
}

/// An administrator, as a handler's argument; other callers get `forbidden`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Administrator(pub Caller);

/// The result of [`super::authenticate`]; only that layer puts it into a request.
#[derive(Clone, Debug)]
pub(super) enum Identity {
    /// Authentication is off.
    Unauthenticated,
    Authenticated(Caller),
}

/// The credentials in a request's head, for handlers whose body may name the user too.
#[derive(Clone, Debug)]
pub struct Credentials {
    identity: Identity,
    /// The name in `X-User-Id`; read only if authentication is off.
    claimed_name: Option<Result<String, ApiError>>,
}

impl Credentials {
    /// Identifies the caller: the authenticated one. Without authentication it is the name in header `X-User-Id`, else
    /// `user_id` of the body, else `local`.
    ///
    /// # Errors
    /// `invalid_request` if the name in effect is blank, not Unicode or too long.
    pub fn identify(self, user_id: Option<&str>) -> Result<Caller, ApiError> {
        match (self.identity, self.claimed_name) {
            (Identity::Authenticated(caller), _) => Ok(caller),
            (Identity::Unauthenticated, Some(name)) => unverified_caller(&name?),
            (Identity::Unauthenticated, None) => unverified_caller(user_id.unwrap_or(DEFAULT_NAME)),
        }
    }
}

fn unverified_caller(name: &str) -> Result<Caller, ApiError> {
    if name.trim().is_empty() || name.chars().nth(MAX_NAME_CHARS).is_some() {
        return Err(invalid_name());
    }
    Ok(Caller::new(Owner::unverified(name), true))
}

fn read_claimed_name(headers: &HeaderMap) -> Option<Result<String, ApiError>> {
    let name = headers.get("x-user-id")?;
    Some(std::str::from_utf8(name.as_bytes()).map(str::to_owned).map_err(|_| invalid_name()))
}

fn invalid_name() -> ApiError {
    let message = format!("The user's id must be 1 to {MAX_NAME_CHARS} characters, not blank");
    ApiError::invalid_request(message)
}

impl Credentials {
    fn of(head: &Parts) -> Result<Self, ApiError> {
        let Some(identity) = head.extensions.get::<Identity>().cloned() else {
            tracing::error!("a route needs the caller without the layer that identifies callers");
            return Err(ErrorCode::Internal.into());
        };
        let claimed_name =
            if matches!(identity, Identity::Unauthenticated) { read_claimed_name(&head.headers) } else { None };
        Ok(Self { identity, claimed_name })
    }
}

impl<S: Sync> FromRequestParts<S> for Credentials {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::of(parts)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Credentials::of(parts)?.identify(None)
    }
}

impl<S: Sync> FromRequestParts<S> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = Credentials::of(parts)?.identify(None)?;
        if caller.membership.is_administrator { Ok(Self(caller)) } else { Err(ErrorCode::Forbidden.into()) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn unauthenticated(user_id: Option<&[u8]>) -> Credentials {
        let mut headers = HeaderMap::new();
        if let Some(value) = user_id {
            headers.insert("x-user-id", HeaderValue::from_bytes(value).unwrap());
        }
        Credentials { identity: Identity::Unauthenticated, claimed_name: read_claimed_name(&headers) }
    }

    #[test]
    fn unauthenticated_name_comes_from_header_then_body() {
        let owner = |credentials: Credentials, body| credentials.identify(body).unwrap();
        let unverified = |name| Caller::new(Owner::unverified(name), true);
        assert_eq!(owner(unauthenticated(Some("小王".as_bytes())), Some("b")), unverified("小王"));
        assert_eq!(owner(unauthenticated(None), Some("b")), unverified("b"));
        assert_eq!(owner(unauthenticated(None), None), unverified("local"));
    }

    #[test]
    fn invalid_user_name_is_refused() {
        for bad in [b"  ".as_slice(), b"\xff", &[b'a'; 257]] {
            assert_eq!(unauthenticated(Some(bad)).identify(None).unwrap_err().failure.code, ErrorCode::InvalidRequest);
        }
        assert_eq!(unauthenticated(None).identify(Some(" ")).unwrap_err().failure.code, ErrorCode::InvalidRequest);
    }

    #[test]
    fn f121_body_cannot_override_authenticated_caller() {
        let ada = Caller::new(Owner::key_holder("ada"), false);
        let credentials = Credentials { identity: Identity::Authenticated(ada.clone()), claimed_name: None };
        assert_eq!(credentials.identify(Some("bob")), Ok(ada));
    }

    #[tokio::test]
    async fn route_without_auth_layer_rejects_every_request() {
        let mut parts = http::Request::new(()).into_parts().0;
        let error = <Caller as FromRequestParts<()>>::from_request_parts(&mut parts, &()).await.unwrap_err();
        assert_eq!(error.failure.code, ErrorCode::Internal);
    }
}
