use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::attribute::from_json;
use super::place::Place;
use crate::StoreError;
use crate::conversations::is_head;
use crate::item::{Item, Read};
use crate::key::hex;
use crate::shape::VERSION;

/// The format version; it changes when a reader of an earlier version would misread a file.
pub(super) const FORM: u32 = 1;

/// A line of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Line {
    /// The table and the start time; the first line.
    #[serde(rename = "backup")]
    Head(Header),
    /// An item, in the format of DynamoDB's own exports.
    Item(Value),
    /// The number of preceding items that changed while they were read; the remaining ones follow once more.
    #[serde(rename = "again")]
    Again(u64),
    /// The number of lines with items, and the SHA-256 of all lines before this one, which is the last.
    #[serde(rename = "end")]
    End { items: u64, sha256: String },
}

/// The content of the first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) form: u32,
    pub(super) table: String,
    /// RFC 3339, UTC.
    pub(super) at: String,
    /// The schema version of the release that made the backup.
    #[serde(rename = "shape")]
    pub(super) shape: u32,
}

/// Why a file cannot be restored; the message never reveals its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The file is no backup.
    #[error("it is no backup, which is lines of JSON, the first with `backup`; unpack what is compressed or encrypted")]
    Foreign,
    /// A newer release made the file.
    #[error("it has form {0}, and this release reads form {FORM}; restore it with the release that made it")]
    NewerForm(u32),
    /// A newer release wrote an item that this one cannot read.
    #[error("line {0} is an item of a newer release; restore it with the release that made the backup")]
    NewerItem(u64),
    /// A line that is invalid in a backup, or at this position.
    #[error("line {0} is {1}")]
    Line(u64, &'static str),
    /// The end of the file is missing.
    #[error("it is cut: the last line, with `end`, is missing")]
    Cut,
    /// The content differs from what was written.
    #[error("it is damaged: what its last line says of the other lines is not so")]
    Damaged,
}

/// A summary of a complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The source table.
    pub table: String,
    /// The start time, RFC 3339 in UTC.
    pub at: String,
    /// The number of items.
    pub items: u64,
    /// The lines with items, counted from 0, that later lines replace.
    pub(super) replaced: Vec<Range<u64>>,
}

impl Contents {
    /// Whether later lines replace the item at this position of the file.
    pub(super) fn replaces(&self, at: u64) -> bool {
        let next = self.replaced.partition_point(|lines| lines.end <= at);
        self.replaced.get(next).is_some_and(|lines| lines.contains(&at))
    }
}

/// Validates a backup line by line, without writing anything; it holds one line at a time.
#[derive(Debug, Default)]
pub struct Check {
    line: u64,
    items: u64,
    replaced: Vec<Range<u64>>,
    header: Option<Header>,
    /// The conversation of the last items.
    conversation: Option<String>,
    sum: Sha256,
    end: Option<(u64, String)>,
}

impl Check {
    /// Checks the next line, without its line end.
    pub fn line(&mut self, text: &str) -> Result<(), Unusable> {
        self.line += 1;
        match (serde_json::from_str(text), &self.header, &self.end) {
            (Ok(Line::Head(header)), None, _) => self.begin(header)?,
            (_, None, _) => return Err(newer_form(text).unwrap_or(Unusable::Foreign)),
            (_, _, Some(_)) => return Err(self.fault("behind the last line")),
            (Ok(Line::Item(item)), ..) => self.item(item)?,
            (Ok(Line::Again(count)), ..) => self.again(count)?,
            (Ok(Line::End { items, sha256 }), ..) => self.end = Some((items, sha256)),
            (Ok(Line::Head(_)), ..) => return Err(self.fault("another beginning")),
            (Err(error), ..) if error.is_eof() => return Err(Unusable::Cut),
            (Err(_), ..) => return Err(self.fault("no line of a backup")),
        }
        if self.end.is_none() {
            add(&mut self.sum, text);
        }
        Ok(())
    }

    /// Returns the summary, after the last line.
    pub fn end(self) -> Result<Contents, Unusable> {
        let Some(Header { table, at, .. }) = self.header else { return Err(Unusable::Foreign) };
        let (items, sum) = self.end.ok_or(Unusable::Cut)?;
        if items != self.items || sum != hex(&self.sum.finalize()) {
            return Err(Unusable::Damaged);
        }
        let twice: u64 = self.replaced.iter().map(|lines| lines.end - lines.start).sum();
        Ok(Contents { table, at, items: items - twice, replaced: self.replaced })
    }

    fn begin(&mut self, header: Header) -> Result<(), Unusable> {
        if header.form > FORM {
            return Err(Unusable::NewerForm(header.form));
        }
        self.header = Some(header);
        Ok(())
    }

    fn item(&mut self, item: Value) -> Result<(), Unusable> {
        let item = from_json(item).ok_or_else(|| self.fault("no item"))?;
        if !item.is_understood() {
            let versioned = item.contains_key(VERSION);
            return Err(if versioned { Unusable::NewerItem(self.line) } else { self.fault(FOREIGN) });
        }
        match Place::of(&item).ok_or_else(|| self.fault(FOREIGN))? {
            Place::Head(_) if !is_head(&item) => return Err(self.fault("a conversation that cannot be read")),
            Place::Head(partition) => self.conversation = Some(partition),
            Place::Under(partition, _) if self.conversation.as_ref() != Some(&partition) => {
                return Err(self.fault("an item of a conversation that does not stand before it"));
            }
            _ => {}
        }
        self.items += 1;
        Ok(())
    }

    fn again(&mut self, count: u64) -> Result<(), Unusable> {
        let from =
            self.items.checked_sub(count).filter(|from| self.replaced.last().is_none_or(|last| last.end <= *from));
        self.replaced.push(from.ok_or_else(|| self.fault("about items that are not there"))?..self.items);
        Ok(())
    }

    fn fault(&self, what: &'static str) -> Unusable {
        Unusable::Line(self.line, what)
    }
}

const FOREIGN: &str = "no item of the data table of Lambda Chat";

/// A newer format may have more or other fields in its first line.
fn newer_form(text: &str) -> Option<Unusable> {
    let line: Value = serde_json::from_str(text).ok()?;
    let form = line.get("backup")?.get("form")?.as_u64()?;
    u32::try_from(form).ok().filter(|form| *form > FORM).map(Unusable::NewerForm)
}

/// Adds a line to the checksum.
pub(super) fn add(sum: &mut Sha256, line: &str) {
    sum.update(line);
    sum.update(b"\n");
}

/// The item of a line that was checked before; `None` for a line without an item.
pub(super) fn item_of(line: &str) -> Result<Option<Item>, StoreError> {
    match serde_json::from_str(line) {
        Ok(Line::Item(item)) => from_json(item).map(Some).ok_or_else(changed),
        Ok(_) => Ok(None),
        Err(_) => Err(changed()),
    }
}

pub(super) fn changed() -> StoreError {
    StoreError::fault("the backup is another one than was checked")
}
