//! A full disk and a damaged file, with the program as its own process.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::running::{RunningServer, chat, exchange};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Stops a server gracefully, so that all data is in the main file.
fn stop(mut server: RunningServer) -> String {
    let id = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    server.wait()
}

fn start(data: &Path) -> RunningServer {
    RunningServer::start(&["--data", data.to_str().unwrap()], &[("CHAT_RATE_LIMIT", "100000/60s")])
}

/// Counts the lines of a log that contain a text.
fn count(log: &str, text: &str) -> usize {
    log.lines().filter(|line| line.contains(text)).count()
}

/// Overwrites all but the beginning of a file.
fn damage(path: &Path) {
    let mut file = File::options().read(true).write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    let kept = 16 * 4096;
    file.seek(SeekFrom::Start(kept)).unwrap();
    std::io::copy(&mut std::io::repeat(0xA5).take(length - kept), &mut file).unwrap();
}

#[test]
fn damaged_file_is_reported_once() {
    let folder = TempDir::new().unwrap();
    let server = start(folder.path());
    for _ in 0..4 {
        assert_eq!(chat(server.address, &"words ".repeat(2000)).status, 200);
    }
    stop(server);
    damage(&folder.path().join("dynamodb.sqlite"));
    let server = start(folder.path());
    let answers: Vec<_> = (0..4).map(|_| chat(server.address, "hello")).collect();
    for answer in &answers {
        assert!(answer.body.contains(r#""code":"storage_damaged""#), "{answer:?}");
        assert!(answer.status == 500 && answer.body.contains(r#""retryable":false"#), "{answer:?}");
    }
    let log = server.kill();
    assert_eq!(count(&log, "the database file is damaged"), 1, "{log}");
    assert_eq!((count(&log, "connection_poisoning"), count(&log, "the storage failed")), (0, 0), "{log}");
}

/// A small file system, unmounted when dropped; `None` if this user may not mount one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path, mebibytes: u32) -> Option<Self> {
        let path = folder.join("disk");
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m,mode=700"), "tmpfs"])
            .arg(&path)
            .output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Fills a disk with a file, which is returned.
fn fill(disk: &Path) -> PathBuf {
    let filler = disk.join("filler");
    let mut file = File::create(&filler).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    filler
}

#[test]
fn full_disk_is_reported_once_and_recovers() {
    let folder = TempDir::new().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), 6) else {
        eprintln!("skipped: only root can make a small disk");
        return;
    };
    let data = disk.0.join("data");
    let server = start(&data);
    assert_eq!(chat(server.address, "before").status, 200);
    let filler = fill(&disk.0);
    let refused = (0..200).map(|_| chat(server.address, &"words ".repeat(2000))).find(|answer| answer.status != 200);
    let refused = refused.unwrap_or_else(|| panic!("the disk is full"));
    assert!(refused.status == 507 && refused.body.contains(r#""code":"storage_full""#), "{refused:?}");
    for _ in 0..5 {
        assert_eq!(chat(server.address, &"words ".repeat(2000)).status, 507);
        assert!(conversations(server.address).contains("before"), "what is there can be read");
    }
    fs::remove_file(&filler).unwrap();
    assert_eq!(chat(server.address, "after").status, 200);
    let log = server.kill();
    assert_eq!(count(&log, "the disk of the database is full"), 1, "{log}");
    assert_eq!(count(&log, "connection_poisoning"), 0, "{log}");
    let server = start(&data);
    let listed = conversations(server.address);
    assert!(listed.contains("before") && listed.contains("after"), "{listed}");
}

#[test]
fn conversations_can_be_deleted_on_a_full_disk() {
    let folder = TempDir::new().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), 24) else {
        eprintln!("skipped: only root can make a small disk");
        return;
    };
    let server = start(&disk.0.join("data"));
    let long = "words ".repeat(2000);
    for _ in 0..12 {
        assert_eq!(chat(server.address, &long).status, 200);
    }
    fill(&disk.0);
    let full = (0..200).map(|_| chat(server.address, &long)).find(|answer| answer.status != 200);
    assert_eq!(full.unwrap().status, 507);
    for id in listed(server.address).iter().take(10) {
        let head = format!("DELETE /api/conversations/{id} HTTP/1.1\nhost: {}", server.address);
        let deleted = exchange(server.address, &head, "");
        assert_eq!(deleted.status, 204, "{deleted:?}");
    }
    for _ in 0..5 {
        assert_eq!(chat(server.address, &long).status, 200, "there is space again");
    }
    let printed = server.kill();
    assert_eq!(count(&printed, "the disk of the database is full"), 1, "{printed}");
    let server = start(&disk.0.join("data"));
    assert!(!listed(server.address).is_empty());
}

/// The ids of the first conversations.
fn listed(address: SocketAddr) -> Vec<String> {
    let body = conversations(address);
    body.split(r#""id":""#).skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect()
}

fn conversations(address: SocketAddr) -> String {
    exchange(address, &format!("GET /api/conversations HTTP/1.1\nhost: {address}"), "").body
}
