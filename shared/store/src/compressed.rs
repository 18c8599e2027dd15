//! Text that is stored compressed, because each kilobyte of an item costs: text of pages takes about half of its size.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::item::Item;

/// The level of DEFLATE: higher ones take more time for hardly less text.
const LEVEL: u8 = 4;

/// The maximum size of a text, in bytes; what is written is at most a tenth of it.
const MAX_BYTES: usize = 4 * 1024 * 1024;

pub(crate) fn compressed(text: &str) -> AttributeValue {
    AttributeValue::B(Blob::new(compress_to_vec(text.as_bytes(), LEVEL)))
}

/// The text of an attribute; `None` if the item lacks it or it cannot be read.
pub(crate) fn decompressed(item: &Item, name: &str) -> Option<String> {
    let bytes = item.get(name)?.as_b().ok()?;
    String::from_utf8(decompress_to_vec_with_limit(bytes.as_ref(), MAX_BYTES).ok()?).ok()
}
