//! The text call formats: the markers to read, the formats that prompts teach, and the format of each model family.
//!
//! All markers are read in every reply, independent of the taught format. The content after a marker decides how it is
//! read (JSON, a function's parameters, a name first). So a new format is usually a row of markers; a format that
//! prompts teach is a row in `render.rs`.

mod compact;
mod prompt;
mod read_only;
mod render;
mod taught;

use std::borrow::Cow;

use domain::ToolMessage;
use serde_json::json;

pub(crate) use self::read_only::MESSAGE_ENDS;
pub use self::render::CallFormat;
use self::render::FORMATS;
use crate::marker_role::Role;

impl CallFormat {
    /// Renders a result for the model; a failure as `{"success": false, "error": …}`.
    ///
    /// The content is inserted as it is: its producer has already escaped outside text with
    /// [`escape`](crate::escape()).
    pub fn render_result(&self, result: &ToolMessage) -> String {
        let content = match result.error() {
            Some(error) => Cow::Owned(json!({ "success": false, "error": error }).to_string()),
            None => Cow::Borrowed(&result.content),
        };
        format!("<tool_result name=\"{}\">\n{content}\n</tool_result>", prompt::escape_attribute(&result.name))
    }
}

/// Models whose prompt opens the reasoning, so that their replies only close it, by the same patterns. Endpoints that
/// separate the reasoning are no matter: their text has no reasoning.
const OPEN_THINKING: &[&str] = &["qwq", "deepseek-r1-distill", "-thinking-2507"];

/// Whether the replies of a model begin in reasoning that only their end tag shows.
pub fn opens_in_thinking(model: &str) -> bool {
    let model = model.to_lowercase();
    OPEN_THINKING.iter().any(|pattern| model.contains(pattern))
}

/// Returns the format for a model: that of its family, or the tag format.
pub fn format_for(model: &str) -> &'static CallFormat {
    let model = model.to_lowercase();
    let fits = |format: &&CallFormat| format.models.iter().any(|pattern| model.contains(pattern));
    FORMATS.iter().find(fits).unwrap_or(&FORMATS[0])
}

/// Returns the format of this name, or that for the model if there is none.
pub fn format_of(name: Option<&str>, model: &str) -> &'static CallFormat {
    name.and_then(|name| format_named(name).ok()).unwrap_or_else(|| format_for(model))
}

/// Returns the format of this name; the error is the list of all names.
pub fn format_named(name: &str) -> Result<&'static CallFormat, String> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", "))
}

pub(crate) fn markers() -> Vec<(String, Role)> {
    let mut markers = Vec::new();
    let mut add = |text: &str, role| markers.push((text.to_owned(), role));
    taught::built_markers().for_each(|(text, role)| add(&text, role));
    read_only::deepseek_markers().for_each(|(text, role)| add(&text, role));
    read_only::harmony_separators().for_each(|(text, role)| add(&text, role));
    for [open, close] in [taught::WRAPPERS, read_only::WRAPPERS].concat() {
        add(open, Role::Wrapper);
        add(close, Role::Close);
    }
    [MESSAGE_ENDS, read_only::TURN_ENDS].concat().into_iter().for_each(|text| add(text, Role::TurnEnd));
    [taught::MARKERS, read_only::MARKERS].concat().into_iter().for_each(|(text, role)| add(text, role));
    markers
}

#[cfg(test)]
mod tests {
    use domain::{Language, ToolCall, ToolExample, ToolMessage, ToolSpec};
    use serde_json::{Value, json};

    use super::{CallFormat, FORMATS, format_for, format_named};
    use crate::{CallScanner, ReplyEnd, Segment};

