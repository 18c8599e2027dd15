//! Tool support, context windows and refusals of pictures of models, shared between instances.
//!
//! There is one item for each model. It may be lost: without it an instance reads the provider's list, or one request
//! fails.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;

use crate::StoreError;
use crate::clock::millis;
use crate::item::{Item, ItemExt, expires_at, n, version};
use crate::key::{Key, digest};
use crate::table::{Expression, Table};

const IMAGES_REFUSED_UNTIL: &str = "imagesRefusedUntil";

/// Tool support records in the ephemeral table.
#[derive(Clone)]
pub struct ToolSupportTable {
    pub(crate) table: Table,
}

/// The tool support of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSupportRecord {
    /// Whether it accepts tools through the wire format's own fields.
    pub native: bool,
    /// Whether the endpoint's behaviour showed it, rather than a provider's list.
    pub observed: bool,
    /// The context window in the provider's list, in tokens; 0 if the list shows none, `None` if no instance read it.
    pub context_tokens: Option<u64>,
    /// Until when it is valid, with millisecond precision.
    pub valid_until: SystemTime,
}

impl ToolSupportTable {
    /// The record of the model with this identity, if it is valid at `now`.
    pub async fn get(&self, identity: &str, now: SystemTime) -> Result<Option<ToolSupportRecord>, StoreError> {
        let record = self.table.get(&key(identity)).await?.as_ref().and_then(ToolSupportRecord::read);
        // DynamoDB takes days to delete expired items.
        Ok(record.filter(|record| record.valid_until > now))
    }

    /// Stores a record. One from a list does not replace a valid one from the endpoint's behaviour.
    pub async fn put(&self, identity: &str, record: &ToolSupportRecord, now: SystemTime) -> Result<(), StoreError> {
        self.table.update(&key(identity), record.store_update(now)).await.map(|_| ())
    }
}

impl ToolSupportTable {
    /// Until when the endpoint's refusal of pictures is valid, if it is valid at `now`.
    pub async fn image_refusal(&self, identity: &str, now: SystemTime) -> Result<Option<SystemTime>, StoreError> {
        let item = self.table.get(&key(identity)).await?.filter(ItemExt::is_readable);
        let until = item.and_then(|item| item.number(IMAGES_REFUSED_UNTIL).ok());
        Ok(until.map(|until| UNIX_EPOCH + Duration::from_millis(until)).filter(|until| *until > now))
    }

    /// Stores that the endpoint refused pictures.
    pub async fn put_image_refusal(&self, identity: &str, until: SystemTime) -> Result<(), StoreError> {
        let change = Expression::set([(IMAGES_REFUSED_UNTIL, n(millis(until))), expires_at(until), version()]);
        self.table.update(&key(identity), change).await.map(|_| ())
    }
}

impl ToolSupportRecord {
    fn store_update(&self, now: SystemTime) -> Expression {
        let change = Expression::set(
            [
                ("native", AttributeValue::Bool(self.native)),
                ("learned", AttributeValue::Bool(self.observed)),
                ("countsUntil", n(millis(self.valid_until))),
                expires_at(self.valid_until),
                version(),
            ]
            .into_iter()
            .chain(self.context_tokens.map(|tokens| ("contextTokens", n(tokens)))),
        );
        if self.observed {
            return change;
        }
        // An item may have a refusal of pictures alone.
        let rule = "attribute_not_exists(learned) OR learned = :learned OR countsUntil <= :now OR v <> :v";
        change.and_when(rule).value(":now", n(millis(now)))
    }

    /// An unreadable item counts as absent: the support will be found out again.
    fn read(item: &Item) -> Option<Self> {
        let flag = |name: &str| item.get(name)?.as_bool().ok().copied();
        let until = item.number("countsUntil").ok().filter(|_| item.is_readable())?;
        Some(Self {
            native: flag("native")?,
            observed: flag("learned")?,
            context_tokens: item.number("contextTokens").ok(),
            valid_until: UNIX_EPOCH + Duration::from_millis(until),
        })
    }
}

fn key(identity: &str) -> Key {
    Key::new(format!("TF#{}", digest(identity)), "-")
}
