//! Data in the spellings with which people hide it, and ordinary text that looks alike.

use super::{assert_unchanged, redact_all};

#[test]
fn disguised_email_addresses_are_replaced() {
    for text in [
        "ann.lee @ example.com",
        "ann.lee＠example。com",
        "ann_lee@mail。example。cn",
        "ann.lee ＠ example.com",
        "ann.lee(at)example.com",
        "ann.lee (at) example.com",
        "ann.lee [at] example.com",
        "ann.lee[AT]example[DOT]com",
        "ann.lee {at} example {dot} org",
        "ann (at) example (dot) com",
        "ann.lee at example dot com",
        "ann99 AT mail dot example DOT co",
        "ann.lee@example dot com",
        "user@[192.0.2.1]",
        "user@[IPv6:2001:db8::1]",
    ] {
        assert_eq!(redact_all(text), "[email]", "{text}");
        assert_eq!(redact_all(&format!("写信给 {text}，谢谢")), "写信给 [email]，谢谢", "{text}");
    }
    assert_eq!(redact_all("email: ada at example dot com"), "email: [email]");
    assert_eq!(redact_all("my mail is ada @ example.com."), "my mail is [email].");
}

#[test]
fn disguised_phone_numbers_are_replaced() {
    for text in [
        "1 3 8 0 0 1 3 8 0 0 0",
        "1/3/8/0/0/1/3/8/0/0/0",
        "1-3-8-0-0-1-3-8-0-0-0",
        "１ ３ ８ ０ ０ １ ３ ８ ０ ０ ０",
        "138/0013/8000",
        "一三八零零一三八零零零",
        "一三八〇〇一三八〇〇〇",
        "幺三八 零零幺三 八零零零",
        "一 三 八 零 零 一 三 八 零 零 零",
        "壹叁捌零零壹叁捌零零零",
        "+八六一三八零零一三八零零零",
        "零一零-六二三四五六七八",
    ] {
        assert_eq!(redact_all(text), "[phone]", "{text}");
        assert_eq!(redact_all(&format!("打给我：{text}。")), "打给我：[phone]。", "{text}");
    }
    assert_eq!(redact_all("电话六二三四五六七八"), "电话[phone]");
    assert_eq!(redact_all("1 1 0 1 0 5 1 9 8 5 0 7 2 2 0 0 0 2"), "[id]");
    assert_eq!(redact_all("4/1/1/1/2/2/2/2/3/3/3/3/4/4/4/8"), "[card]");
}

#[test]
fn ordinary_text_like_disguised_data_stays() {
    assert_unchanged(&[
        "meet at noon (at) the office",
        "arrive at 10am at example.com",
        "look at example dot com",
        "see us @ example.com",
        "10am @ example.com",
        "lunch @ 12.30",
        "2 kg @ 3.50 USD",
        "he is at work. Come at nine",
        "array[at] index[i]",
        "f(at) returns g(x)",
        "npm i react@latest。然后运行",
        "pkg@1.0.0-beta.rc-1",
        "root@[config]",
        "2026/11/25",
        "2026/11/25 10:30",
        "11/25/2026 and 12/01/2026",
        "1/2/3",
        "1/2, 3/4 and 5/6",
        "1 2 3 4 5 6 7 8 9 10 11",
        "1/2/3/4/5/6/7/8/9",
        "1-2-3-4-5-6-7",
        "0 0 1 0 1 1 0 1",
        "$1,299.00 / month",
        "v1.2.3/4.5.6",
        "192.168.1.1/24",
        "24/7 365 days",
        "三五个人，一二三四五六",
        "二〇二四年十月一日",
        "一九九七年七月一日，第二十三届",
        "一二三四五六七八九",
        "三百六十五天",
        "3/8/2024 0/1/3",
    ]);
}
