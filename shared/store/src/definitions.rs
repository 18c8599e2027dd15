//! Tools and agents defined by administrators: documents with an id and a name, which is unique within their kind.
//!
//! The callers define the content of the documents; this crate knows only their names.

use std::time::SystemTime;

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde_json::Value;

use crate::StoreError;
use crate::clock::{millis, rfc3339};
use crate::item::{Item, Read, item, n, s};
use crate::key::{Key, PK, SK, encode};
use crate::pause::pause;
use crate::table::{Expression, Table};
use crate::transaction::{Outcome, transact};

/// How often a change is retried after a conflict with another one.
const ATTEMPTS: u32 = 5;

/// The prefix of the sort keys of documents.
const DOCUMENT: &str = "I#";

/// The prefix of the sort keys of names.
const NAME: &str = "N#";

/// The attribute of a name's item with the id of its document.
const NAMED: &str = "document";

/// The kinds of documents, each with its own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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
    table: Table,
}

impl Kind {
    fn partition(self) -> &'static str {
        match self {
            Self::Tool => "D#tools",
            Self::Agent => "D#agents",
        }
    }

    fn document(self, id: &str) -> Key {
        Key::new(self.partition(), format!("{DOCUMENT}{}", encode(id)))
    }

    /// The key of the item that reserves a name for one document.
    fn name(self, name: &str) -> Key {
        Key::new(self.partition(), format!("{NAME}{}", encode(name)))
    }
}

/// Whether this is the key of a document, or of the item that reserves a name for one.
pub(crate) fn is_definition(pk: &str, sk: &str) -> bool {
    let of_kind = [Kind::Tool, Kind::Agent].iter().any(|kind| kind.partition() == pk);
    of_kind && (sk.starts_with(DOCUMENT) || sk.starts_with(NAME))
}

/// The key of the item that reserves a document's name, and the document's id; `None` for an item that is no document.
pub(crate) fn name_of(document: &Item) -> Option<(Key, &str)> {
    let (pk, sk) = (document.text(PK).ok()?, document.text(SK).ok()?);
    let (id, name) = (document.text("id").ok()?, document.text("title").ok()?);
    sk.starts_with(DOCUMENT).then(|| (Key::new(pk, format!("{NAME}{}", encode(name))), id))
}

/// Whether the item of a name reserves it for the document with this id.
pub(crate) fn names(name: &Item, id: &str) -> bool {
    name.text(NAMED).is_ok_and(|named| named == id)
}

impl Definitions {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// Stores a new document.
    pub async fn create(
        &self,
        kind: Kind,
        id: &str,
        name: &str,
        body: &Value,
        now: SystemTime,
    ) -> Result<Definition, DefineError> {
        let absent = || Expression::when("attribute_not_exists(pk)");
        let document = document(kind, id, name, body, (millis(now), millis(now)));
        let writes = [
            self.table.putting(document, absent())?,
            self.table.putting(item(&kind.name(name), [(NAMED, s(id))]), absent())?,
        ];
        self.write(writes.into()).await?;
        self.get(kind, id).await
    }

    /// The document with this id.
    pub async fn get(&self, kind: Kind, id: &str) -> Result<Definition, DefineError> {
        let item = self.table.get(&kind.document(id)).await?.ok_or(DefineError::NotFound)?;
        Ok(read(&item)?)
    }

    /// All documents of a kind, sorted by id.
    pub async fn list(&self, kind: Kind) -> Result<Vec<Definition>, StoreError> {
        let (mut start, mut documents) = (None, Vec::new());
        loop {
            let query = self.table.query(kind.partition());
            let query = query.key_condition_expression("pk = :pk AND begins_with(sk, :document)");
            let query = query.expression_attribute_values(":document", s(DOCUMENT));
            let (items, next) = self.table.page(query, start).await?;
            for item in &items {
                documents.push(read(item)?);
            }
            start = next;
            if start.is_none() {
                return Ok(documents);
            }
        }
    }

    /// Replaces the name and body of a document.
    pub async fn replace(
        &self,
        kind: Kind,
        id: &str,
        name: &str,
        body: &Value,
        now: SystemTime,
    ) -> Result<Definition, DefineError> {
        let before = self.table.get(&kind.document(id)).await?.ok_or(DefineError::NotFound)?;
        let old_name = before.text("title")?;
        let document = document(kind, id, name, body, (before.number("createdAt")?, millis(now)));
        let same = Expression::when("title = :before").value(":before", s(old_name));
        let mut writes = vec![self.table.putting(document, same)?];
        if old_name != name {
            let free = Expression::when("attribute_not_exists(pk)");
            writes.push(self.table.putting(item(&kind.name(name), [(NAMED, s(id))]), free)?);
            writes.push(self.table.deleting(&kind.name(old_name))?);
        }
        self.write(writes).await?;
        self.get(kind, id).await
    }

    /// Deletes a document and frees its name.
    pub async fn delete(&self, kind: Kind, id: &str) -> Result<(), DefineError> {
        let before = self.table.get(&kind.document(id)).await?.ok_or(DefineError::NotFound)?;
        let name = kind.name(before.text("title")?);
        self.write(vec![self.table.deleting(&kind.document(id))?, self.table.deleting(&name)?]).await
    }

    async fn write(&self, writes: Vec<TransactWriteItem>) -> Result<(), DefineError> {
        for attempt in 0..ATTEMPTS {
            match transact(&self.table.client, writes.clone()).await? {
                Outcome::Done => return Ok(()),
                Outcome::Refused(_) => return Err(DefineError::Taken),
                Outcome::Conflict => pause(attempt).await,
            }
        }
        Err(StoreError::Busy.into())
    }
}

fn document(kind: Kind, id: &str, name: &str, body: &Value, (created, updated): (i64, i64)) -> Item {
    let attributes = [
        ("id", s(id)),
        // Not `name`, which is a reserved keyword in expressions.
        ("title", s(name)),
        ("body", s(body.to_string())),
        ("createdAt", n(created)),
        ("changedAt", n(updated)),
    ];
    item(&kind.document(id), attributes)
}

fn read(item: &Item) -> Result<Definition, StoreError> {
    if !item.is_understood() {
        return Err(StoreError::fault("a definition of another version"));
    }
    Ok(Definition {
        id: item.text("id")?.to_owned(),
        name: item.text("title")?.to_owned(),
        body: item.json("body")?,
        created_at: rfc3339(item.number("createdAt")?),
        updated_at: rfc3339(item.number("changedAt")?),
    })
}
