//! Character references of HTML and XML.

/// The named references that texts use; others stay as they are.
const NAMED: [(&str, char); 24] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("middot", '·'),
    ("bull", '•'),
    ("times", '×'),
    ("copy", '©'),
    ("reg", '®'),
    ("deg", '°'),
];

/// The maximum length of a reference without `&` and `;`, in bytes.
const MAX_REFERENCE_BYTES: usize = 10;

/// Replaces the character references of a text.
pub(crate) fn decode(text: &str) -> String {
    let mut parts = text.split('&');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.bytes().take(MAX_REFERENCE_BYTES + 1).position(|byte| byte == b';');
        let split = end.and_then(|end| Some((character(part.get(..end)?)?, part.get(end + 1..)?)));
        let (character, rest) = split.unwrap_or(('&', part));
        decoded.push(character);
        decoded.push_str(rest);
    }
    decoded
}

fn character(reference: &str) -> Option<char> {
    let Some(number) = reference.strip_prefix('#') else {
        return NAMED.iter().find(|(name, _)| *name == reference).map(|(_, character)| *character);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_references_are_decoded_others_kept() {
        assert_eq!(decode("a &amp; b&#33; &#x8336;&nbsp;&lt;x&gt;"), "a & b! 茶 <x>");
        let odd = "&; &unknown; &amp &#xD800; &#99999999999; & &&amp";
        assert_eq!(decode(odd), odd);
    }
}
