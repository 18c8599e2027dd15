use std::collections::HashMap;
use std::fmt;
use std::time::SystemTime;

use articles::{AddError, ArticleSource, ArticleWriter, article_id};
use commands::{CommandError, CommandOutput, ProgressLine, count, print_line, record};
use domain::Groups;
use futures_util::{StreamExt, stream};
use store::{ArticleCollection, Store, StoredArticle};

use super::page::PageReader;
use super::source::{Source, find_sources};
use super::{Opened, operator};

/// How many documents are read and embedded at the same time.
const MAX_DOCUMENTS: usize = 4;

/// A document that was not added, and the reason.
type FailedSource = (Source, String);

struct Filling {
    store: Store,
    writer: ArticleWriter,
    pages: PageReader,
    collection: ArticleCollection,
    groups: Option<Groups>,
    known: HashMap<String, StoredArticle>,
    now: SystemTime,
}

#[derive(Default)]
struct Counts {
    stored: u64,
    unchanged: u64,
    chunks: u64,
    without_text: u64,
}

/// Why a document was not added.
enum Failure {
    NoText,
    /// The document itself is the reason, so another attempt would end the same way.
    Permanent(String),
    Transient(String),
}

/// Adds all documents of the sources. After the others those are tried again whose failure may pass; the rest is listed.
pub(super) async fn run(
    opened: &Opened,
    sources: &[String],
    groups: Option<Groups>,
    now: SystemTime,
) -> Result<CommandOutput, CommandError> {
    let (articles, config) = (opened.store.store.articles.clone(), &opened.config);
    let (mut progress, pages) = (ProgressLine::on_stderr(), PageReader::new(config.tool_policy));
    progress.show("finding the documents");
    let documents = find_sources(sources, &pages).await.map_err(CommandError::wrong_use)?;
    let (collection, writer) =
        (opened.collection(), ArticleWriter::new(articles.clone(), &config.articles, &config.http));
    writer.prepare(&collection, now).await?;
    let known = articles.list(&collection).await?;
    let known = known.into_iter().map(|article| (article.id.clone(), article)).collect();
    let store = opened.store.store.clone();
    let (filling, mut counts) = (Filling { store, writer, pages, collection, groups, known, now }, Counts::default());
    let (mut failed, again) = filling.add_all(documents, &mut counts, &mut progress).await;
    let again: Vec<Source> = again.into_iter().map(|(source, _)| source).collect();
    if !again.is_empty() {
        progress.finish_step(&format!("again: {}", count(again.len() as u64, "document")));
    }
    let (for_good, may_pass) = filling.add_all(again, &mut counts, &mut progress).await;
    let hint = if may_pass.is_empty() { "" } else { "; the same command continues" };
    failed.extend(for_good.into_iter().chain(may_pass));
    progress.clear();
    for (source, reason) in &failed {
        print_line(&mut std::io::stderr(), &format!("not added: {}: {reason}", source.key()));
    }
    let result = counts.to_string();
    if failed.is_empty() {
        return Ok(CommandOutput { result, note: note(opened).to_owned() });
    }
    Err(CommandError::failed(format!("{result}, {} failed{hint}", failed.len())))
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stored, unchanged, chunks, without_text } = *self;
        write!(f, "{} added ({}), {unchanged} unchanged", count(stored, "article"), count(chunks, "chunk"))?;
        if without_text > 0 { write!(f, ", {without_text} without text") } else { Ok(()) }
    }
}

fn note(opened: &Opened) -> &'static str {
    match &opened.config.articles.embeddings {
        Some(_) => "",
        None => "Without EMBEDDINGS_MODEL articles are searched by their terms alone.",
    }
}

impl Filling {
    /// Adds documents, some at the same time. Returns those that failed, each with the reason: for good, and for now.
    async fn add_all(
        &self,
        sources: Vec<Source>,
        counts: &mut Counts,
        progress: &mut ProgressLine,
    ) -> (Vec<FailedSource>, Vec<FailedSource>) {
        let (total, mut permanent, mut transient) = (sources.len(), Vec::new(), Vec::new());
        let added = stream::iter(sources).map(async |source: Source| (self.add(&source).await, source));
        let mut added = std::pin::pin!(added.buffer_unordered(MAX_DOCUMENTS).zip(stream::iter(1..)));
        while let Some(((outcome, source), done)) = added.next().await {
            let key = source.key();
            let state = match outcome {
                Ok(None) => {
                    counts.unchanged += 1;
                    "unchanged".to_owned()
                }
                Ok(Some(article)) => {
                    record(&self.store, "article.create", &article.id).await;
                    counts.stored += 1;
                    counts.chunks += u64::from(article.chunks);
                    count(article.chunks.into(), "chunk")
                }
                Err(Failure::NoText) => {
                    counts.without_text += 1;
                    "skipped, because it has no text".to_owned()
                }
                Err(Failure::Permanent(reason)) => failed_state(&mut permanent, source, reason),
                Err(Failure::Transient(reason)) => failed_state(&mut transient, source, reason),
            };
            let line = format!("{done}/{total} {key}: {state}");
            progress.show(&line);
            progress.finish_step(&line);
        }
        (permanent, transient)
    }

    async fn add(&self, source: &Source) -> Result<Option<StoredArticle>, Failure> {
        let of_kind = if matches!(source, Source::Page(_)) { Failure::Transient } else { Failure::Permanent };
        let document = source.read(&self.pages).await.map_err(of_kind)?;
        let document = ArticleSource { groups: self.groups.clone(), ..document };
        let known = self.known.get(&article_id(&document.key));
        let (owner, collection) = (operator(), &self.collection);
        let added = self.writer.add(&owner, collection, document, known, self.now).await;
        added.map_err(|error| match error {
            AddError::NoText => Failure::NoText,
            AddError::Embeddings(_) | AddError::Index(_) | AddError::Store(_) => Failure::Transient(error.to_string()),
            _ => Failure::Permanent(error.to_string()),
        })
    }
}

/// Adds a failed document to those of its kind, and returns its state for people.
fn failed_state(failed: &mut Vec<FailedSource>, source: Source, reason: String) -> String {
    let state = format!("failed: {reason}");
    failed.push((source, reason));
    state
}
