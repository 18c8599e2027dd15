//! Calls without a marker that are a whole reply.

use tool_calls::ReplyEnd;

use crate::support::{scan, tools, transcript};

fn assert_read_at_every_split(texts: &[&str], call: &str) {
    for text in texts {
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let outcome = scan(&tools(), [&text[..cut], &text[cut..]], ReplyEnd::Complete);
            assert_eq!(outcome.transcript(), [call], "{text} {cut}");
        }
    }
}

#[test]
fn call_as_source_code_is_read_alone() {
    assert_read_at_every_split(
        &["search_web(\"特斯拉 Q3\")", "search_web(query='特斯拉 Q3')\n", "\nsearch_web(query=\"特斯拉 Q3\",)"],
        "search_web({\"query\":\"特斯拉 Q3\"})",
    );
    assert_read_at_every_split(&["current_time()"], "current_time({})");
    for text in [
        "search_web(\"x\") searches the web.",
        "search_web(\"x\")\nsearches the web.",
        "search_web(query) searches the web.",
        "Call search_web(\"x\")",
        "print(\"x\")",
        "search_web(1, 2)",
        "`search_web(\"x\")`",
    ] {
        assert_eq!(transcript(text), [text]);
    }
}

#[test]
fn call_as_action_object_is_read_alone() {
    assert_read_at_every_split(
        &[
            "{\"action\": \"search_web\", \"action_input\": {\"query\": \"x\"}}",
            "{\"action\": \"search_web\", \"action_input\": \"x\"}",
            "```json\n{\"action\": \"search_web\", \"action_input\": \"x\"}\n```",
        ],
        "search_web({\"query\":\"x\"})",
    );
    for text in [
        "{\"action\": \"buy\", \"action_input\": \"x\"}",
        "{\"action\": \"search_web\", \"action_input\": \"x\"}\nis LangChain's form.",
        "{\"action\": \"search_web\", \"action_input\": \"x\", \"why\": 1}",
    ] {
        assert_eq!(transcript(text), [text]);
    }
}
