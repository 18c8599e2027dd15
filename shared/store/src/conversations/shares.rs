//! Shares: copies of a conversation for everyone who has their ids.
//!
//! The conversation has an item for each of its shares. The copy is in the ephemeral table under the share's id, in
//! pieces that fit an item each. All are written in one transaction with a check of the head.

use std::time::{Duration, SystemTime};

use domain::Owner;
use serde::{Deserialize, Serialize};

use super::bounds::take_front;
use super::head::head_key;
use super::outside::{SHARE_PREFIX, copy_partition, is_lasting};
use super::{ConversationStore, ReadError};
use crate::clock::{millis, rfc3339};
use crate::item::{Item, ItemExt, UNDER, expires_at, item, n, s, to_json};
use crate::key::{Key, OwnerPartitions, is_ulid};
use crate::table::{Expression, WriteOutcome};
use crate::{EXPIRES, Result, StoreError};

/// The random part of an id, which is all of it, in bytes.
const ID_BYTES: usize = 20;

/// The text of a piece, in bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// A share as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// 160 random bits in hexadecimal.
    pub id: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// From when on nobody can read it; RFC 3339, UTC.
    pub expires_at: String,
}

impl ConversationStore {
    /// Maximum number of shares of a conversation.
    pub const MAX_SHARES: usize = 100;

    /// Maximum size of a copy, in bytes; a transaction takes 4 MB.
    pub const MAX_COPY_BYTES: usize = 3 * 1024 * 1024;

    /// Stores a copy of at most [`MAX_COPY_BYTES`](Self::MAX_COPY_BYTES); `None` if there are
    /// [`MAX_SHARES`](Self::MAX_SHARES) already.
    pub async fn share(
        &self,
        owner: &Owner,
        id: &str,
        copy: &str,
        lifetime: Duration,
        now: SystemTime,
    ) -> Result<Option<Share>, ReadError> {
        if self.shares(owner, id, now).await?.len() >= Self::MAX_SHARES {
            return Ok(None);
        }
        let mut secret = [0; ID_BYTES];
        getrandom::fill(&mut secret).map_err(|_| StoreError::fault("no random bytes"))?;
        let (created_at, expires_at) = (rfc3339(millis(now)), rfc3339(millis(now + lifetime)));
        let share = Share { id: hex::encode(secret), created_at, expires_at };
        let link = item(&link_key(owner, id, &share.id), [("share", s(to_json(&share)))]);
        let mut writes = vec![
            self.table.check_write(&head_key(owner, id), is_lasting()),
            self.table.put_write(link, Expression::default()),
        ];
        let pieces = copy_items(owner, &share.id, copy, now + lifetime).into_iter();
        writes.extend(pieces.map(|piece| self.ephemeral.put_write(piece, Expression::default())));
        match self.table.commit(writes).await? {
            WriteOutcome::Written(_) => Ok(Some(share)),
            WriteOutcome::ConditionFailed(_) => Err(ReadError::NotFound),
        }
    }

    /// The shares of a conversation that everyone can read, the newest first.
    pub async fn shares(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Vec<Share>, ReadError> {
        self.get(owner, id).await?;
        let links = self.table.query_prefix(&owner.conversation_partition(id), SHARE_PREFIX);
        let links = self.table.query_all(links).await?;
        let mut shares = links.iter().map(|link| link.json("share")).collect::<Result<Vec<Share>, _>>()?;
        // All have one width.
        shares.retain(|share| share.expires_at > rfc3339(millis(now)));
        shares.sort_by(|one, other| other.created_at.cmp(&one.created_at));
        Ok(shares)
    }

    /// Revokes a share of this conversation.
    pub async fn revoke_share(&self, owner: &Owner, id: &str, share_id: &str) -> Result<(), ReadError> {
        let link = link_key(owner, id, share_id);
        if !is_ulid(id) || !is_share_id(share_id) || self.table.get(&link).await?.is_none() {
            return Err(ReadError::NotFound);
        }
        self.delete_outside(&link.sk).await?;
        Ok(self.table.delete_all(vec![link.attributes()]).await?)
    }

    /// Whether a copy is under an id; reads only its first piece.
    pub async fn is_shared(&self, share_id: &str, now: SystemTime) -> Result<bool> {
        if !is_share_id(share_id) {
            return Ok(false);
        }
        let query = self.ephemeral.query(&copy_partition(share_id)).projection_expression(EXPIRES).limit(1);
        let (pieces, _) = self.ephemeral.query_page(query, None).await?;
        Ok(pieces.first().is_some_and(|piece| piece.is_unexpired(now)))
    }

    /// The copy under an id; `None` for an unknown one and after its end. Expired items are deleted days later, in any order.
    pub async fn shared_copy(&self, share_id: &str, now: SystemTime) -> Result<Option<String>> {
        if !is_share_id(share_id) {
            return Ok(None);
        }
        let pieces = self.ephemeral.query_all(self.ephemeral.query(&copy_partition(share_id))).await?;
        let Some(first) = pieces.first() else { return Ok(None) };
        first.check_version("a share")?;
        if !first.is_unexpired(now) || first.number::<usize>("parts")? != pieces.len() {
            return Ok(None);
        }
        pieces.iter().map(|piece| piece.text("content")).collect::<Result<String, _>>().map(Some)
    }
}

/// Only these are read: an id is part of a key.
fn is_share_id(text: &str) -> bool {
    text.len() == 2 * ID_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn link_key(owner: &Owner, id: &str, share_id: &str) -> Key {
    Key::new(owner.conversation_partition(id), format!("{SHARE_PREFIX}{share_id}"))
}

fn copy_items(owner: &Owner, share_id: &str, mut copy: &str, end: SystemTime) -> Vec<Item> {
    let mut texts = Vec::new();
    while !copy.is_empty() {
        texts.push(take_front(&mut copy, PIECE_BYTES));
    }
    let key = |number: usize| Key::new(copy_partition(share_id), format!("P#{number:03}"));
    let attributes =
        |text: &str| [("content", s(text)), ("parts", n(texts.len())), (UNDER, s(owner.partition())), expires_at(end)];
    texts.iter().enumerate().map(|(number, text)| item(&key(number), attributes(text))).collect()
}
