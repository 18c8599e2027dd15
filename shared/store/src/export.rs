//! The export of an owner's data, row by row.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::clock::{millis, rfc3339};
use crate::conversations::{AllMessages, Page};
use crate::item::Item;
use crate::owners::list_error;
use crate::{
    ArticleCollection, Conversation, ConversationFilter, Day, DayUsage, Execution, KeyRecord, ReadError, Result, Store,
    StoredArticle, StoredFile, StoredMessage, UsageScope, UsageTotals,
};
use domain::Owner;

/// The format version, in the first row; it changes when a reader of an earlier version would misread the rows.
const FORM: u32 = 1;

/// The number of conversations in one step.
const PAGE_SIZE: u32 = 20;

/// A row of an export: a JSON object whose `kind` names its type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ExportRow {
    /// The owner and the time of the export; the first row.
    Export {
        /// The format version.
        form: u32,
        /// The owner's name in the store.
        owner: String,
        /// RFC 3339, UTC.
        at: String,
    },
    /// The record of a key; the key itself is not stored.
    Key {
        /// A ULID.
        id: String,
        /// Whether its holder is an administrator.
        admin: bool,
        /// RFC 3339, UTC.
        created_at: String,
        /// RFC 3339, UTC.
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<String>,
        /// RFC 3339, UTC.
        #[serde(skip_serializing_if = "Option::is_none")]
        revoked_at: Option<String>,
    },
    /// The owner's instructions for all answers.
    Instructions {
        /// Their text.
        text: String,
    },
    /// The usage of a day.
    Day {
        /// The date, UTC.
        date: String,
        /// The totals.
        #[serde(flatten)]
        totals: UsageTotals,
        /// The part of each model.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        models: BTreeMap<String, UsageTotals>,
        /// The caller's groups.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        groups: Vec<String>,
    },
    /// A conversation; its messages follow.
    Conversation(Conversation),
    /// A message.
    Message {
        /// The conversation.
        conversation_id: String,
        /// Whether another answer supersedes it, so that clients do not show it.
        #[serde(rename = "aside")]
        superseded: bool,
        /// The message.
        #[serde(flatten)]
        message: StoredMessage,
    },
    /// An article.
    Article {
        /// Its id.
        id: String,
        /// Its title.
        title: String,
        /// Where people can read it.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// RFC 3339, UTC.
        created_at: String,
        /// RFC 3339, UTC.
        updated_at: String,
        /// Its text in chunks, as models read them.
        chunks: Vec<String>,
    },
    /// A file of the owner, without its content.
    Attachment {
        /// What is known of it.
        file: StoredFile,
    },
    /// A tool call of the last month.
    Execution {
        /// RFC 3339, UTC.
        at: String,
        /// The call.
        #[serde(flatten)]
        execution: Execution,
    },
    /// The last row; without it an export is incomplete.
    End,
}

/// An export in progress; its memory use is bounded.
pub struct Export {
    store: Store,
    owner: Owner,
    now: SystemTime,
    /// The remaining steps, the next one last.
    steps: Vec<ExportStep>,
}

enum ExportStep {
    Begin,
    Keys,
    Instructions,
    Days,
    Conversations(Option<String>),
    Conversation(Conversation),
    Messages(String, u64),
    Articles(Option<String>),
    Article(StoredArticle),
    Files,
    Executions(Option<Item>),
    End,
}

impl Store {
    /// Exports everything that an owner has, in the state at the time of reading.
    ///
    /// Internal data are left out: transcripts of earlier turns, chat id items, hashes of idempotency keys, and rate
    /// limit counters. So are temporary conversations.
    pub fn export(&self, owner: &Owner, now: SystemTime) -> Export {
        let steps = [
            ExportStep::End,
            ExportStep::Executions(None),
            ExportStep::Files,
            ExportStep::Articles(None),
            ExportStep::Conversations(None),
            ExportStep::Days,
            ExportStep::Instructions,
            ExportStep::Keys,
            ExportStep::Begin,
        ];
        Export { store: self.clone(), owner: owner.clone(), now, steps: steps.into() }
    }
}

