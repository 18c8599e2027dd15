use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{ApiResponse, Client, with_timeout};

/// Requests as raw bytes, which an HTTP client would not send: malformed paths, foreign hosts, no content type.
impl Client {
    /// Sends a request line and headers (each ended by CRLF) and a body, and reads the response to its end.
    ///
    /// `host`, `connection: close` and `content-length` are added unless `head` names them.
    pub async fn send_raw(&self, head: &str, body: &[u8]) -> ApiResponse {
        let authority = self.base().trim_start_matches("http://").to_owned();
        let lower = head.to_ascii_lowercase();
        let is_given = |name: &str| lower.contains(&format!("\n{name}:"));
        let added = [
            ("host", authority.clone()),
            ("connection", "close".to_owned()),
            ("content-length", body.len().to_string()),
        ];
        let added =
            added.iter().filter(|(name, _)| !is_given(name)).map(|(name, value)| format!("{name}: {value}\r\n"));
        let request = added.fold(head.to_owned(), |request, line| request + &line);
        let bytes = [request.as_bytes(), b"\r\n", body].concat();
        parse_response(&with_timeout("a raw answer", exchange(&authority, &bytes)).await, head)
    }

    /// Sends a request line, headers that name `transfer-encoding: chunked`, and a body that is chunked already.
    pub async fn send_raw_chunked(&self, head: &str, chunks: &str) -> ApiResponse {
        let authority = self.base().trim_start_matches("http://").to_owned();
        let request = format!("{head}host: {authority}\r\nconnection: close\r\n\r\n{chunks}0\r\n\r\n");
        parse_response(&with_timeout("a raw answer", exchange(&authority, request.as_bytes())).await, head)
    }

    /// Sends a `GET` request with this path unchanged and one additional header.
    pub async fn get_raw(&self, path: &str, header: &str) -> ApiResponse {
        let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
        self.send_raw(&format!("GET {path} HTTP/1.1\r\n{header}"), b"").await
    }
}

async fn exchange(authority: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(authority).await.expect("the product listens");
    // A server may respond and close before it has read all of a body that it rejects.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// Parses the response to a request that begins with `request`.
fn parse_response(bytes: &[u8], request: &str) -> ApiResponse {
    let mut line = request.split(' ');
    let (method, target) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("not an HTTP answer: {:?}", String::from_utf8_lossy(bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).expect("heads are ASCII");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let rest = &bytes[end + 4..];
    let chunked = headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") && method != "HEAD";
    let body = if chunked { decode_chunked(rest) } else { rest.to_vec() };
    let answer = ApiResponse { status: status.expect("a status line has a code"), headers, body };
    answer.validate(method, target)
}

fn decode_chunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let size = size.expect("a chunk begins with its size");
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
        if size == 0 {
            break;
        }
    }
    body
}
