//! Functions of several arguments, which the evaluator does not have: each is written in terms of what it has.

/// How a call is written anew.
type Rewriting = fn(&[String]) -> Option<String>;

/// What a function of several arguments becomes.
enum Meaning {
    /// This text, made of the arguments; `None` for a wrong number of them.
    Text(Rewriting),
    /// The least argument, or the greatest.
    Least,
    Greatest,
}

/// The functions by name.
const FUNCTIONS: [(&str, Meaning); 7] = [
    ("min", Meaning::Least),
    ("max", Meaning::Greatest),
    ("pow", Meaning::Text(|arguments| two(arguments).map(|(x, y)| format!("(({x})^({y}))")))),
    ("mod", Meaning::Text(|arguments| two(arguments).map(|(x, y)| format!("(({x}) mod ({y}))")))),
    ("log", Meaning::Text(logarithm)),
    ("round", Meaning::Text(rounded)),
    ("factorial", Meaning::Text(|arguments| one(arguments).map(|n| format!("(({n})!)")))),
];

/// Longest text that may come of it, in bytes; arguments that are repeated could let it grow without end.
const MAX_LENGTH: usize = 8000;

/// The expression without functions of several arguments; `is_less` compares two expressions by their values.
pub(super) fn expanded<E: From<String>>(
    text: &str,
    mut is_less: impl FnMut(&str, &str) -> Result<bool, E>,
) -> Result<String, E> {
    let mut text = text.to_owned();
    // The last one to begin has no other one in its arguments.
    while let Some((start, name, meaning)) = last_call(&text) {
        let open = start + name.len();
        let Some((arguments, end)) = arguments(&text, open) else { return Err(E::from("括号不成对".to_owned())) };
        let written = match meaning {
            Meaning::Text(rewriting) => rewriting(&arguments),
            Meaning::Least => extreme(&arguments, |one, other| is_less(one, other))?,
            Meaning::Greatest => extreme(&arguments, |one, other| is_less(other, one))?,
        };
        let Some(written) = written else { return Err(E::from(format!("{name} 的参数个数不对"))) };
        text.replace_range(start..end, &written);
        if text.len() > MAX_LENGTH {
            return Err(E::from("算式太复杂".to_owned()));
        }
    }
    Ok(text)
}

/// Where the last call of such a function begins; one with a single argument may be the evaluator's own.
fn last_call(text: &str) -> Option<(usize, &'static str, &'static Meaning)> {
    let calls = FUNCTIONS.iter().filter_map(|(name, meaning)| Some((last_of(text, name)?, *name, meaning)));
    calls.max_by_key(|(start, _, _)| *start)
}

fn last_of(text: &str, name: &str) -> Option<usize> {
    let is_whole = |at: usize| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let has_own_arguments = |at: usize| {
        let count = arguments(text, at + name.len()).map_or(0, |(arguments, _)| arguments.len());
        count > 1 || !matches!(name, "log" | "round")
    };
    let opening = format!("{name}(");
    text.rmatch_indices(&opening).map(|(at, _)| at).find(|at| is_whole(*at) && has_own_arguments(*at))
}

/// The arguments in the parentheses that open at `open`, and where what follows them begins.
fn arguments(text: &str, open: usize) -> Option<(Vec<String>, usize)> {
    let (mut depth, mut arguments) = (0_usize, vec![String::new()]);
    for (at, c) in text.get(open..)?.char_indices() {
        match c {
            ')' if depth == 1 => return Some((arguments, open + at + 1)),
            ',' if depth == 1 => arguments.push(String::new()),
            _ if depth > 0 => arguments.last_mut()?.push(c),
            _ => {}
        }
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn one(arguments: &[String]) -> Option<&str> {
    let [only] = arguments else { return None };
    Some(only)
}

fn two(arguments: &[String]) -> Option<(&str, &str)> {
    let [first, second] = arguments else { return None };
    Some((first, second))
}

fn logarithm(arguments: &[String]) -> Option<String> {
    two(arguments).map(|(x, base)| format!("((ln ({x}))/(ln ({base})))"))
}

fn rounded(arguments: &[String]) -> Option<String> {
    two(arguments).map(|(x, places)| format!("((round (({x})*(10^({places}))))/(10^({places})))"))
}

fn extreme<E>(
    arguments: &[String],
    mut is_better: impl FnMut(&str, &str) -> Result<bool, E>,
) -> Result<Option<String>, E> {
    let mut best: Option<&String> = None;
    for argument in arguments.iter().filter(|argument| !argument.trim().is_empty()) {
        best = match best {
            Some(best) if !is_better(argument, best)? => Some(best),
            _ => Some(argument),
        };
    }
    Ok(best.map(|best| format!("({best})")))
}
