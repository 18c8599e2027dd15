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
        match self {
            Png => "image/png",
            Jpeg => "image/jpeg",
            WebP => "image/webp",
            Gif => "image/gif",
            Pdf => "application/pdf",
            Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Html => "text/html",
            Markdown => "text/markdown",
            Csv => "text/csv",
            Json => "application/json",
            Svg => "image/svg+xml",
            PlainText => "text/plain",
        }
    }

    /// Whether models see it as a picture.
    pub fn is_image(self) -> bool {
        matches!(self, Png | Jpeg | WebP | Gif)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Png => "PNG",
            Jpeg => "JPEG",
            WebP => "WebP",
            Gif => "GIF",
            Pdf => "PDF",
            Docx => "DOCX",
            Pptx => "PPTX",
            Xlsx => "XLSX",
            Html => "HTML",
            Markdown => "Markdown",
            Csv => "CSV",
            Json => "JSON",
            Svg => "SVG",
            PlainText => "text",
        }
    }
}
