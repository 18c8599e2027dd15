//! Selects the part of a response that the model reads.

use std::time::Duration;

use domain::Owner;
use jmespath::ast::Ast;
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;
use work::SHORT_WORK;

const MAX_EXPRESSION_BYTES: usize = 500;

/// Maximum number of characters in an expression that can nest one part in another: parsing and searching recurse.
const MAX_NESTING: usize = 64;

/// Maximum growth of an expression: how often it may repeat its input.
const MAX_GROWTH: usize = 64;

/// Maximum work of one search: the response's size in bytes times the output of the expression for each byte.
const MAX_WORK: usize = 48 * 1024 * 1024;

/// Maximum work of the evaluation itself for each byte of the response: eight steps take about as long as copying one
/// byte, and each character that can nest makes at most five.
const MAX_EVALUATION: usize = MAX_NESTING * 5 / 8;

/// Timeout of a search, with the wait for its thread.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum growth of a text by quoting: a control character takes six bytes.
const QUOTE_FACTOR: usize = 6;

/// Selects or rearranges parts of a JSON response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Transform {
    /// A JSON Pointer (RFC 6901).
    Pointer(String),
    /// A `JMESPath` expression.
    Jmespath(String),
}

impl Transform {
    /// Checks that it can be applied within bounds; the error describes what is accepted.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (Self::Pointer(text) | Self::Jmespath(text)) = self;
        if text.len() > MAX_EXPRESSION_BYTES {
            return Err(format!("at most {MAX_EXPRESSION_BYTES} bytes long"));
        }
        match self {
            Self::Pointer(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(()),
            Self::Pointer(_) => Err("a JSON Pointer such as `/data/0/name`".to_owned()),
            Self::Jmespath(expression) => {
                if expression.bytes().filter(|byte| b"([{!&|.*<>=".contains(byte)).count() > MAX_NESTING {
                    return Err("a JMESPath expression with fewer parts".to_owned());
                }
                let parsed = jmespath::parse(expression).map_err(|_| "a JMESPath expression")?;
                let growth = growth(&parsed, 0).ok_or("a JMESPath expression whose `join` has a literal glue")?;
                let bounded = growth <= MAX_GROWTH;
                bounded.then_some(()).ok_or_else(|| "a JMESPath expression that repeats less of the answer".to_owned())
            }
        }
    }

    /// Selects the part of a response in the pool for heavy work; `None` if there is none, or if the search would exceed the
    /// work limit. Dropping the future leaves at most one bounded search running.
    pub(crate) async fn apply(&self, owner: &Owner, answer: Value) -> Option<Value> {
        let Self::Jmespath(expression) = self else { return self.select(&answer) };
        let size = serde_json::to_string(&answer).map_or(usize::MAX, |text| text.len());
        if work(expression)?.saturating_mul(size) > MAX_WORK {
            return None;
        }
        let transform = self.clone();
        // A search cannot be interrupted, so its work is bounded in advance.
        let search = SHORT_WORK.run(owner, move |_| transform.select(&answer));
        timeout(TIMEOUT, search).await.ok().flatten().flatten()
    }

    fn select(&self, answer: &Value) -> Option<Value> {
        match self {
            Self::Pointer(pointer) => answer.pointer(pointer).cloned(),
            Self::Jmespath(expression) => {
                let found = jmespath::compile(expression).ok()?.search(answer).ok()?;
                serde_json::to_value(&*found).ok().filter(|found| !found.is_null())
            }
        }
    }
}

/// The work of an expression for each byte of the response, with the names of created objects and the evaluation itself.
fn work(expression: &str) -> Option<usize> {
    let growth = growth(&jmespath::parse(expression).ok()?, 1)?;
    // Two characters are at most four steps, such as `[]`.
    Some(growth.saturating_add(MAX_EVALUATION.min(expression.len() / 4)))
}

