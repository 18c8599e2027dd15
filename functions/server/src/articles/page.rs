//! Pages and sitemaps, read through the guard of all requests to hosts that data names.

use std::collections::BTreeSet;
use std::time::Duration;

use articles::Format;
use axum::http::{Method, header};
use domain::Owner;
use egress::{Egress, Limits, Policy, Request, Response, SystemNetwork};
use files::{FileError, FileType, Reader};

const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// The largest file that is read, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How deep sitemaps may name other sitemaps.
const MAX_SITEMAP_DEPTH: usize = 2;

const MAX_SITEMAPS: usize = 1_000;

pub(super) struct PageReader {
    egress: Egress,
}

pub(super) struct Page {
    /// The title in the properties of the document.
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) format: Format,
}

impl PageReader {
    /// A reader of hosts that `policy` allows, by `http` too.
    pub(super) fn new(policy: Policy) -> Self {
        Self { egress: Egress::new(policy.with_http(), SystemNetwork) }
    }

    pub(super) async fn read(&self, url: &str) -> Result<Page, String> {
        let response = self.get(url).await?;
        let content_type = response.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        match content_type.and_then(Format::of_content_type) {
            Some(format) => Ok(Page { title: None, text: response.text().into_owned(), format }),
            None => read_document(response.body, response.url.path()).await,
        }
    }

    /// The addresses of the pages that an address names: those of a sitemap, or the page itself.
    pub(super) async fn find(&self, url: &str) -> Result<Vec<String>, String> {
        let is_sitemap = url.split(['?', '#']).next().is_some_and(|path| path.to_ascii_lowercase().ends_with(".xml"));
        if !is_sitemap {
            self.egress.policy().parse(url).map_err(|error| error.to_string())?;
            return Ok(vec![url.to_owned()]);
        }
        let (mut pages, mut seen) = (BTreeSet::new(), BTreeSet::from([url.to_owned()]));
        let mut open = vec![(url.to_owned(), 0)];
        while let Some((sitemap, depth)) = open.pop() {
            let text = self.get(&sitemap).await?.text().into_owned();
            let is_index = text.contains("<sitemapindex");
            for address in locations(&text) {
                if !is_index {
                    pages.insert(address);
                } else if depth < MAX_SITEMAP_DEPTH && seen.len() < MAX_SITEMAPS && seen.insert(address.clone()) {
                    open.push((address, depth + 1));
                }
            }
        }
        if pages.is_empty() { Err("the sitemap names no page".to_owned()) } else { Ok(pages.into_iter().collect()) }
    }

    async fn get(&self, url: &str) -> Result<Response, String> {
        let url = self.egress.policy().parse(url).map_err(|error| error.to_string())?;
        let (total_timeout, read_timeout) = (Duration::from_mins(1), Duration::from_secs(20));
        let limits = Limits { total_timeout, read_timeout, max_body_bytes: MAX_PAGE_BYTES, ..Limits::default() };
        let request = Request::new(Method::GET, url).redirects(3).limits(limits);
        let response = self.egress.send(request).await.map_err(|error| error.to_string())?;
        if response.status.is_success() { Ok(response) } else { Err(format!("status {}", response.status.as_u16())) }
    }
}

/// Reads a document, which is what its content shows; the name distinguishes kinds of text.
pub(super) async fn read_document(bytes: Vec<u8>, name: &str) -> Result<Page, String> {
    let read = async {
        let format = match FileType::recognise(&bytes, name)? {
            FileType::Html => Format::Html,
            FileType::Markdown => Format::Markdown,
            FileType::Csv | FileType::Json | FileType::Svg | FileType::PlainText => Format::Text,
            other => {
                let read = files::read_text(other, bytes, &Reader::for_articles(), &Owner::new("articles")).await?;
                if read.truncated {
                    return Err(FileError::TooLarge("it has more than 8 MiB of text".to_owned()));
                }
                let format = if read.pages.is_some() { Format::Pages } else { Format::Markdown };
                return Ok(Page { title: read.title, text: read.text, format });
            }
        };
        Ok(Page { title: None, text: files::decode_text(&bytes)?, format })
    };
    read.await.map_err(|error| error.to_string())
}

/// The addresses in the `<loc>` elements of a sitemap.
fn locations(xml: &str) -> impl Iterator<Item = String> {
    let elements = xml.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
    elements.map(|text| text.trim().replace("&amp;", "&")).filter(|text| text.starts_with("http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sitemap_locations_are_found() {
        let xml = "<urlset><url><loc> https://a.example/x?b=1&amp;c=2\n</loc></url><url><loc>/y</loc></url><loc>http";
        assert_eq!(locations(xml).collect::<Vec<_>>(), ["https://a.example/x?b=1&c=2", "http"]);
    }

    #[tokio::test]
    async fn f125_private_addresses_are_refused() {
        let pages = PageReader::new(Policy::public());
        for url in ["http://127.0.0.1:1/a", "https://10.0.0.1/a", "http://localhost/sitemap.xml", "https://a.internal/"]
        {
            assert!(pages.find(url).await.is_err() && pages.read(url).await.is_err(), "{url}");
        }
    }
}
