//! Results against exact arithmetic: no inexact result is marked exact, and every digit in the text is correct.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

/// A tree of exact operations on whole numbers.
#[derive(Clone, Debug)]
enum Tree {
    Number(i64),
    Join(Box<Tree>, char, Box<Tree>),
    RoundDown(Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => format!("({number})"),
            Self::Join(one, sign, other) => format!("({}{sign}{})", one.text(), other.text()),
            Self::RoundDown(inner) => format!("floor({})", inner.text()),
        }
    }

    /// Numerator and denominator; `None` for a division by zero.
    fn value(&self) -> Option<(BigInt, BigInt)> {
        let zero = BigInt::from(0);
        match self {
            Self::Number(number) => Some((BigInt::from(*number), BigInt::from(1))),
            Self::RoundDown(inner) => {
                let (top, bottom) = inner.value()?;
                let (top, bottom) = if bottom < zero { (-top, -bottom) } else { (top, bottom) };
                let rest = ((&top % &bottom) + &bottom) % &bottom;
                Some(((top - rest) / bottom, BigInt::from(1)))
            }
            Self::Join(one, sign, other) => {
                let ((a, b), (c, d)) = (one.value()?, other.value()?);
                match sign {
                    '+' => Some((&a * &d + &c * &b, b * d)),
                    '-' => Some((&a * &d - &c * &b, b * d)),
                    '*' => Some((a * c, b * d)),
                    _ => (c != zero).then(|| (a * d, b * c)),
                }
            }
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![any::<i64>(), -20_i64..20].prop_map(Tree::Number);
    leaf.prop_recursive(4, 24, 2, |inner| {
        let signs = prop::sample::select(vec!['+', '-', '*', '/']);
        prop_oneof![
            4 => (inner.clone(), signs, inner.clone())
                .prop_map(|(one, sign, other)| Tree::Join(Box::new(one), sign, Box::new(other))),
            1 => inner.prop_map(|inner| Tree::RoundDown(Box::new(inner))),
        ]
    })
}

/// A written decimal as a fraction.
fn read(text: &str) -> (BigInt, BigInt) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent = exponent.parse::<i64>().unwrap() - i64::try_from(fraction.len()).unwrap();
    let number: BigInt = format!("{whole}{fraction}").parse().unwrap();
    let power = BigInt::from(10).pow(u32::try_from(exponent.unsigned_abs()).unwrap());
    if exponent < 0 { (number, power) } else { (number * power, BigInt::from(1)) }
}

proptest! {
    #[test]
    fn f051_exact_results_equal_exact_arithmetic(tree in tree()) {
        let text = tree.text();
        prop_assume!(text.len() <= 900);
        match (value(&text), tree.value()) {
            (Ok(answer), Some((top, bottom))) => {
                let (shown, scale) = read(&answer.text);
                let (shown, wanted) = (shown * &bottom, top * &scale);
                if answer.exact {
                    prop_assert_eq!(shown, wanted, "{}", text);
                } else {
                    let off = if shown > wanted { &shown - &wanted } else { &wanted - &shown };
                    let size = if wanted < BigInt::from(0) { -&wanted } else { wanted };
                    let unit = if bottom < BigInt::from(0) { -&bottom * &scale } else { &bottom * &scale };
                    let is_near = &off * 10_000_000_000_i64 <= unit || off * 100_000_000_000_000_i64 <= size;
                    prop_assert!(is_near, "{} is not {}", text, answer.text);
                }
            }
            (Err(Fault::Undefined(_)), None) => {}
            (found, wanted) => prop_assert!(false, "{}: {:?} {:?}", text, found, wanted),
        }
    }
}

