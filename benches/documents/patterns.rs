/// 200 patterns: literals, classes, repetitions, alternations, anchors and flags.
pub(crate) fn all() -> Vec<String> {
    let literals = (0..80).map(|number| format!("needle-{}", number * 37));
    let prefixes = (0..40).map(|number| format!("^needle-{number}[0-9]$"));
    let classes = (0..20).map(|number| format!(r"needle-1?{number}\d{{2}}\b"));
    let pairs = (0..40).map(|number| format!("needle-({number}00|{number}11)$"));
    let rest = [
        "预算是三百万元 会议纪要 预算是三百万元",
        "(?i)NEEDLE-19",
        r"^\s+indented line +needle",
        r"\p{Han}{20,}",
        "café café café",
        "ABC-1234 ABC-1234 ABC-1234",
        r"^$",
        r"needle-\w+\s+$",
        "[^ -~]needle",
        r"^(# Heading ){3}$",
        r"ann@example\.org 2026-11-23 café",
        r"(?i)HEADING café ANN",
        r"\bfn main\(\) \{ println!\(\) \} fn main\(\) \{ println!\(\) \} fn",
        "^- item - item - item $",
        "纪要 预算是三百万元 会议",
        r"1,250\.50 EUR total 1,250\.50 EUR total",
        r"\u{7EAA}要 café ",
        "never-there",
        "x{3}",
        r"^needle-1(9|8){2}\d\d$",
    ];
    literals.chain(prefixes).chain(classes).chain(pairs).chain(rest.map(str::to_owned)).collect()
}
