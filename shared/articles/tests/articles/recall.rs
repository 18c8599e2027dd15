//! Recall on a handbook of forty short documents: the right one is among the first five.

use articles::{ArticleSource, Format};
use store::{ArticleCollection, Store};

use crate::embeddings_server::EmbeddingsServer;
use crate::support::{add, ann, config, member, searcher, store, writer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

/// Documents that answer a question, with their names.
const ANSWERS: [(&str, &str); 9] = [
    (
        "data.md",
        "# Records\n\nSchema versions expand, then contract: readers of release A keep working.\n\n## Erasure\n\nAn erasure removes everything that a person has. To delete one conversation, use its menu.",
    ),
    (
        "cost.md",
        "# What a thousand turns cost\n\nThe price of storage and requests. A bill has three parts, and the money goes to the model.",
    ),
    (
        "speed.md",
        "# Speed\n\nThe benchmark compares latency with a bare relay: two milliseconds for each answer, as fast as the wire.",
    ),
    (
        "deploy.md",
        "# Deployment\n\nWith CheckKeyParameter a deployment check runs before any caller reaches the version.",
    ),
    ("api.md", "# HTTP\n\nA client that lost its stream sends Last-Event-ID to resume after that frame."),
    ("settings.md", "# Settings\n\nOLLAMA_MAX_CONTEXT_TOKENS bounds the window that local models get."),
    ("recordings.md", "# Recordings\n\nTurns are recorded byte for byte, and replayed without a provider."),
    ("agents.md", "# Agents\n\nCustom tools are rows; an MCP server brings its own list of them."),
    ("tea.md", "# 泡茶\n\n绿茶用八十度的水，泡两分钟。红茶用沸水，泡三到五分钟，第一泡可以倒掉。"),
];

/// Subjects of documents that answer none of the questions.
const OTHERS: [&str; 31] = [
    "bicycles",
    "gardens",
    "clouds",
    "violins",
    "harbours",
    "bread",
    "maps",
    "lanterns",
    "rivers",
    "chess",
    "paint",
    "winter",
    "trains",
    "spices",
    "carpets",
    "bridges",
    "poems",
    "mushrooms",
    "kites",
    "pottery",
    "islands",
    "candles",
    "owls",
    "tents",
    "mirrors",
    "castles",
    "honey",
    "deserts",
    "sails",
    "fountains",
    "clocks",
];

/// Questions with terms of the document that answers them.
const BY_TERMS: [(&str, &str); 7] = [
    ("schema versions expand then contract", "data.md"),
    ("CheckKeyParameter deployment check", "deploy.md"),
    ("Last-Event-ID resume a stream", "api.md"),
    ("OLLAMA_MAX_CONTEXT_TOKENS", "settings.md"),
    ("how are turns recorded and replayed", "recordings.md"),
    ("custom tools MCP server", "agents.md"),
    ("绿茶要泡几分钟", "tea.md"),
];

/// Questions that share no term with the document, but a meaning.
const BY_MEANING: [(&str, &str); 3] =
    [("抹去一个人的全部资料", "data.md"), ("花多少钱", "cost.md"), ("快不快", "speed.md")];

async fn fill(store: &Store, server: Option<&EmbeddingsServer>) {
    let writer = writer(store, &config(server.map(|server| (server, "m"))));
    let others = OTHERS.iter().map(|subject| {
        let text = format!(
            "# All about {subject}\n\nMany people like {subject}. This page describes {subject} of all regions."
        );
        (format!("{subject}.md"), text)
    });
    let answers = ANSWERS.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
    for (key, text) in others.chain(answers) {
        let source =
            ArticleSource { title: Some(key.clone()), key, url: None, groups: None, text, format: Format::Markdown };
        add(store, &writer, &SHARED, &source).await.unwrap();
    }
}

/// The questions whose document is not among the first five.
async fn missed(store: &Store, server: Option<&EmbeddingsServer>, questions: &[(&str, &str)]) -> Vec<String> {
    let (search, mut missed) = (searcher(store, &config(server.map(|server| (server, "m")))), Vec::new());
    for (question, document) in questions {
        let found = search.search((&ann(), &member(&[])), question, 5).await.unwrap();
        let titles: Vec<&str> = found.articles.iter().map(|article| article.title.as_str()).collect();
        if !titles.contains(document) {
            missed.push(format!("{question}: {titles:?}"));
        }
    }
    missed
}

#[tokio::test]
async fn right_document_is_found_by_terms() {
    let store = store().await;
    fill(&store, None).await;
    assert_eq!(missed(&store, None, &BY_TERMS).await, [""; 0]);
    assert_eq!(missed(&store, None, &BY_MEANING).await.len(), BY_MEANING.len(), "these need embeddings");
}

#[tokio::test]
async fn right_document_is_found_by_meaning_and_both() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    fill(&store, Some(&server)).await;
    assert_eq!(missed(&store, Some(&server), &BY_MEANING).await, [""; 0]);
    assert_eq!(missed(&store, Some(&server), &BY_TERMS).await, [""; 0]);
}
