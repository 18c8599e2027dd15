//! Upper bounds on the cost of a `JMESPath` expression, computed before it is applied.

use jmespath::ast::Ast;

/// Maximum growth of a text by quoting: a control character takes six bytes.
const QUOTE_FACTOR: usize = 6;

/// Returns how many times larger than its input a result can be. An expression sees only the element it is applied to,
/// so only lists, objects and texts of its own add up. `None` for a `join` whose glue is read from the response, as the
/// glue is repeated for each element.
///
/// `names` is the weight of a byte in an object's name: the named element takes two bytes itself.
pub(super) fn growth(ast: &Ast, names: usize) -> Option<usize> {
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
