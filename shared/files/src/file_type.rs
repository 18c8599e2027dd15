use serde::{Deserialize, Serialize};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileType {
    /// A PNG picture.
    Png,
    /// A JPEG picture.
    Jpeg,
    /// A WebP picture.
    WebP,
    /// A GIF picture.
    Gif,
    /// A PDF document.
    Pdf,
    /// A document of a text processor (`.docx`).
    Docx,
    /// A presentation of slides (`.pptx`).
    Pptx,
    /// A workbook of a spreadsheet program (`.xlsx`).
    Xlsx,
    /// An HTML page.
    Html,
    /// Markdown.
    Markdown,
    /// Comma-separated or tab-separated values.
    Csv,
    /// JSON, or lines of JSON.
    Json,
    /// An SVG drawing: text, never a picture.
    Svg,
    /// Any other text, such as source code.
    PlainText,
}

use FileType::{Csv, Docx, Gif, Html, Jpeg, Json, Markdown, Pdf, PlainText, Png, Pptx, Svg, WebP, Xlsx};

impl FileType {
    /// The type for `content-type`.
    pub fn media_type(self) -> &'static str {
        self.names().1
    }

    /// Whether models see it as a picture.
    pub fn is_image(self) -> bool {
        matches!(self, Png | Jpeg | WebP | Gif)
    }

    pub(crate) fn name(self) -> &'static str {
        self.names().0
    }

    /// The name for people, and the media type.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Png => ("PNG", "image/png"),
            Jpeg => ("JPEG", "image/jpeg"),
            WebP => ("WebP", "image/webp"),
            Gif => ("GIF", "image/gif"),
            Pdf => ("PDF", "application/pdf"),
            Docx => ("DOCX", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            Pptx => ("PPTX", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
            Xlsx => ("XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            Html => ("HTML", "text/html"),
            Markdown => ("Markdown", "text/markdown"),
            Csv => ("CSV", "text/csv"),
            Json => ("JSON", "application/json"),
            Svg => ("SVG", "image/svg+xml"),
            PlainText => ("text", "text/plain"),
        }
    }
}
