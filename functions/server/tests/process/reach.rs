//! Access to a running server by pages of other origins, other users of the machine and other machines: every port on
//! which its process listens, and every file that it writes.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::running::{Answer, RunningServer, chat, exchange};
use tempfile::TempDir;

/// `nobody` on every Linux.
const NOBODY: u32 = 65534;

/// A text that only the database's answers contain.
const TABLE: &str = "lambda-chat-data";

/// Returns every address on which a process listens.
fn listening_addresses(process: u32) -> Vec<SocketAddr> {
    let folder = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let links = folder.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let own: HashSet<String> =
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    ["tcp", "tcp6"]
        .iter()
        .flat_map(|kind| rows(process, kind))
        .filter(|(_, inode)| own.contains(inode))
        .map(|row| row.0)
        .collect()
}

/// Returns the listening sockets of a kind in the process's network: address and inode.
fn rows(process: u32, kind: &str) -> Vec<(SocketAddr, String)> {
    const LISTENS: &str = "0A";
    let table = fs::read_to_string(format!("/proc/{process}/net/{kind}")).unwrap_or_default();
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == LISTENS).map(|row| (address(row[1]), row[9].to_owned())).collect()
}

/// Parses an address of `/proc/net`: 32-bit groups in the machine's byte order, in hexadecimal.
fn address(text: &str) -> SocketAddr {
    let (address, port) = text.split_once(':').unwrap();
    let octets: Vec<u8> = (0..address.len() / 8)
        .flat_map(|at| u32::from_str_radix(&address[at * 8..at * 8 + 8], 16).unwrap().to_ne_bytes())
        .collect();
    let ip = match <[u8; 4]>::try_from(octets.as_slice()) {
        Ok(bytes) => IpAddr::V4(Ipv4Addr::from(bytes)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(octets.as_slice()).unwrap())),
    };
    SocketAddr::new(ip, u16::from_str_radix(port, 16).unwrap())
}

/// Sends a `ListTables` request as the SDK does, with additional header lines.
fn request_tables(address: SocketAddr, host: &str, more: &str) -> Answer {
    let head = format!(
        "POST / HTTP/1.1\nhost: {host}\ncontent-type: application/x-amz-json-1.0\n\
         x-amz-target: DynamoDB_20120810.ListTables\nx-amz-date: 20260101T000000Z\n\
         authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=0\n{more}"
    );
    exchange(address, &head, "{}")
}

/// Asserts that no request that a page can make a browser send gets an answer that is readable or names the tables.
fn assert_pages_are_rejected(address: SocketAddr) {
    let own = address.to_string();
    let pages = ["http://evil.example", "http://127.0.0.1:1", "null", &format!("http://{own}")];
    for origin in pages {
        let preflight = format!(
            "OPTIONS / HTTP/1.1\nhost: {own}\norigin: {origin}\naccess-control-request-method: POST\n\
             access-control-request-headers: x-amz-target,content-type,authorization,x-amz-date\n\
             access-control-request-private-network: true"
        );
        let answers = [
            exchange(address, &preflight, ""),
            request_tables(address, &own, &format!("origin: {origin}")),
            request_tables(address, &own, &format!("origin: {origin}\nsec-fetch-site: cross-site")),
        ];
        for answer in answers {
            assert!(!answer.head.contains("access-control-allow"), "{address} {origin}: {answer:?}");
            assert!(!answer.body.contains(TABLE), "{address} {origin}: {answer:?}");
        }
    }
    for host in ["evil.example", &format!("evil.example:{}", address.port()), "evil.example@127.0.0.1", "[localhost]:1"]
    {
        assert!(!request_tables(address, host, "").body.contains(TABLE), "{address} {host}");
    }
    assert!(!request_tables(address, &own, "host: evil.example").body.contains(TABLE), "{address}: two hosts");
}

/// Arguments and settings of a server.
type Mode<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

