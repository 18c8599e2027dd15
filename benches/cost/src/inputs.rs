use std::collections::BTreeMap;

use serde::Deserialize;

/// Prices and assumptions, as somebody wrote them down.
#[derive(Clone, Debug, Deserialize)]
pub struct Inputs {
    /// For which region, and in which currency.
    pub region: String,
    /// By their names.
    pub prices: BTreeMap<String, Price>,
    /// By their names.
    pub assumptions: BTreeMap<String, Assumption>,
}

/// A price, and where it stands.
#[derive(Clone, Debug, Deserialize)]
pub struct Price {
    /// In the currency of all of them.
    pub price: f64,
    /// Of what, in words; a number in it, such as that of `million requests`, is divided out by [`Inputs::price`].
    pub per: String,
    /// The page of whoever asks it.
    pub page: String,
    /// Which copy of that page it was read in, and when that was made.
    pub told: String,
}

/// A number that depends on who uses the product, or was measured elsewhere.
#[derive(Clone, Debug, Deserialize)]
pub struct Assumption {
    /// The number.
    pub value: f64,
    /// Why this one.
    pub why: String,
}

impl Inputs {
    /// Reads them.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("the inputs are not what they should be: {error}"))
    }

    /// The price of one.
    pub fn price(&self, name: &str) -> f64 {
        let Price { price, per, .. } = self.prices.get(name).unwrap_or_else(|| panic!("there is no price {name}"));
        let many = match per.split(' ').next().unwrap_or_default() {
            "million" => 1e6,
            "10,000" => 1e4,
            _ => 1.0,
        };
        price / many
    }

    /// A price of a GB for a number of bytes.
    pub fn of_bytes(&self, name: &str, bytes: f64) -> f64 {
        self.price(name) * bytes / 1e9
    }

    /// An assumption.
    pub fn assumed(&self, name: &str) -> f64 {
        self.assumptions.get(name).unwrap_or_else(|| panic!("there is no assumption {name}")).value
    }
}
