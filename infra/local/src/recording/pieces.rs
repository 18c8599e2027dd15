use redaction::Redactor;

/// Masks a text that is split into pieces: the placeholder goes where personal data begins, the rest is removed.
pub(super) fn mask_pieces(pieces: &[String], redactor: &Redactor) -> Vec<String> {
    let whole = pieces.concat();
    let spans = redactor.spans(&whole);
    let mut masked = Vec::with_capacity(pieces.len());
    let (mut start, mut next) = (0, 0);
    for piece in pieces {
        let end = start + piece.len();
        let (mut out, mut at) = (String::new(), start);
        while let Some(span) = spans.get(next).filter(|span| span.range.start < end) {
            if span.range.start >= start {
                out.push_str(whole.get(at..span.range.start).unwrap_or_default());
                out.push_str(span.placeholder);
            }
            at = span.range.end.min(end);
            if span.range.end > end {
                break;
            }
            next += 1;
        }
        out.push_str(whole.get(at..end).unwrap_or_default());
        masked.push(out);
        start = end;
    }
    masked
}

#[cfg(test)]
mod tests {
    use platform::settings::Settings;

    use super::*;

    #[test]
    fn split_personal_data_is_masked_at_its_start() {
        let redactor = Redactor::from_settings(&Settings::from_pairs([("MASK", "all")])).unwrap();
        let masked = |pieces: &[&str]| {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            mask_pieces(&pieces, &redactor)
        };
        assert_eq!(masked(&["call 138", "0013", "8000 now"]), ["call [phone]", "", " now"]);
        assert_eq!(masked(&["a@b.example c@", "d.example", "好"]), ["[email] [email]", "", "好"]);
        assert_eq!(masked(&["13800138000", "，", "13900139000"]), ["[phone]", "，", "[phone]"]);
        assert_eq!(masked(&["", "plain", ""]), ["", "plain", ""]);
        for at in 0..=11 {
            let (begin, end) = "13800138000".split_at(at);
            assert_eq!(masked(&["x ", begin, end, " y"]).concat(), "x [phone] y");
        }
    }
}
