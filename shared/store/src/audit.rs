//! The audit trail: who changed, exported or erased what, kept for 90 days.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::backoff::within;
use crate::clock::{millis, rfc3339};
use crate::conversations::{Page, ReadError, cursor};
use crate::item::{Item, ItemExt, expires_at, item, n, s, to_json};
use crate::key::{Key, SK};
use crate::table::Table;
use crate::{Day, Result, StoreError};
use domain::new_id;

/// The partition of the trail. It takes a thousand entries a second, far more than administrators and the limit on
/// entries of rejected credentials make.
const PARTITION: &str = "AUDIT";

const TTL: Duration = Duration::from_hours(90 * 24);

/// Timeout of an entry; a response waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

const PAGE_ENTRIES: i32 = 100;

const CURSOR_LIST: &str = "audit";

/// The caller of an operator's command.
const COMMAND_LINE: &str = "cli";

/// What happened, without any text of users and without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The caller's owner, which contains a colon; else `cli`, or the kind of a rejected credential: `key`, `token` or `none`.
    pub caller: String,
    /// Such as `agent.replace`.
    pub action: String,
    /// The id of what was changed, or the owner of the exported or erased data.
    pub target: Option<String>,
    /// The route; `None` for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// The status of the response; `None` for a command.
    pub status: Option<u16>,
    /// The id of the request; a command has one of its own.
    pub request_id: String,
    /// How many rejections it represents, if it is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// An entry with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedAuditEntry {
    /// RFC 3339, UTC.
    pub at: String,
    /// The entry.
    #[serde(flatten)]
    pub entry: AuditEntry,
}

/// The trail in the ephemeral table, whose items expire.
#[derive(Clone)]
pub struct AuditTrail {
    pub(crate) table: Table,
}

impl AuditTrail {
    /// Stores an entry.
    ///
    /// # Errors
    /// `Busy` after two seconds; the entry may be stored nevertheless.
    pub async fn record(&self, entry: &AuditEntry, now: SystemTime) -> Result<()> {
        let key = Key::new(PARTITION, format!("{}#{}", Day::of(now), entry.request_id));
        let row = item(&key, [("entry", s(to_json(entry))), ("madeAt", n(millis(now))), expires_at(now + TTL)]);
        within(WRITE_TIMEOUT, self.table.put_all(vec![row])).await
    }

    /// Stores the entry of a command that an operator ran.
    pub async fn record_command(&self, action: &str, target: &str, now: SystemTime) -> Result<()> {
        let (action, target) = (action.to_owned(), Some(target.to_owned()));
        let caller = COMMAND_LINE.to_owned();
        self.record(&AuditEntry { caller, action, target, request_id: new_id(), ..AuditEntry::default() }, now).await
    }

    /// The entries from `first` to `last`, the newest first.
    pub async fn list(&self, first: Day, last: Day, cursor: Option<&str>) -> Result<Page<ListedAuditEntry>, ReadError> {
        let after = cursor.map(|text| cursor::read::<String>(CURSOR_LIST, text)).transpose()?;
        // `$` follows the separator of a sort key, so the last day is included.
        let (first, last) = (format!("{first}#"), format!("{last}$"));
        if after.as_ref().is_some_and(|sk| !(&first..=&last).contains(&sk)) {
            return Err(ReadError::BadCursor);
        }
        let query = self.table.query_range(PARTITION, first, last);
        let start = after.map(|sk| Key::new(PARTITION, sk).attributes());
        let query = query.scan_index_forward(false).limit(PAGE_ENTRIES);
        let (items, next) = self.table.query_page(query, start).await?;
        let next = next.map(|key| Ok::<_, StoreError>(cursor::encode(CURSOR_LIST, key.text(SK)?))).transpose()?;
        let items = items.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Page { items, next_cursor: next })
    }
}

fn read(item: &Item) -> Result<ListedAuditEntry> {
    item.check_version("an audit entry")?;
    Ok(ListedAuditEntry { at: rfc3339(item.number("madeAt")?), entry: item.json("entry")? })
}