#[test]
fn f051_rounding_is_exact_at_any_size() {
    let cases = [
        ("floor(2^70 + 0.5)", "1180591620717411303424"),
        ("round(10^30 + 0.4)", "1000000000000000000000000000000"),
        ("round(10^30 + 0.5)", "1000000000000000000000000000001"),
        ("ceil(1e25/3)", "3333333333333333333333334"),
        ("floor(-1e25/3)", "-3333333333333333333333334"),
        ("round(-2.5)", "-3"),
        ("ceil(-0.5)", "0"),
        ("floor(pi*1000)", "3141"),
        ("floor(3*(1/3))", "1"),
        ("round(1e20 + 0.125, 2)", "100000000000000000000.13"),
        ("round(12345, -2)", "12300"),
        ("mod(10^40, 7)", "4"),
        ("mod(7.5, 2)", "1.5"),
        ("mod(-7, 3)", "2"),
        ("10^40 mod 7", "4"),
    ];
    for (expression, expected) in cases {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
}

#[test]
fn f051_only_rational_roots_and_powers_are_exact() {
    for (expression, expected) in [
        ("sqrt(10^40)", "100000000000000000000"),
        ("sqrt(2.25)", "1.5"),
        ("cbrt(-27)", "-3"),
        ("8^(1/3)", "2"),
        ("(4/9)^(3/2)*27", "8"),
        ("32^0.2", "2"),
        ("(-2)^3", "-8"),
        ("0^5", "0"),
        ("abs(-7/2)", "3.5"),
        ("170!/169!", "170"),
        ("1e3 + 0xff + 0b101 + 0o17", "1275"),
        ("20 + 8% of 50", "24"),
    ] {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
    for (expression, expected) in [
        ("sqrt(10^40+1)", "1.0000000000000e20"),
        ("sqrt(2)*10^30", "1.41421356237310e30"),
        ("2^0.5", "1.4142135624"),
        ("e^-30", "9.3576229688e-14"),
        ("1.000001^1000000", "2.7182804691"),
        ("atan(1)*4", "3.1415926536"),
        ("acos(-1)", "3.1415926536"),
        ("ln(10^400)", "921.0340371976"),
        ("log(10^400)", "400"),
        ("e-e", "0"),
        ("10/3", "3.3333333333"),
        ("-2/3", "-0.6666666667"),
        ("2pi", "6.2831853072"),
    ] {
        let Answer { text, exact } = value(expression).unwrap();
        assert!(!exact, "{expression}");
        let (digits, wanted) = (text.trim_end_matches('0'), expected.trim_end_matches('0'));
        let is_prefix = digits.starts_with(wanted.split('e').next().unwrap().trim_end_matches('0'));
        assert!(is_prefix && digits.contains('e') == wanted.contains('e'), "{expression}: {text} {expected}");
    }
}

#[test]
fn f051_long_results_keep_their_magnitude() {
    let ones = format!("0.{}11", "0".repeat(505));
    for (expression, expected) in [
        (ones.as_str(), "1.10000000000000e-506"),
        (&format!("-{ones}"), "-1.10000000000000e-506"),
        ("2^-1074", "4.94065645841246e-324"),
        ("-(2^-1074)", "-4.94065645841246e-324"),
        ("10^10000", "1.00000000000000e10000"),
        ("10^10000-1", "9.99999999999999e9999"),
        ("1/3/10^20", "3.33333333333333e-21"),
    ] {
        assert_eq!(about(expression), expected, "{expression}");
    }
    assert_eq!(exactly("1/2^100").len(), 102);
    let long = format!("0x{}", "f".repeat(500));
    assert!(about(&long).ends_with("e602"), "{}", about(&long));
}

#[test]
fn f051_unknown_digits_are_not_shown() {
    for expression in ["sin(10^30 + pi)", "cos(10^40/3)", "1/(e-e)", "sin(10^6*pi)", "floor(e - e + pi/pi)"] {
        assert!(matches!(value(expression), Err(Fault::Undefined(_))), "{expression}: {:?}", value(expression));
    }
    for expression in ["cos(1e400)", "exp(1000)", "e^1e9", "exp(-1e9)", "1e400*pi"] {
        assert_eq!(value(expression), Err(Fault::TooLarge), "{expression}");
    }
    for expression in ["sqrt(-1)", "ln(0)", "ln(-5)", "asin(2)", "log(5, 1)", "(-8)^(1/3)", "0^0", "0^-1", "tan(pi/2)"]
    {
        assert!(matches!(value(expression), Err(Fault::Undefined(_))), "{expression}: {:?}", value(expression));
    }
}

#[test]
fn f051_ambiguous_notation_is_rejected() {
    for expression in ["17 % 5", "1/2pi", "2^3(4)", "2 3", "(2)3", "1..2", "1.2.3", "0xg", "0x", "1e"] {
        assert!(
            matches!(value(expression), Err(Fault::Unreadable(_)) | Ok(Answer { exact: false, .. })),
            "{expression}"
        );
    }
    assert!(matches!(value("17 % 5"), Err(Fault::Unreadable(_))));
    assert!(matches!(value("1/2pi"), Err(Fault::Unreadable(_))));
}
