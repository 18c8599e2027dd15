//! Found articles as models and users read them.

use domain::{Language, Source, one_line};
use prompts::ArticleTexts;
use serde_json::{Value, json};
use tool_calls::escape;
use tools::markdown::{link, single_line};
use tools::{CitingResult, ResultBudget, SourceNumbers, ToolOutput};

use crate::{ArticleHit, ChunkHit, Found, SearchNotice};

/// The longest text of all chunks, in bytes.
const MAX_TEXT_BYTES: usize = 24_000;

/// Space for the query, the notes and the fields of a result, in bytes.
const FRAME_BYTES: usize = 600;

/// Space for the fields of a chunk, in bytes.
const CHUNK_FRAME_BYTES: usize = 60;

/// The longest excerpt for users, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

/// The result of a search, to be rendered under the numbers of a turn.
#[derive(Clone, Debug)]
pub(crate) struct FoundArticles {
    pub(crate) query: String,
    pub(crate) found: Found,
    pub(crate) language: Language,
    pub(crate) budget: ResultBudget,
}

impl CitingResult for FoundArticles {
    /// Renders the results as JSON, in which no text can be read as a tag. Articles with an address are numbered pages.
    fn render(&self, numbers: &SourceNumbers, for_user: bool) -> ToolOutput {
        let (mut rows, mut entries, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for (article, chunks) in self.shortened() {
            // The first line of a chunk has titles only.
            let excerpt = chunks.first().map_or("", |chunk| chunk.text.split_once('\n').map_or("", |(_, text)| text));
            let number = |url: &String| numbers.number(&article.title, url).with_excerpt(excerpt);
            let source = article.url.as_ref().map(number);
            entries.extend(for_user.then(|| entry(article, source.as_ref())));
            rows.push(row(article, &chunks, source.as_ref()));
            Source::join(&mut sources, source.as_slice());
        }
        let (summary, total) = (status_line(rows.len()), rows.len());
        let mut content = json!({ "query": escape(&self.query), "results": rows, "totalResults": total });
        if let Some(note) = self.note() {
            content["note"] = note.into();
        }
        let user_text = for_user.then(|| entries.join("\n"));
        ToolOutput { content: content.to_string(), user_text, summary, sources, ..ToolOutput::default() }
    }
}

impl FoundArticles {
    /// The articles with those of their chunks that fit the budget, at least one chunk. The best chunks come first.
    fn shortened(&self) -> Vec<(&ArticleHit, Vec<&ChunkHit>)> {
        let articles = self.found.articles.iter().take(self.budget.max_entries);
        let mut ranked: Vec<(usize, &ChunkHit)> = articles
            .clone()
            .enumerate()
            .flat_map(|(at, hit)| hit.chunks.iter().map(move |chunk| (at, chunk)))
            .collect();
        ranked.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
        let mut space = self.budget.max_bytes.min(MAX_TEXT_BYTES).saturating_sub(FRAME_BYTES);
        let mut kept: Vec<(&ArticleHit, Vec<&ChunkHit>)> = articles.map(|hit| (hit, Vec::new())).collect();
        for (rank, (at, chunk)) in ranked.into_iter().enumerate() {
            let bytes = CHUNK_FRAME_BYTES + chunk.text.len();
            if rank > 0 && bytes > space {
                break;
            }
            space = space.saturating_sub(bytes);
            if let Some((_, chunks)) = kept.get_mut(at) {
                chunks.push(chunk);
            }
        }
        kept.retain(|(_, chunks)| !chunks.is_empty());
        kept
    }

    fn note(&self) -> Option<&'static str> {
        let texts = ArticleTexts::of(self.language);
        match self.found.notice {
            Some(SearchNotice::NotIndexed) => Some(texts.not_indexed),
            _ if self.found.articles.is_empty() => Some(texts.no_results),
            Some(SearchNotice::TermsOnly) => Some(texts.terms_only),
            Some(SearchNotice::EmbeddingsFailed) => Some(texts.embeddings_failed),
            Some(SearchNotice::OtherModel) => Some(texts.other_model),
            Some(SearchNotice::MeaningOnly) => Some(texts.meaning_only),
            None => None,
        }
    }
}

/// An article for models; one with an address has a number for citations.
fn row(article: &ArticleHit, chunks: &[&ChunkHit], source: Option<&Source>) -> Value {
    let chunk = |chunk: &&ChunkHit| {
        let score = (f64::from(chunk.score) * 1000.0).round() / 1000.0;
        json!({ "chunkIndex": chunk.index, "chunkText": escape(&chunk.text), "score": score })
    };
    let url = article.url.as_deref().map(escape);
    let mut row = json!({ "postId": article.id, "title": escape(&article.title), "url": url });
    if let Some(source) = source {
        row["number"] = source.index.into();
    }
    row["chunks"] = chunks.iter().map(chunk).collect();
    row
}

