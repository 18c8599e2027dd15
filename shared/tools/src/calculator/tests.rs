use std::time::Duration;

use domain::{Language, Membership, Owner};
use prompts::CalculatorTexts;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;

mod exactness;
mod extremes;

/// Faults are equal if the model reads the same.
impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        self.render(Language::Zh) == other.render(Language::Zh)
    }
}

fn value(expression: &str) -> Result<Answer, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ada = Owner::new(expression);
    runtime.block_on(calculate(expression.to_owned(), &ada, CalculationBudget::default())).unwrap()
}

fn exactly(expression: &str) -> String {
    let Answer { text, exact } = value(expression).unwrap_or_else(|fault| panic!("{expression}: {fault:?}"));
    assert!(exact, "{expression} is {text}");
    text
}

fn about(expression: &str) -> String {
    let Answer { text, exact } = value(expression).unwrap_or_else(|fault| panic!("{expression}: {fault:?}"));
    assert!(!exact, "{expression} is {text}");
    text
}

fn unreadable(expression: &str) -> String {
    match value(expression) {
        Err(Fault::Unreadable(reason)) => reason.render(CalculatorTexts::of(Language::Zh)),
        other => panic!("{}: {other:?}", expression.chars().take(40).collect::<String>()),
    }
}

#[tokio::test]
async fn result_contains_the_expression() {
    let expected = ToolOutput {
        content: r#"{"expression":"１＋２×３","result":"7","exact":true}"#.to_owned(),
        user_text: Some("`１＋２×３` = 7".to_owned()),
        summary: "１＋２×３ = 7".to_owned(),
        ..ToolOutput::default()
    };
    assert_eq!(called_in(Language::Zh, json!({"expression": " １＋２×３ "})).await, Ok(expected));
    let third = called_in(Language::Zh, json!({"expression": "1/3"})).await.unwrap();
    assert_eq!(third.content, r#"{"expression":"1/3","result":"0.3333333333","exact":false}"#);
    assert_eq!(third.summary, "1/3 ≈ 0.3333333333");
}

#[tokio::test]
async fn fault_is_reported_to_model_and_user() {
    let (code, message, content) = called_in(Language::Zh, json!({"expression": "1/0"})).await.unwrap_err();
    assert_eq!((code.as_str(), message.as_str()), ("failed", "The expression has no value."));
    assert_eq!(content, "计算失败：除数为零，没有结果。");
    let (code, _, content) = called_in(Language::Zh, json!({"expression": "两个苹果"})).await.unwrap_err();
    assert_eq!(code, "invalid_arguments");
    assert!(
        content.starts_with("计算失败：算式无法识别（表达式包含非法字符 两）。支持：数字、+ - * / ^ % !"),
        "{content}"
    );
    let (code, _, content) = called_in(Language::Zh, json!({"expression": "<tool_call>"})).await.unwrap_err();
    assert_eq!((code.as_str(), content.contains('<')), ("invalid_arguments", false));
}

async fn called_in(language: Language, arguments: Value) -> Result<ToolOutput, (String, String, String)> {
    let context = ToolContext {
        language,
        time_zone: crate::TimeZone::UTC,
        owner: Owner::new("ada"),
        membership: Membership::default(),
        deadline: Instant::now() + Duration::from_secs(30),
        allowed_urls: crate::UrlAllowlist::default(),
        sources: crate::SourceNumbers::default(),
        progress: crate::Progress::default(),
        redactor: crate::OutboundRedactor::default(),
        calculation_budget: crate::CalculationBudget::default(),
        result_budget: crate::ResultBudget::default(),
    };
    Calculator.call(arguments, &context).await.map_err(|error| match error {
        ToolError::Model(ToolCallError { failure, content }) => (failure.code, failure.message, content),
        ToolError::Fatal(error) => panic!("{error}"),
    })
}

#[tokio::test]
async fn fault_is_explained_in_english() {
    for (expression, expected) in [
        ("1/0", "The calculation failed: division by zero has no result."),
        ("sqrt(-1)", "The calculation failed: it is undefined there (negative numbers have no square root)."),
        ("9^9^9^9", "The calculation failed: the numbers are too large or the steps too many, so use smaller numbers."),
        ("pow(1)", "The calculation failed: the expression cannot be read (pow has the wrong number of arguments)."),
        (
            "1;2",
            "The calculation failed: the expression cannot be read (the expression contains the invalid character ;). Supported are numbers",
        ),
    ] {
        let (_, _, content) = called_in(Language::En, json!({"expression": expression})).await.unwrap_err();
        assert!(content.starts_with(expected), "{content}");
    }
}

#[test]
fn the_schema_is_plain() {
    let spec = Calculator.spec(Language::Zh);
    let description = spec.parameters["properties"]["expression"]["description"].clone();
    assert!(description.as_str().is_some_and(|text| text.starts_with("算式")), "{description}");
    let expected = json!({
        "type": "object",
        "properties": {"expression": {"type": "string", "description": description}},
        "required": ["expression"],
        "additionalProperties": false,
    });
    assert_eq!((spec.name.as_str(), spec.parameters), ("calculator", expected));
}

#[test]
fn representable_results_are_exact() {
    let cases = [
        ("0.1+0.2", "0.3"),
        ("2^100", "1267650600228229401496703205376"),
        ("1/3*3", "1"),
        ("10/4", "2.5"),
        ("(1+2)*(3-4)/5", "-0.6"),
        ("3 + 4 * 2 / (1 - 5)^2", "3.5"),
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^3^2", "512"),
        ("2^-1", "0.5"),
        ("2--2", "4"),
        ("20!/18!", "380"),
        ("factorial(5)", "120"),
        ("abs(-3.5)", "3.5"),
        ("round(2.5)", "3"),
        ("round(2.345, 2)", "2.35"),
        ("min(3, 1/3, 2)*3", "1"),
        ("max(1, min(5, 4), 2^2 - 1)", "4"),
        ("pow(2, 10) + mod(17, 5)", "1026"),
        ("200*15%", "30"),
        ("1,234.5 + 1", "1235.5"),
        ("1+1=", "2"),
    ];
    for (expression, expected) in cases {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
}

#[test]
fn inexact_results_are_marked_approximate() {
    let cases = [
        ("1/3", "0.3333333333"),
        ("sqrt(2)", "1.4142135624"),
        ("ln(e^2)", "2"),
        ("log(1000)", "3"),
        ("log(8, 2)", "3"),
        ("exp(1)", "2.7182818285"),
        ("pi", "3.1415926536"),
        ("sin(pi/2)", "1"),
        ("sin(10*pi)", "0"),
        ("cos(pi/2)", "0"),
        ("sin(1)", "0.8414709848"),
    ];
    for (expression, expected) in cases {
        assert_eq!(about(expression), expected, "{expression}");
    }
}

#[test]
fn typographic_and_programming_operators_are_accepted() {
    let cases = [("１＋２×３", "7"), ("（８－２）÷３", "2"), ("2**10", "1024"), ("8 − 3 · 2", "2")];
    for (expression, expected) in cases {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
}

#[test]
fn overlong_result_is_formatted_by_magnitude() {
    assert_eq!(about("2^10000"), "1.99506311688075e3010");
    assert_eq!(about("-(2^10000)"), "-1.99506311688075e3010");
}

#[test]
fn f053_endless_calculation_is_stopped() {
    for expression in ["9^9^9^9", "10!!", "1e1000000000", "max(9^9^9^9, 1)", "(2^64)^(2^64)"] {
        assert_eq!(value(expression), Err(Fault::TooLarge), "{expression}");
    }
}

#[test]
fn f053_abandoned_calculation_is_stopped() {
    let stop = work::StopFlag::default();
    let limit = Limit::new(stop.clone(), CalculationBudget::default());
    stop.set();
    assert_eq!(evaluate("1e1000000000", &limit), Err(Fault::TooLarge));
}

#[test]
fn f051_invalid_expression_is_rejected_with_reason() {
    assert_eq!(unreadable(""), "算式是空的");
    assert_eq!(unreadable(" ＝"), "算式是空的");
    assert_eq!(unreadable("1;2"), "表达式包含非法字符 ;");
    assert_eq!(unreadable(r"\x.x"), r"表达式包含非法字符 \");
    assert_eq!(unreadable("(1+2"), "括号不成对");
    assert_eq!(unreadable("1)+(2"), "括号不成对");
    assert_eq!(unreadable("1,5 + 2"), "逗号只能分隔参数或千位，小数点写作 .");
    assert_eq!(unreadable("pow(1)"), "pow 的参数个数不对");
    assert_eq!(unreadable("min()"), "min 的参数个数不对");
    for expression in ["1+", "hello", "2 3", "today", "1 kg + 1 m", "100 USD to EUR", "..", "!"] {
        assert!(!unreadable(expression).is_empty(), "{expression}");
    }
}

#[test]
fn f052_long_and_deep_expressions_are_rejected() {
    assert_eq!(unreadable(&"1".repeat(10_000)), "超过 1000 个字符");
    assert_eq!(unreadable(&format!("{}1{}", "(".repeat(65), ")".repeat(65))), "括号超过 64 层");
    assert_eq!(exactly(&format!("{}1{}", "(".repeat(64), ")".repeat(64))), "1");
    assert_eq!(exactly(&format!("{}1", "-".repeat(998))), "1");
    assert_eq!(exactly(&format!("{}1", "sqrt ".repeat(199))), "1");
    assert_eq!(exactly(&format!("{}{}1{}", "(-".repeat(64), "-".repeat(800), ")".repeat(64))), "1");
    assert_eq!(exactly(&format!("{}1{}1", "sqrt(1^".repeat(49), ")".repeat(49)).replace(")1", ")^1")), "1");
    assert_eq!(exactly(&format!("{}1{}", "round(1,".repeat(60), ")".repeat(60))), "1");
    assert_eq!(unreadable(&format!("{}1", "2^".repeat(400))), "算式太复杂");
}

#[test]
fn f051_argument_outside_domain_has_no_value() {
    for expression in ["1/0", "mod(1, 0)", "(-1)!", "3.5!"] {
        assert!(matches!(value(expression), Err(Fault::Undefined(_))), "{expression}: {:?}", value(expression));
    }
}
