//! Articles whose vectors are in an index, against servers on loopback.

use articles::{AddError, ArticleSource, ArticlesConfig, SearchError, SearchNotice, VectorIndex, VectorIndexError};
use domain::Owner;
use platform::settings::Settings;
use store::{ArticleCollection, Store, StoreError, StoredArticle};

use crate::embeddings_server::{EmbeddingsServer, Fault as EmbeddingsFault, KEY};
use crate::support::{add, ann, at, config, markdown, member, searcher, store, titles, writer};
use crate::vectors_server::{Fault, IndexSettings, VectorsServer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

/// A table, an embeddings endpoint and a vector index.
struct Servers {
    store: Store,
    embeddings: EmbeddingsServer,
    vectors: VectorsServer,
}

impl Servers {
    async fn start(settings: IndexSettings) -> Self {
        let (store, embeddings) = (store().await, EmbeddingsServer::start().await);
        Self { store, embeddings, vectors: VectorsServer::start(settings).await }
    }

    fn config(&self, model: &str) -> ArticlesConfig {
        let pairs = [
            ("EMBEDDINGS_BASE_URL", self.embeddings.url.as_str()),
            ("EMBEDDINGS_MODEL", model),
            ("EMBEDDINGS_API_KEY", KEY),
            ("ARTICLES_VECTORS", "s3vectors://bucket/articles"),
            ("AWS_ENDPOINT_URL_S3VECTORS", self.vectors.url.as_str()),
        ];
        ArticlesConfig::from_settings(&Settings::from_pairs(pairs)).unwrap()
    }

    /// The store that keeps the index in step.
    fn indexed_store(&self) -> Store {
        let http = platform::transport::build_client().unwrap();
        let index = VectorIndex::new(self.config("m").vector_index.unwrap(), &http);
        self.store.clone().with_article_index(std::sync::Arc::new(index))
    }

    async fn add(
        &self,
        collection: &ArticleCollection,
        source: &ArticleSource,
    ) -> Result<Option<StoredArticle>, AddError> {
        add(&self.store, &writer(&self.store, &self.config("m")), collection, source).await
    }

    /// The titles that a new instance finds, and what limited it.
    async fn search(&self, owner: &Owner, query: &str) -> (Vec<String>, Option<SearchNotice>) {
        let found = searcher(&self.store, &self.config("m")).search((owner, &member(&[])), query, 5).await.unwrap();
        (titles(&found).into_iter().map(str::to_owned).collect(), found.notice)
    }
}

fn names(titles: &[&str]) -> Vec<String> {
    titles.iter().map(|title| (*title).to_owned()).collect()
}

/// A document of about this many chunks with terms of one meaning.
fn long(chunks: usize, title: &str) -> ArticleSource {
    let sentence = "A sentence of about sixty characters on how to erase a thing.\n";
    markdown("long", &format!("# {title}\n{}", sentence.repeat(chunks * 11)))
}

#[tokio::test]
async fn index_finds_by_meaning_and_by_terms() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.add(&SHARED, &markdown("a", "# Erasure\nHow to erase data of chapter x17.")).await.unwrap();
    servers.add(&SHARED, &markdown("b", "# Prices\nWhat a turn costs: money of chapter x17.")).await.unwrap();
    servers.add(&ArticleCollection::Of(ann()), &long(25, "Own")).await.unwrap();
    let search = searcher(&servers.store, &servers.config("m"));
    let found = search.search((&ann(), &member(&[])), "forget", 5).await.unwrap();
    assert_eq!((titles(&found), found.notice), (vec!["Own", "Erasure"], None));
    assert_eq!(found.articles[0].chunks.len(), 3);
    let texts = servers.store.articles.list(&ArticleCollection::Of(ann())).await.unwrap();
    let stored = servers.store.articles.chunks(&ArticleCollection::Of(ann()), &texts[0]).await.unwrap();
    for chunk in &found.articles[0].chunks {
        assert_eq!(chunk.text, stored[chunk.index].text, "{}", chunk.index);
        assert_eq!(stored[chunk.index].vector, None, "the table has no vectors");
    }
    let found = search.search((&ann(), &member(&[])), "x17 price", 5).await.unwrap();
    assert_eq!(titles(&found)[..2], ["Prices", "Erasure"]);
    assert_eq!(titles(&search.search((&ann(), &member(&[])), "forget", 1).await.unwrap()).len(), 1);
    let metadata = servers.vectors.metadata();
    assert!(metadata.iter().all(|vector| vector["text"].is_string()));
    assert!(!format!("{metadata:?}").contains("ann"), "owners are not named");
}

