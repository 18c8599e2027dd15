use std::time::SystemTime;

use super::ArticleCollection;
use super::chunk::{ArticleChunk, VectorStorage};
use super::collection::CHUNK_COUNT;
use crate::Result;
use crate::clock::{millis, rfc3339};
use crate::item::{Item, ItemExt, group_list, item, n, s};
use domain::Groups;

/// The attribute of an article that names the index with its vectors.
pub(super) const VECTOR_INDEX: &str = "vectorIndex";

/// The model that embedded the chunks of an article.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmbeddingModel {
    /// The endpoint's own name of the model.
    pub name: String,
    /// The length of its vectors.
    pub dimensions: u32,
}

/// An article to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewArticle {
    /// The same for every version of the article; any text.
    pub id: String,
    /// For people and models.
    pub title: String,
    /// Where people can read it.
    pub url: Option<String>,
    /// The groups whose members may find it; none for every caller.
    pub groups: Groups,
    /// Identifies its content, so that an unchanged article can be recognised.
    pub digest: String,
    /// The model of the vectors; `None` without vectors.
    pub model: Option<EmbeddingModel>,
    /// Its text in order; each chunk has a vector if there is a model.
    pub chunks: Vec<ArticleChunk>,
}

/// A stored article without its chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredArticle {
    /// Chosen by its writer.
    pub id: String,
    /// For people and models.
    pub title: String,
    /// Where people can read it.
    pub url: Option<String>,
    /// The groups whose members may find it; none for every caller.
    pub groups: Groups,
    /// Identifies its content.
    pub digest: String,
    /// The model of the vectors; `None` without vectors.
    pub model: Option<EmbeddingModel>,
    /// The name of the index that holds the vectors; `None` if they are with the chunks.
    pub vector_index: Option<String>,
    /// The number of chunks.
    pub chunks: u32,
    /// The size of the texts, and of the vectors that are with them, in memory.
    pub bytes: u64,
    /// Which chunks are its own: it changes with each replacement.
    pub generation: String,
    /// The number of items with chunks.
    pub(super) parts: u32,
    created: i64,
    updated: i64,
}

impl StoredArticle {
    /// RFC 3339, UTC.
    pub fn created_at(&self) -> String {
        rfc3339(self.created)
    }

    /// RFC 3339, UTC.
    pub fn updated_at(&self) -> String {
        rfc3339(self.updated)
    }

    pub(super) fn replacing(
        old: Option<&Self>,
        new: &NewArticle,
        generation: &str,
        parts: usize,
        vector_index: Option<&str>,
        now: SystemTime,
    ) -> Self {
        let now = millis(now);
        let vectors = if vector_index.is_some() { VectorStorage::Index } else { VectorStorage::Table };
        let bytes: usize = new.chunks.iter().map(|chunk| vectors.bytes(chunk)).sum();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            id: new.id.clone(),
            title: new.title.clone(),
            url: new.url.clone(),
            groups: new.groups.clone(),
            digest: new.digest.clone(),
            model: new.model.clone(),
            vector_index: vector_index.map(str::to_owned),
            chunks: count(new.chunks.len()),
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            generation: generation.to_owned(),
            parts: count(parts),
            created: old.map_or(now, |old| old.created),
            updated: now,
        }
    }
}

pub(super) fn article_item(collection: &ArticleCollection, article: &StoredArticle) -> Item {
    let model = article.model.as_ref().map(|model| [("model", s(&model.name)), ("dimensions", n(model.dimensions))]);
    let groups = (!article.groups.is_empty()).then(|| group_list(&article.groups));
    let optional = article.url.as_ref().map(|url| ("url", s(url))).into_iter().chain(groups);
    let optional = optional.chain(article.vector_index.as_ref().map(|index| (VECTOR_INDEX, s(index))));
    let attributes = [
        ("id", s(&article.id)),
        ("title", s(&article.title)),
        ("digest", s(&article.digest)),
        ("generation", s(&article.generation)),
        ("parts", n(article.parts)),
        (CHUNK_COUNT, n(article.chunks)),
        ("byteCount", n(article.bytes)),
        ("createdAt", n(article.created)),
        ("changedAt", n(article.updated)),
    ];
    let all = attributes.into_iter().chain(optional).chain(model.into_iter().flatten());
    item(&collection.article_key(&article.id), all)
}

pub(super) fn read_article(item: &Item) -> Result<StoredArticle> {
    item.check_version("an article")?;
    let text = |name| item.text(name).ok().map(str::to_owned);
    let model = match text("model") {
        Some(name) => Some(EmbeddingModel { name, dimensions: item.number("dimensions")? }),
        None => None,
    };
    Ok(StoredArticle {
        id: item.text("id")?.to_owned(),
        title: item.text("title")?.to_owned(),
        url: text("url"),
        groups: item.groups()?,
        digest: item.text("digest")?.to_owned(),
        model,
        vector_index: text(VECTOR_INDEX),
        chunks: item.number(CHUNK_COUNT)?,
        bytes: item.number("byteCount")?,
        generation: item.text("generation")?.to_owned(),
        parts: item.number("parts")?,
        created: item.number("createdAt")?,
        updated: item.number("changedAt")?,
    })
}
