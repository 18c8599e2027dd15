use tempfile::TempDir;

use crate::program::{Run, run};

struct Store(TempDir);

impl Store {
    /// A store with a key for each of these names.
    async fn with_keys(names: &[&str]) -> Self {
        let store = Self(TempDir::new().unwrap());
        for name in names {
            assert_eq!(store.run(&["keys", "create", "--user", name]).await.exit_code, Some(0));
        }
        store
    }

    async fn run(&self, arguments: &[&str]) -> Run {
        run(&[arguments, &["--data", self.0.path().to_str().unwrap()]].concat(), &[]).await
    }

    /// Writes a list of users, and deletes those.
    async fn delete_list(&self, list: &str, options: &[&str]) -> Run {
        let file = self.0.path().join("list.txt");
        std::fs::write(&file, list).unwrap();
        self.run(&[&["users", "delete", "--from", file.to_str().unwrap()], options].concat()).await
    }
}

#[tokio::test]
async fn f150_dry_run_counts_and_deletes_nothing() {
    let store = Store::with_keys(&["ann", "ann"]).await;
    for _ in 0..2 {
        let run = store.run(&["users", "delete", "ann", "--dry-run"]).await;
        assert_eq!((run.exit_code, run.output.as_str()), (Some(0), "would delete ann: 2 keys\n"), "{}", run.errors);
    }
    // Without a terminal nobody could answer a question, so it is not put.
    let run = store.run(&["users", "delete", "ann"]).await;
    let expected = "deleted ann: 2 keys, 0 conversations, 0 other items\n";
    assert_eq!((run.exit_code, run.output.as_str()), (Some(0), expected), "{}", run.errors);
}

#[tokio::test]
async fn commands_agree_about_user_without_data() {
    let store = Store::with_keys(&["ann"]).await;
    for command in
        [&["users", "export", "bob"] as &[&str], &["users", "delete", "bob"], &["users", "delete", "bob", "--dry-run"]]
    {
        let run = store.run(command).await;
        assert_eq!((run.exit_code, run.output.as_str()), (Some(1), ""), "{command:?}");
        assert_eq!(run.errors, "lambda-chat: nothing is stored about a user bob\n", "{command:?}");
    }
}

#[tokio::test]
async fn f150_list_of_leavers_is_deleted() {
    let store = Store::with_keys(&["ann", "bob", "carl", "dora"]).await;
    let list = "ann\n\n  nobody \r\nkey:bob\nname:carl\n";
    let preview = store.delete_list(list, &["--dry-run"]).await;
    let expected = "would delete ann: 1 key\nnothing of nobody\nwould delete key:bob: 1 key\nnothing of name:carl\n";
    assert_eq!((preview.exit_code, preview.output.as_str()), (Some(1), expected), "{}", preview.errors);
    let deleted = store.delete_list(list, &[]).await;
    let line = |name: &str| format!("deleted {name}: 1 keys, 0 conversations, 0 other items\n");
    let expected = format!("{}nothing of nobody\n{}nothing of name:carl\n", line("ann"), line("key:bob"));
    assert_eq!((deleted.exit_code, deleted.output), (Some(1), expected));
    assert!(
        deleted.errors.ends_with("lambda-chat: nothing is stored about a user nobody, name:carl\n"),
        "{}",
        deleted.errors
    );
    let left = store.run(&["keys", "list"]).await.output;
    assert!(["carl", "dora"].iter().all(|name| left.contains(name)) && !left.contains("ann"), "{left}");
    assert_eq!(store.delete_list("dora\n", &[]).await.exit_code, Some(0));
}

#[tokio::test]
async fn unusable_list_deletes_nobody() {
    let store = Store::with_keys(&["ann"]).await;
    let wrong = store.delete_list("ann\na\tb\n", &[]).await;
    assert_eq!((wrong.exit_code, wrong.output.as_str()), (Some(2), ""));
    assert!(wrong.errors.contains("list.txt: line 2 is not a name"), "{}", wrong.errors);
    let missing = store.run(&["users", "delete", "--from", "missing.txt"]).await;
    assert_eq!(missing.exit_code, Some(1));
    assert!(missing.errors.contains("missing.txt cannot be used: No such file"), "{}", missing.errors);
    assert!(store.run(&["keys", "list"]).await.output.contains("ann"));
}

#[tokio::test]
async fn errors_about_files_have_their_names() {
    let store = Store::with_keys(&["ann"]).await;
    let file = store.0.path().join("list.txt");
    std::fs::write(&file, "").unwrap();
    let out = store.run(&["users", "export", "ann", "--out", file.to_str().unwrap()]).await;
    assert_eq!(out.errors, format!("lambda-chat: {} exists; name a new file\n", file.display()));
    let restored = store.run(&["restore", "missing.sqlite"]).await;
    assert_eq!(restored.exit_code, Some(1));
    assert!(restored.errors.contains("missing.sqlite cannot be used: No such file"), "{}", restored.errors);
}
