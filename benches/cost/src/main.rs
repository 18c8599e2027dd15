//! Prints the cost of a thousand turns, as in `docs/cost.md` and `docs/models-on-aws.md`.
//!
//! Without arguments it prints all tables; a file argument replaces the prices. `write` updates the documents, and
//! `measure` counts the product's requests again first.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for the command line, which ends with what fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

use cost::{Bills, Counts, Inputs, fill_tables, model_tables, tables};

#[tokio::main]
async fn main() {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("measure") {
        measure().await;
    }
    let prices = argument.as_deref().filter(|argument| !["measure", "write"].contains(argument));
    let inputs = Inputs::read(&read(&prices.map_or_else(|| own("inputs.json"), PathBuf::from)));
    let counts: Counts = serde_json::from_str(&read(&own("counts.json"))).expect("the counts are JSON");
    let bills = Bills { counts: &counts, inputs: &inputs };
    let (tables, [english, chinese]) = (tables(bills), model_tables(bills));
    if prices.is_none() && argument.is_some() {
        write("cost.md", &tables);
        write("models-on-aws.md", &[english]);
        return write("models-on-aws.zh-CN.md", &[chinese]);
    }
    for (name, table) in tables.into_iter().chain([english]) {
        println!("{name}\n\n{table}");
    }
}

/// Updates the tables of a document.
fn write(document: &str, tables: &[cost::Table]) {
    let path = own("../../docs").join(document);
    fs::write(&path, fill_tables(&read(&path), tables)).expect("the document can be written");
}

/// Counts again, and updates the committed counts if they differ.
async fn measure() {
    let now = Box::pin(cost::measure()).await;
    let before =
        fs::read_to_string(own("counts.json")).ok().and_then(|text| serde_json::from_str::<Counts>(&text).ok());
    let differences = before.unwrap_or_default().describe_differences(&now);
    for difference in &differences {
        println!("{difference}");
    }
    if !differences.is_empty() {
        let counts = serde_json::to_string_pretty(&now).expect("counts are JSON");
        fs::write(own("counts.json"), counts + "\n").expect("the counts can be written");
    }
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}
