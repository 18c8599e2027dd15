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

/// The version of the form; it changes when a reader of an earlier one would read it wrongly.
pub(super) const FORM: u32 = 1;

/// A line of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Line {
    /// Of what, and when it was begun; the first line.
    #[serde(rename = "backup")]
    Head(Header),
    /// An item, as DynamoDB's own exports have it.
    Item(Value),
    /// The last so many items changed while they were read; as far as they are still there they follow once more.
    #[serde(rename = "again")]
    Again(u64),
    /// The number of lines with items, and the SHA-256 of all lines before this one, which is the last.
    #[serde(rename = "end")]
    End { items: u64, sha256: String },
}

/// What the first line says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) form: u32,
    pub(super) table: String,
    /// RFC 3339, UTC.
    pub(super) at: String,
    /// The version of the items' shapes that the release wrote which made the backup.
    pub(super) shape: u32,
}

/// Why a file cannot be restored; nothing of what it holds is said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is something else.
    #[error("it is no backup, which is lines of JSON, the first with `backup`; unpack what is compressed or encrypted")]
    Foreign,
    /// A newer release made it.
    #[error("it has form {0}, and this release reads form {FORM}; restore it with the release that made it")]
    NewerForm(u32),
    /// A newer release wrote an item in a way that this one does not read.
    #[error("line {0} is an item of a newer release; restore it with the release that made the backup")]
    NewerItem(u64),
    /// A line that a backup does not have, or not there.
    #[error("line {0} is {1}")]
    Line(u64, &'static str),
    /// Its end is missing.
    #[error("it is cut: the last line, with `end`, is missing")]
    Cut,
    /// Something in it is not as it was written.
    #[error("it is damaged: what its last line says of the other lines is not so")]
    Damaged,
}

/// What a whole backup holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The table that it was made of.
    pub table: String,
    /// When it was begun, RFC 3339 in UTC.
    pub at: String,
    /// The number of items.
    pub items: u64,
    /// The lines with items, counted from 0, that others replace.
    pub(super) replaced: Vec<Range<u64>>,
}

impl Contents {
    /// Whether others replace the item at this place of the file.
    pub(super) fn replaces(&self, at: u64) -> bool {
        let next = self.replaced.partition_point(|lines| lines.end <= at);
        self.replaced.get(next).is_some_and(|lines| lines.contains(&at))
    }
}

/// Reads a backup through, line by line, without writing anything: what it holds at a time is one line.
#[derive(Debug, Default)]
pub struct Check {
    line: u64,
    items: u64,
    replaced: Vec<Range<u64>>,
    header: Option<Header>,
    /// The conversation that the last items belong to.
    conversation: Option<String>,
    sum: Sha256,
    end: Option<(u64, String)>,
}

impl Check {
    /// Takes the next line, without its line end.
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

    /// What the backup holds, after its last line.
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

/// A newer form may say more or other things in its first line.
fn newer_form(text: &str) -> Option<Unusable> {
    let line: Value = serde_json::from_str(text).ok()?;
    let form = line.get("backup")?.get("form")?.as_u64()?;
    u32::try_from(form).ok().filter(|form| *form > FORM).map(Unusable::NewerForm)
}

/// Adds a line to the sum.
pub(super) fn add(sum: &mut Sha256, line: &str) {
    sum.update(line);
    sum.update(b"\n");
}

/// The item of a line, if it is one, where the line was checked before.
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