/// Returns how many times larger than its input a result can be. An expression sees only the element it is applied to,
/// so only lists, objects and texts of its own add up. `None` for a `join` whose glue is read from the response, as the
/// glue is repeated for each element.
///
/// `names` is the weight of a byte in an object's name: the named element takes two bytes itself.
fn growth(ast: &Ast, names: usize) -> Option<usize> {
    Some(match ast {
        Ast::Comparison { lhs, rhs, .. } | Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } => {
            growth(lhs, names)?.max(growth(rhs, names)?)
        }
        Ast::Condition { predicate, then, .. } => growth(predicate, names)?.max(growth(then, names)?),
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => 1,
        Ast::Literal { value, .. } => value.to_string().len().max(1),
        Ast::Expref { ast: node, .. }
        | Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. } => growth(node, names)?,
        Ast::Function { name, args, .. } => function(name, args, names)?,
        Ast::MultiList { elements, .. } => sum(elements.iter(), names)?,
        Ast::MultiHash { elements, .. } => {
            let bytes: usize = elements.iter().map(|pair| pair.key.len() / 2).sum();
            sum(elements.iter().map(|pair| &pair.value), names)?.saturating_add(bytes.saturating_mul(names))
        }
        Ast::Projection { lhs, rhs, .. } | Ast::Subexpr { lhs, rhs, .. } => {
            growth(lhs, names)?.saturating_mul(growth(rhs, names)?)
        }
    })
}

/// Returns the growth of a function: its arguments together, or their product if it applies an expression to each
/// element.
fn function(name: &str, args: &[Ast], names: usize) -> Option<usize> {
    match (name, args) {
        ("join", [Ast::Literal { .. }, ..]) => product(args, names),
        ("join", _) => None,
        ("to_string", _) => Some(sum(args.iter(), names)?.saturating_mul(QUOTE_FACTOR)),
        _ if args.iter().any(|arg| matches!(arg, Ast::Expref { .. })) => product(args, names),
        _ => Some(sum(args.iter(), names)?.max(1)),
    }
}

fn sum<'a>(mut parts: impl Iterator<Item = &'a Ast>, names: usize) -> Option<usize> {
    parts.try_fold(0, |sum: usize, part| Some(sum.saturating_add(growth(part, names)?)))
}

