//! Licence expressions of packages (SPDX, and the older `MIT/Apache-2.0`).

/// Whether an expression can be satisfied with allowed licences alone.
pub(crate) fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut tokens = spaced.split_whitespace().peekable();
    let outcome = any_of(&mut tokens, allowed);
    tokens.peek().is_none() && outcome
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(tokens: &mut Tokens<'_>, allowed: &[String]) -> bool {
    let mut outcome = all_of(tokens, allowed);
    while tokens.next_if_eq(&"OR").is_some() {
        outcome |= all_of(tokens, allowed);
    }
    outcome
}

fn all_of(tokens: &mut Tokens<'_>, allowed: &[String]) -> bool {
    let mut outcome = one(tokens, allowed);
    while tokens.next_if_eq(&"AND").is_some() {
        outcome &= one(tokens, allowed);
    }
    outcome
}

fn one(tokens: &mut Tokens<'_>, allowed: &[String]) -> bool {
    let Some(first) = tokens.next() else { return false };
    if first == "(" {
        let outcome = any_of(tokens, allowed);
        return tokens.next_if_eq(&")").is_some() && outcome;
    }
    let exception = tokens.next_if_eq(&"WITH").and_then(|_| tokens.next());
    let licence = exception.map_or_else(|| first.to_owned(), |exception| format!("{first} WITH {exception}"));
    allowed.contains(&licence)
}

#[test]
fn licence_expressions_follow_spdx_precedence() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 AND ISC) OR GPL-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT ISC", false),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(permits(expression, &allowed), expected, "{expression:?}");
    }
}
