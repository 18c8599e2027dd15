use articles::{ArticleSource, SearchError, SearchNotice};
use domain::{Membership, Owner};
use store::ArticleCollection;

use crate::embeddings_server::{EmbeddingsServer, Fault};
use crate::support::{add, ann, at, config, markdown, member, searcher, store, titles, writer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

#[tokio::test]
async fn f119_owners_never_see_each_others_articles() {
    let store = store().await;
    let (writer, bob) = (writer(&store, &config(None)), Owner::key_holder("bob"));
    for (collection, title) in
        [(SHARED, "All"), (ArticleCollection::Of(ann()), "Ann"), (ArticleCollection::Of(bob.clone()), "Bob")]
    {
        add(&store, &writer, &collection, &markdown("same", &format!("# {title}\ncommon text"))).await.unwrap();
    }
    let search = searcher(&store, &config(None));
    for (owner, expected) in [(ann(), ["All", "Ann"]), (bob, ["All", "Bob"]), (ann(), ["All", "Ann"])] {
        assert_eq!(titles(&search.search((&owner, &member(&[])), "common text", 5).await.unwrap()), expected);
    }
    let found = search.search((&Owner::key_holder("eve"), &member(&[])), "common text", 5).await.unwrap();
    assert_eq!((titles(&found), found.notice), (vec!["All"], Some(SearchNotice::TermsOnly)));
}

#[tokio::test]
async fn changes_are_found_by_the_next_search() {
    let store = store().await;
    let (writer, search) = (writer(&store, &config(None)), searcher(&store, &config(None)));
    assert_eq!(search.search((&ann(), &member(&[])), "tea", 5).await.unwrap().articles, []);
    for number in 0..40 {
        add(&store, &writer, &SHARED, &markdown(&format!("{number}"), &format!("# T{number}\ntea number{number}")))
            .await
            .unwrap();
    }
    assert_eq!(search.search((&ann(), &member(&[])), "tea", 50).await.unwrap().articles.len(), 40);
    add(&store, &writer, &SHARED, &markdown("7", "# New\ncoffee")).await.unwrap();
    assert_eq!(titles(&search.search((&ann(), &member(&[])), "coffee", 5).await.unwrap()), ["New"]);
    assert_eq!(search.search((&ann(), &member(&[])), "number7", 5).await.unwrap().articles, []);
    assert_eq!(titles(&search.search((&ann(), &member(&[])), "number8", 5).await.unwrap()), ["T8"]);
    let id = search.search((&ann(), &member(&[])), "number8", 5).await.unwrap().articles[0].id.clone();
    store.articles.delete(&SHARED, &id, at(1)).await.unwrap();
    assert_eq!(search.search((&ann(), &member(&[])), "number8", 5).await.unwrap().articles, []);
}

#[tokio::test]
async fn results_are_grouped_by_article() {
    let store = store().await;
    let writer = writer(&store, &config(None));
    let part = |number: usize| format!("## Part {number}\ntea {}\n", "Something else entirely. ".repeat(30));
    let parts: String = (0..5).map(part).collect();
    add(&store, &writer, &SHARED, &markdown("long", &format!("# Long\n{parts}"))).await.unwrap();
    add(&store, &writer, &SHARED, &markdown("short", "# Short\ntea")).await.unwrap();
    let search = searcher(&store, &config(None));
    let found = search.search((&ann(), &member(&[])), "tea", 5).await.unwrap();
    assert_eq!(titles(&found), ["Short", "Long"]);
    let chunks: Vec<usize> = found.articles.iter().map(|article| article.chunks.len()).collect();
    assert_eq!(chunks, [1, 3]);
    assert!(found.articles[1].chunks.iter().all(|chunk| chunk.text.starts_with("Long > Part ")));
    assert_eq!(titles(&search.search((&ann(), &member(&[])), "tea", 1).await.unwrap()), ["Short"]);
}

#[tokio::test]
async fn f119_groups_never_see_each_others_articles() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let config = config(Some((&server, "m")));
    let writer = writer(&store, &config);
    let source = |key: &str, groups: &[&str]| ArticleSource {
        groups: Some(member(groups).groups),
        ..markdown(key, &format!("# {key}\nhow to erase common text"))
    };
    for (key, groups) in [("all", &[][..]), ("legal", &["legal"]), ("both", &["legal", "sales"])] {
        add(&store, &writer, &SHARED, &source(key, groups)).await.unwrap();
    }
    let search = searcher(&store, &config);
    let check = async |expected: &[(&[&str], &[&str])]| {
        for (groups, expected) in expected {
            for query in ["common", "forget"] {
                let found = search.search((&ann(), &member(groups)), query, 5).await.unwrap();
                let mut found = titles(&found);
                found.sort_unstable();
                assert_eq!(found, *expected, "{groups:?} {query}");
            }
        }
    };
    check(&[(&[], &["all"]), (&["sales"], &["all", "both"]), (&["x", "legal"], &["all", "both", "legal"])]).await;
    let everything = search.search((&ann(), &Membership::administrator()), "common", 5).await.unwrap();
    assert_eq!(titles(&everything).len(), 3);
    assert_eq!(add(&store, &writer, &SHARED, &source("legal", &["sales"])).await.unwrap().unwrap().chunks, 1);
    let kept = ArticleSource {
        groups: None,
        text: "# both\nhow to erase another common text".to_owned(),
        ..source("both", &[])
    };
    add(&store, &writer, &SHARED, &kept).await.unwrap();
    assert_eq!(add(&store, &writer, &SHARED, &kept).await, Ok(None), "nothing has changed");
    // An article keeps its groups unless others are named.
    check(&[(&["sales"], &["all", "both", "legal"]), (&["legal"], &["all", "both"])]).await;
}

#[tokio::test]
async fn failing_endpoint_leaves_search_by_terms() {
    let (store, server) = (store().await, EmbeddingsServer::start().await);
    let config = config(Some((&server, "m")));
    add(&store, &writer(&store, &config), &SHARED, &markdown("a", "# Tea\nhow to erase")).await.unwrap();
    let search = searcher(&store, &config);
    assert_eq!(search.search((&ann(), &member(&[])), "forget", 5).await.unwrap().notice, None);
    server.fail([Some(Fault::Status(500)), Some(Fault::Status(500))]);
    let found = search.search((&ann(), &member(&[])), "tea", 5).await.unwrap();
    assert_eq!((titles(&found), found.notice), (vec!["Tea"], Some(SearchNotice::EmbeddingsFailed)));
}

#[tokio::test]
async fn memory_for_articles_is_bounded() {
    let store = store().await;
    let writer = writer(&store, &config(None));
    let text = format!("# T\ntea {}", "Something else entirely. ".repeat(40));
    let owners: Vec<Owner> = (0..3).map(|number| Owner::key_holder(&number.to_string())).collect();
    for owner in &owners {
        add(&store, &writer, &ArticleCollection::Of(owner.clone()), &markdown("a", &text)).await.unwrap();
    }
    let bounded = articles::ArticlesConfig { max_bytes: 1_500, ..config(None) };
    let search = searcher(&store, &bounded);
    for owner in owners.iter().cycle().take(6) {
        assert_eq!(titles(&search.search((owner, &member(&[])), "tea", 5).await.unwrap()), ["T"]);
    }
    let tiny = articles::ArticlesConfig { max_bytes: 100, ..config(None) };
    assert_eq!(searcher(&store, &tiny).search((&owners[0], &member(&[])), "tea", 5).await, Err(SearchError::TooLarge));
}
