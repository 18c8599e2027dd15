//! The subset of HTTP/1.1 that the Runtime API's client uses.

use std::collections::BTreeMap;
use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Request line and headers.
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Header names are in lower case.
    headers: BTreeMap<String, String>,
}

impl Head {
    /// Reads a head; `None` at the end of the connection.
    pub(crate) async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let Some(first) = line(reader).await? else { return Ok(None) };
        let mut parts = first.split(' ').map(str::to_owned);
        let (method, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let mut headers = BTreeMap::new();
        while let Some(line) = line(reader).await?.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Ok(Some(Self { method, path, headers }))
    }

    /// A header's value; empty when it was not sent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Whether the body is chunked.
    pub(crate) fn is_chunked(&self) -> bool {
        self.header("transfer-encoding") == "chunked"
    }

    /// Reads a whole body, chunked or with a length.
    pub(crate) async fn body(&self, reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.is_chunked() {
            while let Some(chunk) = chunk(reader).await? {
                body.extend(chunk);
            }
        } else {
            body.resize(self.header("content-length").parse().unwrap_or(0), 0);
            reader.read_exact(&mut body).await?;
        }
        Ok(body)
    }
}

/// Reads one chunk; `None` for the last one.
pub(crate) async fn chunk(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let size = line(reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let size = usize::from_str_radix(&size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut data = vec![0; size];
    reader.read_exact(&mut data).await?;
    let end = line(reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    if !end.is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((size > 0).then_some(data))
}

async fn line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).await?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}