#[test]
fn f144_pages_cannot_reach_database_on_any_port() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().to_str().unwrap();
    let database = free_port().to_string();
    let modes: [Mode<'_>; 4] = [
        (&["--ephemeral"], &[]),
        (&["--data", data], &[]),
        (&["--ephemeral"], &[("AUTH", "api_key")]),
        (&["--ephemeral", "--dynamodb", &database], &[]),
    ];
    for (arguments, settings) in modes {
        let server = RunningServer::start(arguments, settings);
        let addresses = listening_addresses(server.id());
        assert!(addresses.contains(&server.address), "{addresses:?}");
        for address in &addresses {
            assert!(address.ip().is_loopback(), "{address}");
            assert_pages_are_rejected(*address);
        }
        let open: Vec<_> = addresses
            .iter()
            .map(|address| (address.to_string(), request_tables(*address, &address.to_string(), "")))
            .filter(|(_, answer)| answer.body.contains(TABLE))
            .map(|(address, _)| address)
            .collect();
        let is_exposed = arguments.contains(&"--dynamodb");
        assert_eq!(open, if is_exposed { vec![database.clone()] } else { Vec::new() }, "{arguments:?}");
        let warns = server.banner.contains(&format!("OPEN at http://{database}"));
        assert_eq!(warns, is_exposed, "{}", server.banner);
    }
}

fn free_port() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Every file under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn files_in_a_shared_folder_are_private() {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let data = folder.path().to_str().unwrap();
    for _ in 0..2 {
        let server = RunningServer::start(&["--data", data], &[]);
        assert_eq!(chat(server.address, "canary").status, 200);
        assert!(server.banner.contains("other users have access to"), "{}", server.banner);
        let files = files(folder.path());
        assert!(files.iter().any(|file| file.ends_with("dynamodb.sqlite-wal")), "{files:?}");
        for file in files {
            let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.display());
            // Set the mode of an earlier version, for the second round.
            if file.extension().is_some_and(|name| name != "sock") {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            }
        }
    }
}

/// Environment variable with the data folder, for the process that this test starts as another user.
const DATA_VARIABLE: &str = "REACH_TRIES";

/// Only root can become another user; without root, only the modes are tested, above.
#[test]
fn other_user_of_the_machine_has_no_access() {
    if let Some(data) = std::env::var_os(DATA_VARIABLE) {
        return try_everything(Path::new(&data));
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can try as another user");
        return;
    }
    let folder = TempDir::new().unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let (data, program) = (folder.path().join("data"), folder.path().join("test"));
    fs::create_dir(&data).unwrap();
    open(folder.path());
    open(&data);
    let server = RunningServer::start(&["--data", data.to_str().unwrap()], &[]);
    assert_eq!(chat(server.address, "canary").status, 200);
    // Even if the socket's mode is wrong, the server rejects other users.
    let socket = data.join("private/dynamodb.sock");
    open(&data.join("private"));
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut child = Command::new(&program);
    child.args(["--exact", "reach::other_user_of_the_machine_has_no_access"]).env(DATA_VARIABLE, &data);
    let output = child.uid(NOBODY).gid(NOBODY).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert!(server.kill().contains("another user tried to reach the database"));
}

/// Runs as the other user.
fn try_everything(data: &Path) {
    assert_eq!(rustix::process::geteuid().as_raw(), NOBODY);
    assert!(fs::write(data.join("dynamodb.sqlite-new"), "").is_err());
    for name in ["dynamodb.sqlite", "dynamodb.sqlite-wal", "dynamodb.sqlite-shm", "lock"] {
        assert!(fs::File::open(data.join(name)).is_err(), "{name}");
    }
    let mut socket = UnixStream::connect(data.join("private/dynamodb.sock")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n\
                   x-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 2\r\n\r\n{}";
    let _may_be_closed = socket.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _may_be_reset = socket.read_to_end(&mut answer);
    assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
}
