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

    /// Whether the owner is the holder of a key.
    pub fn is_key_holder(&self) -> bool {
        self.0.starts_with("key:")
    }

    /// The name without the kind of credential and the issuer: what people call the owner. Not unique.
    pub fn display_name(&self) -> &str {
        let name = self.0.split_once(':').map_or(self.as_str(), |(_, name)| name);
        if self.0.starts_with("token:") { name.split_once(' ').map_or(name, |(_, subject)| subject) } else { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_name_is_the_name_alone() {
        for owner in [
            Owner::unverified("ann: b c"),
            Owner::key_holder("ann: b c"),
            Owner::subject("https://id.example/x", "ann: b c"),
        ] {
            assert_eq!(owner.display_name(), "ann: b c");
        }
    }
}
