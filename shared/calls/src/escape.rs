/// Neutralises text that comes from outside (a tool's result, a page) so that no marker can be forged with it.
///
/// Every `<` becomes `&lt;`, for every element and control token that means something to a model begins with it; all
/// else stays as it is. `&` is left alone: models read the result, not an XML parser.
pub fn escape(text: &str) -> String {
    text.replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn f058_a_result_cannot_open_a_marker() {
        assert_eq!(escape("a <tool_call>{}</tool_call> b"), "a &lt;tool_call>{}&lt;/tool_call> b");
        assert_eq!(escape("2 > 1 && 天气｜上海"), "2 > 1 && 天气｜上海");
    }
}