fn product(parts: &[Ast], names: usize) -> Option<usize> {
    parts.iter().try_fold(1, |product: usize, part| Some(product.saturating_mul(growth(part, names)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(expression: &str, answer: &Value) -> Option<Value> {
        let transform = Transform::Jmespath(expression.to_owned());
        transform.check().unwrap();
        transform.select(answer)
    }

    #[test]
    fn transform_selects_a_part_or_nothing() {
        let answer = json!({"data": {"items": [{"n": 1, "t": "a"}, {"n": 2, "t": "b"}]}});
        let pointer = |text: &str| Transform::Pointer(text.to_owned()).select(&answer);
        assert_eq!(pointer("/data/items/1/t"), Some(json!("b")));
        assert_eq!((pointer("/data/none"), pointer("")), (None, Some(answer.clone())));
        assert_eq!(
            find("data.items[?n > `1`].{title: t, number: n}", &answer),
            Some(json!([{"title": "b", "number": 2}]))
        );
        assert_eq!(find("join(', ', data.items[*].t)", &answer), Some(json!("a, b")));
        assert_eq!((find("data.none", &answer), find("length(`1`)", &answer)), (None, None));
    }

    #[test]
    fn f134_expression_with_excessive_growth_is_rejected() {
        let refused = |text: String| Transform::Jmespath(text).check().is_err();
        assert!(refused(["[@,@][]"; 7].join(" | ")));
        assert!(refused(["{a:@,b:@}"; 20].join("|")));
        assert!(refused(format!("[*].'{}'", "x".repeat(100))));
        assert!(refused(format!("join('{}', @)", "x".repeat(100))));
        assert!(refused("map(&[@,@,@,@,@,@,@,@,@], [@,@,@,@,@,@,@,@])".to_owned()));
        assert!(refused("(".repeat(600)) && refused("(".repeat(400)) && refused("a..b".to_owned()));
        assert!(Transform::Pointer("a/b".to_owned()).check().is_err());
    }

    #[test]
    fn f134_deepest_nesting_does_not_overflow_the_stack() {
        for text in ["(", "!", "a[", "[]", "[[", "a.", "a|", "[*]", "[?a", "a==", "&", "{a:", "not_null(", "`["] {
            for times in [60 / text.len(), 64, 250, 499 / text.len()] {
                for end in ["", "a", "0", "`1`"] {
                    let transform = Transform::Jmespath(format!("{}{end}", text.repeat(times)));
                    if transform.check().is_ok() {
                        let _ = transform.select(&json!({"a": [1]}));
                    }
                }
            }
        }
        let closed = Transform::Jmespath(format!("{}a{}", "(".repeat(64), ")".repeat(64)));
        assert_eq!((closed.check(), closed.select(&json!({"a": 1}))), (Ok(()), Some(json!(1))));
    }

    #[test]
    fn f134_growth_of_every_function_is_counted() {
        let refused = |text: &str| Transform::Jmespath(text.to_owned()).check().is_err();
        for text in [
            "join(g, l)",
            "join(@.g, l)",
            "join(to_string(g), l)",
            "l[*].join(@[0], @[1])",
            &format!("{}@{}", "to_string([".repeat(5), "])".repeat(5)),
            &["merge({a:@},{b:@})"; 7].join("|"),
            &["[not_null(a,@),not_null(b,@)]"; 7].join("|"),
            &["values({a:@,b:@})"; 7].join("|"),
            &["map(&@,[@,@])"; 7].join("|"),
            &["sort_by([@,@],&a)"; 7].join("|"),
            &["reverse([@,@])"; 7].join("|"),
            &["to_array([@,@])[]"; 7].join("|"),
        ] {
            assert!(refused(text), "{text}");
        }
        for text in [
            "join(', ', data[*].t)",
            "to_string(data)",
            "merge(a, b)",
            "sort_by(data, &n)[*].{title: t, number: n}",
            "data[?contains(t, 'x')].t | [0]",
            "length(to_string(@))",
            "max_by(data, &n).t",
        ] {
            assert!(!refused(text), "{text}");
        }
    }

    /// No accepted expression produces more than its counted work.
    #[tokio::test]
    async fn f134_results_are_no_larger_than_their_counted_work() {
        let answer = json!({
            "g": "\u{1}\"\\".repeat(2000), "l": vec!["x"; 2000], "d": vec![json!({"t": "\"", "n": 1}); 2000], "e": vec![0; 5000],
        });
        let size = answer.to_string().len();
        for text in [
            "to_string(to_string([@]))",
            "join('0123456789', l)",
            "d[*].{a0123456789: t, b0123456789: n, c: @}",
            "e[*].{a01234567890123456789012345678901234567890123456789: @}",
            "merge({a: @}, {b: @}, {c: @})",
            "[@, @, @][].to_string([g])",
            "map(&to_string([@]), d)",
            "[e, e][][].[@, @, @]",
        ] {
            let transform = Transform::Jmespath(text.to_owned());
            assert_eq!(transform.check(), Ok(()), "{text}");
            let work = work(text).unwrap() * size;
            let found = transform.apply(&Owner::new("ada"), answer.clone()).await;
            let length = found.map_or(0, |found| found.to_string().len());
            assert!(length <= 8 * work, "{text}: {length} of {work}");
        }
    }

    #[tokio::test]
    async fn f134_search_over_the_work_limit_is_not_started() {
        let answer = json!(vec![json!({"a": 1, "b": 2}); 200_000]);
        let heavy = Transform::Jmespath("[*].{a0000000000: a, b0000000000: b, c0000000000: @}".to_owned());
        assert_eq!((heavy.check(), heavy.apply(&Owner::new("ada"), answer.clone()).await), (Ok(()), None));
        let light = Transform::Jmespath("[0].a".to_owned());
        assert_eq!(light.apply(&Owner::new("ada"), answer).await, Some(json!(1)));
    }
}
