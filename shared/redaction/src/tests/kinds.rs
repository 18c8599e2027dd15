//! What each built-in kind finds, and what it leaves.

use super::{assert_replaced, assert_unchanged, redact_all};

#[test]
fn email_addresses_of_all_forms_are_replaced() {
    assert_replaced(
        "[email]",
        &[
            "ada@example.com",
            "Ada.Lovelace+chat@mail.example.co.uk",
            "13800138000@qq.com",
            "ada_l-1@example.museum",
            "ada＠example.com",
            "ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
            "josé@example.com",
            "jürgen.m@bücher.example",
            "иван@пример.рф",
            "ada@xn--fiqs8s.xn--fiqs8s",
            "o'brien@example.ie",
            "ada\u{200b}@exam\u{ad}ple.com",
            "ada%40example.com",
            "ADA@EXAMPLE.COM",
        ],
    );
    assert_eq!(redact_all("邮箱ada@example.com请回复"), "邮箱[email]请回复");
    assert_eq!(redact_all("发给 ada@example.com。谢谢"), "发给 [email]。谢谢");
    assert_eq!(redact_all("用户 张三@例子.中国 的"), "用户 [email] 的");
    assert_eq!(redact_all("<ada@example.com>;bob@example.org."), "<[email]>;[email].");
    assert_eq!(redact_all("https://x.example/?to=ada@example.com&n=1"), "https://x.example/?to=[email]&n=1");
    assert_eq!(redact_all("ada@example.com-\u{200b}电话"), "[email]-\u{200b}电话");
    assert_eq!(redact_all("ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ－－"), "[email]－－");
    assert_eq!(redact_all("mailto:ada@example.com"), "mailto:[email]");
}

#[test]
fn near_email_addresses_stay() {
    assert_unchanged(&[
        "@ada",
        "ada@",
        "ada@localhost",
        "react@18.2.0",
        "logo@2x.png",
        "5 @ 3.20",
        "a @ b.com",
        "ada at example dot com",
        "@scope/package@latest",
        "ada@@",
        "@",
        "x@y",
        "用户@你好",
    ]);
}

#[test]
fn chinese_phone_numbers_of_all_forms_are_replaced() {
    assert_replaced(
        "[phone]",
        &[
            "13800138000",
            "138 0013 8000",
            "138-0013-8000",
            "138.0013.8000",
            "138\u{a0}0013\u{a0}8000",
            "138\u{3000}0013\u{3000}8000",
            "138–0013–8000",
            "138_0013_8000",
            "１３８００１３８０００",
            "１３８－００１３－８０００",
            "138\u{200b}0013\u{200b}8000",
            "+8613800138000",
            "+86 138 0013 8000",
            "＋86 13800138000",
            "(+86) 138 0013 8000",
            "（+86）13800138000",
            "86-13800138000",
            "8613800138000",
            "0086 138 0013 8000",
            "008613800138000",
            "19912345678",
            "010-62345678",
            "(010) 6234 5678",
            "（0755）26345678",
            "0755-2634567",
            "021 6234 5678",
            "010-62345678-801",
            "01062345678",
            "075526345678",
            "+86 10 6234 5678",
            "400-810-1234",
            "400 810 1234",
            "4008101234",
            "800-810-1234",
        ],
    );
    assert_eq!(redact_all("手机13800138000或19912345678"), "手机[phone]或[phone]");
    assert!(redact_all("1️⃣3️⃣8️⃣0️⃣0️⃣1️⃣3️⃣8️⃣0️⃣0️⃣0️⃣").starts_with("[phone]"));
    assert_eq!(redact_all("Tel13800138000"), "Tel[phone]");
    assert_eq!(redact_all("13800138000/13900139000,13700137000"), "[phone]/[phone],[phone]");
    assert_eq!(redact_all("2024-05-06 13800138000"), "2024-05-06 [phone]");
    assert_eq!(redact_all("电话：62345678。手机号码是 6234 5678"), "电话：[phone]。手机号码是 [phone]");
}

#[test]
fn phone_numbers_of_other_countries_are_replaced() {
    assert_replaced(
        "[phone]",
        &[
            "+1 650 253 0000",
            "+16502530000",
            "(650) 253-0000",
            "650-253-0000",
            "650.253.0000",
            "1-650-253-0000",
            "+44 20 7946 0958",
            "+44 (0)20 7946 0958",
            "0044 20 7946 0958",
            "020 7946 0958",
            "07911 123456",
            "07911123456",
            "+49 30 1234567",
            "+33 6 12 34 56 78",
            "+852 9123 4567",
            "+886 912 345 678",
            "0912-345-678",
            "090-1234-5678",
            "+81 90 1234 5678",
            "+6591234567",
        ],
    );
    assert_eq!(redact_all("call me on 6502530000 today"), "call me on [phone] today");
    assert_eq!(redact_all("Phone number: 650 253 0000"), "Phone number: [phone]");
}

