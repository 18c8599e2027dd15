/// The verified identity that owns conversations and everything else that is stored for a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// Creates an owner from the name that authentication returned; any text.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The owner of an unverified `name`, where authentication is off.
    pub fn unverified(name: &str) -> Self {
        Self::new(format!("name:{name}"))
    }

    /// The holder of a key for `name`.
    pub fn key_holder(name: &str) -> Self {
        Self::new(format!("key:{name}"))
    }

    /// The subject of a token. An issuer is a URL and holds no space, so no two pairs give the same owner.
    pub fn subject(issuer: &str, subject: &str) -> Self {
        Self::new(format!("token:{issuer} {subject}"))
    }

    /// The rate limit key of the owner's turns.
    pub fn turn_limit_key(&self) -> String {
        format!("chat:{}", self.as_str())
    }
}
