//! Files of users: what is known of each, and which messages use it. Their content is stored outside of the tables.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::{Attachment, AttachmentContent, AttachmentKind, Owner};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::clock::seconds;
use crate::item::{Item, ItemExt, expires_at, item, s, to_json};
use crate::key::{Key, OwnerPartitions, SK, is_ulid};
use crate::table::{Expression, Table, WriteOutcome};
use crate::{EXPIRES, Result};

/// How long a file exists that no message uses.
pub const UNUSED_TTL: Duration = Duration::from_hours(24);

const PREFIX: &str = "I#";
const FILE: &str = "attached";
const USED_BY: &str = "usedBy";
const PENDING: &str = "pending";
const LEAVING: &str = "leaving";

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// A ULID.
    pub id: String,
    /// Its name, on one line.
    pub name: String,
    /// Its media type by its content; while it is not uploaded yet, as its client states it.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// What models get of it.
    pub kind: AttachmentKind,
    /// Of a picture, in pixels.
    pub width: Option<u32>,
    /// Of a picture, in pixels.
    pub height: Option<u32>,
    /// The number of its pages, slides or sheets, if it has any.
    pub pages: Option<u32>,
    /// The length of its text.
    pub characters: Option<u64>,
    /// Whether only the beginning of its text is kept.
    pub truncated: bool,
}

/// The files of an owner, without their content.
#[derive(Clone)]
pub struct FileRecords {
    pub(crate) table: Table,
}

/// A stored file with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// The file.
    pub file: StoredFile,
    /// Whether it has still to be uploaded.
    pub is_pending: bool,
}

/// The files of an owner as a whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileTotals {
    /// Their number.
    pub count: usize,
    /// Their length in bytes.
    pub bytes: u64,
    /// Files whose deletion was interrupted.
    pub leaving: Vec<String>,
}

impl StoredFile {
    /// A file of which nothing else is known.
    pub fn new(id: String, name: String, media_type: String, bytes: u64, kind: AttachmentKind) -> Self {
        let (width, height, pages, characters, truncated) = (None, None, None, None, false);
        Self { id, name, media_type, bytes, kind, width, height, pages, characters, truncated }
    }

    /// The file as a message lists it.
    pub fn attachment(&self) -> Attachment {
        Attachment {
            id: self.id.clone(),
            name: self.name.clone(),
            media_type: self.media_type.clone(),
            bytes: self.bytes,
            kind: self.kind,
            characters: self.characters.unwrap_or_default(),
            content: AttachmentContent::Absent,
        }
    }
}

impl FileRecords {
    /// Stores a file that no message uses yet; a `pending` one has still to be uploaded.
    pub async fn create(&self, owner: &Owner, file: &StoredFile, pending: bool, now: SystemTime) -> Result<()> {
        let attributes = [(FILE, s(to_json(file))), expires_at(now + UNUSED_TTL)];
        let pending = pending.then(|| (PENDING, s("upload")));
        let new = item(&key(owner, &file.id), attributes.into_iter().chain(pending));
        self.table.put_all(vec![new]).await
    }

    /// Stores what an upload has turned out to be; false if nothing waits for it.
    pub async fn complete(&self, owner: &Owner, file: &StoredFile) -> Result<bool> {
        let change = Expression::set([(FILE, s(to_json(file)))]).and(&format!("REMOVE {PENDING}"));
        let change = change.and_when(format!("attribute_exists({PENDING})"));
        Ok(matches!(self.table.update(&key(owner, &file.id), change).await?, WriteOutcome::Written(_)))
    }