#[test]
fn identity_numbers_with_valid_check_digits_are_replaced() {
    assert_replaced(
        "[id]",
        &[
            "110105198507220002",
            "11010519850722007X",
            "11010519850722007x",
            "１１０１０５１９８５０７２２００７Ｘ",
            "110105 19850722 0002",
            "110105-19850722-0002",
            "A234567(9)",
            "A234567（9）",
            "WX234567(4)",
            "F134567896",
            "A234567802",
            "S7654321F",
            "T0123456G",
            "G7654321L",
            "123-45-6789",
            "123 45 6789",
            "912-70-1234",
            "AB 12 34 56 C",
            "850722-1234561",
            "246.813.579-28",
            "12345679S",
            "Y1234568B",
        ],
    );
    assert_eq!(redact_all("身份证号：110105850722001"), "身份证号：[id]");
    assert_eq!(redact_all("我的护照号码是E12345678"), "我的护照号码是[id]");
    assert_eq!(redact_all("passport no. 123456789"), "passport no. [id]");
    assert_eq!(redact_all("HKID A2345679"), "HKID [id]");
}

#[test]
fn open_parenthesis_and_touching_letters_hide_nothing() {
    assert_eq!(redact_all("(4111222233334448)"), "([card])");
    assert_eq!(redact_all("(123-45-6789, 4111 2222 3333 4448)"), "([id], [card])");
    assert_eq!(redact_all("WX234567(4)and A234567(9)(6"), "[id]and [id](6");
    assert_eq!(redact_all("+110105198507220002"), "+[id]");
    assert_eq!(redact_all("(+86 138 0013 8000 and (010) 6234 5678"), "([phone] and [phone]");
}

#[test]
fn identity_numbers_with_invalid_parts_stay() {
    assert_unchanged(&[
        "110105198507220003",
        "110105198513220005",
        "A234567(8)",
        "F134567897",
        "S7654321A",
        "000-45-6789",
        "666-45-6789",
        "123-00-6789",
        "123-45-0000",
        "110105850722001",
        "A2345679",
        "E12345678",
        "12345679A",
        "246.813.579-29",
        "850722-1234562",
    ]);
}

#[test]
fn card_and_account_numbers_are_replaced() {
    assert_replaced(
        "[card]",
        &[
            "4111222233334448",
            "4111 2222 3333 4448",
            "4111-2222-3333-4448",
            "4111.2222.3333.4448",
            "4111\u{a0}2222\u{a0}3333\u{a0}4448",
            "４１１１２２２２３３３３４４４８",
            "5222333344445552",
            "3712 345678 90120",
            "6222021200004567892",
            "6222 0212 0000 4567 892",
            "622202 1200004567892",
            "6217001234567893",
            "3528123456789012",
            "36123456789013",
            "9558801234567890128",
            "DE82370400440532013999",
            "DE82 3704 0044 0532 0139 99",
            "gb19west12345698765499",
            "FR25 2004 1010 0505 0001 3M02 699",
        ],
    );
}

#[test]
fn ordinary_numbers_stay() {
    assert_unchanged(&[
        "2024",
        "2024-05-06",
        "2024.05.06 12:30:00",
        "20240506",
        "20240506123000",
        "2024-05-06T12:30:00+08:00",
        "1700000000",
        "1700000000000",
        "192.168.1.100",
        "10.0.19041.1234",
        "v1.2.3-4567",
        "978-7-111-12345-6",
        "ISBN 9787111123456",
        "0-306-40615-2",
        "¥13800138000",
        "$ 4,111,222,233",
        "13800138000元",
        "13800138000.50",
        "0.13800138000",
        "299 399 1299",
        "199 2999 399",
        "400 500 6000",
        "3.14159265358979",
        "4111222233334449",
        "41112222333344489999",
        "138001380001",
        "12800138000",
        "23800138000",
        "a13800138000",
        "13800138000b",
        "0x13800138000",
        "20240115138001380001",
        "order 2024-0001-13800138000",
        "3+12345678=",
        "+0800",
        "1998 2001 200",
        "iPhone 15 128GB",
        "iPhone 1234567 units",
        "phone released 2024-01-15",
        "7301234567890123456",
        "1-2-3",
        "(1) (2) (3)",
        "北京 2024 年 10 月 1 日 气温 25.5 度",
        "3.5万 12亿 100%",
        "a1b2c3d4e5f6",
        "550e8400-e29b-41d4-a716-446655440000",
        "DE83370400440532013999",
        "Model S7 and E90",
    ]);
}
