use serde_json::{Value, json};
use support::{FakeEndpoint, Gate, Reply, Request, with_timeout};
use tempfile::TempDir;

use crate::program::{Run, finish, run, start};

/// A vector for each text: its number of capital letters and of others.
fn embed(request: &Request) -> Reply {
    let count = |text: &str, capital: bool| text.chars().filter(|c| c.is_uppercase() == capital).count();
    let body = request.json();
    let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let row = |text: &str| json!({ "embedding": [count(text, true), count(text, false)] });
    Reply::json(200, &json!({ "data": texts.map(row).collect::<Vec<Value>>() }))
}

/// A folder with the store and documents below `docs`.
pub(crate) fn folder(documents: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in documents {
        let path = folder.path().join("docs").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Runs `articles` with the store of a folder.
pub(crate) async fn articles(folder: &TempDir, arguments: &[&str], settings: &[(&str, &str)]) -> Run {
    let data = folder.path().join("data");
    run(&[&["articles"], arguments, &["--data", data.to_str().unwrap()]].concat(), settings).await
}

pub(crate) fn documents(folder: &TempDir) -> String {
    folder.path().join("docs").to_str().unwrap().to_owned()
}

/// The titles that `articles list` shows.
pub(crate) async fn titles(folder: &TempDir, arguments: &[&str]) -> Vec<String> {
    let list = articles(folder, &[&["list"], arguments].concat(), &[]).await.output;
    let titles = list.lines().skip(1).filter_map(|line| line.rsplit("  ").next());
    let mut titles: Vec<String> = titles.map(str::to_owned).collect();
    titles.sort();
    titles
}

#[tokio::test]
async fn folder_is_added_once_listed_searched_and_removed() {
    let folder =
        folder(&[("a.md", "# Tea\nGreen tea."), ("b/c.html", "<title>Coffee</title><p>Black."), ("d.png", "")]);
    let docs = documents(&folder);
    let added = articles(&folder, &["add", &docs], &[]).await;
    assert_eq!((added.exit_code, added.output.as_str()), (Some(0), "2 articles added (2 chunks), 0 unchanged\n"));
    assert!(added.errors.contains("1/2 ") && added.errors.contains("Without EMBEDDINGS_MODEL"), "{}", added.errors);
    let again = articles(&folder, &["add", &docs], &[]).await;
    assert_eq!(again.output, "0 articles added (0 chunks), 2 unchanged\n");
    assert_eq!(titles(&folder, &[]).await, ["Coffee", "Tea"]);
    let found = articles(&folder, &["search", "green"], &[]).await;
    assert_eq!((found.exit_code, found.output.as_str()), (Some(0), "1. Tea\n   1.000 #0: Tea Green tea.\n"));
    let list = articles(&folder, &["list"], &[]).await.output;
    let id = list.lines().find(|line| line.ends_with("Tea")).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(articles(&folder, &["remove", &id], &[]).await.output, format!("removed {id}\n"));
    assert_eq!(articles(&folder, &["remove", &id], &[]).await.exit_code, Some(1));
    assert_eq!(titles(&folder, &[]).await, ["Coffee"]);
    let coffee = format!("{docs}/b/c.html");
    let listed = articles(&folder, &["list", &docs], &[]).await.output;
    assert!(
        listed.lines().any(|line| line.contains(&format!("  {coffee}  ")) && line.ends_with("  Coffee")),
        "{listed}"
    );
    assert_eq!(articles(&folder, &["list", &format!("{docs}/a.md")], &[]).await.output, "There are no articles.\n");
    assert_eq!(articles(&folder, &["remove", &coffee], &[]).await.output, format!("removed {coffee}\n"));
}

#[tokio::test]
async fn articles_of_a_user_are_separate() {
    let folder = folder(&[("a.md", "# Tea\nGreen tea.")]);
    let added = articles(&folder, &["add", &documents(&folder), "--user", "ann"], &[]).await;
    assert_eq!(added.exit_code, Some(0), "{}", added.errors);
    assert_eq!((titles(&folder, &["--user", "ann"]).await.len(), titles(&folder, &[]).await.len()), (1, 0));
    for (user, expected) in [("ann", "1. Tea"), ("bob", "Nothing was found.")] {
        let found = articles(&folder, &["search", "tea", "--user", user], &[]).await.output;
        assert!(found.starts_with(expected), "{user}: {found}");
    }
}

#[tokio::test]
async fn failed_documents_are_listed_with_exit_code_1() {
    let folder = folder(&[("a.md", ""), ("b.md", "# Tea\nGreen tea."), ("c.docx", "PK\u{3}\u{4}no document")]);
    let added = articles(&folder, &["add", &documents(&folder)], &[]).await;
    assert_eq!((added.exit_code, added.output.as_str()), (Some(1), ""));
    let expected = "1 article added (1 chunk), 0 unchanged, 1 without text, 1 failed\n";
    let reason = "docs/c.docx: the type of the file is unknown: PNG, ";
    assert!(added.errors.contains(reason) && added.errors.ends_with(expected), "{}", added.errors);
    assert_eq!(added.errors.matches("3/3 ").count(), 1, "the same attempt would fail again: {}", added.errors);
    let absent = articles(&folder, &["add", "missing.md"], &[]).await;
    assert_eq!(absent.exit_code, Some(2), "{}", absent.errors);
    assert!(absent.errors.contains("missing.md: there is no such file or folder"), "{}", absent.errors);
}

#[tokio::test]
async fn document_without_text_is_no_failure() {
    let folder = folder(&[("a.md", ""), ("b.md", "# Tea\nGreen tea.")]);
    let added = articles(&folder, &["add", &documents(&folder)], &[]).await;
    let expected = "1 article added (1 chunk), 0 unchanged, 1 without text\n";
    assert_eq!((added.exit_code, added.output.as_str()), (Some(0), expected), "{}", added.errors);
}

#[tokio::test]
async fn stop_term_alone_finds_no_article() {
    let folder = folder(&[
        ("a.md", "# Conversations\nConversations are deleted on request."),
        ("b.md", "# Refunds\nRefunds are paid within seven days."),
    ]);
    articles(&folder, &["add", &documents(&folder)], &[]).await;
    let found = articles(&folder, &["search", "how are conversations deleted"], &[]).await.output;
    assert!(found.starts_with("1. Conversations\n") && !found.contains("Refunds"), "{found}");
}

#[tokio::test]
async fn killed_filling_continues_where_it_was() {
    for answered in [0, 1, 5, 10] {
        kill_and_continue(answered).await;
    }
}

/// Kills the program after so many answers of the embeddings endpoint, and runs it again.
async fn kill_and_continue(answers: usize) {
    let names: Vec<String> = (0..12).map(|number| format!("{number:02}.md")).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "# Tea\nGreen tea.")).collect();
    let (folder, endpoint, gate) = (folder(&texts), FakeEndpoint::start_permissive().await, Gate::new());
    let url = endpoint.url();
    let settings = [("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_BASE_URL", url.as_str())];
    let held = gate.clone();
    let answered = std::sync::atomic::AtomicUsize::new(0);
    endpoint.respond_with(move |request| {
        let is_early = answered.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < answers;
        if is_early { embed(request) } else { embed(request).wait_before_head(&held) }
    });
    let (data, docs) = (folder.path().join("data"), documents(&folder));
    let mut killed = start(&["articles", "add", &docs, "--data", data.to_str().unwrap()], &settings);
    with_timeout("the filling to be in the middle", gate.wait_until_reached()).await;
    killed.kill().unwrap();
    assert_eq!(finish(killed).await.exit_code, None);
    endpoint.respond_with(embed);
    let continued = articles(&folder, &["add", &docs], &settings).await;
    assert_eq!(continued.exit_code, Some(0), "{}", continued.errors);
    let unchanged: usize = continued.output.split(", ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(unchanged <= answers, "{}", continued.output);
    assert_eq!(titles(&folder, &[]).await.len(), 12);
    let once_more = articles(&folder, &["add", &docs], &settings).await.output;
    assert_eq!(once_more, "0 articles added (0 chunks), 12 unchanged\n");
}

#[tokio::test]
async fn pages_of_a_sitemap_are_added() {
    let (site, folder) = (FakeEndpoint::start_permissive().await, folder(&[]));
    let url = site.url();
    let base = url.clone();
    site.respond_with(move |request| match &*request.path {
        "/sitemap.xml" => page("application/xml", &format!("<sitemapindex><loc>{base}/pages.xml</loc></sitemapindex>")),
        "/pages.xml" => {
            let locations = ["tea", "missing"].map(|path| format!("<url><loc>{base}/{path}</loc></url>")).concat();
            page("application/xml", &format!("<urlset>{locations}</urlset>"))
        }
        "/tea" => page("text/html; charset=utf-8", "<title>Tea</title><p>Green tea."),
        _ => Reply::status(404),
    });
    let private = [("ALLOW_PRIVATE_TOOLS", "yes")];
    let added = articles(&folder, &["add", &format!("{url}/sitemap.xml")], &private).await;
    assert_eq!(added.exit_code, Some(1), "{}", added.errors);
    assert!(added.errors.contains("/missing: status 404\n"), "{}", added.errors);
    assert_eq!(titles(&folder, &[]).await, ["Tea"]);
    let found = articles(&folder, &["search", "green"], &[]).await.output;
    assert!(found.starts_with("1. Tea (http://127.0.0.1:N/tea)\n"), "{found}");
    let refused = articles(&folder, &["add", &format!("{url}/tea")], &[]).await;
    assert_eq!(refused.exit_code, Some(2), "private addresses need the setting: {}", refused.errors);
}

fn page(kind: &str, text: &str) -> Reply {
    Reply::status(200).header("content-type", kind).bytes(text)
}
