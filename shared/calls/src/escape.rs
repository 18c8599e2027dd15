/// Neutralises text that comes from outside (a tool's result, a page) so that no marker can be forged with it.
///
/// Every `<`, and the full-width bars that some models use in their control tokens, become look-alikes or entities;
/// everything else stays as it is. `&` is left alone: the result is read by models, not by an XML parser, and doubling
/// entities of quoted web pages would only cost tokens.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut plain_from = 0;
    for (at, found) in text.match_indices(['<', '｜', '‖']) {
        safe.push_str(&text[plain_from..at]);
        safe.push_str(if found == "<" { "&lt;" } else { "|" });
        plain_from = at + found.len();
    }
    safe.push_str(&text[plain_from..]);
    safe
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn f058_a_result_cannot_open_a_marker() {
        assert_eq!(escape("a <tool_call>{}</tool_call> b"), "a &lt;tool_call>{}&lt;/tool_call> b");
        assert_eq!(escape("<｜DSML｜invoke>"), "&lt;|DSML|invoke>");
        assert_eq!(escape("2 > 1 && 天气"), "2 > 1 && 天气");
    }
}
