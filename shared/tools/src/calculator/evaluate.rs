use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fend_core::{Context, Interrupt, evaluate_with_interrupt};

use super::{functions, notation};

/// Longest time of one calculation.
const LONGEST: Duration = Duration::from_millis(500);

/// Longest result that is written out, in characters.
const MAX_RESULT: usize = 400;

/// Digits of a longer one that are told.
const LEADING_DIGITS: usize = 15;

/// Marks a result that is not exact, in the evaluator's words.
const APPROXIMATE: &str = "approx. ";

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) exact: bool,
}

/// Why there is no value; the words are for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no expression.
    Unreadable(String),
    /// It is one, and has no value.
    Undefined(String),
    /// It has one that takes too long.
    TooLarge,
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// When a calculation has to stop: after its time, or when nobody waits for it.
pub(super) struct Limit {
    until: Instant,
    stopped: Arc<AtomicBool>,
}

impl Limit {
    pub(super) fn new(stopped: Arc<AtomicBool>) -> Self {
        Self { until: Instant::now() + LONGEST, stopped }
    }
}

impl Interrupt for Limit {
    fn should_interrupt(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// The value of an expression; takes no longer than the limit allows, whatever it is.
pub(super) fn evaluate(expression: &str, limit: &Limit) -> Result<Answer, Fault> {
    let text = notation::plain(expression)?;
    let text = functions::expanded(&text, |one, other| is_less(one, other, limit))?;
    notation::thousands(&text)?;
    let answer = value(&text, limit)?;
    // A percentage stays one through a product; people mean the number.
    if answer.text.ends_with('%') { value(&format!("({text}) to 1"), limit) } else { Ok(answer) }
}

fn is_less(one: &str, other: &str, limit: &Limit) -> Result<bool, Fault> {
    Ok(value(&format!("({one})-({other})"), limit)?.text.starts_with('-'))
}

fn value(text: &str, limit: &Limit) -> Result<Answer, Fault> {
    let found = evaluate_with_interrupt(text, &mut Context::new(), limit).map_err(|error| fault(&error))?;
    let found = found.get_main_result();
    let (text, exact) = match found.strip_prefix(APPROXIMATE) {
        Some(text) => (text, false),
        None => (found, true),
    };
    if text.is_empty() {
        return Err(Fault::Unreadable("算式没有结果".to_owned()));
    }
    Ok(shortened(text).unwrap_or_else(|| Answer { text: text.to_owned(), exact }))
}

/// A number that is too long to be written out, by its first digits and its magnitude.
fn shortened(text: &str) -> Option<Answer> {
    if text.chars().count() <= MAX_RESULT {
        return None;
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let whole: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let (first, rest) = whole.split_at_checked(1)?;
    let rest: String = rest.chars().take(LEADING_DIGITS - 1).collect();
    Some(Answer { text: format!("{sign}{first}.{rest}e{}", whole.len() - 1), exact: false })
}

fn fault(error: &str) -> Fault {
    match error {
        "interrupted" | "exponent too large" => Fault::TooLarge,
        "division by zero" | "modulo by zero" => Fault::Undefined("除数为零，没有结果".to_owned()),
        _ if error.contains("must lie in the interval") || error.contains("is not an integer") => {
            Fault::Undefined(format!("超出了定义域（{error}）"))
        }
        _ => Fault::Unreadable(error.to_owned()),
    }
}
