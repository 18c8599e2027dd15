/// Chinese punctuation, which has its own space.
const FULL_WIDTH: [char; 6] = ['。', '，', '；', '：', '！', '？'];

/// The beginning of a text in one line of at most `max_chars` characters, with `…` at its end if the text is longer.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let (mut line, mut chars, mut is_gap) = (String::new(), 0, false);
    for character in text.trim_start().chars() {
        if character.is_whitespace() {
            is_gap = true;
            continue;
        }
        if is_gap && !line.ends_with(FULL_WIDTH) {
            line.push(' ');
            chars += 1;
        }
        line.push(character);
        (chars, is_gap) = (chars + 1, false);
        if chars > max_chars {
            let end = line.char_indices().nth(max_chars.saturating_sub(1)).map_or(0, |(end, _)| end);
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn long_texts_end_within_the_limit() {
        assert_eq!(one_line(" 一 \n# 二\t", 5), "一 # 二");
        assert_eq!(
            [one_line("一二三", 3), one_line("一二三四", 3), one_line("一二 三", 3)],
            ["一二三", "一二…", "一二…"]
        );
        assert_eq!(one_line("一。\n二， 三 四", 9), "一。二，三 四");
        assert_eq!([one_line(" \n", 3), one_line("", 0)], ["", ""]);
        assert_eq!(one_line(&"长".repeat(100_000), 200).chars().count(), 200);
    }
}