/// An article for users: its number and its link, or its title alone, and the start of its best chunk.
fn entry(article: &ArticleHit, source: Option<&Source>) -> String {
    let head = match source {
        Some(source) => format!("{}. {}", source.index, link(&article.title, &source.url)),
        None => format!("- {}", single_line(&article.title)),
    };
    let text = article.chunks.first().map_or("", |chunk| chunk.text.as_str());
    let text = text.split_once('\n').map_or(text, |(_, text)| text);
    format!("{head}\n   {}", single_line(&one_line(text, MAX_EXCERPT_CHARS)))
}

fn status_line(articles: usize) -> String {
    match articles {
        0 => "no articles".to_owned(),
        1 => "1 article".to_owned(),
        many => format!("{many} articles"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: &str, url: Option<&str>, scores: &[f32]) -> ArticleHit {
        let chunk = |(index, score): (usize, &f32)| ChunkHit {
            index,
            text: format!("Title > Part\nText <b> of {id} {}", "字".repeat(100)),
            score: *score,
        };
        let chunks = scores.iter().enumerate().map(chunk).collect();
        ArticleHit { id: id.to_owned(), title: format!("<{id}>"), url: url.map(str::to_owned), chunks }
    }

    fn render(articles: Vec<ArticleHit>, notice: Option<SearchNotice>, budget: ResultBudget) -> ToolOutput {
        let found = Found { articles, notice };
        let numbers = SourceNumbers::default();
        numbers.number("earlier", "https://example.com/earlier");
        FoundArticles { query: "q".to_owned(), found, language: Language::En, budget }.render(&numbers, true)
    }

    fn parse(rendered: &ToolOutput) -> Value {
        serde_json::from_str(&rendered.content).unwrap()
    }

    #[test]
    fn results_are_json_with_numbered_sources() {
        let articles = vec![hit("a", Some("https://example.com/a"), &[0.98765, 0.5]), hit("b", None, &[0.7])];
        let rendered = render(articles, None, ResultBudget::default());
        let content = parse(&rendered);
        assert_eq!((&content["query"], &content["totalResults"]), (&json!("q"), &json!(2)));
        let first = &content["results"][0];
        assert_eq!((&first["postId"], &first["number"]), (&json!("a"), &json!(2)));
        assert_eq!((&first["title"], &first["url"]), (&json!("&lt;a>"), &json!("https://example.com/a")));
        assert_eq!((&first["chunks"][0]["chunkIndex"], &first["chunks"][0]["score"]), (&json!(0), &json!(0.988)));
        assert!(first["chunks"][0]["chunkText"].as_str().unwrap().starts_with("Title > Part\nText &lt;b> of a"));
        assert_eq!((&content["results"][1]["url"], content["results"][1].get("number")), (&Value::Null, None));
        let source = Source {
            index: 2,
            title: "<a>".to_owned(),
            url: "https://example.com/a".to_owned(),
            excerpt: rendered.sources[0].excerpt.clone(),
        };
        assert!(source.excerpt.starts_with("Text <b> of a "), "{source:?}");
        assert_eq!((rendered.sources, rendered.summary.as_str()), (vec![source], "2 articles"));
        let user_text = rendered.user_text.unwrap();
        assert!(user_text.starts_with("2. [＜a>](https://example.com/a)\n   Text ＜b> of a"));
        assert!(user_text.contains("\n- ＜b>\n   Text"));
    }

    #[test]
    fn small_budget_keeps_the_best_chunks() {
        let articles = vec![hit("a", None, &[0.9, 0.4]), hit("b", None, &[0.8, 0.1])];
        let budget = |max_bytes, max_entries| ResultBudget { max_bytes, max_entries };
        let kept = |budget| {
            let content = parse(&render(articles.clone(), None, budget));
            let lengths =
                content["results"].as_array().unwrap().iter().map(|row| row["chunks"].as_array().unwrap().len());
            lengths.collect::<Vec<_>>()
        };
        assert_eq!(kept(ResultBudget::default()), [2, 2]);
        assert_eq!(kept(budget(2_000, usize::MAX)), [2, 1]);
        assert_eq!(kept(budget(1_500, usize::MAX)), [1, 1]);
        assert_eq!(kept(budget(1, usize::MAX)), [1]);
        assert_eq!(kept(budget(usize::MAX, 1)), [2]);
    }

    #[test]
    fn limits_of_a_search_are_noted() {
        let note = |articles, notice| parse(&render(articles, notice, ResultBudget::default()))["note"].clone();
        let texts = ArticleTexts::of(Language::En);
        let one = || vec![hit("a", None, &[0.9])];
        assert_eq!(note(one(), None), Value::Null);
        assert_eq!(note(one(), Some(SearchNotice::TermsOnly)), texts.terms_only);
        assert_eq!(note(one(), Some(SearchNotice::EmbeddingsFailed)), texts.embeddings_failed);
        assert_eq!(note(one(), Some(SearchNotice::OtherModel)), texts.other_model);
        assert_eq!(note(one(), Some(SearchNotice::MeaningOnly)), texts.meaning_only);
        for articles in [one(), Vec::new()] {
            assert_eq!(note(articles, Some(SearchNotice::NotIndexed)), texts.not_indexed);
        }
        assert_eq!(note(Vec::new(), None), texts.no_results);
    }
}
