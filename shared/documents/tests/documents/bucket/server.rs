use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;

/// How the server answers the reading of an object.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// This status and code, so many times.
    Status(u16, &'static str, usize),
    /// Half of the body, then the connection ends; so many times.
    Cut(usize),
    /// Half of the body, and the rest once the semaphore has a permit.
    Gate(Arc<Semaphore>),
}

/// A server for one bucket, `docs`, as Amazon S3's API reference describes `ListObjectsV2` and `GetObject`.
#[derive(Clone, Default)]
pub(super) struct S3Server(Arc<Mutex<Contents>>);

#[derive(Default)]
struct Contents {
    objects: BTreeMap<String, Object>,
    faults: HashMap<String, Fault>,
    requests: Vec<String>,
    denied: bool,
    page: usize,
}

#[derive(Clone)]
struct Object {
    body: Vec<u8>,
    version: usize,
}

impl S3Server {
    /// Starts a server that lists two objects to a page; returns its address.
    pub(super) async fn start(objects: &[(&str, &[u8])]) -> (Self, String) {
        let server = Self::default();
        server.0.lock().unwrap().page = 2;
        for (key, body) in objects {
            server.put(key, body);
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, address)
    }

    pub(super) fn put(&self, key: &str, body: &[u8]) {
        let mut contents = self.0.lock().unwrap();
        let version = contents.objects.get(key).map_or(1, |object| object.version + 1);
        contents.objects.insert(key.to_owned(), Object { body: body.to_vec(), version });
    }

    pub(super) fn delete(&self, key: &str) {
        self.0.lock().unwrap().objects.remove(key);
    }

    pub(super) fn deny(&self, denied: bool) {
        self.0.lock().unwrap().denied = denied;
    }

    pub(super) fn fail(&self, key: &str, fault: Fault) {
        self.0.lock().unwrap().faults.insert(key.to_owned(), fault);
    }

    pub(super) fn set_page(&self, page: usize) {
        self.0.lock().unwrap().page = page;
    }

    /// The requests since the last call: `list` and the keys that were read, in order.
    pub(super) fn take_requests(&self) -> Vec<String> {
        let mut requests = std::mem::take(&mut self.0.lock().unwrap().requests);
        requests.sort();
        requests
    }
}

async fn answer(
    State(server): State<S3Server>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let authorization = headers.get("authorization").map(|value| value.to_str().unwrap()).unwrap_or_default();
    assert!(authorization.contains("/us-east-1/s3/aws4_request"), "{authorization}");
    assert!(authorization.contains("x-amz-content-sha256"), "{authorization}");
    let path = decode(request.uri().path());
    let key = path.strip_prefix("/docs/").unwrap();
    let mut contents = server.0.lock().unwrap();
    if contents.denied {
        return error(403, "AccessDenied");
    }
    if key.is_empty() {
        contents.requests.push("list".to_owned());
        return contents.list(&query);
    }
    contents.requests.push(key.to_owned());
    contents.read(key, headers["if-match"].to_str().unwrap())
}

impl Contents {
    fn list(&self, query: &HashMap<String, String>) -> Response {
        assert_eq!((query["list-type"].as_str(), query["encoding-type"].as_str()), ("2", "url"));
        let from = query.get("continuation-token").map(|token| token.strip_prefix("t/+=").unwrap().parse().unwrap());
        let from: usize = from.unwrap_or_default();
        let listed: Vec<_> =
            self.objects.iter().filter(|(key, _)| key.starts_with(&query["prefix"])).skip(from).collect();
        let mut page = String::from("<ListBucketResult>");
        for (key, object) in listed.iter().take(self.page) {
            let (key, etag, size) = (encode(key), etag(object), object.body.len());
            let etag = etag.replace('"', "&quot;");
            write!(
                page,
                "<Contents><Key>{key}</Key><LastModified>2026-11-23T06:00:00.000Z</LastModified>\
                 <ETag>{etag}</ETag><Size>{size}</Size></Contents>"
            )
            .unwrap();
        }
        if listed.len() > self.page {
            let next = from + self.page;
            write!(page, "<IsTruncated>true</IsTruncated><NextContinuationToken>t/+={next}</NextContinuationToken>")
                .unwrap();
        } else {
            page.push_str("<IsTruncated>false</IsTruncated>");
        }
        (page + "</ListBucketResult>").into_response()
    }

    fn read(&mut self, key: &str, if_match: &str) -> Response {
        let Some(object) = self.objects.get(key).cloned() else { return error(404, "NoSuchKey") };
        if etag(&object) != if_match {
            return error(412, "PreconditionFailed");
        }
        let (first, rest) = object.body.split_at(object.body.len() / 2);
        let (first, rest) = (Bytes::copy_from_slice(first), Bytes::copy_from_slice(rest));
        let whole = Response::builder().header("content-length", object.body.len());
        match self.faults.get_mut(key) {
            Some(Fault::Status(status, code, times)) if *times > 0 => {
                *times -= 1;
                error(*status, code)
            }
            Some(Fault::Cut(times)) if *times > 0 => {
                *times -= 1;
                let parts = [Ok(first), Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))];
                whole.body(Body::from_stream(stream::iter(parts))).unwrap()
            }
            Some(Fault::Gate(gate)) => {
                let gate = Arc::clone(gate);
                let rest = stream::once(async move {
                    gate.acquire().await.unwrap().forget();
                    Ok(rest)
                });
                let parts = stream::iter([Ok::<_, Infallible>(first)]).chain(rest);
                whole.body(Body::from_stream(parts)).unwrap()
            }
            _ => object.body.into_response(),
        }
    }
}

fn etag(object: &Object) -> String {
    format!("\"{}-{}\"", object.version, object.body.len())
}

fn error(status: u16, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>about docs</Message></Error>");
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

fn decode(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// As S3 does for `encoding-type=url`.
fn encode(text: &str) -> String {
    let encode_byte = |byte: u8| match byte {
        b' ' => "+".to_owned(),
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'*' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode_byte).collect()
}
