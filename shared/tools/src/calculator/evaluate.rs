use super::fault::Fault;
use super::formatting::Answer;
use super::work::Limit;
use super::{formatting, lexer, notation, parser};

/// The value of an expression.
pub(super) fn evaluate(expression: &str, limit: &Limit) -> Result<Answer, Fault> {
    limit.check()?;
    let text = notation::plain(expression)?;
    let value = parser::value(lexer::tokens(&text)?, limit)?;
    limit.spend(&[&value.number])?;
    formatting::format_answer(&value)
}
