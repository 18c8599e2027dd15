use std::cell::Cell;

use platform::settings::Settings;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Redactor;

mod disguises;
mod kinds;

thread_local! {
    static WORK: Cell<usize> = const { Cell::new(0) };
    static SEARCHED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes of a part that is searched.
pub(crate) fn count_search(bytes: usize) {
    SEARCHED.set(SEARCHED.get() + bytes);
    count_work(bytes);
}

/// Counts the bytes that a search or pattern reads.
pub(crate) fn count_work(bytes: usize) {
    WORK.set(WORK.get() + bytes);
}

fn redactor(mask: &str, patterns: &str) -> Redactor {
    Redactor::from_settings(&Settings::from_pairs([("MASK", mask), ("MASK_PATTERNS", patterns)])).unwrap()
}

fn redact_all(text: &str) -> String {
    redactor("all", "").redact_text(text).into_owned()
}

/// Asserts that each text is replaced as a whole.
fn assert_replaced(placeholder: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(redact_all(text), placeholder, "{text}");
        for (before, after) in [("请问", "，谢谢"), ("see ", ", please."), ("“", "”"), ("a: ", "\nb"), ("[", "]")]
        {
            let around = format!("{before}{text}{after}");
            assert_eq!(redact_all(&around), format!("{before}{placeholder}{after}"), "{around}");
        }
    }
}

fn assert_unchanged(texts: &[&str]) {
    for text in texts {
        assert_eq!(redact_all(text), *text);
    }
}

#[test]
fn only_the_configured_kinds_are_replaced() {
    let text = "ada@example.com 13800138000 110105198507220002 4111222233334448";
    let masked = |mask| redactor(mask, "").redact_text(text).into_owned();
    assert_eq!(masked("email"), "[email] 13800138000 110105198507220002 4111222233334448");
    assert_eq!(masked("phone, card"), "ada@example.com [phone] 110105198507220002 [card]");
    assert_eq!(masked("id"), "ada@example.com 13800138000 [id] 4111222233334448");
    assert_eq!(masked("all"), "[email] [phone] [id] [card]");
    assert!(Redactor::default().is_off() && Redactor::default().redact_text(text) == text);
    assert_eq!(redactor("phone", "").redact_text("13800138000@qq.com"), "[phone]@qq.com");
}

