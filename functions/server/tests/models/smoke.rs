use support::{FakeEndpoint, Reply};

use crate::program::run;

#[tokio::test]
async fn health_follows_the_status_of_the_server() {
    let server = FakeEndpoint::start_permissive().await;
    let url = server.url();
    server.respond_with(|request| Reply::status(if request.path == "/healthz" { 200 } else { 404 }));
    let healthy = run(&["health", &url], &[]).await;
    assert_eq!((healthy.exit_code, healthy.output.as_str()), (Some(0), "ok\n"), "{}", healthy.errors);
    server.respond_with(|_| Reply::status(503));
    let broken = run(&["health", &url], &[]).await;
    assert_eq!((broken.exit_code, broken.output.as_str()), (Some(1), ""));
    assert_eq!(broken.errors, "lambda-chat: http://127.0.0.1:N: status 503\n");
}
