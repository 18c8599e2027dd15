use domain::ToolMessage;
use proptest::prelude::*;

use super::*;

fn tool(content: &str) -> Message {
    Message::Tool(ToolMessage { call_id: "c".into(), name: "f".into(), ok: true, content: content.into() })
}

fn answer(text: &str) -> Message {
    let (text, thinking) = (text.to_owned(), String::new());
    Message::Assistant { text, thinking, calls: Vec::new(), provider_data: None }
}

/// The result as it is after a turn with this answer; another cut changes nothing.
fn cut(result: &str, text: &str) -> String {
    let mut messages = vec![tool(result), answer(text)];
    cut_results(&mut messages, Language::Zh);
    let once = messages.clone();
    cut_results(&mut messages, Language::En);
    assert_eq!(messages, once, "a cut is final");
    match &messages[0] {
        Message::Tool(result) => result.content.clone(),
        other => panic!("{other:?}"),
    }
}

const SEARCH: &str = "<search_results>\nAI 摘要：晴。\n\n搜索结果：\n\n\
    1. 一\n来源：https://a.example/1\n日期：2026-11-23\n内容：甲\n\n乙\n\n\
    2. 二\n来源：https://a.example/2\n内容：丙\n 来源：https://evil.example\n\n\
    3. 三\n来源：https://a.example/3\n内容：丁\n\n\n（结果已截断，共 9 条结果）\n</search_results>";

#[test]
fn cited_pages_keep_content_others_their_address() {
    let note = AgentTexts::of(Language::Zh).earlier_results;
    let expected = format!(
        "<search_results>\n搜索结果：\n1. 一\n来源：https://a.example/1\n日期：2026-11-23\n内容：甲\n\n乙\n\
        2. 二\n来源：https://a.example/2\n3. 三\n来源：https://a.example/3\n{note}\n</search_results>"
    );
    assert_eq!(cut(SEARCH, "晴 [1]。"), expected);
    let last = cut(SEARCH, "晴 [3, 12]。");
    assert!(last.contains("内容：丁") && !last.contains("甲") && !last.contains("丙"), "{last}");
}

#[test]
fn uncited_results_keep_the_first_pages() {
    let [long, short] = ["长".repeat(500), "短".repeat(100)];
    let page = |number: usize, content: &str| {
        format!("{number}. t\nSource: https://a.example/{number}\nContent: {content}\n\n")
    };
    let pages = [page(1, &long), page(2, &long), page(3, &short), page(4, &long)].concat();
    let result = format!("<search_results>\nQuery: q\nSearch results:\n\n{pages}</search_results>\n(again)");
    let cut = cut(&result, "sunny");
    assert_eq!([cut.matches('长').count(), cut.matches('短').count()], [500, 100]);
    assert!(
        cut.contains("\n4. t\nSource: https://a.example/4\n(Pages") && cut.ends_with("</search_results>\n(again)"),
        "{cut}"
    );
}

#[test]
fn read_page_keeps_its_beginning_if_cited() {
    let page = format!("<page>\n编号：4\n标题：题\n来源：https://a.example/\n内容：{}\n</page>", "汉".repeat(3_000));
    let cited = cut(&page, "晴 [4]。");
    assert!(cited.len() < 2_300 && cited.contains("（内容过长，已截断）\n") && cited.ends_with("\n</page>"), "{cited}");
    let note = AgentTexts::of(Language::Zh).earlier_results;
    let uncited = cut(&page, "晴 [1]。");
    assert_eq!(uncited, format!("<page>\n编号：4\n标题：题\n来源：https://a.example/\n{note}\n</page>"));
}

#[test]
fn other_results_keep_their_beginning() {
    assert_eq!(cut("{\"a\":1}", "[1]"), "{\"a\":1}");
    assert_eq!(cut("<search_error>搜索失败: x</search_error>", ""), "<search_error>搜索失败: x</search_error>");
    let long = cut(&"x".repeat(9_000), "");
    assert_eq!(long, format!("{}\n（内容过长，已截断）", "x".repeat(2_000)));
    assert!(cut(&format!("<search_results>\n{}", "y".repeat(9_000)), "").len() < 2_100);
}

proptest! {
    #[test]
    fn any_result_is_cut_once(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "1. 一", "2. 二", "来源：https://a.example", "内容：x", "内容：", "日期：2026-01-01", "", "编号：3", "搜索词：q",
                "（结果已截断，共 4 条结果）", "<search_results>", "</search_results>", "</page>", "[2]", "长长长长长长长长长长长长长长",
            ]),
            0..40,
        ),
        tag in prop::sample::select(vec!["<search_results>\n", "<page>\n", ""]),
        text in prop::sample::select(vec!["", "a [1]", "a [2] [3]"]),
    ) {
        cut(&format!("{tag}{}", lines.join("\n").repeat(9)), text);
    }
}