    fn search_web() -> ToolSpec {
        ToolSpec {
            name: "search_web".to_owned(),
            description: "联网搜索工具。问题涉及新闻、天气等实时信息时使用。".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "搜索词"},
                    "count": {"type": "integer", "description": "条数"},
                    "domains": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["query"],
            }),
            examples: vec![ToolExample {
                question: "今天的新闻有哪些？".to_owned(),
                arguments: json!({"query": "{today} 新闻", "domains": ["{today}", "{tomorrow}"]}),
            }],
        }
    }

    fn call(arguments: Value) -> ToolCall {
        ToolCall { id: "call_1".to_owned(), name: "search_web".to_owned(), arguments }
    }

    #[test]
    fn formats_of_families_have_names() {
        for format in &FORMATS {
            assert_eq!(format_named(format.name()).map(CallFormat::name), Ok(format.name()));
        }
        assert_eq!(format_named("react").map(CallFormat::name), Ok("react"));
        assert_eq!(
            format_named("xml").map(CallFormat::name),
            Err("tag, seed_functions, qwen_functions, hermes, longcat, glm, minicpm, functionary, minimax_invoke, invoke, react".to_owned())
        );
    }

    #[test]
    fn rendered_call_parses_as_the_same_call() {
        let arguments = [
            json!({"query": "今天北京天气预报"}),
            json!({"query": "a < b && \"c\" </tool_call>\nd", "count": 5, "domains": ["x.example", "y.example"]}),
            json!({"query": "5"}),
            json!({"query": ""}),
        ];
        for format in &FORMATS {
            for arguments in &arguments {
                let mut scanner = CallScanner::new(&[search_web()]).with_actions();
                let text = format!("好的。\n{}\n", format.render_call(&call(arguments.clone())));
                let mut pieces = scanner.push(&text);
                pieces.extend(scanner.finish(ReplyEnd::Complete));
                let calls: Vec<_> = pieces.into_iter().filter(|piece| !matches!(piece, Segment::Text(_))).collect();
                let expected = crate::ParsedCall { name: "search_web".to_owned(), arguments: arguments.clone() };
                assert_eq!(calls, [Segment::Call(expected)], "{}: {text}", format.name());
            }
        }
    }

    #[test]
    fn names_with_capitals_and_hyphens_are_parsed() {
        for format in &FORMATS {
            for name in ["getWeather", "get-weather", "_Get-2"] {
                let spec = ToolSpec { name: name.to_owned(), ..search_web() };
                let call = ToolCall { name: name.to_owned(), ..call(json!({"query": "北京"})) };
                let mut scanner = CallScanner::new(&[spec]).with_actions();
                let mut pieces = scanner.push(&format!("{}\n", format.render_call(&call)));
                pieces.extend(scanner.finish(ReplyEnd::Complete));
                pieces.retain(|piece| !matches!(piece, Segment::Text(_)));
                let expected = crate::ParsedCall { name: name.to_owned(), arguments: json!({"query": "北京"}) };
                assert_eq!(pieces, [Segment::Call(expected)], "{}: {name}", format.name());
            }
        }
    }

    #[test]
    fn instructions_teach_tag_format_with_tools_and_examples() {
        let text = format_for("ep-20250101").instructions(&[search_web()], Language::Zh, "2026-01-02");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn unusual_parameters_and_descriptions_cannot_be_misread() {
        let properties = json!({
            "filter": {"$ref": "#/$defs/Filter"}, "anything": {}, "kind": {"enum": [], "type": "integer"},
            "size": {"enum": [1, 2]}, "name": {"type": ["string", "null"]}, "page": {"type": "integer", "default": 1},
        });
        let tool = ToolSpec {
            name: "manage".to_owned(),
            description: "Manages files.\n- create: makes one\n\n- delete: removes one".to_owned(),
            parameters: json!({"properties": properties, "required": ["filter", "anything", "kind", "name"]}),
            examples: Vec::new(),
        };
        let text = format_for("ep-20250101").instructions(&[tool], Language::En, "2026-01-02");
        let section: Vec<_> = text.lines().skip_while(|line| !line.starts_with("### ")).take(7).collect();
        let expected = [
            "### manage - Manages files. - create: makes one - delete: removes one",
            "- filter (any)",
            "- anything (any)",
            "- kind (integer)",
            "- size (optional, 1|2)",
            "- name (string|null)",
            "- page (optional, integer, default 1)",
        ];
        assert_eq!(section, expected);
    }

    #[test]
    fn instructions_are_empty_without_tools() {
        for format in &FORMATS {
            assert_eq!(format.instructions(&[], Language::En, "2026-01-02"), "", "{}", format.name());
        }
    }

    #[test]
    fn model_family_selects_the_format() {
        let name = |model| format_for(model).name();
        assert_eq!(name("doubao-seed-1-6-250615"), "tag");
        assert_eq!(name("deepseek-v3-1"), "tag");
        assert_eq!(name("Qwen/Qwen3-Coder-30B"), "qwen_functions");
        assert_eq!(name("qwen2.5:7b"), "hermes");
        assert_eq!(name("ByteDance-Seed/Seed-OSS-36B"), "seed_functions");
        assert_eq!(name("glm-4.6"), "glm");
        assert_eq!(name("MiniMax-M2"), "minimax_invoke");
        assert_eq!(name("claude-sonnet-4"), "invoke");
        assert_eq!(name("LongCat-Flash-Chat"), "longcat");
        assert_eq!(name("openbmb/MiniCPM5-8B"), "minicpm");
        assert_eq!(name("functionary-small-v3.2"), "functionary");
        assert_eq!(name("tencent/Hy4-preview"), "glm");
    }

    #[test]
    fn result_carries_the_tool_name() {
        let result = ToolMessage {
            call_id: "call_1".to_owned(),
            name: "a\"<b".to_owned(),
            ok: true,
            content: "<search_results>\n1. x\n</search_results>".to_owned(),
        };
        assert_eq!(
            format_for("").render_result(&result),
            "<tool_result name=\"a&quot;&lt;b\">\n<search_results>\n1. x\n</search_results>\n</tool_result>"
        );
    }
}
