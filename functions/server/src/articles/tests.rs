use super::*;

#[tokio::test]
async fn commands_for_articles_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tea.md");
    std::fs::write(&file, "# Tea\nGreen tea.").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let location = || StoreLocation { data: folder.path().join("data"), aws: false };
    let collection = || CollectionChoice { user: None, location: location() };
    let (settings, now) = (Settings::default, SystemTime::now());
    let add = ArticlesCommand::Add { sources: vec![file.clone()], groups: Vec::new(), collection: collection() };
    Box::pin(add.run(settings(), now)).await.unwrap();
    let remove = ArticlesCommand::Remove { id: file.clone(), collection: collection() };
    Box::pin(remove.run(settings(), now)).await.unwrap();
    let opened = location().open(settings()).await.unwrap();
    let today = store::Day::of(now);
    let listed = opened.store.audit.list(today, store::Day::of(SystemTime::now()), None).await.unwrap().items;
    let mut found: Vec<_> = listed.iter().map(|listed| (&*listed.entry.action, listed.entry.target.clone())).collect();
    found.sort_unstable();
    let id = Some(article_id(&file));
    assert_eq!(found, [("article.create", id.clone()), ("article.delete", id)]);
}
