//! `docs/cost.md` says what follows from the committed counts and prices, and the product still makes these requests.

#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends it")]

use cost::{Bills, Counts, Inputs, filled, measure, tables};

const DOCUMENT: &str = include_str!("../../../docs/cost.md");

fn counts() -> Counts {
    serde_json::from_str(include_str!("../counts.json")).unwrap()
}

#[test]
fn the_tables_of_the_document_are_what_the_program_prints() {
    let (counts, inputs) = (counts(), Inputs::read(include_str!("../inputs.json")));
    let now = filled(DOCUMENT, &tables(Bills { counts: &counts, inputs: &inputs }));
    assert!(now == DOCUMENT, "docs/cost.md is out of date: cargo run -p cost -- write");
}

#[tokio::test]
async fn the_product_makes_the_requests_that_are_written_down() {
    let differences = counts().differences(&Box::pin(measure()).await);
    assert!(differences.is_empty(), "{differences:#?}\nif that is meant: cargo run -p cost -- measure");
}
