//! Upper bounds on the cost of a `JMESPath` expression, computed before it is applied.

use jmespath::ast::Ast;

/// Maximum growth of a text by quoting: a control character takes six bytes.
const QUOTE_FACTOR: usize = 6;

/// Nodes of an expression whose evaluation takes about as long as copying one byte, for each byte of the response.
const NODES_PER_BYTE: usize = 8;

/// Returns how many times larger than its input a result can be. An expression sees only the element it is applied to,
/// so only lists, objects and texts of its own add up. `None` for a `join` whose glue is read from the response, as the
/// glue is repeated for each element.
pub(super) fn growth(ast: &Ast) -> Option<usize> {
    Measure { names: 0 }.growth(ast)
}

/// Returns the work for each byte of the response, with the names of created objects and the evaluation itself.
pub(super) fn work(ast: &Ast) -> Option<usize> {
    Some(Measure { names: 1 }.growth(ast)?.saturating_add(nodes(ast) / NODES_PER_BYTE))
}

struct Measure {
    /// Weight of a byte in an object's name: the named element takes two bytes itself.
    names: usize,
}

impl Measure {
    fn growth(&self, ast: &Ast) -> Option<usize> {
        Some(match ast {
            Ast::Comparison { lhs, rhs, .. } | Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } => {
                self.growth(lhs)?.max(self.growth(rhs)?)
            }
            Ast::Condition { predicate, then, .. } => self.growth(predicate)?.max(self.growth(then)?),
            Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => 1,
            Ast::Literal { value, .. } => value.to_string().len().max(1),
            Ast::Expref { ast: node, .. }
            | Ast::Flatten { node, .. }
            | Ast::Not { node, .. }
            | Ast::ObjectValues { node, .. } => self.growth(node)?,
            Ast::Function { name, args, .. } => self.function(name, args)?,
            Ast::MultiList { elements, .. } => self.sum(elements.iter())?,
            Ast::MultiHash { elements, .. } => {
                let names: usize = elements.iter().map(|pair| pair.key.len() / 2).sum();
                self.sum(elements.iter().map(|pair| &pair.value))?.saturating_add(names.saturating_mul(self.names))
            }
            Ast::Projection { lhs, rhs, .. } | Ast::Subexpr { lhs, rhs, .. } => {
                self.growth(lhs)?.saturating_mul(self.growth(rhs)?)
            }
        })
    }

    /// Returns the growth of a function: its arguments together, or their product if it applies an expression to each
    /// element.
    fn function(&self, name: &str, args: &[Ast]) -> Option<usize> {
        match (name, args) {
            ("join", [Ast::Literal { .. }, ..]) => self.product(args),
            ("join", _) => None,
            ("to_string", _) => Some(self.sum(args.iter())?.saturating_mul(QUOTE_FACTOR)),
            _ if args.iter().any(|arg| matches!(arg, Ast::Expref { .. })) => self.product(args),
            _ => Some(self.sum(args.iter())?.max(1)),
        }
    }

    fn sum<'a>(&self, mut parts: impl Iterator<Item = &'a Ast>) -> Option<usize> {
        parts.try_fold(0, |sum: usize, part| Some(sum.saturating_add(self.growth(part)?)))
    }

    fn product(&self, parts: &[Ast]) -> Option<usize> {
        parts.iter().try_fold(1, |product: usize, part| Some(product.saturating_mul(self.growth(part)?)))
    }
}

/// Counts the nodes of an expression.
fn nodes(ast: &Ast) -> usize {
    let inner: usize = match ast {
        Ast::Comparison { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. } => nodes(lhs) + nodes(rhs),
        Ast::Condition { predicate, then, .. } => nodes(predicate) + nodes(then),
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } | Ast::Literal { .. } => 0,
        Ast::Expref { ast: node, .. }
        | Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. } => nodes(node),
        Ast::Function { args, .. } => args.iter().map(nodes).sum(),
        Ast::MultiList { elements, .. } => elements.iter().map(nodes).sum(),
        Ast::MultiHash { elements, .. } => elements.iter().map(|pair| nodes(&pair.value)).sum(),
    };
    inner + 1
}
