//! Tool support, context windows and refusals of pictures of models, shared between instances.
//!
//! There is one item for each model. It may be lost: without it an instance reads the provider's list, or one request
//! fails.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{CachedToolSupport, ToolMode, ToolSupport, ToolSupportSource};

use crate::Result;
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

impl ToolSupportTable {
    /// The support of the model with this identity, if it is valid at `now`; its end has millisecond precision.
    pub async fn get(&self, identity: &str, now: SystemTime) -> Result<Option<CachedToolSupport>> {
        let support = self.table.get(&key(identity)).await?.as_ref().and_then(read);
        // DynamoDB takes days to delete expired items.
        Ok(support.filter(|support| support.expires_at > now))
    }

    /// Stores a support. One from a list does not replace a valid one from the endpoint's behaviour.
    pub async fn put(&self, identity: &str, support: CachedToolSupport, now: SystemTime) -> Result<()> {
        self.table.update(&key(identity), store_update(support, now)).await.map(|_| ())
    }

    /// Until when the endpoint's refusal of pictures is valid, if it is valid at `now`.
    pub async fn image_refusal(&self, identity: &str, now: SystemTime) -> Result<Option<SystemTime>> {
        let item = self.table.get(&key(identity)).await?.filter(ItemExt::is_readable);
        let until = item.and_then(|item| item.number(IMAGES_REFUSED_UNTIL).ok());
        Ok(until.map(|until| UNIX_EPOCH + Duration::from_millis(until)).filter(|until| *until > now))
    }

    /// Stores that the endpoint refused pictures.
    pub async fn put_image_refusal(&self, identity: &str, until: SystemTime) -> Result<()> {
        let change = Expression::set([(IMAGES_REFUSED_UNTIL, n(millis(until))), expires_at(until), version()]);
        self.table.update(&key(identity), change).await.map(|_| ())
    }
}

fn store_update(support: CachedToolSupport, now: SystemTime) -> Expression {
    let CachedToolSupport { tools: ToolSupport { mode, source }, context_tokens, expires_at: end } = support;
    let is_observed = source == ToolSupportSource::Rejection;
    let attributes = [
        ("native", AttributeValue::Bool(mode == ToolMode::Native)),
        ("learned", AttributeValue::Bool(is_observed)),
        ("countsUntil", n(millis(end))),
        expires_at(end),
        version(),
    ];
    let window = context_tokens.map(|tokens| ("contextTokens", n(tokens)));
    let change = Expression::set(attributes.into_iter().chain(window));
    if is_observed {
        return change;
    }
    // An item may have a refusal of pictures alone.
    let rule = "attribute_not_exists(learned) OR learned = :learned OR countsUntil <= :now OR v <> :v";
    change.and_when(rule).value(":now", n(millis(now)))
}

/// An unreadable item counts as absent: the support will be found out again.
fn read(item: &Item) -> Option<CachedToolSupport> {
    let flag = |name: &str| item.get(name)?.as_bool().ok().copied();
    let end = item.number("countsUntil").ok().filter(|_| item.is_readable())?;
    let mode = if flag("native")? { ToolMode::Native } else { ToolMode::Prompted };
    let source = if flag("learned")? { ToolSupportSource::Rejection } else { ToolSupportSource::Provider };
    Some(CachedToolSupport {
        tools: ToolSupport { mode, source },
        context_tokens: item.number("contextTokens").ok(),
        expires_at: UNIX_EPOCH + Duration::from_millis(end),
    })
}

fn key(identity: &str) -> Key {
    Key::new(format!("TF#{}", digest(identity)), "-")
}
