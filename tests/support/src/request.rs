use std::collections::BTreeMap;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// A request as a fake server received it.
#[derive(Clone, Debug)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case; of a repeated header the last value.
    pub headers: BTreeMap<String, String>,
    /// As sent.
    pub body: Vec<u8>,
}

impl Request {
    /// A header's value; empty when it was not sent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as JSON; `null` when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Method, path and body, for the message of a failed test.
    pub(crate) fn summary(&self) -> String {
        format!("{} {} {}", self.method, self.path, String::from_utf8_lossy(&self.body))
    }

    /// Reads one HTTP/1.1 request whose body has a `content-length` or is absent; `None` at the connection's end.
    pub(crate) async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let Some(first) = read_line(reader).await? else { return Ok(None) };
        let mut parts = first.split(' ').map(str::to_owned);
        let (method, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let headers = read_headers(reader).await?;
        let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        Ok(Some(Self { method, path, headers, body }))
    }
}

async fn read_headers(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    while let Some(line) = read_line(reader).await?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Ok(headers)
}

async fn read_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).await?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}
