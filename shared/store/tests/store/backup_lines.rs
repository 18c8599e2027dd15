//! Foreign and incomplete files are reported before anything is written.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::new_id;
use serde_json::Value;
use store::{BackupFileError, Store};

use crate::backup::{backup_lines, check_backup};
use crate::support::{alice, answer, at, config, database, first_turn, store_at};

async fn backup_of_store() -> Vec<String> {
    let store: Store = store_at(&database().await).await;
    let lease = store.conversations.begin(&alice(), &first_turn("问"), at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer("好"), at(1)).await.unwrap();
    backup_lines(&store).await
}

/// Returns the lines with one of them changed.
fn changed_lines(lines: &[String], at: usize, change: impl Fn(&mut Value)) -> Vec<String> {
    let mut lines = lines.to_vec();
    let mut line = serde_json::from_str(&lines[at]).unwrap();
    change(&mut line);
    lines[at] = line.to_string();
    lines
}

#[tokio::test]
async fn backup_has_header_and_final_count() {
    let lines = backup_of_store().await;
    assert_eq!(lines[0], r#"{"backup":{"form":1,"table":"data","at":"2027-01-15T08:00:05.000Z","shape":1}}"#);
    assert!(lines[1].starts_with(r#"{"Item":{"#) && lines[1].contains(r#""seq":{"N":"2"}"#), "{}", lines[1]);
    assert!(lines[4].starts_with(r#"{"end":{"items":3,"sha256":""#), "{}", lines[4]);
    assert_eq!(check_backup(&lines).unwrap().items, 3);
}

#[tokio::test]
async fn truncated_or_damaged_backup_is_reported() {
    let lines = backup_of_store().await;
    for end in 1..lines.len() {
        assert_eq!(check_backup(&lines[..end]), Err(BackupFileError::Truncated));
        let mut torn = lines[..=end].to_vec();
        torn[end] = torn[end].chars().take(torn[end].chars().count() / 2).collect();
        assert_eq!(check_backup(&torn), Err(BackupFileError::Truncated));
    }
    let without: Vec<String> = [&lines[..2], &lines[3..]].concat();
    assert_eq!(check_backup(&without), Err(BackupFileError::Damaged));
    let other: Vec<String> = lines.iter().map(|line| line.replace('好', "坏")).collect();
    assert_eq!(check_backup(&other), Err(BackupFileError::Damaged));
    assert_eq!(
        check_backup(&[lines.clone(), lines].concat()),
        Err(BackupFileError::BadLine(6, "behind the last line"))
    );
}

#[tokio::test]
async fn foreign_file_is_reported() {
    for text in
        ["", "\u{1f}\u{8b}", "{}", r#"{"kind":"export","form":1}"#, r#"{"Item":{}}"#, r#"{"backup":{"form":1}}"#]
    {
        assert_eq!(check_backup(&[text.to_owned()]), Err(BackupFileError::NotABackup), "{text}");
    }
    assert_eq!(check_backup(&[]), Err(BackupFileError::NotABackup));
}

#[tokio::test]
async fn newer_backup_is_reported() {
    let lines = backup_of_store().await;
    for header in [r#"{"backup":{"form":2,"of":[]}}"#, r#"{"backup":{"form":2,"table":"t","at":"","shape":9}}"#] {
        assert_eq!(check_backup(&[header.to_owned()]), Err(BackupFileError::NewerFormat(2)));
    }
    let newer = |item: &mut Value| item["Item"]["v"]["N"] = "2".into();
    assert_eq!(check_backup(&changed_lines(&lines, 2, newer)), Err(BackupFileError::NewerItem(3)));
    let readable = |item: &mut Value| {
        newer(item);
        item["Item"]["minReader"] = serde_json::json!({ "N": "1" });
    };
    assert_eq!(
        check_backup(&changed_lines(&lines, 2, readable)),
        Err(BackupFileError::Damaged),
        "but for its sum it would do"
    );
}

#[tokio::test]
async fn unknown_items_are_backed_up_and_counted() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    for (pk, v) in [("K", "1"), ("K", "2"), ("X", "1"), ("Y", "x")] {
        let number = |text: &str| AttributeValue::N(text.to_owned());
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let client = Client::new(&config(&endpoint));
        let put = client.put_item().table_name("data").item("pk", text(pk)).item("sk", text(&new_id()));
        let put = if v == "x" { put } else { put.item("v", number(v)) };
        put.send().await.unwrap();
    }
    let mut backup = store.backup(at(5));
    while backup.next().await.unwrap().is_some() {}
    assert_eq!((backup.items(), backup.unknown(), backup.table()), (4, 3, "data"));
}

#[tokio::test]
async fn foreign_items_are_reported() {
    let lines = backup_of_store().await;
    let foreign = Err(BackupFileError::BadLine(3, "no item of the data table of Lambda Chat"));
    let set = |name: &'static str, value: &'static str| move |item: &mut Value| item["Item"][name]["S"] = value.into();
    assert_eq!(check_backup(&changed_lines(&lines, 2, set("pk", "SC#x"))), foreign);
    assert_eq!(check_backup(&changed_lines(&lines, 2, set("sk", "X"))), foreign);
    let seqless = changed_lines(&lines, 1, |item| item["Item"]["seq"] = serde_json::json!({ "S": "2" }));
    assert_eq!(check_backup(&seqless), Err(BackupFileError::BadLine(2, "a conversation that cannot be read")));
    assert_eq!(
        check_backup(&changed_lines(&lines, 2, |item| item["Item"]["v"] = Value::Null)),
        Err(BackupFileError::BadLine(3, "no item"))
    );
    let mut alone = lines.clone();
    alone.remove(1);
    let parted = BackupFileError::BadLine(2, "an item of a conversation that does not stand before it");
    assert_eq!(check_backup(&alone), Err(parted));
    let mut more = lines;
    more.insert(1, r#"{"again":1}"#.to_owned());
    assert_eq!(check_backup(&more), Err(BackupFileError::BadLine(2, "about items that are not there")));
    more[1] = r#"{"kind":"day"}"#.to_owned();
    assert_eq!(check_backup(&more), Err(BackupFileError::BadLine(2, "no line of a backup")));
    let versionless = |item: &mut Value| {
        item["Item"].as_object_mut().unwrap().remove("v");
    };
    more.remove(1);
    assert_eq!(check_backup(&changed_lines(&more, 2, versionless)), foreign);
}
