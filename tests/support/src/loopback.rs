use axum::Router;
use tokio::net::TcpListener;

/// Serves a router on a free port of loopback; returns its URL.
pub async fn serve_router(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
