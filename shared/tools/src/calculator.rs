//! `calculator`: calculates an expression, exactly where that is possible.

mod evaluate;
mod functions;
mod notation;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use async_trait::async_trait;
use conversation::{ToolFailure, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use self::evaluate::{Answer, Fault, Limit};
use crate::refusal::Refusal;
use crate::{Tool, ToolContext, ToolError, ToolOutput, arguments, schema};

const DESCRIPTION: &str = "计算器。凡是需要算出准确数字的问题（四则运算、百分比、乘方、开方、三角函数、对数、阶乘、单位换算）\
    都用它计算，不要心算。";

/// What can be calculated, for a model whose expression could not be.
const ACCEPTED: &str = "支持：数字、+ - * / ^ % !、括号，sqrt、cbrt、abs、round、floor、ceil、sin、cos、tan、ln、log、exp、\
    min(a, b)、max(a, b)、pow(a, b)、mod(a, b)、log(x, 底数)、round(x, 小数位数)、factorial(n)，常数 pi 和 e，\
    以及单位换算，例如 5 km to miles";

/// The stack of a calculation in bytes; what is not used is never backed by memory.
const STACK: usize = 32 * 1024 * 1024;

/// Longest expression in a status line, in characters.
const MAX_SHOWN: usize = 60;

/// Calculates; needs nothing and knows nothing.
pub struct Calculator;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// 要计算的算式，不超过 1000 个字符，例如 (12.5 + 7) * 3^2、sqrt(2)、200 * 15%；三角函数用弧度，用角度时写 sin(30 degrees)；log 以 10 为底，ln 是自然对数
    expression: String,
}

#[async_trait]
impl Tool for Calculator {
    fn spec(&self) -> ToolSpec {
        let examples = vec![
            schema::example("1234 乘以 5678 等于多少？", json!({"expression": "1234 * 5678"})),
            schema::example("What is 15% of 230?", json!({"expression": "230 * 15%"})),
        ];
        schema::spec::<Arguments>("calculator", DESCRIPTION, examples)
    }

    async fn call(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { expression } = arguments::read(arguments)?;
        match calculated(expression.clone()).await {
            Some(Ok(answer)) => Ok(output(&expression, &answer)),
            Some(Err(fault)) => Err(refused(&fault)),
            None => Err(Refusal::failed(self).into()),
        }
    }
}

/// The value, calculated on a thread of its own, as a calculation neither yields nor is sparing with the stack; `None`
/// when there is no such thread or it panicked.
async fn calculated(expression: String) -> Option<Result<Answer, Fault>> {
    let (limit, _stop) = Stop::new();
    let (sender, receiver) = oneshot::channel();
    let calculate = move || sender.send(evaluate::evaluate(&expression, &limit)).ok();
    thread::Builder::new().stack_size(STACK).spawn(calculate).ok()?;
    receiver.await.ok()
}

/// Ends a calculation when it is dropped.
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn new() -> (Limit, Self) {
        let stopped = Arc::new(AtomicBool::new(false));
        (Limit::new(Arc::clone(&stopped)), Self(stopped))
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn output(expression: &str, answer: &Answer) -> ToolOutput {
    let Answer { text, exact } = answer;
    let content = json!({"expression": expression.trim(), "result": text, "exact": exact}).to_string();
    let sign = if *exact { '=' } else { '≈' };
    let summary = format!("{} {sign} {}", shown(expression), shown(text));
    let shown = Some(format!("`{}` {sign} {text}", expression.trim()));
    ToolOutput { content: calls::escape(&content), shown, summary, ..ToolOutput::default() }
}

fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_SHOWN {
        return line;
    }
    line.chars().take(MAX_SHOWN - 1).chain(['…']).collect()
}

fn refused(fault: &Fault) -> ToolError {
    let (code, message) = match fault {
        Fault::Unreadable(_) => ("invalid_arguments", "The expression cannot be read."),
        Fault::Undefined(_) => ("failed", "The expression has no value."),
        Fault::TooLarge => ("failed", "The calculation is too large."),
    };
    let reason = match fault {
        Fault::Unreadable(reason) => format!("算式无法识别（{reason}）。{ACCEPTED}"),
        Fault::Undefined(reason) => reason.clone(),
        Fault::TooLarge => "数字太大或步骤太多，算不出来，请改用更小的数".to_owned(),
    };
    let failure = ToolFailure { code: code.to_owned(), message: message.to_owned() };
    ToolError::Model { failure, content: calls::escape(&format!("计算失败：{reason}。")) }
}

#[cfg(test)]
mod tests;
