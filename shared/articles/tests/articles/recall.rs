//! Recall on the project's own documents: the right one is among the first five.

use std::path::Path;

use articles::{ArticleSource, Format};
use store::{ArticleCollection, Store};

use crate::embeddings_server::EmbeddingsServer;
use crate::support::{add, ann, config, searcher, store, writer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

/// Questions with terms of the document that answers them.
const BY_TERMS: [(&str, &str); 8] = [
    ("schema versions expand then contract", "data.md"),
    ("which invariants does a test hold", "architecture.md"),
    ("CheckKeyParameter deployment check", "deploy.md"),
    ("Last-Event-ID resume a stream", "reference/api.md"),
    ("OLLAMA_MAX_CONTEXT_TOKENS", "reference/settings.md"),
    ("relay benchmark tokens per second", "performance.md"),
    ("how are turns recorded and replayed", "recordings.md"),
    ("custom tools MCP server", "agents.md"),
];

/// Questions that share no term with the document, but a meaning.
const BY_MEANING: [(&str, &str); 3] =
    [("抹去一个人的全部资料", "data.md"), ("花多少钱", "cost.md"), ("快不快", "performance.md")];

async fn fill(store: &Store, server: Option<&EmbeddingsServer>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let writer = writer(store, &config(server.map(|server| (server, "m"))));
    for name in ["", "reference", "clients"] {
        for entry in std::fs::read_dir(folder.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let key = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            if Format::of_file(&key) == Some(Format::Markdown) {
                let text = std::fs::read_to_string(&path).unwrap();
                let source = ArticleSource { title: Some(key.clone()), key, url: None, text, format: Format::Markdown };
                add(store, &writer, &SHARED, &source).await.unwrap();
            }
        }
    }
}

/// The questions whose document is not among the first five.
async fn missed(store: &Store, server: Option<&EmbeddingsServer>, questions: &[(&str, &str)]) -> Vec<String> {
    let (search, mut missed) = (searcher(store, &config(server.map(|server| (server, "m")))), Vec::new());
    for (question, document) in questions {
        let found = search.search(&ann(), question, 5).await.unwrap();
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