#[tokio::test]
async fn service_ranks_by_meaning_and_terms_at_once() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.add(&SHARED, &markdown("a", "# Erasure\nHow to erase data of chapter x17.")).await.unwrap();
    servers.add(&SHARED, &markdown("b", "# Prices\nWhat a turn costs: money.")).await.unwrap();
    servers.add(&SHARED, &markdown("c", "# Tea\nHow to brew tea of chapter x17.")).await.unwrap();
    assert_eq!(servers.search(&ann(), "forget x17").await.0, names(&["Erasure", "Tea"]), "Prices have neither");
    let query = servers.vectors.last("QueryVectors");
    assert_eq!(servers.vectors.count("QueryVectors"), 1);
    assert_eq!(query["queryTexts"], serde_json::json!([{ "text": "forget x17", "metadataKey": "text" }]));
    assert_eq!(query["queryVector"]["float32"].as_array().map(Vec::len), Some(1024));
    servers.vectors.reverse();
    let found =
        searcher(&servers.store, &servers.config("m")).search((&ann(), &member(&[])), "forget x17", 5).await.unwrap();
    assert_eq!(titles(&found), ["Tea", "Erasure"]);
    assert!(found.articles[0].chunks[0].score > found.articles[1].chunks[0].score);
}

#[tokio::test]
async fn f119_index_never_shows_other_owners_articles() {
    let servers = Servers::start(IndexSettings::default()).await;
    let bob = Owner::key_holder("bob");
    for (collection, title) in
        [(SHARED, "All"), (ArticleCollection::Of(ann()), "Ann"), (ArticleCollection::Of(bob.clone()), "Bob")]
    {
        servers.add(&collection, &markdown("same", &format!("# {title}\nhow to erase"))).await.unwrap();
    }
    let eve = Owner::key_holder("eve");
    let check = async || {
        for (owner, expected) in
            [(ann(), vec!["All", "Ann"]), (bob.clone(), vec!["All", "Bob"]), (eve.clone(), vec!["All"])]
        {
            for query in ["forget", "erase"] {
                let (mut found, _) = servers.search(&owner, query).await;
                found.sort();
                assert_eq!(found, names(&expected), "{query}");
            }
        }
    };
    check().await;
    let filter = servers.vectors.last("QueryVectors")["filter"].clone();
    assert_eq!(filter["$and"][0]["collection"]["$in"], serde_json::json!(["shared"]), "eve has no articles");
    servers.vectors.ignore_filters();
    check().await;
}

#[tokio::test]
async fn f119_index_never_shows_other_groups_articles() {
    let servers = Servers::start(IndexSettings::default()).await;
    for (key, groups) in [("all", &[][..]), ("legal", &["legal"]), ("both", &["legal", "sales"])] {
        let text = format!("# {key}\nhow to erase");
        let source = ArticleSource { groups: Some(member(groups).groups), ..markdown(key, &text) };
        servers.add(&SHARED, &source).await.unwrap();
    }
    let check = async || {
        for (groups, expected) in
            [(&[][..], &["all"][..]), (&["sales", "x"], &["all", "both"]), (&["legal"], &["all", "both", "legal"])]
        {
            for query in ["forget", "erase"] {
                let search = searcher(&servers.store, &servers.config("m"));
                let found = search.search((&ann(), &member(groups)), query, 5).await.unwrap();
                let mut found = titles(&found);
                found.sort_unstable();
                assert_eq!(found, expected, "{groups:?} {query}");
            }
        }
    };
    check().await;
    let metadata = format!("{:?}", servers.vectors.metadata());
    assert!(!metadata.contains("sales"), "groups are not named: {metadata}");
    let one = searcher(&servers.store, &servers.config("m")).search((&ann(), &member(&[])), "erase", 1).await.unwrap();
    assert_eq!(
        (titles(&one), servers.vectors.last("QueryVectors")["filter"].to_string().contains("$exists")),
        (vec!["all"], true)
    );
    servers.vectors.ignore_filters();
    check().await;
}

#[tokio::test]
async fn changes_and_removals_reach_the_index() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.add(&SHARED, &long(150, "First")).await.unwrap();
    assert!(servers.vectors.keys().len() > 100 && servers.vectors.count("PutVectors") == 2);
    servers.add(&SHARED, &long(2, "Second")).await.unwrap();
    let keys = servers.vectors.keys().len();
    assert!((2..=3).contains(&keys), "the old vectors are deleted: {keys}");
    assert_eq!(servers.search(&ann(), "forget").await.0, names(&["Second"]));
    assert_eq!(servers.add(&SHARED, &long(2, "Second")).await, Ok(None));
    let id = articles::article_id("long");
    assert_eq!(servers.indexed_store().articles.delete(&SHARED, &id, at(1)).await, Ok(true));
    assert_eq!((servers.vectors.keys().len(), servers.search(&ann(), "forget").await.0), (0, names(&[])));
}

