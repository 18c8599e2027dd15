//! Clients that use up connections or send requests without end, while another one wants an answer.

use super::*;

/// More connections than a server with [`scarce_connections`] has.
const ATTACKERS: usize = 30;

fn scarce_connections() -> ConnectionLimits {
    let connections = Limits { total: 20, per_address: 20, local: 20 };
    ConnectionLimits { connections, ..ConnectionLimits::of_this_process() }
}

/// A page that no socket buffer holds, a small answer, and an endless stream.
fn routes() -> Router {
    Router::new().route("/page", get(|| async { vec![b'x'; 16 << 20] })).route("/", get(|| async { "a." })).route(
        "/stream",
        get(|| async { Body::from_stream(futures_util::stream::pending::<Result<&str, Infallible>>()) }),
    )
}

/// Sends a request on a new connection until it is answered; fails with the first other response.
async fn assert_served(address: SocketAddr, attack: &str) {
    for _ in 0..20 {
        let text = timeout(TEST_TIMEOUT, send_get_and_read(address)).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{attack}: {text:?}");
    }
}

#[tokio::test]
async fn finished_answers_never_block_others() {
    let page = "GET /page HTTP/1.1\r\nhost: here\r\n\r\n";
    for (attack, sent, reads) in [
        ("a page that is not read", page.to_owned(), 0),
        ("a page that is read in part", page.to_owned(), 100_000),
        ("a small answer, then half a head", "GET / HTTP/1.1\r\nhost: here\r\n\r\nGET / HT".to_owned(), 0),
        ("a page and half a head", format!("{page}GET / HT"), 100_000),
    ] {
        let (address, _stop, _serving) = start_server_with(routes(), scarce_connections()).await;
        let mut held = Vec::new();
        for _ in 0..2 * ATTACKERS {
            let mut client = connect_and_send(address, &sent).await;
            // Its connection may have been closed for a later one.
            let _read = client.read_exact(&mut vec![0; reads]).await;
            held.push(client);
        }
        assert_served(address, attack).await;
    }
}

#[tokio::test]
async fn pipelined_requests_do_not_keep_their_connections() {
    let (address, _stop, _serving) = start_server_with(routes(), scarce_connections()).await;
    let attackers: Vec<_> = (0..ATTACKERS)
        .map(|_| {
            tokio::spawn(async move {
                loop {
                    let client = connect_and_send(address, &"GET / HTTP/1.1\r\nhost: here\r\n\r\n".repeat(20)).await;
                    let (mut reads, mut writes) = client.into_split();
                    let sending = async {
                        while writes
                            .write_all("GET / HTTP/1.1\r\nhost: here\r\n\r\n".repeat(20).as_bytes())
                            .await
                            .is_ok()
                        {}
                    };
                    let mut read = vec![0; 16_384];
                    let reading = async { while reads.read(&mut read).await.is_ok_and(|length| length > 0) {} };
                    tokio::join!(sending, reading);
                }
            })
        })
        .collect();
    assert_served(address, "pipelining").await;
    attackers.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn streams_keep_their_connections() {
    let (address, _stop, _serving) = start_server_with(routes(), scarce_connections()).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = send_get(address, "/stream").await;
        read_until(&mut stream, "\r\n\r\n").await;
        streams.push(stream);
    }
    let text = timeout(TEST_TIMEOUT, send_get_and_read(address)).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 503"), "{text}");
    for stream in &mut streams {
        let read = timeout(Duration::from_millis(1), stream.read(&mut [0; 16])).await;
        assert!(read.is_err(), "no stream is closed");
    }
}

/// One connection sends requests without end; between two of its answers everything else is served once.
#[tokio::test]
async fn other_tasks_run_between_pipelined_requests() {
    let (answered, seen) = (Arc::new(std::sync::atomic::AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counts, wakes) = (Arc::clone(&answered), Arc::clone(&seen));
    let count = get(move || async move {
        counts.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        wakes.notify_one();
        "a."
    });
    let (address, _stop, _serving) = start_server(Router::new().route("/", count)).await;
    let requests = "GET / HTTP/1.1\r\nhost: here\r\n\r\n".repeat(200);
    let _client = connect_and_send(address, &requests).await;
    // This task is woken by each answer; it sees each count if it runs before the next one.
    for expected in 1..=200 {
        timeout(TEST_TIMEOUT, seen.notified()).await.unwrap();
        assert_eq!(answered.load(std::sync::atomic::Ordering::SeqCst), expected);
    }
}
