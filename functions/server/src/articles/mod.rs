//! The commands `articles add`, `list`, `remove` and `search`.

mod add;
mod page;
mod source;

use std::collections::HashMap;
use std::fmt::Write;
use std::time::SystemTime;

use articles::{ArticleSearch, Found, SearchNotice, article_id};
use chat::Config;
use clap::{Args, Subcommand};
use commands::{CommandError, CommandOutput, record};
use domain::{Membership, Owner};
use platform::settings::{SettingError, Settings};
use store::{ArticleCollection, StoredArticle};

use self::page::PageReader;
use self::source::{Source, find_sources};
use crate::keys;
use crate::server::local_config;
use crate::store_location::{OpenStore, StoreLocation, user};

/// The longest part of a chunk that a search shows, in characters.
const MAX_EXCERPT_CHARS: usize = 160;

#[derive(Subcommand, Debug)]
pub(crate) enum ArticlesCommand {
    /// Adds files, folders, pages and the pages of sitemaps; what has not changed since is skipped.
    Add {
        /// Files or folders with Markdown, HTML, plain text, PDF, DOCX, PPTX and XLSX, or addresses of pages and of sitemaps.
        #[arg(required = true, value_name = "FILE|DIR|URL|SITEMAP")]
        sources: Vec<String>,
        /// A group whose members may find them; repeat it for more. Without it an article keeps its groups, and a new one is
        /// for every caller.
        #[arg(long = "group", value_name = "NAME", conflicts_with = "user")]
        groups: Vec<String>,
        #[command(flatten)]
        collection: CollectionChoice,
    },
    /// Lists all articles, or those of these documents.
    List {
        /// Files, folders or addresses as for `add`: their articles are listed with the paths.
        #[arg(value_name = "FILE|DIR|URL|SITEMAP")]
        sources: Vec<String>,
        #[command(flatten)]
        collection: CollectionChoice,
    },
    /// Removes an article.
    Remove {
        /// The article's id, as `articles list` shows it, or its path or address, as it was added.
        #[arg(value_name = "ID|FILE|URL")]
        id: String,
        #[command(flatten)]
        collection: CollectionChoice,
    },
    /// Searches as a model does.
    Search {
        /// What to find.
        query: String,
        /// The maximum number of articles.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
        limit: u8,
        #[command(flatten)]
        collection: CollectionChoice,
    },
}

/// Whose articles a command works on.
#[derive(Args, Debug)]
pub(crate) struct CollectionChoice {
    /// The articles of this caller alone, as authentication names it (AUTH); else those of all callers.
    #[arg(long, value_name = "NAME", value_parser = user)]
    user: Option<String>,
    #[command(flatten)]
    location: StoreLocation,
}

struct Opened {
    config: Config,
    store: OpenStore,
    owner: Option<Owner>,
}

impl ArticlesCommand {
    pub(crate) async fn run(self, settings: Settings, now: SystemTime) -> Result<CommandOutput, CommandError> {
        match self {
            Self::Add { sources, groups, collection } => {
                let groups = if groups.is_empty() { None } else { Some(keys::groups(groups)?) };
                let opened = collection.open(settings).await?;
                add::run(&opened, &sources, groups, now).await
            }
            Self::List { sources, collection } => {
                let opened = collection.open(settings).await?;
                let pages = PageReader::new(opened.config.tool_policy);
                let documents = find_sources(&sources, &pages).await.map_err(CommandError::wrong_use)?;
                let keys: HashMap<String, String> =
                    documents.iter().map(Source::key).map(|key| (article_id(&key), key)).collect();
                let mut articles = opened.store.store.articles.list(&opened.collection()).await?;
                articles.retain(|article| sources.is_empty() || keys.contains_key(&article.id));
                Ok(table(&articles, &keys).into())
            }
            Self::Remove { id, collection } => {
                let opened = collection.open(settings).await?;
                for name in [&id, &article_id(id.strip_prefix("./").unwrap_or(&id))] {
                    if opened.store.store.articles.delete(&opened.collection(), name, now).await? {
                        record(&opened.store.store, "article.delete", name).await;
                        return Ok(format!("removed {id}").into());
                    }
                }
                let text = "there is no article with this id, path or address; `articles list` shows all";
                Err(CommandError::failed(text))
            }
            Self::Search { query, limit, collection } => {
                let opened = collection.open(settings).await?;
                opened.search(&query, usize::from(limit)).await
            }
        }
    }
}

