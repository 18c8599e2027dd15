use std::path::Path;
use std::time::UNIX_EPOCH;

use tempfile::TempDir;

use super::*;
use crate::users::{Delete, UsersCommand};
use crate::{Data, Options, Server};

fn at(days: u32) -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(500_000) + DAY * days
}

#[test]
fn dates_are_in_utc_to_the_second() {
    let at = |nanoseconds| date(at(0) + Duration::from_nanos(nanoseconds));
    assert_eq!([at(0), at(999_999_999)], ["2027-01-15T08:00:00Z"; 2]);
    assert_eq!(date(UNIX_EPOCH - Duration::from_millis(500)), "1969-12-31T23:59:59Z");
    assert_eq!(date(UNIX_EPOCH + DAY * 3_000_000), "?");
}

fn store_location(folder: &Path) -> StoreLocation {
    StoreLocation { data: folder.to_owned(), aws: false }
}

async fn create(folder: &Path, user: &str, admin: bool, expires: Option<u32>) -> CommandOutput {
    let create = Create { user: user.to_owned(), admin, expires, groups: Vec::new(), location: store_location(folder) };
    KeysCommand::Create(create).run(Settings::default(), at(0)).await.unwrap()
}

async fn list(folder: &Path, now: SystemTime) -> String {
    KeysCommand::List { location: store_location(folder) }.run(Settings::default(), now).await.unwrap().result
}

async fn revoke(folder: &Path, id: &str) -> Result<CommandOutput, CommandError> {
    KeysCommand::Revoke { id: id.to_owned(), location: store_location(folder) }.run(Settings::default(), at(1)).await
}

fn id(key: &CommandOutput) -> String {
    ApiKey::parse(&key.result).unwrap().id().to_owned()
}

#[tokio::test]
async fn f118_key_is_shown_once_and_listed_without_secret() {
    let folder = TempDir::new().unwrap();
    assert_eq!(list(folder.path(), at(0)).await, "There are no keys.");
    let ada = create(folder.path(), "ada", true, None).await;
    let bob = create(folder.path(), "bob", false, Some(2)).await;
    assert!(ada.note.contains(&id(&ada)) && !ada.note.contains(&ada.result));
    revoke(folder.path(), &id(&ada)).await.unwrap();
    let expected = format!(
        "ID                          STATE    CREATED               EXPIRES               USER\n\
         {}  revoked  2027-01-15T08:00:00Z  -                     ada (administrator)\n\
         {}  expired  2027-01-15T08:00:00Z  2027-01-17T08:00:00Z  bob",
        id(&ada),
        id(&bob)
    );
    assert_eq!(list(folder.path(), at(2)).await, expected);
}

#[tokio::test]
async fn groups_are_listed_with_their_key() {
    let folder = TempDir::new().unwrap();
    let create = |groups: &[&str]| Create {
        user: "ada".to_owned(),
        admin: false,
        expires: None,
        groups: groups.iter().map(|name| (*name).to_owned()).collect(),
        location: store_location(folder.path()),
    };
    let run = async |create| KeysCommand::Create(create).run(Settings::default(), at(0)).await;
    run(create(&["sales\u{7}", "legal"])).await.unwrap();
    assert!(list(folder.path(), at(0)).await.ends_with("  ada [legal, sales\\u{7}]"));
    assert_eq!(run(create(&[" legal"])).await.unwrap_err().exit_code, 2);
}

#[tokio::test]
async fn unknown_key_cannot_be_revoked() {
    let folder = TempDir::new().unwrap();
    for id in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "ada"] {
        assert_eq!(revoke(folder.path(), id).await.unwrap_err().exit_code, 1);
    }
}

#[tokio::test]
async fn commands_use_the_store_of_a_running_server() {
    let folder = TempDir::new().unwrap();
    // A leftover of a server of an earlier version.
    let address = folder.path().join("dynamodb.address");
    std::fs::write(&address, "127.0.0.1:1").unwrap();
    let options = Options {
        host: std::net::Ipv4Addr::LOCALHOST.into(),
        port: 0,
        data: Data::Folder(folder.path().to_owned()),
        dynamodb: None,
        settings: Settings::from_pairs([("AUTH", "api_key")]),
    };
    let server = Server::start(options).await.unwrap();
    assert!(!address.exists());
    let key = create(folder.path(), "ada", false, None).await;
    assert!(list(folder.path(), at(0)).await.contains(&id(&key)));
    server.shut_down().await;
    assert!(list(folder.path(), at(0)).await.contains(&id(&key)), "it is in the file");
}

