//! Connections that fail, are dead, or are reused.

use std::sync::Arc;

use llm::{CallOptions, Delta, Finish, ModelClient, ModelError, Models};
use platform::settings::Settings;
use rcgen::CertifiedKey;
use reqwest::dns::{Name, Resolve, Resolving};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Duration, Instant};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

fn hello() -> (Vec<Delta>, Option<ModelError>) {
    (vec![Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)], None)
}

fn connections(server: &Server) -> Vec<usize> {
    server.requests().iter().map(|request| request.connection).collect()
}

fn client_of(http: platform::transport::Client, base: &str) -> ModelClient {
    let settings = Settings::from_pairs([("OPENAI_BASE_URL", base), ("OPENAI_MODEL", "m")]);
    Models::from_settings(&settings, http).unwrap().default_model().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn f009_refused_connection_is_retried() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let client = client_of(platform::transport::build_client().unwrap(), &format!("http://127.0.0.1:{port}"));
    let begun = Instant::now();
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Unavailable)));
    assert!(begun.elapsed() >= Duration::from_millis(1125), "two waits");
}

struct NoNames;

impl Resolve for NoNames {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err("no such host".into()) })
    }
}

#[expect(clippy::disallowed_methods, reason = "a client whose names lead nowhere")]
#[tokio::test(start_paused = true)]
async fn f009_unresolved_name_is_retried() {
    let nameless =
        || Ok(reqwest::Client::builder().tls_backend_preconfigured(trusting_nobody()).dns_resolver(NoNames).build()?);
    let client = client_of(platform::transport::Client::with_pool_factory(nameless).unwrap(), "http://model.invalid");
    let begun = Instant::now();
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Unavailable)));
    assert!(begun.elapsed() >= Duration::from_millis(1125), "two waits");
}

fn trusting_nobody() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
}

#[tokio::test(start_paused = true)]
async fn f009_untrusted_certificate_is_not_retried() {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let mut accepted = 0;
        while let Ok((socket, _)) = listener.accept().await {
            accepted += 1;
            let refused = acceptor.accept(socket).await.is_err();
            assert!(refused && accepted == 1);
        }
    });
    let client = client_of(platform::transport::build_client().unwrap(), &format!("https://127.0.0.1:{port}"));
    let begun = Instant::now();
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Unavailable)));
    assert!(begun.elapsed().is_zero(), "no wait");
    assert!(!accepting.is_finished());
}

#[tokio::test(start_paused = true)]
async fn f010_hanging_connection_times_out_after_five_seconds() {
    // No connection is accepted, and the queue is full.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let _queued = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    let client = client_of(platform::transport::build_client().unwrap(), &format!("http://{address}"));
    let begun = Instant::now();
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Unavailable)));
    assert_eq!(begun.elapsed().as_secs(), 16, "three times five seconds and the waits between");
}

#[tokio::test(start_paused = true)]
async fn f012_dead_idle_connection_is_replaced_at_once() {
    for death in [Step::Close, Step::Reset] {
        let dead = Answer::default().step(death);
        let server = Server::start([Answer::hello(), dead, Answer::hello()]).await;
        let client = server.client(&[]);
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
        let begun = Instant::now();
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
        assert!(begun.elapsed() < Duration::from_millis(100), "{:?}", begun.elapsed());
        assert_eq!(connections(&server), [0, 0, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn f012_dead_new_connection_counts_as_attempt() {
    for death in [Step::Close, Step::Reset] {
        let server = Server::start([Answer::default().step(death)]).await;
        let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
        assert_eq!(outcome, (vec![], Some(ModelError::Disconnected)));
        assert_eq!(connections(&server), [0, 1, 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn connection_of_complete_reply_is_reused() {
    let server = Server::start([Answer::hello()]).await;
    let client = server.client(&[]);
    for _ in 0..3 {
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
    }
    assert_eq!(connections(&server), [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn dropped_reply_closes_its_connection() {
    let server = Server::start([Answer::stream().text("hello").step(Step::Stall)]).await;
    let mut reply =
        server.client(&[]).reply(&hello_prompt(), CallOptions::with_deadline(far_deadline())).await.unwrap();
    assert_eq!(reply.next().await, Some(Ok(Delta::Text("hello".to_owned()))));
    drop(reply);
    server.disconnected().await;
}
