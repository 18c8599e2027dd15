//! Writes the description of the HTTP API, its compressed form, and the types that the page has of it.

use std::path::Path;
use std::{fs, io};

use openapi::{COMPRESSED, DOCUMENT, TYPES, compress, document, page_types, render};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = render(&document());
    fs::write(root.join(COMPRESSED), compress(&text))?;
    fs::write(root.join(TYPES), page_types())?;
    fs::write(root.join(DOCUMENT), text)
}