#[tokio::test]
async fn f150_delete_removes_user_and_keys_then_finds_none() {
    let folder = TempDir::new().unwrap();
    create(folder.path(), "ada", false, None).await;
    create(folder.path(), "bob", false, None).await;
    let delete = |name: &str, issuer: Option<&str>| {
        let (name, issuer, location) =
            (Some(name.to_owned()), issuer.map(str::to_owned), store_location(folder.path()));
        let delete = Delete { name, from: None, issuer, dry_run: false, yes: true, location };
        UsersCommand::Delete(delete).run(Settings::default())
    };
    assert_eq!(delete("ada", Some("https://id.example")).await.unwrap_err().exit_code, 1);
    delete("ada", None).await.unwrap();
    assert_eq!(delete("ada", None).await.unwrap_err().exit_code, 1);
    let left = list(folder.path(), at(0)).await;
    assert!(left.contains("bob") && !left.contains("ada"));
}

#[tokio::test]
async fn export_writes_user_data_to_new_file() {
    let folder = TempDir::new().unwrap();
    let key = create(folder.path(), "ada", false, None).await;
    let out = folder.path().join("ada.jsonl");
    let export = |name: &str| {
        let (name, out) = (name.to_owned(), Some(out.clone()));
        UsersCommand::Export { name, issuer: None, out, location: store_location(folder.path()) }
            .run(Settings::default())
    };
    assert_eq!(export("nobody").await.unwrap_err().exit_code, 1);
    assert!(!out.exists(), "nothing is written of a user who has nothing");
    export("ada").await.unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    let kinds: Vec<bool> = ["export", "key", "end"]
        .iter()
        .zip(text.lines())
        .map(|(kind, line)| line.starts_with(&format!("{{\"kind\":\"{kind}\"")))
        .collect();
    assert_eq!((kinds, text.lines().count()), (vec![true; 3], 3), "{text}");
    assert!(text.contains(&id(&key)) && !text.contains(&key.result));
    let error = export("ada").await.unwrap_err();
    assert_eq!((error.exit_code, error.to_string()), (1, format!("{} exists; name a new file", out.display())));
}

#[tokio::test]
async fn exit_code_separates_wrong_use_from_store_failure() {
    let folder = TempDir::new().unwrap();
    let list = |settings: &[(&str, &str)], aws: bool| {
        let command = KeysCommand::List { location: StoreLocation { data: folder.path().to_owned(), aws } };
        command.run(Settings::from_pairs(settings.iter().copied()), at(0))
    };
    let code = |outcome: Result<CommandOutput, CommandError>| outcome.unwrap_err().exit_code;
    assert_eq!(code(list(&[("DATA_TABLE", "a b")], false).await), 2);
    assert_eq!(code(list(&[], true).await), 2, "AWS needs a region");
    assert_eq!(code(list(&[("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")], false).await), 1);
}

#[tokio::test]
async fn commands_for_keys_and_users_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    let key = create(folder.path(), "ann", true, None).await;
    revoke(folder.path(), &id(&key)).await.unwrap();
    assert!(revoke(folder.path(), "none").await.is_err());
    let (name, location) = (|| "ann".to_owned(), || store_location(folder.path()));
    let out = Some(folder.path().join("ann.jsonl"));
    let export = UsersCommand::Export { name: name(), issuer: None, out, location: location() };
    export.run(Settings::default()).await.unwrap();
    let delete = || {
        let name = Some(name());
        UsersCommand::Delete(Delete { name, from: None, issuer: None, dry_run: false, yes: true, location: location() })
    };
    delete().run(Settings::default()).await.unwrap();
    assert!(delete().run(Settings::default()).await.is_err(), "nothing is left");
    let opened = location().open(Settings::default()).await.unwrap();
    let today = store::Day::of(SystemTime::now());
    let entries = opened.store.audit.list(today.before(1), today, None).await.unwrap().items;
    let found = entries.iter().map(|listed| {
        assert_eq!((listed.entry.caller.as_str(), listed.entry.status), ("cli", None));
        (listed.entry.action.as_str(), listed.entry.target.as_deref().unwrap())
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    let expected = [
        ("key.create", id(&key)),
        ("key.revoke", id(&key)),
        ("user.erase", "key:ann".to_owned()),
        ("user.export", "key:ann".to_owned()),
        ("user.export", "name:ann".to_owned()),
    ];
    assert_eq!(found, expected.each_ref().map(|(action, target)| (*action, target.as_str())));
}
