//! What a `JMESPath` expression may cost, before it is applied.

use jmespath::ast::Ast;

/// How much longer a text may become when it is quoted: a control character takes six.
const QUOTED: usize = 6;

/// Nodes of an expression that take about as long as copying a byte, for each byte of the answer.
const NODES: usize = 8;

/// How many times larger than what it reads a result can be: an expression sees only the element it is applied to, so
/// that only lists and objects that it makes, and its own texts, can add up. `None` for a `join` whose glue is read
/// from the answer, as that is repeated for each element.
pub(super) fn growth(ast: &Ast) -> Option<usize> {
    Measure { names: 0 }.growth(ast)
}

/// What an expression makes of a byte of the answer, with the names of its objects and its own evaluation.
pub(super) fn work(ast: &Ast) -> Option<usize> {
    Some(Measure { names: 1 }.growth(ast)?.saturating_add(nodes(ast) / NODES))
}

struct Measure {
    /// How much a byte of an object's name counts: an element that is given a name takes two bytes itself.
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

    /// A function's result holds at most its arguments together; one that is given an expression applies it to each
    /// element.
    fn function(&self, name: &str, args: &[Ast]) -> Option<usize> {
        match (name, args) {
            ("join", [Ast::Literal { .. }, ..]) => self.product(args),
            ("join", _) => None,
            ("to_string", _) => Some(self.sum(args.iter())?.saturating_mul(QUOTED)),
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

/// The number of an expression's parts.
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