impl Export {
    /// Returns the next rows, maybe none; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<ExportRow>>> {
        let Some(step) = self.steps.pop() else { return Ok(None) };
        let rows = match step {
            ExportStep::Begin => vec![self.header_row()],
            ExportStep::Keys => self.keys().await?,
            ExportStep::Instructions => self.instructions().await?,
            ExportStep::Days => self.days().await?,
            ExportStep::Conversations(cursor) => self.conversations(cursor.as_deref()).await?,
            ExportStep::Conversation(conversation) => {
                self.steps.push(ExportStep::Messages(conversation.id.clone(), 0));
                vec![ExportRow::Conversation(conversation)]
            }
            ExportStep::Messages(id, after) => self.messages(id, after).await?,
            ExportStep::Articles(after) => self.articles(after.as_deref()).await?,
            ExportStep::Article(article) => vec![self.article(article).await?],
            ExportStep::Files => self.files().await?,
            ExportStep::Executions(start) => self.executions(start).await?,
            ExportStep::End => vec![ExportRow::End],
        };
        Ok(Some(rows))
    }

    fn header_row(&self) -> ExportRow {
        ExportRow::Export { form: FORM, owner: self.owner.as_str().to_owned(), at: rfc3339(millis(self.now)) }
    }

    async fn keys(&self) -> Result<Vec<ExportRow>> {
        let keys = self.store.keys.list().await?.into_iter();
        Ok(keys.filter(|key| key.holder() == self.owner).map(key_row).collect())
    }

    async fn instructions(&self) -> Result<Vec<ExportRow>> {
        let text = self.store.instructions.get(&self.owner).await?;
        Ok(if text.is_empty() { Vec::new() } else { vec![ExportRow::Instructions { text }] })
    }

    async fn days(&self) -> Result<Vec<ExportRow>> {
        let days =
            self.store.ledger.days(UsageScope::User(&self.owner), Day::of(UNIX_EPOCH), Day::of(self.now)).await?;
        let row =
            |DayUsage { day, totals, models, groups }| ExportRow::Day { date: day.to_string(), totals, models, groups };
        Ok(days.into_iter().map(row).collect())
    }

    async fn conversations(&mut self, cursor: Option<&str>) -> Result<Vec<ExportRow>> {
        let kept = ConversationFilter { temporary: Some(false), ..ConversationFilter::default() };
        let listed = self.store.conversations.list_filtered(&self.owner, kept, PAGE_SIZE, cursor).await;
        let Page { items, next_cursor } = listed.map_err(list_error)?;
        self.steps.extend(next_cursor.map(|cursor| ExportStep::Conversations(Some(cursor))));
        self.steps.extend(items.into_iter().rev().map(ExportStep::Conversation));
        Ok(Vec::new())
    }

    async fn messages(&mut self, id: String, after: u64) -> Result<Vec<ExportRow>> {
        let AllMessages { messages, next, .. } = match self.store.all_messages(&self.owner, &id, after, self.now).await
        {
            Ok(page) => page,
            // The conversation was deleted meanwhile.
            Err(ReadError::NotFound) => return Ok(Vec::new()),
            Err(error) => return Err(list_error(error)),
        };
        self.steps.extend(next.map(|after| ExportStep::Messages(id.clone(), after)));
        let row = |(superseded, message)| ExportRow::Message { conversation_id: id.clone(), superseded, message };
        Ok(messages.into_iter().map(row).collect())
    }

    async fn articles(&mut self, after: Option<&str>) -> Result<Vec<ExportRow>> {
        let collection = ArticleCollection::Of(self.owner.clone());
        let (articles, next) = self.store.articles.page(&collection, PAGE_SIZE, after).await?;
        self.steps.extend(next.map(|after| ExportStep::Articles(Some(after))));
        self.steps.extend(articles.into_iter().rev().map(ExportStep::Article));
        Ok(Vec::new())
    }

    async fn article(&self, article: StoredArticle) -> Result<ExportRow> {
        let collection = ArticleCollection::Of(self.owner.clone());
        let chunks = self.store.articles.chunks(&collection, &article).await?;
        Ok(ExportRow::Article {
            created_at: article.created_at(),
            updated_at: article.updated_at(),
            id: article.id,
            title: article.title,
            url: article.url,
            chunks: chunks.into_iter().map(|chunk| chunk.text).collect(),
        })
    }

    async fn files(&self) -> Result<Vec<ExportRow>> {
        let files = self.store.files.list(&self.owner).await?;
        Ok(files.into_iter().map(|file| ExportRow::Attachment { file }).collect())
    }

    async fn executions(&mut self, start: Option<Item>) -> Result<Vec<ExportRow>> {
        let (calls, next) = self.store.executions.page_for_owner(&self.owner, start, self.now).await?;
        self.steps.extend(next.map(|start| ExportStep::Executions(Some(start))));
        let row = |call: crate::ListedExecution| ExportRow::Execution { at: call.at, execution: call.execution };
        Ok(calls.into_iter().map(row).collect())
    }
}

fn key_row(key: KeyRecord) -> ExportRow {
    let text = |at| rfc3339(millis(at));
    ExportRow::Key {
        id: key.id,
        admin: key.administrator,
        created_at: text(key.created),
        expires_at: key.expires.map(text),
        revoked_at: key.revoked.map(text),
    }
}
