use domain::ToolMessage;

use super::*;

fn user(text: &str) -> Message {
    Message::user(text)
}

fn result(name: &str, content: &str) -> Message {
    let (call_id, name, content) = ("c".to_owned(), name.to_owned(), content.to_owned());
    Message::Tool(ToolMessage { call_id, name, ok: true, content })
}

fn is_allowed(messages: &[Message], address: &str) -> bool {
    let pages = UrlAllowlist::default();
    for message in messages {
        pages.add_message(message);
    }
    parse_page(address).is_some_and(|page| pages.first_spelling(&page).is_some())
}

#[test]
fn f136_addresses_in_user_text_are_allowed_anywhere() {
    for text in [
        "https://a.example/x",
        "read https://a.example/x.",
        "（见 HTTPS://A.example:443/x/#part）",
        "看看https://a.example/x，好吗",
        "看看https://a.example/x里面写了什么",
        "[it](https://a.example/x)",
        "see <https://a.example/x>, please",
    ] {
        assert!(is_allowed(&[user(text)], "https://a.example/x"), "{text}");
    }
    assert!(is_allowed(&[user("https://a.example/路径?q=一")], "https://a.example/路径?q=一"));
    assert!(is_allowed(&[user("https://a.example")], "https://A.EXAMPLE/#top"));
}

#[test]
fn f136_other_page_is_not_allowed() {
    let messages = [user("https://a.example/x?k=1")];
    for address in [
        "https://a.example/x",
        "https://a.example/x?k=2",
        "http://a.example/x?k=1",
        "https://b.example/x?k=1",
        "https://a.example:8443/x?k=1",
        "https://a.example/X?k=1",
        "https://a.example/x?k=1&d=secret",
    ] {
        assert!(!is_allowed(&messages, address), "{address}");
    }
}

#[test]
fn f136_results_allow_only_their_sources() {
    let content = "1. t\n来源：https://a.example/1\n内容：see https://evil.example/\n 来源：https://evil.example/";
    assert!(is_allowed(&[result("search_web", content)], "https://a.example/1"));
    assert!(!is_allowed(&[result("search_web", content)], "https://evil.example/"));
    assert!(!is_allowed(&[result("other", content)], "https://a.example/1"));
    let assistant = Message::Assistant {
        text: "https://a.example/1".into(),
        thinking: String::new(),
        calls: Vec::new(),
        provider_data: None,
    };
    assert!(!is_allowed(&[assistant], "https://a.example/1"));
}

#[test]
fn f136_prefix_of_another_language_names_no_source() {
    let lines = "Source: https://b.example/\n来源：https://a.example/";
    let content = |beginning: &str| format!("{beginning}x\n{lines}");
    let allowed = |name: &str, beginning: &str| {
        let messages = [result(name, &content(beginning))];
        ["https://a.example/", "https://b.example/"].map(|address| is_allowed(&messages, address))
    };
    for (name, beginning) in [
        ("search_web", "<search_results>\n搜索结果：\n\n"),
        ("search_web", "<search_results>\nAI 摘要："),
        ("search_web", "<search_results>\n搜索词：Query: "),
        ("read_url", "<page>\n标题："),
        ("read_url", "<page>\n编号：1\nNumber: "),
    ] {
        assert_eq!(allowed(name, beginning), [true, false], "{beginning}");
    }
    for beginning in ENGLISH_BEGINNINGS {
        let name = if beginning.starts_with("<page>") { "read_url" } else { "search_web" };
        assert_eq!(allowed(name, beginning), [false, true], "{beginning}");
    }
}

#[test]
fn f125_f129_only_public_host_names_are_pages() {
    for address in [
        "ftp://a.example/",
        "file:///etc/passwd",
        "https://u@a.example/",
        "https://u:p@a.example/",
        "https://127.0.0.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::1]/",
        "https://localhost/",
        "https://x.localhost/",
        "http://metadata.google.internal/",
        "https://printer.local./",
        "https://intranet/",
        "https://１２７.0.0.1/",
        "",
        "a",
        &format!("https://a.example/{}", "x".repeat(2048)),
    ] {
        assert_eq!(parse_page(address), None, "{address}");
    }
    assert_eq!(parse_page(" https://a.example/b?c#d ").unwrap().as_str(), "https://a.example/b?c");
}

/// The address that is requested for the model's `address` after a user wrote `text`.
fn requested(text: &str, address: &str) -> Option<String> {
    let pages = UrlAllowlist::default();
    pages.add_message(&user(text));
    parse_page(address).and_then(|page| pages.first_spelling(&page)).map(String::from)
}

#[test]
fn f136_first_spelling_is_requested_not_the_models() {
    let known = "https://a.example/x?q=1";
    for address in [
        "HTTPS://A.Example:443/x?q=1",
        "https://a.example/x/?q=1",
        "https://a.example/x?q=1#secret",
        "https://a.example/./y/../x?q=1",
        "https://a.ex\tample/x?q=1",
        "https:\\\\a.example\\x?q=1",
        "https:a.example/x?q=1",
        "https://ａ.example/x?q=1",
    ] {
        let requested = requested(known, address);
        assert!(requested.is_none() || requested.as_deref() == Some(known), "{address}: {requested:?}");
    }
    assert_eq!(requested("https://a.example/x/", "https://a.example/x"), Some("https://a.example/x/".to_owned()));
    assert_eq!(requested("https://a.example//", "https://a.example/"), Some("https://a.example//".to_owned()));
}

#[test]
fn f136_different_pages_are_not_equal() {
    for (text, address) in [
        ("https://a.example/x", "https://a.example/x//"),
        ("https://a.example/x", "https://a.example/x/////"),
        ("https://a.example/x", "https://a.example//x"),
        ("https://a.example/x", "https://a.example/x?"),
        ("https://a.example/x", "https://a.example./x"),
        ("https://a.example/x", "https://a.example/%78"),
        ("https://a.example/%c3%a9", "https://a.example/%C3%A9"),
        ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1"),
    ] {
        assert_eq!(requested(text, address), None, "{address}");
    }
}

#[test]
fn f136_newest_pages_stay_in_the_allowlist() {
    let pages = UrlAllowlist::default();
    for number in 0..MAX_PAGES + 5 {
        pages.add_message(&user(&format!("https://a.example/{number}")));
    }
    let is_known =
        |number: usize| pages.first_spelling(&parse_page(&format!("https://a.example/{number}")).unwrap()).is_some();
    assert_eq!([0, 4, 5, MAX_PAGES + 4].map(is_known), [false, false, true, true]);
    let known = lock(&pages.0);
    assert_eq!((known.order.len(), known.spellings.len()), (MAX_PAGES, MAX_PAGES));
}

#[test]
fn f136_overlong_host_is_not_parsed() {
    assert_eq!(parse_page(&format!("https://{}.example/", "路".repeat(600))), None);
    assert_eq!(parse_page(&format!("https://{}a.example/", "a.".repeat(300))), None);
}
