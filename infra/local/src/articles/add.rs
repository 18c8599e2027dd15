use std::collections::HashMap;
use std::time::SystemTime;

use articles::{AddOutcome, ArticleWriter, article_id};
use futures_util::{StreamExt, stream};
use store::{ArticleCollection, StoredArticle};

use super::page::PageReader;
use super::source::{Source, find_sources};
use super::{Opened, operator};
use crate::command_result::{CommandError, CommandOutput, print_line};
use crate::progress_line::ProgressLine;

/// How many documents are read and embedded at the same time.
const MAX_DOCUMENTS: usize = 4;

/// A filling in progress.
struct Filling<'a> {
    writer: ArticleWriter,
    pages: PageReader,
    collection: ArticleCollection,
    known: HashMap<String, StoredArticle>,
    progress: &'a mut ProgressLine,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    stored: usize,
    unchanged: usize,
    chunks: u64,
}

/// A document that was not added, and why.
struct Failure {
    source: Source,
    reason: String,
}

/// Adds all documents of the sources. One that fails is tried again after the others; the rest is listed.
pub(super) async fn run(opened: &Opened, sources: &[String], now: SystemTime) -> Result<CommandOutput, CommandError> {
    let (articles, config) = (opened.store.store.articles.clone(), &opened.config);
    let (mut progress, pages) = (ProgressLine::new(), PageReader::new(config.tool_policy));
    progress.show("finding the documents");
    let documents = find_sources(sources, &pages).await.map_err(CommandError::Refused)?;
    let (collection, writer) =
        (opened.collection(), ArticleWriter::new(articles.clone(), &config.articles, &config.http));
    writer.prepare(&collection, now).await?;
    let known = articles.list(&collection).await?;
    let known = known.into_iter().map(|article| (article.id.clone(), article)).collect();
    let counts = Counts::default();
    let mut filling = Filling { writer, pages, collection, known, progress: &mut progress, counts };
    let failed = filling.add_all(documents, now).await;
    let again = failed.into_iter().map(|failure| failure.source).collect();
    let failed = filling.add_all(again, now).await;
    let Counts { stored, unchanged, chunks } = filling.counts;
    progress.clear();
    for Failure { source, reason } in &failed {
        print_line(&mut std::io::stderr(), &format!("not added: {}: {reason}", source.key()));
    }
    let result = format!("{stored} articles added ({chunks} chunks), {unchanged} unchanged");
    if failed.is_empty() {
        return Ok(CommandOutput { result, note: note(opened).to_owned() });
    }
    Err(CommandError::Failed(format!("{result}, {} failed; the same command continues", failed.len())))
}

fn note(opened: &Opened) -> &'static str {
    match &opened.config.articles.embeddings {
        Some(_) => "",
        None => "Without EMBEDDINGS_MODEL articles are searched by their terms alone.",
    }
}

impl Filling<'_> {
    /// Adds documents, some at the same time; returns those that failed.
    async fn add_all(&mut self, sources: Vec<Source>, now: SystemTime) -> Vec<Failure> {
        let (total, mut done, mut failed) = (sources.len(), 0_usize, Vec::new());
        let (writer, pages, collection, known) = (&self.writer, &self.pages, &self.collection, &self.known);
        let added = stream::iter(sources).map(async |source: Source| {
            let outcome = add(writer, pages, collection, known, &source, now).await;
            (source, outcome)
        });
        let mut added = std::pin::pin!(added.buffer_unordered(MAX_DOCUMENTS));
        while let Some((source, outcome)) = added.next().await {
            done += 1;
            let state = match outcome {
                Ok(AddOutcome::Unchanged) => {
                    self.counts.unchanged += 1;
                    "unchanged".to_owned()
                }
                Ok(AddOutcome::Stored(article)) => {
                    self.counts.stored += 1;
                    self.counts.chunks += u64::from(article.chunks);
                    format!("{} chunks", article.chunks)
                }
                Err(reason) => {
                    failed.push(Failure { source: source.clone(), reason });
                    "failed".to_owned()
                }
            };
            let line = format!("{done}/{total} {}: {state}", source.key());
            self.progress.show(&line);
            self.progress.finish_step(&line);
        }
        failed
    }
}

async fn add(
    writer: &ArticleWriter,
    pages: &PageReader,
    collection: &ArticleCollection,
    known: &HashMap<String, StoredArticle>,
    source: &Source,
    now: SystemTime,
) -> Result<AddOutcome, String> {
    let document = source.read(pages).await?;
    let known = known.get(&article_id(&document.key));
    writer.add(&operator(), collection, document, known, now).await.map_err(|error| error.to_string())
}
