use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::dynamodb_json::from_json;
use super::item_kind::ItemKind;
use crate::StoreError;
use crate::conversations::is_head;
use crate::item::{Item, ItemExt};
use crate::key::hex;
use crate::schema::VERSION;

/// The format version; it changes when a reader of an earlier version would misread a file.
pub(super) const FORM: u32 = 1;

/// A line of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum BackupLine {
    /// The table and the start time; the first line.
    #[serde(rename = "backup")]
    Header(BackupHeader),
    /// An item, in the format of DynamoDB's own exports.
    Item(Value),
    /// The number of preceding items that changed while they were read; the remaining ones follow once more.
    #[serde(rename = "again")]
    Reread(u64),
    /// The number of lines with items, and the SHA-256 of all lines before this one, which is the last.
    #[serde(rename = "end")]
    End { items: u64, sha256: String },
}

/// The content of the first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BackupHeader {
    pub(super) form: u32,
    pub(super) table: String,
    /// RFC 3339, UTC.
    pub(super) at: String,
    /// The schema version of the release that made the backup.
    #[serde(rename = "shape")]
    pub(super) schema_version: u32,
}

/// Why a file cannot be restored; the message never reveals its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupFileError {
    /// The file is no backup.
    #[error("it is no backup, which is lines of JSON, the first with `backup`; unpack what is compressed or encrypted")]
    NotABackup,
    /// A newer release made the file.
    #[error("it has form {0}, and this release reads form {FORM}; restore it with the release that made it")]
    NewerFormat(u32),
    /// A newer release wrote an item that this one cannot read.
    #[error("line {0} is an item of a newer release; restore it with the release that made the backup")]
    NewerItem(u64),
    /// A line that is invalid in a backup, or at this position.
    #[error("line {0} is {1}")]
    BadLine(u64, &'static str),
    /// The end of the file is missing.
    #[error("it is cut: the last line, with `end`, is missing")]
    Truncated,
    /// The content differs from what was written.
    #[error("it is damaged: what its last line says of the other lines is not so")]
    Damaged,
}

/// A summary of a complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    /// The source table.
    pub table: String,
    /// The start time, RFC 3339 in UTC.
    pub at: String,
    /// The number of items.
    pub items: u64,
    /// The lines with items, counted from 0, that later lines replace.
    pub(super) replaced_lines: Vec<Range<u64>>,
}

impl BackupSummary {
    /// Whether later lines replace the item at this position of the file.
    pub(super) fn is_replaced(&self, at: u64) -> bool {
        let next = self.replaced_lines.partition_point(|lines| lines.end <= at);
        self.replaced_lines.get(next).is_some_and(|lines| lines.contains(&at))
    }
}

/// Validates a backup line by line, without writing anything; it holds one line at a time.
#[derive(Debug, Default)]
pub struct BackupCheck {
    line: u64,
    items: u64,
    replaced_lines: Vec<Range<u64>>,
    header: Option<BackupHeader>,
    /// The conversation of the last items.
    conversation: Option<String>,
    checksum: Sha256,
    end: Option<(u64, String)>,
}

impl BackupCheck {
    /// Checks the next line, without its line end.
    pub fn check_line(&mut self, text: &str) -> Result<(), BackupFileError> {
        self.line += 1;
        match (serde_json::from_str(text), &self.header, &self.end) {
            (Ok(BackupLine::Header(header)), None, _) => self.check_header(header)?,
            (_, None, _) => return Err(newer_format(text).unwrap_or(BackupFileError::NotABackup)),
            (_, _, Some(_)) => return Err(self.line_error("behind the last line")),
            (Ok(BackupLine::Item(item)), ..) => self.check_item(item)?,
            (Ok(BackupLine::Reread(count)), ..) => self.check_reread(count)?,
            (Ok(BackupLine::End { items, sha256 }), ..) => self.end = Some((items, sha256)),
            (Ok(BackupLine::Header(_)), ..) => return Err(self.line_error("another beginning")),
            (Err(error), ..) if error.is_eof() => return Err(BackupFileError::Truncated),
            (Err(_), ..) => return Err(self.line_error("no line of a backup")),
        }
        if self.end.is_none() {
            update_checksum(&mut self.checksum, text);
        }
        Ok(())
    }

    /// Returns the summary, after the last line.
    pub fn finish(self) -> Result<BackupSummary, BackupFileError> {
        let Some(BackupHeader { table, at, .. }) = self.header else { return Err(BackupFileError::NotABackup) };
        let (items, sum) = self.end.ok_or(BackupFileError::Truncated)?;
        if items != self.items || sum != hex(&self.checksum.finalize()) {
            return Err(BackupFileError::Damaged);
        }
        let replaced_count: u64 = self.replaced_lines.iter().map(|lines| lines.end - lines.start).sum();
        Ok(BackupSummary { table, at, items: items - replaced_count, replaced_lines: self.replaced_lines })
    }

    fn check_header(&mut self, header: BackupHeader) -> Result<(), BackupFileError> {
        if header.form > FORM {
            return Err(BackupFileError::NewerFormat(header.form));
        }
        self.header = Some(header);
        Ok(())
    }

    fn check_item(&mut self, item: Value) -> Result<(), BackupFileError> {
        let item = from_json(item).ok_or_else(|| self.line_error("no item"))?;
        if !item.is_readable() {
            let versioned = item.contains_key(VERSION);
            return Err(if versioned { BackupFileError::NewerItem(self.line) } else { self.line_error(NOT_OUR_ITEM) });
        }
        match ItemKind::of(&item).ok_or_else(|| self.line_error(NOT_OUR_ITEM))? {
            ItemKind::Head(_) if !is_head(&item) => return Err(self.line_error("a conversation that cannot be read")),
            ItemKind::Head(partition) => self.conversation = Some(partition),
            ItemKind::ConversationItem(partition, _) if self.conversation.as_ref() != Some(&partition) => {
                return Err(self.line_error("an item of a conversation that does not stand before it"));
            }
            _ => {}
        }
        self.items += 1;
        Ok(())
    }

    fn check_reread(&mut self, count: u64) -> Result<(), BackupFileError> {
        let from = self
            .items
            .checked_sub(count)
            .filter(|from| self.replaced_lines.last().is_none_or(|last| last.end <= *from));
        self.replaced_lines.push(from.ok_or_else(|| self.line_error("about items that are not there"))?..self.items);
        Ok(())
    }

    fn line_error(&self, problem: &'static str) -> BackupFileError {
        BackupFileError::BadLine(self.line, problem)
    }
}

const NOT_OUR_ITEM: &str = "no item of the data table of Lambda Chat";

/// A newer format may have more or other fields in its first line.
fn newer_format(text: &str) -> Option<BackupFileError> {
    let line: Value = serde_json::from_str(text).ok()?;
    let form = line.get("backup")?.get("form")?.as_u64()?;
    u32::try_from(form).ok().filter(|form| *form > FORM).map(BackupFileError::NewerFormat)
}

/// Adds a line to the checksum.
pub(super) fn update_checksum(checksum: &mut Sha256, line: &str) {
    checksum.update(line);
    checksum.update(b"\n");
}

/// The item of a line that was checked before; `None` for a line without an item.
pub(super) fn parse_item(line: &str) -> Result<Option<Item>, StoreError> {
    match serde_json::from_str(line) {
        Ok(BackupLine::Item(item)) => from_json(item).map(Some).ok_or_else(changed_error),
        Ok(_) => Ok(None),
        Err(_) => Err(changed_error()),
    }
}

pub(super) fn changed_error() -> StoreError {
    StoreError::fault("the backup is another one than was checked")
}