    /// The file with this id; `None` for an unknown one.
    pub async fn get(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Option<FileRecord>> {
        if !is_ulid(id) {
            return Ok(None);
        }
        let item = self.table.get(&key(owner, id)).await?;
        let is_there =
            |item: &Item| !item.contains_key(LEAVING) && (!item.contains_key(EXPIRES) || item.is_unexpired(now));
        let Some(item) = item.filter(is_there) else { return Ok(None) };
        item.check_version("a file")?;
        Ok(Some(FileRecord { file: item.json(FILE)?, is_pending: item.contains_key(PENDING) }))
    }

    /// The files of an owner, oldest first.
    pub async fn list(&self, owner: &Owner) -> Result<Vec<StoredFile>> {
        let items = self.table.query_all(self.table.query(&owner.file_partition())).await?;
        items.iter().map(|item| item.json(FILE)).collect()
    }

    /// The number and length of an owner's files.
    pub async fn totals(&self, owner: &Owner) -> Result<FileTotals> {
        let mut totals = FileTotals::default();
        let mut pages = self.table.pages(self.table.query(&owner.file_partition()));
        while let Some(items) = pages.next().await? {
            for item in items {
                let file: StoredFile = item.json(FILE)?;
                (totals.count, totals.bytes) = (totals.count + 1, totals.bytes + file.bytes);
                totals.leaving.extend(is_leaving(&item).then_some(file.id));
            }
        }
        Ok(totals)
    }

    /// Ends the use of files by deleted messages, which are given as conversation and message; returns the files that no
    /// message uses any more. They are marked, and [`Self::remove`] deletes them.
    pub async fn release(
        &self,
        owner: &Owner,
        is_deleted: impl Fn(&str, &str) -> bool,
        now: SystemTime,
    ) -> Result<Vec<String>> {
        let query = self.table.query(&owner.file_partition());
        let query = query.projection_expression(format!("sk, {USED_BY}, {LEAVING}, {EXPIRES}"));
        let mut released = Vec::new();
        let mut pages = self.table.pages(query);
        while let Some(items) = pages.next().await? {
            for item in items {
                let id = item.text(SK)?.get(PREFIX.len()..).unwrap_or_default().to_owned();
                let uses = item.get(USED_BY).and_then(|uses| uses.as_ss().ok()).cloned().unwrap_or_default();
                let is_over = |one: &String| {
                    let mut parts = one.split('/');
                    let (of, message) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                    let end = parts.next().and_then(|end| end.parse::<i64>().ok());
                    is_deleted(of, message) || end.is_some_and(|end| end <= seconds(now))
                };
                let over: Vec<String> = uses.into_iter().filter(is_over).collect();
                if is_leaving(&item) || !over.is_empty() && self.end_uses(owner, &id, over).await? {
                    released.push(id);
                }
            }
        }
        Ok(released)
    }

    /// Whether the file has no other uses.
    async fn end_uses(&self, owner: &Owner, id: &str, uses: Vec<String>) -> Result<bool> {
        let change = Expression::update(format!("DELETE {USED_BY} :over")).and_when("attribute_exists(pk)");
        self.table.update(&key(owner, id), change.value(":over", AttributeValue::Ss(uses))).await?;
        let unused = format!("attribute_exists(pk) AND attribute_not_exists({USED_BY})");
        self.mark(owner, id, &unused).await
    }

    /// Marks a file as one that is being deleted, also if messages use it; false for an unknown one.
    pub async fn retire(&self, owner: &Owner, id: &str) -> Result<bool> {
        Ok(is_ulid(id) && self.mark(owner, id, "attribute_exists(pk)").await?)
    }

    async fn mark(&self, owner: &Owner, id: &str, condition: &str) -> Result<bool> {
        let change = Expression::set([(LEAVING, s("yes"))]).and_when(condition);
        Ok(matches!(self.table.update(&key(owner, id), change).await?, WriteOutcome::Written(_)))
    }

    /// Deletes what is known of a file, once its content is deleted.
    pub async fn remove(&self, owner: &Owner, id: &str) -> Result<()> {
        self.table.delete(&key(owner, id)).await.map(drop)
    }

    /// Deletes what is known of all files of an owner; returns their number.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize> {
        self.table.delete_partition(&owner.file_partition()).await
    }

    /// Reads several files; `None` if one of them is unknown or not uploaded.
    pub async fn get_all(&self, owner: &Owner, ids: &[String], now: SystemTime) -> Result<Option<Vec<FileRecord>>> {
        let files = try_join_all(ids.iter().map(|id| self.get(owner, id, now))).await?;
        Ok(files.into_iter().map(|found| found.filter(|record| !record.is_pending)).collect())
    }
}

/// Whether a file is being deleted, or the end of its last use was interrupted.
fn is_leaving(item: &Item) -> bool {
    item.contains_key(LEAVING) || !item.contains_key(USED_BY) && !item.contains_key(EXPIRES)
}

/// The writes by which a message begins to use files. They fail for one that is gone. `ends` is when a temporary
/// conversation does, in seconds since 1970.
pub(crate) fn use_writes(
    table: &Table,
    owner: &Owner,
    (conversation, message): (&str, &str),
    files: &[Attachment],
    ends: Option<i64>,
) -> Vec<TransactWriteItem> {
    let ids: HashSet<&str> = files.iter().map(|file| file.id.as_str()).collect();
    let write = |id: &str| {
        // A file of a temporary conversation alone expires with it.
        let kept = if ends.is_some() { String::new() } else { format!(" REMOVE {EXPIRES}") };
        let end = ends.map(|end| format!("/{end}")).unwrap_or_default();
        let change = Expression::update(format!("ADD {USED_BY} :use{kept}"))
            .and_when(format!("attribute_exists(pk) AND attribute_not_exists({LEAVING})"))
            .value(":use", AttributeValue::Ss(vec![format!("{conversation}/{message}{end}")]));
        table.update_write(&key(owner, id), change)
    };
    ids.into_iter().map(write).collect()
}

fn key(owner: &Owner, id: &str) -> Key {
    Key::new(owner.file_partition(), format!("{PREFIX}{id}"))
}
