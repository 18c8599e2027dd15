use std::path::{Path, PathBuf};

use articles::{ArticleSource, Format, PdfText, docx_to_markdown};

use work::SHORT_WORK;

use super::page::{Page, PageReader};
use super::{operator, pdf};

/// The largest file that is read, in bytes; a PDF may be larger.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The maximum number of documents of one command.
const MAX_DOCUMENTS: usize = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Plain(Format),
    Docx,
    Pdf,
}

impl FileKind {
    /// The kind of a file, by the end of its name; `None` for another one.
    fn of(name: &str) -> Option<Self> {
        let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
        match ending.as_str() {
            "docx" => Some(Self::Docx),
            "pdf" => Some(Self::Pdf),
            _ => Format::of_file(name).map(Self::Plain),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    File(PathBuf, FileKind),
    Page(String),
}

impl Source {
    /// What the document is known by: its path as it was given, or its address.
    pub(super) fn key(&self) -> String {
        match self {
            Self::File(path, _) => path.strip_prefix(".").unwrap_or(path).to_string_lossy().replace('\\', "/"),
            Self::Page(url) => url.clone(),
        }
    }

    pub(super) async fn read(&self, pages: &PageReader) -> Result<ArticleSource, String> {
        let (page, url) = match self {
            Self::File(path, kind) => (read_file(path, *kind).await?, None),
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

async fn read_file(path: &Path, kind: FileKind) -> Result<Page, String> {
    let length = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    let longest = if kind == FileKind::Pdf { pdf::MAX_PDF_BYTES } else { MAX_FILE_BYTES };
    if length > longest {
        return Err(format!("the file has {length} bytes; at most {longest} are accepted"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    match kind {
        FileKind::Plain(format) => {
            let text = String::from_utf8(bytes).map_err(|_other| "the file is not UTF-8 text")?;
            Ok(Page { title: None, text, format })
        }
        FileKind::Docx => {
            let read = SHORT_WORK.run(&operator(), move |_| docx_to_markdown(&bytes)).await.flatten();
            let text = read.ok_or("the file is not a readable DOCX document")?;
            Ok(Page { title: None, text, format: Format::Markdown })
        }
        FileKind::Pdf => {
            let PdfText { title, text } = pdf::read(bytes).await?;
            Ok(Page { title, text, format: Format::Pages })
        }
    }
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
        let kind = FileKind::of(&path.to_string_lossy()).filter(|_| path.is_file());
        if !path.exists() {
            return Err("there is no such file or folder".to_owned());
        }
        let accepted = "a folder or a file that ends in .md, .markdown, .html, .htm, .txt, .docx or .pdf is accepted";
        found.push(Source::File(path.to_owned(), kind.ok_or(accepted)?));
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let (name, file_type) = (entry.file_name(), entry.file_type().map_err(|error| error.to_string())?);
            match FileKind::of(&name.to_string_lossy()) {
                _ if name.to_string_lossy().starts_with('.') => {}
                _ if file_type.is_dir() => folders.push(entry.path()),
                Some(kind) if file_type.is_file() => files.push(Source::File(entry.path(), kind)),
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
            (format!("{root}/a/d.png"), "a folder or a file that ends in .md"),
        ] {
            let error = find_sources(std::slice::from_ref(&argument), &pages).await.unwrap_err();
            assert!(error.starts_with(&format!("{argument}: {fault}")), "{error}");
        }
    }

    #[test]
    fn same_file_has_the_same_key() {
        let key = |path: &str| Source::File(path.into(), FileKind::Docx).key();
        assert_eq!([key("docs/a.txt"), key("./docs/a.txt")], ["docs/a.txt"; 2]);
    }
}
