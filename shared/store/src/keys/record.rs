use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;
use subtle::ConstantTimeEq;

use super::ApiKey;
use crate::clock::{millis, rfc3339};
use crate::item::{Item, ItemExt, group_list, item, n, s};
use crate::key::SK;
use crate::{Result, StoreError};
use domain::{Groups, Owner};

/// The attribute of [`KeyRecord::citation_links`].
pub(super) const CITATION_LINKS: &str = "citationLinks";

/// The properties of a key to be created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewKey {
    /// The name of its owner; any text.
    pub owner: String,
    /// Whether its holder is an administrator.
    pub administrator: bool,
    /// When it expires; `None` for never.
    pub expires: Option<SystemTime>,
    /// Whether answers to OpenAI's clients end with link definitions of the cited pages.
    pub citation_links: bool,
    /// The groups of its holder.
    pub groups: Groups,
}

/// What can change about a key that is not revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// Whether its holder is an administrator from now on.
    pub administrator: bool,
    /// When it expires; `None` for never.
    pub expires: Option<SystemTime>,
    /// Whether answers to OpenAI's clients end with link definitions of the cited pages; `None` for no change.
    pub citation_links: Option<bool>,
    /// The groups of its holder; `None` for no change.
    pub groups: Option<Groups>,
}

/// The stored record of a key; the key cannot be derived from it. Times are whole milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// A ULID.
    pub id: String,
    /// The name of its owner.
    pub owner: String,
    /// Whether its holder is an administrator.
    pub administrator: bool,
    /// When it was created.
    pub created: SystemTime,
    /// When it expires; `None` for never.
    pub expires: Option<SystemTime>,
    /// When it was revoked; `None` while it is not.
    pub revoked: Option<SystemTime>,
    /// Whether answers to OpenAI's clients end with link definitions of the cited pages.
    pub citation_links: bool,
    /// The groups of its holder.
    pub groups: Groups,
    digest: [u8; 32],
}

impl KeyRecord {
    pub(super) fn new(key: &ApiKey, new: &NewKey, now: SystemTime) -> Self {
        Self {
            id: key.id().to_owned(),
            owner: new.owner.clone(),
            administrator: new.administrator,
            created: time(millis(now)),
            expires: new.expires.map(|at| time(millis(at))),
            revoked: None,
            citation_links: new.citation_links,
            groups: new.groups.clone(),
            digest: key.digest(),
        }
    }

    /// Whether `key` is this one and valid now. The comparison takes constant time.
    pub fn admits(&self, key: &ApiKey, now: SystemTime) -> bool {
        let same = bool::from(self.digest.ct_eq(&key.digest()));
        same && self.id == key.id() && self.is_valid(now)
    }

    /// Whether it is neither revoked nor expired.
    pub fn is_valid(&self, now: SystemTime) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|end| now < end)
    }

    /// Whether it can administer without an end.
    pub fn is_lasting(&self) -> bool {
        self.administrator && self.expires.is_none() && self.revoked.is_none()
    }

    /// Its state for people: `valid`, `expired` or `revoked`.
    pub fn state(&self, now: SystemTime) -> &'static str {
        match self.revoked {
            Some(_) => "revoked",
            None if self.is_valid(now) => "valid",
            None => "expired",
        }
    }

    /// The owner whose items its holder can access.
    pub fn holder(&self) -> Owner {
        Owner::key_holder(&self.owner)
    }

    /// When it was created, in RFC 3339.
    pub fn created_at(&self) -> String {
        rfc3339(millis(self.created))
    }

    /// When it expires, in RFC 3339; `None` for never.
    pub fn expires_at(&self) -> Option<String> {
        self.expires.map(|at| rfc3339(millis(at)))
    }

    /// When it was revoked, in RFC 3339; `None` while it is not.
    pub fn revoked_at(&self) -> Option<String> {
        self.revoked.map(|at| rfc3339(millis(at)))
    }

    pub(super) fn item(&self) -> Item {
        let fixed = [
            ("owner", s(&self.owner)),
            ("admin", AttributeValue::Bool(self.administrator)),
            ("createdAt", n(millis(self.created))),
            ("digest", s(hex::encode(self.digest))),
        ];
        let optional = self.expires.map(|end| ("expiresAt", n(millis(end)))).into_iter();
        let optional = optional.chain(self.citation_links.then_some((CITATION_LINKS, AttributeValue::Bool(true))));
        let groups = (!self.groups.is_empty()).then(|| group_list(&self.groups));
        item(&super::key(&self.id), fixed.into_iter().chain(optional).chain(groups))
    }

    /// Reads a stored record. An unreadable record is a fault and admits nobody.
    pub(super) fn read(item: &Item) -> Result<Self> {
        item.check_version("a key")?;
        let digest = hex::decode(item.text("digest")?).ok().and_then(|bytes| bytes.try_into().ok());
        let admin = item.get("admin").and_then(|value| value.as_bool().ok().copied());
        let unreadable = || StoreError::fault("a key that is not readable");
        Ok(Self {
            id: item.text(SK)?.to_owned(),
            owner: item.text("owner")?.to_owned(),
            administrator: admin.ok_or_else(unreadable)?,
            created: time(item.number("createdAt")?),
            expires: item.optional_number("expiresAt")?.map(time),
            revoked: item.optional_number("revokedAt")?.map(time),
            // Keys of earlier releases have none.
            citation_links: item.get(CITATION_LINKS).is_some_and(|value| value.as_bool() == Ok(&true)),
            groups: item.groups()?,
            digest: digest.ok_or_else(unreadable)?,
        })
    }
}

fn time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn to_json(value: &AttributeValue) -> Value {
        match value {
            AttributeValue::S(text) => json!({ "S": text }),
            AttributeValue::N(number) => json!({ "N": number }),
            AttributeValue::Bool(truth) => json!({ "BOOL": truth }),
            other => panic!("a key has no attribute such as {other:?}"),
        }
    }

    #[test]
    fn first_key_command_writes_a_record() {
        let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let template = std::fs::read_to_string(template).unwrap();
        let command = template.lines().find(|line| line.contains("aws dynamodb put-item")).unwrap();
        let item = command.split("--item '").nth(1).unwrap().trim_end_matches('\'');
        let key = ApiKey::generate().unwrap();
        let item = item.replace("'$id'", key.id()).replace("'$digest'", &hex::encode(key.digest()));
        let item: Value = serde_json::from_str(&item.replace("'$(date +%s)'", "1800000000")).unwrap();
        let new = NewKey { owner: "admin".into(), administrator: true, ..NewKey::default() };
        let record = KeyRecord::new(&key, &new, UNIX_EPOCH + Duration::from_hours(500_000));
        let expected: serde_json::Map<_, _> =
            record.item().iter().map(|(name, value)| (name.clone(), to_json(value))).collect();
        assert_eq!(item, Value::Object(expected));
    }
}
