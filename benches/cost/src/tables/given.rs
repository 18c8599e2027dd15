use super::text_table;
use crate::Inputs;

/// The prices with their sources.
pub(super) fn prices(inputs: &Inputs) -> String {
    let rows = inputs.prices.iter().map(|(name, price)| {
        [
            format!("`{name}`"),
            price.price.to_string(),
            price.per.clone(),
            format!("<{}>", price.page),
            price.source.clone(),
        ]
    });
    text_table(["name", "price", "per", "page", "read where"], rows)
}

/// The assumptions with their reasons.
pub(super) fn assumptions(inputs: &Inputs) -> String {
    let row = |(name, assumed): (&String, &crate::Assumption)| {
        [format!("`{name}`"), assumed.value.to_string(), assumed.why.clone()]
    };
    text_table(["name", "value", "why"], inputs.assumptions.iter().map(row))
}