#[test]
fn setting_error_names_variable_and_accepted_values() {
    let error = |name: &str, value: &str| {
        Redactor::from_settings(&Settings::from_pairs([(name, value)])).unwrap_err().to_string()
    };
    let kinds = "MASK: expected all, or some of email, phone, id and card with commas between them";
    for value in ["canary", "email,", "email;phone", "ALL", "all,email"] {
        assert_eq!(error("MASK", value), kinds);
    }
    assert_eq!(error("MASK_RESULTS", "yes"), "MASK_RESULTS: expected yes only with MASK or MASK_PATTERNS");
    assert_eq!(error("MASK_ANSWERS", "yes"), "MASK_ANSWERS: expected yes only with MASK or MASK_PATTERNS");
    for value in [
        "canary",
        "{}",
        r#"[{"name":"a"}]"#,
        r#"[{"name":"a","pattern":"("}]"#,
        r#"[{"name":"a","pattern":"x*"}]"#,
        r#"[{"name":"A","pattern":"x"}]"#,
        r#"[{"name":"a","pattern":"x","flags":"i"}]"#,
        r#"[{"name":"a","pattern":"(?=x)y"}]"#,
        r#"[{"name":"a","pattern":"(x{100}){100}"}]"#,
        &format!(r#"[{{"name":"a","pattern":"{}"}}]"#, "x".repeat(201)),
        &json!(vec![json!({"name": "a", "pattern": "x"}); 17]).to_string(),
    ] {
        let message = error("MASK_PATTERNS", value);
        assert!(message.starts_with("MASK_PATTERNS"), "{message}");
        assert!(!message.contains("canary"), "{message}");
    }
    let second = |row: &str| error("MASK_PATTERNS", &format!(r#"[{{"name":"a","pattern":"x"}},{row}]"#));
    assert!(second(r#"{"name":"A","pattern":"x"}"#).starts_with("MASK_PATTERNS[1].name: expected 1 to 32 of a-z"));
    assert!(second(r#"{"name":"b","pattern":"("}"#).starts_with("MASK_PATTERNS[1].pattern: expected a regular"));
    assert!(second(r#"{"name":"b"}"#).starts_with("MASK_PATTERNS[1].pattern: expected a regular"));
}

#[test]
fn operator_patterns_are_replaced_with_the_kinds() {
    let own =
        redactor("phone", r#"[{"name":"employee","pattern":"\\bE\\d{6}\\b"},{"name":"word","pattern":"[a-z]+"}]"#);
    assert_eq!(own.names(), ["phone", "employee", "word"]);
    assert_eq!(own.redact_text("E123456 13800138000 X"), "[employee] [phone] X");
    assert_eq!(own.redact_text("[employee][phone] abc"), "[employee][phone] [word]");
    let long = format!("{}\n{} E123456 {}", "X".repeat(3000), "X ".repeat(1000), "X".repeat(3000));
    assert_eq!(own.redact_text(&long), long.replace("E123456", "[employee]"));
    let many = redactor("", r#"[{"name":"a","pattern":"a"}]"#).redact_text(&"a ".repeat(5000)).into_owned();
    assert!(!many.replace("[a]", "").contains('a'));
}

#[test]
fn json_field_names_and_ordinary_numbers_stay() {
    let own = redactor("all", "");
    let value = json!({
        "13800138000": "13800138000", "n": 13_800_138_000_u64, "year": 2024, "list": ["ada@example.com", 1.5, null, true],
        "phoneNumber": "6502530000", "tel": 62_345_678, "order_id": "62345678", "nested": {"q": "x 110105198507220002"},
    });
    let expected: Value = json!({
        "13800138000": "[phone]", "n": "[phone]", "year": 2024, "list": ["[email]", 1.5, null, true],
        "phoneNumber": "[phone]", "tel": "[phone]", "order_id": "62345678", "nested": {"q": "x [id]"},
    });
    assert_eq!(own.redact_json(&value), expected);
    assert_eq!(own.redact_json(&expected), expected);
    assert_eq!(Redactor::default().redact_json(&value), value);
}

#[test]
fn joined_personal_data_of_any_length_is_replaced() {
    let own = redactor("all", r#"[{"name":"employee","pattern":"E\\d{6}"}]"#);
    let masked = |text: &str| own.redact_text(text).into_owned();
    assert_eq!(masked("A234567(9)A234567(9)A234567(9)13800138000E123456"), "[id][id][id][phone][employee]");
    assert_eq!(masked("A234567(9)A234567(9)A234567(9)A234567(9)13800138000"), "[id][id][id][id][phone]");
    for count in 1..40 {
        let once = masked(&format!("first line\n{}E123456\nlast line", "A234567(9)".repeat(count)));
        assert!(once.starts_with("first line\n[id]") && once.ends_with("[id][employee]\nlast line"), "{once}");
        assert!(!once.contains(|c: char| c.is_ascii_digit()), "{once}");
        assert_eq!(masked(&once), once);
    }
    assert_eq!(own.redact_json(&json!({"tel": "6234567E123456"})), json!({"tel": "[phone][employee]"}));
    let long = "a".repeat(64);
    for text in [
        format!("12345679 Sada@example.comada@example.com{long}\u{200b}gb19west12345698765499"),
        format!("12345679 Sgb19west1234569876549900013800138000138001380000{long}ada@example.com"),
    ] {
        let once = own.redact_json(&json!({"tel": text}));
        assert_eq!(own.redact_json(&once), once, "a text that is short only when it is masked");
    }
}

#[test]
fn white_space_separates_groups_and_newlines_end_numbers() {
    for space in
        ["\t", "      ", " \t ", "\u{1680}", "\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}", "\u{2003}", "\u{2800}"]
    {
        let texts = ["138 0013 8000", "4111 2222 3333 4448", "110105 19850722 0002", "123 45 6789", "AB 12 34 56 C"];
        for text in texts.into_iter().chain(["DE82 3704 0044 0532 0139 99", "11010519850722007 X", "+1 650 253 0000"]) {
            let parted = text.replace(' ', space);
            assert!(
                redact_all(&parted).starts_with('[') && redact_all(&parted).ends_with(']'),
                "{parted:?}: {}",
                redact_all(&parted)
            );
        }
    }
    assert_eq!(redact_all(&format!("138{}0013 8000", " ".repeat(16))), "[phone]");
    let wide_gap = format!("138{}0013 8000", " ".repeat(17));
    assert_unchanged(&[
        &wide_gap,
        "138\n0013\n8000",
        "4111\r\n2222\r\n3333\r\n4448",
        "2024\t12\t31",
        "1\t2\t3\t4\t5\t6\t7",
    ]);
}

#[test]
fn digits_of_all_scripts_and_combining_marks_match() {
    let zeros = [
        '٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '๐', '໐', '༠', '၀', '០', '᠐', '０', '𝟎', '𝟘', '𝟶',
        '𞥐',
    ];
    for zero in zeros {
        let digit = |c: char| char::from_u32(u32::from(zero) + c.to_digit(10).unwrap()).unwrap();
        for (text, placeholder) in [("13800138000", "[phone]"), ("4111222233334448", "[card]")] {
            let text: String = text.chars().map(digit).collect();
            assert_eq!(redact_all(&text), placeholder, "{text}");
        }
    }
    assert_eq!(redact_all("jose\u{301}@example.com"), "[email]");
    for mark in ["\0", "\u{1b}", "\u{301}", "\u{338}", "\u{61c}", "\u{2066}", "\u{3164}", "\u{fe0e}", "\u{e0131}"] {
        assert_eq!(redact_all(&["138", "0013", "8000"].join(mark)), "[phone]", "{mark:?}");
    }
}

#[test]
fn json_inside_texts_is_redacted() {
    let own = redactor("all", "");
    let inner = json!({"phone": 62_345_678, "q": "138\t0013\t8000", "n": 1}).to_string();
    let outer = json!({"body": inner, "escaped": r#"["\u0031\u0033800138000", "\u0061da\u0040example.com"]"#});
    let masked = json!({"phone": "[phone]", "q": "[phone]", "n": 1}).to_string();
    assert_eq!(own.redact_json(&outer), json!({"body": masked, "escaped": r#"["[phone]","[email]"]"#}));
    let twice = json!({"a": outer.to_string()});
    assert_eq!(own.redact_json(&own.redact_json(&twice)), own.redact_json(&twice));
    assert!(!own.redact_json(&twice).to_string().contains("0013"));
    let plain = json!({"text": "{ \"a\" : 1 }", "half": "[1, ", "list": "[ ]"});
    assert_eq!(own.redact_json(&plain), plain);
}

/// Random texts made of fragments similar to personal data.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        "[0-9]{1,6}",
        "[ .()@+_-]",
        "[a-zA-Z]{1,3}",
        Just("@".to_owned()),
        Just("13800138000".to_owned()),
        Just("4111222233334448".to_owned()),
        Just("110105198507220002".to_owned()),
        Just("ada@example.com".to_owned()),
        Just("A234567(9)".to_owned()),
        Just("电话：".to_owned()),
        Just("passport ".to_owned()),
        Just("E123456".to_owned()),
        Just("＠。１３８".to_owned()),
        Just("\u{200b}".to_owned()),
        Just("[phone]".to_owned()),
        "[\t\n\r\u{85}\u{2028} ]{1,4}",
        "[০-৯๐-๙]{1,6}",
        Just("gb19west12345698765499".to_owned()),
        Just("DE82 3704 0044 0532 0139 99".to_owned()),
        Just("12345679 S".to_owned()),
        Just("a".repeat(64)),
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(fragment, 0..24).prop_map(|pieces| pieces.concat())
}

/// 512 cases, or the number in `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let own = std::env::var_os("PROPTEST_CASES").map(|_| ProptestConfig::default());
    own.unwrap_or_else(|| ProptestConfig::with_cases(512))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn redacting_twice_changes_nothing_more(text in fragments()) {
        let own = redactor("all", r#"[{"name":"employee","pattern":"E\\d{6}"},{"name":"tail","pattern":"zz.*"}]"#);
        let once = own.redact_text(&text).into_owned();
        prop_assert_eq!(own.redact_text(&once).into_owned(), once);
    }

    #[test]
    fn redacting_a_field_twice_changes_nothing_more(name in "[a-z ]{0,3}(tel|phone|id|passport|E12345)?", text in fragments()) {
        let own = redactor("all", r#"[{"name":"employee","pattern":"E\\d{6}"},{"name":"tail","pattern":"zz.*"}]"#);
        let once = own.redact_json(&json!({name: text}));
        prop_assert_eq!(own.redact_json(&once), once);
    }

    #[test]
    fn spans_are_disjoint_and_on_char_boundaries(text in any::<String>(), more in fragments()) {
        let text = format!("{text}{more}");
        let own = redactor("all", "");
        let mut end = 0;
        for span in own.spans(&text) {
            prop_assert!(span.range.start >= end && text.get(span.range.clone()).is_some_and(|part| !part.is_empty()));
            end = span.range.end;
        }
    }
}

#[test]
fn redaction_work_is_linear_in_the_text() {
    let own = redactor("all", r#"[{"name":"a","pattern":"E\\d{6}"}]"#);
    let texts = [
        "@",
        "a@",
        "1 ",
        "1",
        "1-",
        "(",
        "a",
        "A1",
        "GB29 ",
        "+1 ",
        "电话",
        "phone 1 ",
        "[",
        "a@b.",
        "％40",
        "13800138000-",
        "1\t",
        "1                ",
        "AB                ",
        "1\n",
        "\u{301}",
    ];
    let bytes = 2048;
    // A number that hides the previous one causes repeated searches.
    for piece in texts.into_iter().chain(["A234567(9)", "1 3 8 ", "1/", "一三八", "a at ", "a@b dot ", "\u{3002}a@"])
    {
        let work = |bytes: usize| {
            WORK.set(0);
            let text = piece.repeat(bytes / piece.len());
            assert!(!own.redact_text(&text).is_empty());
            WORK.get()
        };
        let (short, long) = (work(bytes), work(16 * bytes));
        assert!(long <= 20 * short, "{piece}: {short} {long}");
        assert!(long <= 1024 * 16 * bytes, "{piece}: {long}");
    }
}

#[test]
fn chain_of_hidden_numbers_is_searched_three_times() {
    let own = redactor("all", "");
    for text in ["A234567(9)".repeat(5000), "A234567(9)13800138000".repeat(2500), "1".repeat(50_000)] {
        SEARCHED.set(0);
        let once = own.redact_text(&text).into_owned();
        assert!(SEARCHED.get() <= 3 * text.len() + 16 * 1024, "{}", SEARCHED.get());
        assert_eq!(own.redact_text(&once), once);
    }
    let json = json!({"a": "{\"b\":[138,\"13800138000\"]} A234567(9)A234567(9)".repeat(100)});
    SEARCHED.set(0);
    let once = own.redact_json(&json);
    assert!(SEARCHED.get() <= 3 * (3 * json.to_string().len() + 16 * 1024), "{}", SEARCHED.get());
    assert_eq!(own.redact_json(&once), once);
}

#[test]
fn every_pattern_is_compiled() {
    let forms = crate::forms::FORMS.iter().map(|forms| &forms.table);
    for table in forms.chain([&*crate::email::TABLE, &*crate::keywords::TABLE]) {
        let patterns = table.0.as_ref().map_or(0, |(table, _)| regex_automata::dfa::Automaton::pattern_len(table));
        assert!(patterns > 1, "{patterns}");
    }
}
