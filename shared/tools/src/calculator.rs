//! `calculator`: calculates an expression, exactly where that is possible.

mod fault;
mod formatting;
mod functions;
mod lexer;
mod limit;
mod number;
mod parser;

use async_trait::async_trait;
use domain::{Language, Owner, ToolSpec, one_line};
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use work::SHORT_WORK;

use self::fault::Fault;
use self::formatting::Answer;
use self::limit::Limit;
use crate::error::ToolCallError;
use crate::{CalculationBudget, Tool, ToolContext, ToolError, ToolOutput, arguments, schema};

/// Longest expression in a status line, in characters.
const MAX_STATUS_CHARS: usize = 60;

/// The calculator; it has no state.
pub struct Calculator;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The expression, at most 1000 characters.
    expression: String,
}

#[async_trait]
impl Tool for Calculator {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::CALCULATOR, language)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { expression } = arguments::parse(arguments, context.language)?;
        match calculate(expression.clone(), &context.owner, context.calculation_budget.clone()).await {
            Some(Ok(answer)) => Ok(tool_output(&expression, &answer)),
            Some(Err(fault)) => Err(fault_error(&fault, context.language)),
            None => Err(ToolCallError::failed(self, context.language).into()),
        }
    }
}

/// Calculates the value in the pool for heavy work; `None` if the calculation panicked.
///
/// The size of every number is bounded, so each operation takes at most milliseconds. Between two operations a
/// calculation stops if its work budget is spent or this future is dropped. The spent work counts for the owner's next
/// calculation, which may start when this one has ended.
async fn calculate(expression: String, owner: &Owner, budget: CalculationBudget) -> Option<Result<Answer, Fault>> {
    SHORT_WORK.run(owner, move |stop| evaluate(&expression, &Limit::new(stop.clone(), budget))).await
}

fn evaluate(expression: &str, limit: &Limit) -> Result<Answer, Fault> {
    limit.check()?;
    let value = parser::value(lexer::tokens(expression, limit)?, limit)?;
    limit.spend(&[&value])?;
    Ok(formatting::format_answer(&value))
}

fn tool_output(expression: &str, answer: &Answer) -> ToolOutput {
    let Answer { text, exact } = answer;
    let content = json!({"expression": expression.trim(), "result": text, "exact": exact}).to_string();
    let sign = if *exact { '=' } else { '≈' };
    let summary = format!("{} {sign} {}", one_line(expression, MAX_STATUS_CHARS), one_line(text, MAX_STATUS_CHARS));
    let user_text = Some(format!("`{}` {sign} {text}", expression.trim()));
    ToolOutput { content: tool_calls::escape(&content), user_text, summary, ..ToolOutput::default() }
}

fn fault_error(fault: &Fault, language: Language) -> ToolError {
    let (code, message) = match fault {
        Fault::Unreadable(_) => ("invalid_arguments", "The expression cannot be read."),
        Fault::Undefined(_) => ("failed", "The expression has no value."),
        Fault::TooLarge => ("failed", "The calculation is too large."),
    };
    ToolCallError::new(code, message, tool_calls::escape(&fault.render(language))).into()
}

#[cfg(test)]
mod tests;