impl CollectionChoice {
    async fn open(self, settings: Settings) -> Result<Opened, CommandError> {
        let config = local_config(&settings)?;
        let is_unset = settings.var("AUTH").is_none();
        let owner = match &self.user {
            None => None,
            // A deployed function without this setting has callers with keys.
            Some(name) if self.location.aws && is_unset => Some(Owner::key_holder(name)),
            Some(name) => {
                let accepted = "the value of the server or function, so that --user names one of its callers";
                Some(config.auth.owner_of(name).ok_or_else(|| SettingError::new("AUTH", accepted))?)
            }
        };
        let store = self.location.open(settings).await?;
        Ok(Opened { config, store, owner })
    }
}

/// The owner in the pool for heavy work of the documents that a command reads.
fn operator() -> Owner {
    Owner::new("operator")
}

impl Opened {
    fn collection(&self) -> ArticleCollection {
        self.owner.clone().map_or(ArticleCollection::Shared, ArticleCollection::Of)
    }

    async fn search(&self, query: &str, limit: usize) -> Result<CommandOutput, CommandError> {
        let (articles, config) = (self.store.store.articles.clone(), &self.config);
        let search = ArticleSearch::new(articles, &config.articles, &config.http);
        // Without a user only the articles of all callers are searched: nobody has the empty name.
        let owner = self.owner.clone().unwrap_or_else(|| Owner::new(""));
        let found = search.search((&owner, &Membership::administrator()), query, limit).await;
        let found = found.map_err(CommandError::failed)?;
        Ok(CommandOutput { result: results(&found), note: note(&found).to_owned() })
    }
}

/// A row for each article; `keys` are the known paths and addresses by the ids.
fn table(articles: &[StoredArticle], keys: &HashMap<String, String>) -> String {
    if articles.is_empty() {
        return "There are no articles.".to_owned();
    }
    let mut table =
        format!("{:<32}  {:>6}  {:<24}  {:<24}  {:<32}  TITLE", "ID", "CHUNKS", "CHANGED", "EMBEDDINGS", "SOURCE");
    for article in articles {
        let model = article.model.as_ref().map_or("-", |model| model.name.as_str());
        let groups = article.groups.names().join(", ");
        let groups = if groups.is_empty() { groups } else { format!(" [{groups}]") };
        let (title, groups) = (article.title.escape_debug(), groups.escape_debug());
        let source =
            keys.get(&article.id).or(article.url.as_ref()).map_or("-", String::as_str).escape_debug().to_string();
        // Writing to a String cannot fail.
        let _ = write!(
            table,
            "\n{:<32}  {:>6}  {:<24}  {model:<24}  {source:<32}  {title}{groups}",
            article.id,
            article.chunks,
            article.updated_at()
        );
    }
    table
}

fn results(found: &Found) -> String {
    let mut lines = Vec::new();
    for (number, article) in (1..).zip(&found.articles) {
        let url = article.url.as_deref().map(|url| format!(" ({url})")).unwrap_or_default();
        lines.push(format!("{number}. {}{url}", article.title.escape_debug()));
        for chunk in &article.chunks {
            let text = chunk.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let excerpt: String = text.chars().filter(|c| !c.is_control()).take(MAX_EXCERPT_CHARS).collect();
            lines.push(format!("   {:.3} #{}: {excerpt}", chunk.score, chunk.index));
        }
    }
    if lines.is_empty() { "Nothing was found.".to_owned() } else { lines.join("\n") }
}

fn note(found: &Found) -> &'static str {
    match found.notice {
        None => "",
        Some(SearchNotice::TermsOnly) => {
            "Only terms were searched: EMBEDDINGS_MODEL, EMBEDDINGS_BASE_URL and EMBEDDINGS_API_KEY add a search by meaning."
        }
        Some(SearchNotice::EmbeddingsFailed) => "Only terms were searched: the embeddings endpoint failed.",
        Some(SearchNotice::MeaningOnly) => {
            "Only the meaning was searched: the vector index has no full-text search of the key `text`."
        }
        Some(SearchNotice::NotIndexed) => {
            "Some articles have no vectors of EMBEDDINGS_MODEL in ARTICLES_VECTORS and were not searched: run `articles add` again with their sources."
        }
        Some(SearchNotice::OtherModel) => {
            "Some articles have no vectors of EMBEDDINGS_MODEL: run `articles add` again with their sources."
        }
    }
}

#[cfg(test)]
mod tests;
