//! `docs/cost.md` matches the committed counts and prices, and the counts match the product's requests.

#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends it")]

use cost::{Bills, Counts, Inputs, fill_tables, measure, model_tables, tables};

const DOCUMENT: &str = include_str!("../../../docs/cost.md");

fn counts() -> Counts {
    serde_json::from_str(include_str!("../counts.json")).unwrap()
}

#[test]
fn document_tables_are_up_to_date() {
    let (counts, inputs) = (counts(), Inputs::read(include_str!("../inputs.json")));
    let bills = Bills { counts: &counts, inputs: &inputs };
    let [english, chinese] = model_tables(bills);
    for (name, document, tables) in [
        ("cost.md", DOCUMENT, tables(bills)),
        ("models-on-aws.md", include_str!("../../../docs/models-on-aws.md"), vec![english]),
        ("models-on-aws.zh-CN.md", include_str!("../../../docs/models-on-aws.zh-CN.md"), vec![chinese]),
    ] {
        assert!(fill_tables(document, &tables) == document, "docs/{name} is out of date: cargo run -p cost -- write");
    }
}

#[test]
fn documented_size_of_page_is_within_5_percent() {
    let bytes = include_bytes!("../../../functions/chat/page/dist/index.html.gz").len() as u64;
    let (before, _) = DOCUMENT.split_once(" KB from the function for a first visit").unwrap();
    let documented_kb: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(
        (documented_kb * 1000).abs_diff(bytes) * 20 <= bytes,
        "docs/cost.md says {documented_kb} KB, and it is {bytes} bytes"
    );
}

#[tokio::test]
async fn product_makes_the_committed_requests() {
    let differences = counts().describe_differences(&Box::pin(measure()).await);
    assert!(differences.is_empty(), "{differences:#?}\nif that is meant: cargo run -p cost -- measure");
}
