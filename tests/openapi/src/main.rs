//! Writes the description of the HTTP API, and its compressed form.

use std::path::Path;
use std::{fs, io};

use openapi::{COMPRESSED, DOCUMENT, compress, document, render};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = render(&document());
    fs::write(root.join(COMPRESSED), compress(&text))?;
    fs::write(root.join(DOCUMENT), text)
}
