//! Fuzzing of the input from users and pages.

use domain::{Message, ToolMessage};
use fuzz::{ensure, run_text};

use crate::{UrlAllowlist, markdown, url_allowlist};

#[test]
fn fuzz_known_pages_are_public_and_known_again() {
    let samples =
        ["看看https://a.example/x，好吗", "[it](https://a.example/x?q=1#f)", "来源：https://b.example/1\n", "a://b"];
    let fragments = [
        "https://",
        "http://",
        "://",
        "a.example",
        "/",
        "?",
        "#",
        "@",
        "来源：",
        "，",
        ")",
        "localhost",
        "127.0.0.1",
        "%2f",
    ];
    run_text("known pages", &samples, &fragments, |text| {
        let pages = UrlAllowlist::default();
        pages.add_message(&Message::user(text));
        let result =
            ToolMessage { call_id: String::new(), name: "search_web".to_owned(), ok: true, content: text.to_owned() };
        pages.add_message(&Message::Tool(result));
        let Some(page) = url_allowlist::parse_page(text) else { return Ok(()) };
        let named_by = ToolMessage {
            call_id: String::new(),
            name: "search_web".to_owned(),
            ok: true,
            content: format!("来源：{page}\n"),
        };
        pages.add_message(&Message::Tool(named_by));
        ensure(pages.first_spelling(&page).is_some(), || format!("{page} was named and is not known"))?;
        let named = page.domain().is_some_and(|name| name.contains('.')) && page.username().is_empty();
        ensure(named, || format!("{page} is a page"))?;
        ensure(url_allowlist::parse_page(page.as_str()).as_ref() == Some(&page), || {
            format!("{page} is not read as it is written")
        })
    });
}

#[test]
fn fuzz_markdown_of_tools_stays_on_its_line() {
    let samples = ["a [b](c) *d* `e`", "<b>&amp;</b>", "| x |\n|---|", "# t\n- a\n1. b"];
    let fragments = [
        "[",
        "](",
        ")",
        "![",
        "<",
        "```",
        "\n",
        "\r",
        "|",
        "\\",
        "https://a.example/",
        "javascript:",
        "\u{202e}",
        "&#10;",
    ];
    run_text("markdown of tools", &samples, &fragments, |text| {
        let (single, link) = (markdown::single_line(text), markdown::link(text, "https://a.example/?q=)"));
        ensure(!single.contains(['\n', '\r']) && !link.contains(['\n', '\r']), || format!("{single:?} {link:?}"))?;
        let max_bytes = 8 * text.len() + 128;
        ensure(single.len() <= max_bytes && markdown::format_result(text).len() <= max_bytes, || {
            format!("more than {max_bytes} bytes")
        })
    });
}
