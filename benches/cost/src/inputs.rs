use std::collections::BTreeMap;

use serde::Deserialize;

/// Prices and assumptions of a file.
#[derive(Clone, Debug, Deserialize)]
pub struct Inputs {
    /// Region and currency.
    pub region: String,
    /// By name.
    pub prices: BTreeMap<String, Price>,
    /// By name.
    pub assumptions: BTreeMap<String, Assumption>,
    /// Models of clouds, in the order of their table.
    #[serde(default)]
    pub models: Vec<ModelPrice>,
}

/// The list prices of a model, in dollars per million tokens.
// Source: price map of LiteLLM 1.108.7, 2026-11-26.
#[derive(Clone, Debug, Deserialize)]
pub struct ModelPrice {
    /// As in the settings.
    pub id: String,
    /// Of tokens read.
    pub input: f64,
    /// Of tokens written.
    pub output: f64,
}

/// A price and its source.
#[derive(Clone, Debug, Deserialize)]
pub struct Price {
    /// Amount in the common currency.
    pub price: f64,
    /// The unit as text; [`Inputs::price`] divides by its leading number, such as that of `million requests`.
    pub per: String,
    /// The vendor's page.
    pub page: String,
    /// The copy of that page that was read, and its date.
    #[serde(rename = "told")]
    pub source: String,
}

/// A number that depends on the use of the product, or comes from another measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Assumption {
    /// Its value.
    pub value: f64,
    /// The reason for the value.
    pub why: String,
}

impl Inputs {
    /// Parses a file.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("the inputs are not what they should be: {error}"))
    }

    /// Price of a single unit.
    pub fn price(&self, name: &str) -> f64 {
        let Price { price, per, .. } = self.prices.get(name).unwrap_or_else(|| panic!("there is no price {name}"));
        let unit_count = match per.split(' ').next().unwrap_or_default() {
            "million" => 1e6,
            "10,000" => 1e4,
            _ => 1.0,
        };
        price / unit_count
    }

    /// Charge for a number of bytes, by a price per GB.
    pub fn charge_for_bytes(&self, name: &str, bytes: f64) -> f64 {
        self.price(name) * bytes / 1e9
    }

    /// Value of an assumption.
    pub fn assumption(&self, name: &str) -> f64 {
        self.assumptions.get(name).unwrap_or_else(|| panic!("there is no assumption {name}")).value
    }
}
