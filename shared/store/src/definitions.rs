//! Tools and agents defined by administrators: documents with an id and a name, which is unique within their kind.
//!
//! The callers define the content of the documents; this crate knows only their names.

use std::time::SystemTime;

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde_json::Value;

use crate::clock::{millis, rfc3339};
use crate::item::{Item, ItemExt, item, n, s};
use crate::key::{Key, encode};
use crate::table::{Expression, Table, WriteOutcome};
use crate::{Result, StoreError};

const DOCUMENT_PREFIX: &str = "I#";

/// The attribute of a name's item with the id of its document.
const DOCUMENT_ID: &str = "document";

/// The kinds of documents, each with its own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// Tools.
    Tool,
    /// Agents.
    Agent,
}

/// A stored document.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Chosen at its creation; it never changes.
    pub id: String,
    /// Unique within its kind.
    pub name: String,
    /// The document.
    pub body: Value,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
}

/// Why a document cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefineError {
    /// No document has this id.
    #[error("not found")]
    NotFound,
    /// Another document has the id or the name.
    #[error("taken")]
    Taken,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Documents in the data table.
#[derive(Clone)]
pub struct Definitions {
    pub(crate) table: Table,
}

impl DefinitionKind {
    fn partition(self) -> &'static str {
        match self {
            Self::Tool => "D#tools",
            Self::Agent => "D#agents",
        }
    }

    fn document_key(self, id: &str) -> Key {
        Key::new(self.partition(), format!("{DOCUMENT_PREFIX}{}", encode(id)))
    }

    /// The key of the item that reserves a name for one document.
    fn name_key(self, name: &str) -> Key {
        Key::new(self.partition(), format!("N#{}", encode(name)))
    }
}

impl Definitions {
    /// Stores a new document.
    pub async fn create(
        &self,
        kind: DefinitionKind,
        id: &str,
        name: &str,
        body: &Value,
        now: SystemTime,
    ) -> Result<Definition, DefineError> {
        let absent = || Expression::when("attribute_not_exists(pk)");
        let document = document_item(kind, id, name, body, (millis(now), millis(now)));
        let writes = [
            self.table.put_write(document, absent()),
            self.table.put_write(item(&kind.name_key(name), [(DOCUMENT_ID, s(id))]), absent()),
        ];
        self.write(writes.into()).await?;
        self.get(kind, id).await
    }

    /// The document with this id.
    pub async fn get(&self, kind: DefinitionKind, id: &str) -> Result<Definition, DefineError> {
        let item = self.table.get(&kind.document_key(id)).await?.ok_or(DefineError::NotFound)?;
        Ok(read_definition(&item)?)
    }

    /// All documents of a kind, sorted by id.
    pub async fn list(&self, kind: DefinitionKind) -> Result<Vec<Definition>> {
        let query = self.table.query_prefix(kind.partition(), DOCUMENT_PREFIX);
        self.table.query_all(query).await?.iter().map(read_definition).collect()
    }

    /// Replaces the name and body of a document.
    pub async fn replace(
        &self,
        kind: DefinitionKind,
        id: &str,
        name: &str,
        body: &Value,
        now: SystemTime,
    ) -> Result<Definition, DefineError> {
        let before = self.table.get(&kind.document_key(id)).await?.ok_or(DefineError::NotFound)?;
        let old_name = before.text("title")?;
        let document = document_item(kind, id, name, body, (before.number("createdAt")?, millis(now)));
        let same = Expression::when("title = :before").value(":before", s(old_name));
        let mut writes = vec![self.table.put_write(document, same)];
        if old_name != name {
            let free = Expression::when("attribute_not_exists(pk)");
            writes.push(self.table.put_write(item(&kind.name_key(name), [(DOCUMENT_ID, s(id))]), free));
            writes.push(self.table.delete_write(&kind.name_key(old_name)));
        }
        self.write(writes).await?;
        self.get(kind, id).await
    }

    /// Deletes a document and frees its name.
    pub async fn delete(&self, kind: DefinitionKind, id: &str) -> Result<(), DefineError> {
        let before = self.table.get(&kind.document_key(id)).await?.ok_or(DefineError::NotFound)?;
        let name = kind.name_key(before.text("title")?);
        self.write(vec![self.table.delete_write(&kind.document_key(id)), self.table.delete_write(&name)]).await
    }

    async fn write(&self, writes: Vec<TransactWriteItem>) -> Result<(), DefineError> {
        match self.table.commit(writes).await? {
            WriteOutcome::Written(_) => Ok(()),
            WriteOutcome::ConditionFailed(_) => Err(DefineError::Taken),
        }
    }
}

fn document_item(kind: DefinitionKind, id: &str, name: &str, body: &Value, (created, updated): (i64, i64)) -> Item {
    let attributes = [
        ("id", s(id)),
        // Not `name`, which is a reserved keyword in expressions.
        ("title", s(name)),
        ("body", s(body.to_string())),
        ("createdAt", n(created)),
        ("changedAt", n(updated)),
    ];
    item(&kind.document_key(id), attributes)
}

fn read_definition(item: &Item) -> Result<Definition> {
    item.check_version("a definition")?;
    Ok(Definition {
        id: item.text("id")?.to_owned(),
        name: item.text("title")?.to_owned(),
        body: item.json("body")?,
        created_at: rfc3339(item.number("createdAt")?),
        updated_at: rfc3339(item.number("changedAt")?),
    })
}
