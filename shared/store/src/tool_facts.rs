//! What instances found out about the tools of models, so that each need not find it out again.
//!
//! One item for each model, and it may be lost: without it an instance asks the provider's list, or is refused once.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;

use crate::clock::millis;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, digest};
use crate::table::{Expression, Table};
use crate::{EXPIRES, StoreError};

/// Findings about models in the ephemeral table.
#[derive(Clone)]
pub struct ToolFacts {
    table: Table,
}

/// What was found out about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolFact {
    /// Whether it takes tools through the wire's own fields.
    pub native: bool,
    /// Whether its endpoint showed it, rather than said so in a list.
    pub learned: bool,
    /// Until when it counts, to the millisecond.
    pub until: SystemTime,
}

impl ToolFacts {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// What is remembered of the model with this identity and counts at `now`.
    pub async fn get(&self, identity: &str, now: SystemTime) -> Result<Option<ToolFact>, StoreError> {
        let fact = self.table.get(&key(identity)).await?.as_ref().and_then(ToolFact::read);
        // Deleting what expired takes the database days.
        Ok(fact.filter(|fact| fact.until > now))
    }

    /// Remembers a fact; what a list said does not replace what an endpoint showed, while that counts.
    pub async fn put(&self, identity: &str, fact: &ToolFact, now: SystemTime) -> Result<(), StoreError> {
        self.table.update(&key(identity), fact.storing(now)).await.map(|_| ())
    }
}

impl ToolFact {
    fn storing(&self, now: SystemTime) -> Expression {
        let until = millis(self.until);
        let text =
            format!("SET native = :native, learned = :learned, countsUntil = :until, {EXPIRES} = :expires, v = :v");
        let change = Expression::update(text)
            .value(":native", AttributeValue::Bool(self.native))
            .value(":learned", AttributeValue::Bool(self.learned))
            .value(":until", n(until))
            .value(":expires", n(until / 1000))
            .value(":v", n(SHAPE));
        if self.learned {
            return change;
        }
        let rule = "attribute_not_exists(pk) OR learned = :learned OR countsUntil <= :now OR v <> :v";
        change.and_when(rule).value(":now", n(millis(now)))
    }

    /// An item that cannot be read is nothing: it is found out again.
    fn read(item: &Item) -> Option<Self> {
        let flag = |name: &str| item.get(name)?.as_bool().ok().copied();
        let until = item.number("countsUntil").ok().filter(|_| item.is_understood())?;
        Some(Self {
            native: flag("native")?,
            learned: flag("learned")?,
            until: UNIX_EPOCH + Duration::from_millis(until),
        })
    }
}

fn key(identity: &str) -> Key {
    Key::new(format!("TF#{}", digest(identity)), "-")
}