#[tokio::test]
async fn erasure_deletes_vectors_and_repeats_after_failure() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.add(&SHARED, &markdown("a", "# All\nhow to erase")).await.unwrap();
    servers.add(&ArticleCollection::Of(ann()), &long(3, "Own")).await.unwrap();
    let store = servers.indexed_store();
    servers.vectors.fail("DeleteVectors", [Some(Fault::Status(403))]);
    assert!(store.erase(&ann(), at(1)).await.is_err());
    assert_eq!(
        servers.store.articles.list(&ArticleCollection::Of(ann())).await.unwrap().len(),
        1,
        "it can be repeated"
    );
    store.erase(&ann(), at(1)).await.unwrap();
    let left = servers.vectors.metadata();
    assert_eq!((left.len(), &left[0]["collection"]), (1, &serde_json::json!("shared")));
    servers.add(&ArticleCollection::Of(ann()), &long(3, "Own")).await.unwrap();
    store.delete_owner(&ann()).await.unwrap();
    assert_eq!(servers.vectors.keys().len(), 1);
}

/// Where a replacement is cut: the operation, how often it passes before, and whether the new article is there after.
const CUTS: [(&str, usize, Fault, &str); 6] = [
    ("PutVectors", 0, Fault::Hang, "One"),
    ("PutVectors", 0, Fault::HangAfter, "One"),
    ("PutVectors", 1, Fault::Hang, "One"),
    ("PutVectors", 1, Fault::HangAfter, "One"),
    ("DeleteVectors", 0, Fault::Hang, "Two"),
    ("DeleteVectors", 1, Fault::HangAfter, "Two"),
];

#[tokio::test]
async fn cut_replacement_leaves_one_whole_article() {
    for (operation, passing, fault, expected) in CUTS {
        let servers = Servers::start(IndexSettings::default()).await;
        servers.add(&SHARED, &long(150, "One")).await.unwrap();
        servers.vectors.fail(operation, vec![None; passing].into_iter().chain([Some(fault)]));
        let two = long(150, "Two");
        tokio::select! {
            added = servers.add(&SHARED, &two) => unreachable!("{added:?}"),
            () = servers.vectors.hang() => {}
        }
        let (found, _) = servers.search(&ann(), "forget").await;
        assert_eq!(found, names(&[expected]), "{operation} {passing} {fault:?}");
        let store = servers.indexed_store();
        assert_eq!(store.articles.clean(&SHARED, at(3601)).await, Ok(1));
        let kept = store.articles.get(&SHARED, &articles::article_id("long")).await.unwrap().unwrap();
        let of_kept = servers.vectors.keys().iter().filter(|key| key.contains(&kept.generation)).count();
        assert_eq!((of_kept, servers.vectors.keys().len()), (kept.chunks as usize, kept.chunks as usize));
        assert_eq!(servers.search(&ann(), "forget").await.0, names(&[expected]));
    }
}

#[tokio::test]
async fn cut_first_addition_leaves_no_article() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.vectors.fail("PutVectors", [Some(Fault::HangAfter)]);
    let source = markdown("a", "# New\nhow to erase");
    tokio::select! {
        added = servers.add(&SHARED, &source) => unreachable!("{added:?}"),
        () = servers.vectors.hang() => {}
    }
    assert_eq!((servers.search(&ann(), "forget").await.0, servers.vectors.keys().len()), (names(&[]), 1));
    assert!(matches!(servers.add(&SHARED, &source).await, Ok(Some(_))));
    assert_eq!(servers.search(&ann(), "forget").await.0, names(&["New"]));
    assert_eq!(servers.indexed_store().articles.clean(&SHARED, at(3601)).await, Ok(1));
    assert_eq!(servers.vectors.keys().len(), 1);
}

#[tokio::test]
async fn throttling_is_retried_rejections_reported() {
    let servers = Servers::start(IndexSettings::default()).await;
    let source = |key: &str| markdown(key, "# T\nhow to erase");
    servers.vectors.fail("PutVectors", [429, 503, 500].map(|status| Some(Fault::Status(status))));
    servers.vectors.fail("GetIndex", [Some(Fault::Status(503))]);
    assert!(servers.add(&SHARED, &source("a")).await.is_ok());
    for (operation, status, expected) in [
        ("GetIndex", 403, AddError::Index(VectorIndexError::Denied)),
        ("GetIndex", 404, AddError::Index(VectorIndexError::Absent)),
    ] {
        let before = servers.embeddings.inputs().len();
        servers.vectors.fail(operation, [Some(Fault::Status(status))]);
        assert_eq!(servers.add(&SHARED, &source("b")).await, Err(expected));
        assert_eq!(servers.embeddings.inputs().len(), before, "nothing was embedded");
    }
    servers.vectors.fail("PutVectors", [Some(Fault::Status(402))]);
    let Err(AddError::Store(StoreError::Fault(text))) = servers.add(&SHARED, &source("b")).await else {
        unreachable!()
    };
    assert!(text.contains("402") && !text.contains("canary"), "{text}");
    servers.vectors.fail("PutVectors", vec![Some(Fault::Status(429)); 6]);
    assert_eq!(servers.add(&SHARED, &source("b")).await, Err(AddError::Store(StoreError::Busy)));
    servers.vectors.fail("QueryVectors", [Some(Fault::Status(429))]);
    assert_eq!(servers.search(&ann(), "forget").await, (names(&["T"]), None));
}

