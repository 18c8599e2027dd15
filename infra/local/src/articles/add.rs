use std::collections::HashMap;
use std::time::SystemTime;

use articles::{ArticleWriter, article_id};
use futures_util::{StreamExt, stream};
use store::{ArticleCollection, StoredArticle};

use super::page::PageReader;
use super::source::{Source, find_sources};
use super::{Opened, operator};
use crate::command_result::{CommandError, CommandOutput, print_line};
use crate::progress_line::ProgressLine;

/// How many documents are read and embedded at the same time.
const MAX_DOCUMENTS: usize = 4;

/// What documents are added with.
struct Filling {
    writer: ArticleWriter,
    pages: PageReader,
    collection: ArticleCollection,
    known: HashMap<String, StoredArticle>,
    now: SystemTime,
}

#[derive(Default)]
struct Counts {
    stored: usize,
    unchanged: usize,
    chunks: u64,
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
    let (filling, mut counts) = (Filling { writer, pages, collection, known, now }, Counts::default());
    let failed = filling.add_all(documents, &mut counts, &mut progress).await;
    let again = failed.into_iter().map(|(source, _)| source).collect();
    let failed = filling.add_all(again, &mut counts, &mut progress).await;
    let Counts { stored, unchanged, chunks } = counts;
    progress.clear();
    for (source, reason) in &failed {
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

impl Filling {
    /// Adds documents, some at the same time; returns those that failed, each with the reason.
    async fn add_all(
        &self,
        sources: Vec<Source>,
        counts: &mut Counts,
        progress: &mut ProgressLine,
    ) -> Vec<(Source, String)> {
        let (total, mut failed) = (sources.len(), Vec::new());
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
                    counts.stored += 1;
                    counts.chunks += u64::from(article.chunks);
                    format!("{} chunks", article.chunks)
                }
                Err(reason) => {
                    failed.push((source, reason));
                    "failed".to_owned()
                }
            };
            let line = format!("{done}/{total} {key}: {state}");
            progress.show(&line);
            progress.finish_step(&line);
        }
        failed
    }

    async fn add(&self, source: &Source) -> Result<Option<StoredArticle>, String> {
        let document = source.read(&self.pages).await?;
        let known = self.known.get(&article_id(&document.key));
        let (owner, collection) = (operator(), &self.collection);
        let added = self.writer.add(&owner, collection, document, known, self.now).await;
        added.map_err(|error| error.to_string())
    }
}
