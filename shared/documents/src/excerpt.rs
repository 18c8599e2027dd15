use tools::strip_invisible;

/// Characters that an excerpt shows before its match.
const CHARS_BEFORE: usize = 100;

/// Cuts a line to `max_chars` around the byte at `at`; removes what people cannot see.
pub(crate) fn excerpt(line: &str, at: usize, max_chars: usize) -> String {
    let line_chars = line.chars().count();
    if line_chars <= max_chars {
        return strip_invisible(line);
    }
    let match_chars = line.get(..line.floor_char_boundary(at)).map_or(0, |before| before.chars().count());
    let start = match_chars.saturating_sub(CHARS_BEFORE).min(line_chars - max_chars);
    let text: String = line.chars().skip(start).take(max_chars).collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if start + max_chars < line_chars { "…" } else { "" });
    format!("{before}{}{after}", strip_invisible(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_cut_around_its_match() {
        let line = format!("{}针{}", "前".repeat(300), "后".repeat(300));
        let cut = excerpt(&line, 900, 200);
        assert_eq!(cut, format!("…{}针{}…", "前".repeat(100), "后".repeat(99)));
        assert_eq!(excerpt(&line, 0, 200), format!("{}…", "前".repeat(200)));
        assert_eq!(excerpt(&line, line.len(), 200), format!("…{}", "后".repeat(200)));
        assert_eq!(excerpt("a\u{202E}b", 0, 200), "ab");
    }
}
