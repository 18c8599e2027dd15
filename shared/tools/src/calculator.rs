//! `calculator`: calculates an expression, exactly where that is possible.

mod application;
mod cursor;
mod evaluate;
mod fault;
mod formatting;
mod functions;
mod interval;
mod lexer;
mod notation;
mod number;
mod parser;
mod quantity;
mod rational;
mod units;
mod work;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use domain::Owner;
use domain::{Language, ToolFailure, ToolSpec};
use fairness::FairSlots;
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use self::fault::Fault;
use self::formatting::Answer;
use self::work::Limit;
use crate::call_error::ToolCallError;
use crate::{CalculationBudget, Tool, ToolContext, ToolError, ToolOutput, arguments, schema};

/// Concurrent calculations, at most one of each owner; others wait, at most for the timeout of a call.
static SLOTS: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(2));

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

/// Calculates the value on a blocking thread; `None` if the calculation panicked.
///
/// The size of every number is bounded, so each operation takes at most milliseconds. Between two operations a
/// calculation stops if its work budget is spent or this future is dropped. Its slot is released with the thread.
async fn calculate(expression: String, owner: &Owner, budget: CalculationBudget) -> Option<Result<Answer, Fault>> {
    let slot = SLOTS.acquire(owner).await.ok()?;
    let (limit, _stop) = StopOnDrop::new(budget);
    let run = move || {
        let value = evaluate::evaluate(&expression, &limit);
        // The spent work counts for the owner's next calculation, which may start now.
        drop(limit);
        drop(slot);
        value
    };
    spawn_blocking(run).await.ok()
}

/// Ends a calculation when it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    fn new(budget: CalculationBudget) -> (Limit, Self) {
        let stopped = Arc::new(AtomicBool::new(false));
        (Limit::new(Arc::clone(&stopped), budget), Self(stopped))
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn tool_output(expression: &str, answer: &Answer) -> ToolOutput {
    let Answer { text, exact } = answer;
    let content = json!({"expression": expression.trim(), "result": text, "exact": exact}).to_string();
    let sign = if *exact { '=' } else { '≈' };
    let summary = format!("{} {sign} {}", one_line(expression), one_line(text));
    let user_text = Some(format!("`{}` {sign} {text}", expression.trim()));
    ToolOutput { content: tool_calls::escape(&content), user_text, summary, ..ToolOutput::default() }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_STATUS_CHARS {
        return line;
    }
    line.chars().take(MAX_STATUS_CHARS - 1).chain(['…']).collect()
}

fn fault_error(fault: &Fault, language: Language) -> ToolError {
    let (code, message) = match fault {
        Fault::Unreadable(_) => ("invalid_arguments", "The expression cannot be read."),
        Fault::Undefined(_) => ("failed", "The expression has no value."),
        Fault::TooLarge => ("failed", "The calculation is too large."),
    };
    let failure = ToolFailure { code: code.to_owned(), message: message.to_owned() };
    ToolError::Model { failure, content: tool_calls::escape(&fault.render(language)) }
}

#[cfg(test)]
mod tests;