#[tokio::test]
async fn index_without_full_text_searches_meaning_alone() {
    for settings in [
        IndexSettings { text_search: None, ..IndexSettings::default() },
        IndexSettings { text_search: Some("BUILDING"), ..IndexSettings::default() },
        IndexSettings { text_search: None, non_filterable: Vec::new(), ..IndexSettings::default() },
    ] {
        let stores_text = settings.non_filterable.contains(&"text");
        let servers = Servers::start(settings).await;
        servers.add(&SHARED, &markdown("a", "# Erasure\nhow to erase")).await.unwrap();
        assert_eq!(servers.vectors.metadata()[0].get("text").is_some(), stores_text);
        assert_eq!(servers.search(&ann(), "forget").await, (names(&["Erasure"]), Some(SearchNotice::MeaningOnly)));
        servers.embeddings.fail([500, 500].map(|status| Some(EmbeddingsFault::Status(status))));
        let failed = searcher(&servers.store, &servers.config("m")).search((&ann(), &member(&[])), "erase", 5).await;
        assert!(matches!(failed, Err(SearchError::Embeddings(_))), "{failed:?}");
    }
}

#[tokio::test]
async fn failing_endpoint_leaves_full_text_search() {
    let servers = Servers::start(IndexSettings::default()).await;
    servers.add(&SHARED, &markdown("a", "# Tea\nhow to erase")).await.unwrap();
    servers.embeddings.fail([500, 500].map(|status| Some(EmbeddingsFault::Status(status))));
    assert_eq!(servers.search(&ann(), "tea").await, (names(&["Tea"]), Some(SearchNotice::EmbeddingsFailed)));
    assert_eq!(servers.search(&ann(), "nothing").await, (names(&[]), None));
}

#[tokio::test]
async fn other_models_and_unindexed_articles_are_noted() {
    let servers = Servers::start(IndexSettings::default()).await;
    let source = |key: &str| markdown(key, &format!("# {key}\nhow to erase"));
    let in_table = config(Some((&servers.embeddings, "m")));
    add(&servers.store, &writer(&servers.store, &in_table), &SHARED, &source("table")).await.unwrap();
    servers.add(&SHARED, &source("index")).await.unwrap();
    let old = writer(&servers.store, &servers.config("old"));
    add(&servers.store, &old, &SHARED, &source("old")).await.unwrap();
    let (found, notice) = servers.search(&ann(), "forget").await;
    assert_eq!((found, notice), (names(&["index"]), Some(SearchNotice::NotIndexed)));
    for key in ["table", "old"] {
        assert!(matches!(servers.add(&SHARED, &source(key)).await, Ok(Some(_))), "{key}");
    }
    let (found, notice) = servers.search(&ann(), "forget").await;
    assert_eq!((found.len(), notice), (3, None));
    let found = searcher(&servers.store, &in_table).search((&ann(), &member(&[])), "erase", 5).await.unwrap();
    assert_eq!((found.articles.len(), found.notice), (3, Some(SearchNotice::OtherModel)), "back to memory: by terms");
}

#[tokio::test]
async fn unsuitable_index_is_refused_before_filling() {
    let short = Servers::start(IndexSettings { dimensions: 768, ..IndexSettings::default() }).await;
    let writer = writer(&short.store, &short.config("m"));
    let error = AddError::Index(VectorIndexError::OtherDimensions { index: 768, model: 1024 });
    for key in ["a", "b"] {
        assert_eq!(add(&short.store, &writer, &SHARED, &markdown(key, "text")).await, Err(error.clone()));
    }
    assert_eq!(short.embeddings.inputs().len(), 1, "the second document is not embedded");
    let euclidean = Servers::start(IndexSettings { metric: "euclidean", ..IndexSettings::default() }).await;
    let failed = euclidean.add(&SHARED, &markdown("a", "text")).await;
    assert_eq!(failed, Err(AddError::Index(VectorIndexError::NotCosine)));
    assert_eq!(short.store.articles.list(&SHARED).await, Ok(Vec::new()));
}
