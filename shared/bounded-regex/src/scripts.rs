//! `\p{…}` for the scripts of Unicode.

/// `NAME RANGES` on each line: the characters of a script as the content of a class, without Common and Inherited. From the
/// tables of `regex-syntax` 0.8.11; the test `ranges_are_those_of_unicode` writes it.
const SCRIPTS: &str = include_str!("scripts.txt");

/// Replaces `\p{Han}` and `\p{Script=Han}` by the script's characters; `None` for an unknown script, for `\P` in a class, as the
/// end of a range, and with `x` among the flags, where a bracket may be in a comment.
pub(crate) fn expand(pattern: &str) -> Option<String> {
    let (mut text, mut chars, mut depth) = (String::with_capacity(pattern.len()), pattern.chars(), 0_u32);
    while let Some(c) = chars.next() {
        if c != '\\' {
            depth = match c {
                '[' => depth + 1,
                ']' => depth.saturating_sub(1),
                _ => depth,
            };
            text.push(c);
            continue;
        }
        let escaped = chars.next()?;
        if !matches!(escaped, 'p' | 'P') {
            text.extend([c, escaped]);
            continue;
        }
        let (name, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
        chars = rest.chars();
        let ranges = ranges(name)?;
        let is_range = depth > 0 && text.ends_with('-') && !text.ends_with("[-") && !text.ends_with("[^-");
        if is_range || has_flag_x(pattern) {
            return None;
        }
        match (escaped, depth) {
            ('p', 0) => text.extend(["[", ranges, "]"]),
            ('p', _) => text.push_str(ranges),
            (_, 0) => text.extend(["[^", ranges, "]"]),
            _ => return None,
        }
    }
    Some(text)
}

/// Whether a group of flags, `(?x)` or `(?x:…)`, turns on comments.
fn has_flag_x(pattern: &str) -> bool {
    pattern
        .split("(?")
        .skip(1)
        .any(|flags| flags.split([')', ':', '<']).next().is_some_and(|flags| flags.contains('x')))
}

fn ranges(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("Script=").or_else(|| name.strip_prefix("sc=")).unwrap_or(name);
    let mut scripts = SCRIPTS.lines().filter_map(|line| line.split_once(' '));
    scripts.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, ranges)| ranges)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    /// The characters of a script as the content of a class.
    fn ranges_of_unicode(name: &str) -> String {
        let HirKind::Class(Class::Unicode(class)) =
            regex_syntax::parse(&format!(r"\p{{sc={name}}}")).unwrap().into_kind()
        else {
            unreachable!("a class of several characters");
        };
        let mut ranges = String::new();
        for range in class.ranges() {
            ranges.push(range.start());
            if range.end() > range.start() {
                ranges.extend(['-', range.end()]);
            }
        }
        ranges
    }

    #[test]
    fn ranges_are_those_of_unicode() {
        let names = SCRIPTS.lines().filter_map(|line| line.split(' ').next());
        let mut made = String::new();
        for name in names {
            writeln!(made, "{name} {}", ranges_of_unicode(name)).unwrap();
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/scripts.txt"), &made).unwrap();
        }
        assert!(made == SCRIPTS, "UPDATE=1 cargo test -p bounded-regex ranges_are_those writes scripts.txt");
        assert!(made.lines().count() > 160);
    }

    #[test]
    fn what_cannot_be_replaced_is_rejected() {
        for pattern in
            [r"\p{Nonsense}", r"\pL", r"\p", r"[\P{Han}]", r"[a-\p{Han}]", "(?x) # [\n\\p{Han}", r"(?ix:\p{Han})"]
        {
            assert_eq!(expand(pattern), None, "{pattern}");
        }
        assert_eq!(expand(r"\\p{Han}[\]\[-](?:x)").as_deref(), Some(r"\\p{Han}[\]\[-](?:x)"));
        assert!(expand(r"(?<x>[-\p{Han}])(?:x)").is_some());
    }

    #[test]
    fn every_script_is_a_class() {
        for (name, ranges) in SCRIPTS.lines().filter_map(|line| line.split_once(' ')) {
            let class = regex_lite::Regex::new(&format!("^[{ranges}]$")).unwrap();
            assert!(class.is_match(&ranges[..ranges.chars().next().unwrap().len_utf8()]), "{name}");
        }
    }
}
