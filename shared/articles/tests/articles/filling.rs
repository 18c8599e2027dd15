use articles::{AddError, ArticleSource, EmbeddingsError, Format, SearchNotice, article_id};
use store::{ArticleCollection, EmbeddingModel};

use crate::embeddings_server::{EmbeddingsServer, Fault};
use crate::support::{add, ann, config, markdown, member, searcher, store, titles, writer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

/// A document of about this many chunks.
fn long(chunks: usize) -> ArticleSource {
    markdown(
        "long",
        &format!("# Long\n{}", "A sentence of about sixty characters that says nothing new.\n".repeat(chunks * 11)),
    )
}

#[tokio::test]
async fn texts_are_embedded_in_batches_and_once() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let writer = writer(&store, &config(Some((&server, "m"))));
    let Some(stored) = add(&store, &writer, &SHARED, &long(25)).await.unwrap() else { unreachable!() };
    let inputs = server.inputs();
    assert!(stored.chunks > 20 && inputs.iter().all(|texts| *texts <= 10), "{inputs:?}");
    assert_eq!(inputs.iter().sum::<usize>(), usize::try_from(stored.chunks).unwrap());
    assert_eq!(stored.model, Some(EmbeddingModel { name: "m".to_owned(), dimensions: 1024 }));
    assert_eq!(add(&store, &writer, &SHARED, &long(25)).await, Ok(None));
    assert_eq!(server.inputs().len(), inputs.len(), "an unchanged document costs nothing");
    let renamed = ArticleSource { title: Some("Other".to_owned()), ..long(25) };
    assert!(matches!(add(&store, &writer, &SHARED, &renamed).await, Ok(Some(_))));
}

#[tokio::test]
async fn temporary_failures_are_retried_permanent_ones_reported() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let writer = writer(&store, &config(Some((&server, "m"))));
    server.fail([Some(Fault::Status(429)), Some(Fault::Status(503))]);
    assert!(add(&store, &writer, &SHARED, &markdown("a", "text")).await.is_ok());
    for (fault, expected) in [
        (Fault::Status(401), EmbeddingsError::Unauthorized),
        (Fault::Status(404), EmbeddingsError::Rejected(404)),
        (Fault::Incomplete, EmbeddingsError::BadResponse),
    ] {
        server.fail([Some(fault)]);
        let failed = add(&store, &writer, &SHARED, &markdown("b", "text")).await.unwrap_err();
        assert_eq!(failed, AddError::Embeddings(expected));
        assert!(!failed.to_string().contains("canary"), "{failed}");
    }
    assert_eq!(store.articles.list(&SHARED).await.unwrap().len(), 1);
}

#[tokio::test]
async fn killed_filling_resumes_with_each_article_once() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let writer = writer(&store, &config(Some((&server, "m"))));
    let sources: Vec<ArticleSource> = (0..6).map(|at| markdown(&format!("k{at}"), &format!("# T{at}\ntext"))).collect();
    server.fail([None, None, None, Some(Fault::Hang)]);
    let fill = async {
        for source in &sources {
            add(&store, &writer, &SHARED, source).await.unwrap();
        }
    };
    tokio::select! {
        () = fill => unreachable!("the filling ends in the fourth article"),
        () = server.hang() => {}
    }
    assert_eq!(store.articles.list(&SHARED).await.unwrap().len(), 3);
    let mut outcomes = Vec::new();
    for source in &sources {
        outcomes.push(add(&store, &writer, &SHARED, source).await.unwrap().is_none());
    }
    assert_eq!(outcomes, [true, true, true, false, false, false]);
    let stored = store.articles.list(&SHARED).await.unwrap();
    assert_eq!(stored.len(), 6);
    for article in &stored {
        assert_eq!(store.articles.chunks(&SHARED, article).await.unwrap().len(), 1, "{}", article.title);
    }
}

#[tokio::test]
async fn changed_model_never_mixes_vectors() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let (old, new) = (config(Some((&server, "old"))), config(Some((&server, "new"))));
    for key in ["a", "b"] {
        add(&store, &writer(&store, &old), &SHARED, &markdown(key, "# Erasure\nHow to erase data.")).await.unwrap();
    }
    let search = searcher(&store, &new);
    let before = server.inputs().len();
    let found = search.search((&ann(), &member(&[])), "erase", 5).await.unwrap();
    assert_eq!((titles(&found).len(), found.notice), (2, Some(SearchNotice::OtherModel)), "by terms");
    assert_eq!(server.inputs().len(), before, "no vector could be compared");
    assert_eq!(search.search((&ann(), &member(&[])), "forget", 5).await.unwrap().articles, []);
    let source = markdown("a", "# Erasure\nHow to erase data.");
    assert!(matches!(add(&store, &writer(&store, &new), &SHARED, &source).await, Ok(Some(_))));
    let found = search.search((&ann(), &member(&[])), "forget", 5).await.unwrap();
    assert_eq!((found.articles[0].id.clone(), found.articles.len()), (article_id("a"), 1));
    assert_eq!(found.notice, Some(SearchNotice::OtherModel), "the other article is still to be added again");
    let plain = writer(&store, &config(None));
    assert_eq!(add(&store, &plain, &SHARED, &source).await, Ok(None), "vectors are kept");
}

#[tokio::test]
async fn unusable_documents_are_refused() {
    let store = store().await;
    let writer = writer(&store, &config(None));
    let refused = async |source: ArticleSource| add(&store, &writer, &SHARED, &source).await.unwrap_err();
    assert_eq!(refused(markdown("a", "# Heading only\n")).await, AddError::NoText);
    assert_eq!(refused(markdown("a", &"x\n".repeat(5_000_000))).await, AddError::TooLong);
    assert_eq!(refused(markdown("a", &"a b. ".repeat(1_500_000))).await, AddError::TooLong);
    for url in ["javascript:alert(1)", "/a", "https://a b", &format!("https://a/{}", "x".repeat(2048))] {
        assert_eq!(
            refused(ArticleSource { url: Some(url.to_owned()), ..markdown("a", "b") }).await,
            AddError::InvalidUrl
        );
    }
    assert_eq!(store.articles.list(&SHARED).await, Ok(Vec::new()));
}

#[tokio::test]
async fn title_is_given_found_or_the_key() {
    let store = store().await;
    let writer = writer(&store, &config(None));
    let html = ArticleSource { format: Format::Html, text: "<title>Page</title><p>b".to_owned(), ..markdown("a", "") };
    let given = ArticleSource { title: Some("Given".to_owned()), ..html.clone() };
    let plain = ArticleSource { format: Format::Text, text: "b".to_owned(), ..markdown("docs/a.txt", "") };
    for (source, expected) in [(html, "Page"), (given, "Given"), (plain, "docs/a.txt")] {
        let Some(stored) = add(&store, &writer, &SHARED, &source).await.unwrap() else { unreachable!() };
        assert_eq!(stored.title, expected);
    }
}
