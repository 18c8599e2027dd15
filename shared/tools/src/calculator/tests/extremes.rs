//! Extreme calculations: each supported notation terminates with extreme numbers, and other notations are rejected.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant as Clock;

use num_bigint::BigInt;

use super::*;

const NUMBERS: [&str; 8] = ["0", "-0.1", "10000", "(2^39000)", "(3^-20000)", "pi", "12000!", "1e999999999"];

const CALLS: [&str; 26] = [
    "sqrt",
    "cbrt",
    "abs",
    "round",
    "floor",
    "ceil",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "ln",
    "lg",
    "log",
    "log2",
    "log10",
    "exp",
    "factorial",
    "min",
    "max",
    "pow",
    "mod",
    "arcsin",
    "arccos",
    "arctan",
];

/// Calculates within one test, so that each expression has its own time.
fn timed(expression: &str) -> (Result<Answer, Fault>, Duration) {
    let limit = Limit::new(work::StopFlag::default(), CalculationBudget::default());
    let started = Clock::now();
    (evaluate(expression, &limit), started.elapsed())
}

fn ends(expression: &str) {
    let (_, took) = timed(expression);
    assert!(took < Duration::from_secs(5), "{expression} took {took:?}");
}

#[test]
fn f053_every_function_ends_with_extreme_numbers() {
    for call in CALLS {
        for one in NUMBERS {
            ends(&format!("{call}({one})"));
            for other in NUMBERS.into_iter().filter(|_| super::super::functions::takes_several(call)) {
                ends(&format!("{call}({one}, {other})"));
            }
        }
    }
}

#[test]
fn f053_every_operator_ends_with_extreme_numbers() {
    for one in NUMBERS {
        for other in NUMBERS {
            for sign in ["+", "-", "*", "/", "^", " mod ", " of ", "!^", "%*"] {
                ends(&format!("({one}){sign}({other})"));
            }
        }
    }
}

#[test]
fn f053_long_chains_of_large_operations_stop() {
    for unit in ["+3^-20000", "*(7^9000/5^9000)", "+sqrt(2^39001)", "/(10^9000+1)", "-ln(3^20000)", "+3000!"] {
        ends(&format!("1{}", unit.repeat(990 / unit.len())));
    }
    ends(&format!("max({})", vec!["3^-20000"; 40].join(",")));
}

#[test]
fn f053_nearly_equal_large_fractions_are_compared() {
    let power = |base: u32| BigInt::from(base).pow(3000);
    let (large, next) = (power(29), power(29) + 1_u32);
    assert!(&next * power(28) < large * (power(28) + 1_u32), "the second fraction is less");
    assert_eq!(exactly("max((29/28)^3000, (29^3000+1)/(28^3000+1)) * 28^3000 - 29^3000"), "0");
}

#[test]
fn f053_long_list_of_large_literals_stops() {
    let limit = Limit::new(work::StopFlag::default(), CalculationBudget::default());
    let literals = vec!["3e-11990"; 100].join("+");
    assert!(matches!(lexer::tokens(&literals, &limit), Err(Fault::TooLarge)));
}

#[test]
fn f053_dice_distributions_and_statements_are_rejected() {
    for expression in [
        "10000d10000",
        "1000d1000",
        "d4000000000",
        "d20",
        "roll d20",
        "sample(d20)",
        "average(2d6)",
        "mean(d6)",
        "today",
        "now",
        "5 to words",
        "5 to roman",
        "random",
        "fibonacci(100000)",
        "x",
        "let",
        "true",
        "not 1",
        "conjugate(5)",
        "i",
        "real(3)",
        "USD",
        "100 EUR to USD",
        "5 nPr 3",
        "5 choose 3",
        "version",
        "ans",
        "_",
        "unitless",
        "5 km to miles",
        "sin(30 degrees)",
        "√2",
        "2¹⁰",
        "asinh(1e9999)",
        "1 month to days",
        "5 km to words",
        "to_words",
        "5 to",
        "to km",
    ] {
        assert!(matches!(value(expression), Err(Fault::Unreadable(_))), "{expression}: {:?}", value(expression));
    }
    assert_eq!(unreadable("hello + 1"), "不认识 hello");
}

#[tokio::test]
async fn f053_calculations_share_two_threads_and_leave_none() {
    let heavy = format!("1{}", "/(10^9000+1)".repeat(30));
    let owners: Vec<_> = (0..6).map(|at| Owner::new(format!("{at}"))).collect();
    let calls = owners.iter().map(|owner| calculate(heavy.clone(), owner, CalculationBudget::default()));
    let all = futures_util::future::join_all(calls);
    let ended = tokio::time::timeout(Duration::from_mins(1), all).await.unwrap();
    assert!(ended.into_iter().all(|outcome| outcome.is_some()));
    let both = async { tokio::join!(SHORT_WORK.run(&owners[0], |_| ()), SHORT_WORK.run(&owners[1], |_| ())) };
    let free = tokio::time::timeout(Duration::from_secs(20), both).await;
    assert_eq!(free, Ok((Some(()), Some(()))), "each calculation gives its thread back");
}

/// Forty fractions whose sum has no small lowest terms.
fn heavy_sum() -> String {
    (0..40).map(|at| format!("1/({}^900+{at})", 97 + at)).collect::<Vec<_>>().join("+")
}

#[tokio::test]
async fn f053_calculations_of_one_turn_share_their_work() {
    let (ada, budget) = (Owner::new("sharing"), CalculationBudget::default());
    let calculation = |expression: String| calculate(expression, &ada, budget.clone());
    assert!(matches!(calculation("2^10".to_owned()).await, Some(Ok(_))));
    let heavy = format!("max({})", ["3^-20000"; 40].join(","));
    for _ in 0..10 {
        assert_eq!(calculation(heavy.clone()).await, Some(Err(Fault::TooLarge)));
    }
    assert_eq!(calculation("1+1".to_owned()).await, Some(Err(Fault::TooLarge)), "the turn has no work left");
    let other = calculate("1+1".to_owned(), &ada, CalculationBudget::default()).await;
    assert!(matches!(other, Some(Ok(_))), "another turn has its own");
}

#[tokio::test]
async fn f053_calculation_overtakes_another_owners_flood() {
    let (ada, bob) = (Owner::new("flooding"), Owner::new("waiting"));
    let ended = std::sync::atomic::AtomicUsize::new(0);
    let flood = futures_util::future::join_all((0..127).map(async |_| {
        let outcome = calculate(heavy_sum(), &ada, CalculationBudget::default()).await;
        ended.fetch_add(1, SeqCst);
        outcome
    }));
    let other = async {
        let outcome = calculate("1+1".to_owned(), &bob, CalculationBudget::default()).await;
        (outcome.is_some_and(|outcome| outcome.is_ok()), ended.load(SeqCst))
    };
    let mut flood = std::pin::pin!(flood);
    assert!(futures_util::poll!(flood.as_mut()).is_pending());
    let other = std::pin::pin!(other);
    let first = futures_util::future::select(flood, other).await;
    let futures_util::future::Either::Right(((is_right, before), _)) = first else { panic!("the flood ended first") };
    assert!(is_right && before <= 20, "{before} calculations of the flood ended before");
}
