//! What of an answer the model reads.

use jmespath::ast::Ast;
use serde::Serialize;
use serde_json::Value;

/// The longest expression, in bytes.
const LONGEST: usize = 500;

/// The most characters of an expression that can nest one part in another: parsing and searching recurse.
const MOST_NESTING: usize = 64;

/// How often an expression may repeat what it reads.
const MOST_GROWTH: usize = 64;

/// A part or a rearrangement of a JSON answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Transform {
    /// A JSON Pointer (RFC 6901).
    Pointer(String),
    /// A `JMESPath` expression.
    Jmespath(String),
}

impl Transform {
    /// Checks that it can be applied within bounds; the error says what is accepted.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (Self::Pointer(text) | Self::Jmespath(text)) = self;
        if text.len() > LONGEST {
            return Err(format!("at most {LONGEST} bytes long"));
        }
        match self {
            Self::Pointer(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(()),
            Self::Pointer(_) => Err("a JSON Pointer such as `/data/0/name`".to_owned()),
            Self::Jmespath(expression) => {
                if expression.bytes().filter(|byte| b"([{!&|.*<>=".contains(byte)).count() > MOST_NESTING {
                    return Err("a JMESPath expression with fewer parts".to_owned());
                }
                let parsed = jmespath::parse(expression).map_err(|_| "a JMESPath expression")?;
                let bounded = growth(&parsed) <= MOST_GROWTH;
                bounded.then_some(()).ok_or_else(|| "a JMESPath expression that repeats less of the answer".to_owned())
            }
        }
    }

    /// The part of an answer; `None` where there is none.
    pub(crate) fn apply(&self, answer: &Value) -> Option<Value> {
        match self {
            Self::Pointer(pointer) => answer.pointer(pointer).cloned(),
            Self::Jmespath(expression) => {
                let found = jmespath::compile(expression).ok()?.search(answer).ok()?;
                serde_json::to_value(&*found).ok().filter(|found| !found.is_null())
            }
        }
    }
}

/// How many times larger than what it reads a result can be: an expression sees only the element it is applied to, so
/// that only lists and objects that it makes, and its own texts, can add up.
fn growth(ast: &Ast) -> usize {
    match ast {
        Ast::Comparison { lhs, rhs, .. } | Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } => {
            growth(lhs).max(growth(rhs))
        }
        Ast::Condition { predicate, then, .. } => growth(predicate).max(growth(then)),
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => 1,
        Ast::Literal { value, .. } => value.to_string().len().max(1),
        Ast::Expref { ast: node, .. }
        | Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. } => growth(node),
        Ast::Function { args, .. } => args.iter().map(growth).fold(1, usize::saturating_mul),
        Ast::MultiList { elements, .. } => elements.iter().map(growth).fold(0, usize::saturating_add),
        Ast::MultiHash { elements, .. } => {
            elements.iter().map(|pair| growth(&pair.value)).fold(0, usize::saturating_add)
        }
        Ast::Projection { lhs, rhs, .. } | Ast::Subexpr { lhs, rhs, .. } => growth(lhs).saturating_mul(growth(rhs)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(expression: &str, answer: &Value) -> Option<Value> {
        let transform = Transform::Jmespath(expression.to_owned());
        transform.check().unwrap();
        transform.apply(answer)
    }

    #[test]
    fn a_part_of_an_answer_is_found_or_is_not() {
        let answer = json!({"data": {"items": [{"n": 1, "t": "a"}, {"n": 2, "t": "b"}]}});
        let pointer = |text: &str| Transform::Pointer(text.to_owned()).apply(&answer);
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
    fn f134_an_expression_that_could_blow_an_answer_up_is_refused() {
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
    fn f134_an_expression_nested_as_deep_as_its_length_allows_does_no_harm() {
        for text in ["(", "!", "a[", "[]", "[[", "a.", "a|", "[*]", "[?a", "a==", "&", "{a:", "not_null(", "`["] {
            for times in [60 / text.len(), 64, 250, 499 / text.len()] {
                for end in ["", "a", "0", "`1`"] {
                    let transform = Transform::Jmespath(format!("{}{end}", text.repeat(times)));
                    if transform.check().is_ok() {
                        let _ = transform.apply(&json!({"a": [1]}));
                    }
                }
            }
        }
        let closed = Transform::Jmespath(format!("{}a{}", "(".repeat(64), ")".repeat(64)));
        assert_eq!((closed.check(), closed.apply(&json!({"a": 1}))), (Ok(()), Some(json!(1))));
    }
}
