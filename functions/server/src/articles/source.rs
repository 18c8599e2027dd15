use std::path::{Path, PathBuf};

use articles::ArticleSource;

use super::page::{MAX_FILE_BYTES, Page, PageReader, read_document};

/// The maximum number of documents of one command.
const MAX_DOCUMENTS: usize = 200_000;

/// The ends of the names of files that are documents. What they are is seen from their content.
const ENDINGS: [&str; 12] =
    ["txt", "text", "md", "markdown", "mdx", "html", "htm", "xhtml", "pdf", "docx", "pptx", "xlsx"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    File(PathBuf),
    Page(String),
}

impl Source {
    /// What the document is known by: its path as it was given, or its address.
    pub(super) fn key(&self) -> String {
        match self {
            Self::File(path) => path.strip_prefix(".").unwrap_or(path).to_string_lossy().replace('\\', "/"),
            Self::Page(url) => url.clone(),
        }
    }

    pub(super) async fn read(&self, pages: &PageReader) -> Result<ArticleSource, String> {
        let (page, url) = match self {
            Self::File(path) => (read_file(path).await?, None),
            Self::Page(url) => (pages.read(url).await?, Some(url.clone())),
        };
        Ok(ArticleSource {
            key: self.key(),
            title: page.title,
            url,
            groups: None,
            text: page.text,
            format: page.format,
        })
    }
}

async fn read_file(path: &Path) -> Result<Page, String> {
    let length = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MAX_FILE_BYTES {
        return Err(format!("the file has {length} bytes; at most {MAX_FILE_BYTES} are accepted"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    read_document(bytes, &path.to_string_lossy()).await
}

fn is_document(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&&*ending.to_ascii_lowercase()))
}

/// The documents that the arguments of the command name, in a fixed order.
pub(super) async fn find_sources(arguments: &[String], pages: &PageReader) -> Result<Vec<Source>, String> {
    let mut found = Vec::new();
    for argument in arguments {
        let described = |reason: String| format!("{argument}: {reason}");
        if argument.starts_with("http://") || argument.starts_with("https://") {
            found.extend(pages.find(argument).await.map_err(described)?.into_iter().map(Source::Page));
        } else {
            find_files(Path::new(argument), &mut found).map_err(described)?;
        }
        if found.len() > MAX_DOCUMENTS {
            return Err(described(format!("these are more than {MAX_DOCUMENTS} documents")));
        }
    }
    Ok(found)
}

/// A file, or all files of known formats below a folder; hidden ones and links are left out.
fn find_files(path: &Path, found: &mut Vec<Source>) -> Result<(), String> {
    if !path.is_dir() {
        if !path.exists() {
            return Err("there is no such file or folder".to_owned());
        }
        if !(path.is_file() && is_document(&path.to_string_lossy())) {
            return Err(format!("a folder or a file that ends in .{} is accepted", ENDINGS.join(", .")));
        }
        found.push(Source::File(path.to_owned()));
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let (name, file_type) = (entry.file_name(), entry.file_type().map_err(|error| error.to_string())?);
            match name.to_string_lossy() {
                name if name.starts_with('.') => {}
                _ if file_type.is_dir() => folders.push(entry.path()),
                name if file_type.is_file() && is_document(&name) => files.push(Source::File(entry.path())),
                _ => {}
            }
        }
    }
    files.sort_by_key(Source::key);
    found.extend(files);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn folders_give_their_documents_in_order() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in ["b.md", "a/c.HTML", "a/d.png", "a/e.txt", ".hidden/f.md", ".g.md"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        let pages = PageReader::new(egress::Policy::public());
        let root = folder.path().to_str().unwrap().to_owned();
        let found = find_sources(std::slice::from_ref(&root), &pages).await.unwrap();
        let names: Vec<String> = found.iter().map(|source| source.key()[root.len() + 1..].to_owned()).collect();
        assert_eq!(names, ["a/c.HTML", "a/e.txt", "b.md"]);
        for (argument, fault) in [
            ("missing.md".to_owned(), "there is no such file or folder"),
            (format!("{root}/a/d.png"), "a folder or a file that ends in .txt"),
        ] {
            let error = find_sources(std::slice::from_ref(&argument), &pages).await.unwrap_err();
            assert!(error.starts_with(&format!("{argument}: {fault}")), "{error}");
        }
    }

    #[test]
    fn same_file_has_the_same_key() {
        let key = |path: &str| Source::File(path.into()).key();
        assert_eq!([key("docs/a.txt"), key("./docs/a.txt")], ["docs/a.txt"; 2]);
    }
}
