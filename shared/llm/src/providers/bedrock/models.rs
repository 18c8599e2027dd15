//! Context windows and prices of the models that Bedrock serves.

use super::super::geography;
use crate::Price;

/// The start of an id, the context window in tokens, the prices of a million tokens in millionths of a US dollar (read,
/// written, read from the cache, written to the cache), and whether an inference profile of one geography costs a tenth more.
///
/// Where the price of a geography differs otherwise, its profile has a row of its own before that of the model.
type Model = (&'static str, u64, [u64; 4], bool);

// Price map in the wheel of litellm 1.108.7, 2026-11-26.
const MODELS: &[Model] = &[
    ("anthropic.claude-haiku-4-5", 200_000, [1_000_000, 5_000_000, 100_000, 1_250_000], true),
    ("anthropic.claude-haiku-5-5", 1_000_000, [100_000, 500_000, 10_000, 125_000], true),
    ("anthropic.claude-sonnet-4-5", 200_000, [3_000_000, 15_000_000, 300_000, 3_750_000], true),
    ("anthropic.claude-sonnet-4-6", 1_000_000, [3_000_000, 15_000_000, 300_000, 3_750_000], true),
    ("anthropic.claude-sonnet-4-2", 200_000, [3_000_000, 15_000_000, 300_000, 3_750_000], false),
    ("anthropic.claude-sonnet-5-5", 1_000_000, [2_000_000, 10_000_000, 100_000, 2_500_000], true),
    ("anthropic.claude-sonnet-5", 1_000_000, [2_000_000, 10_000_000, 200_000, 2_500_000], true),
    ("anthropic.claude-opus-4-1", 200_000, [15_000_000, 75_000_000, 1_500_000, 18_750_000], false),
    ("anthropic.claude-opus-4-2", 200_000, [15_000_000, 75_000_000, 1_500_000, 18_750_000], false),
    ("anthropic.claude-opus-4-5", 200_000, [5_000_000, 25_000_000, 500_000, 6_250_000], true),
    ("anthropic.claude-opus-4-", 1_000_000, [5_000_000, 25_000_000, 500_000, 6_250_000], true),
    ("anthropic.claude-opus-5-5", 1_000_000, [4_000_000, 20_000_000, 200_000, 5_000_000], true),
    ("anthropic.claude-opus-5", 1_000_000, [5_000_000, 25_000_000, 500_000, 6_250_000], true),
    ("anthropic.claude-fable-5-1", 1_000_000, [10_000_000, 50_000_000, 250_000, 12_500_000], true),
    ("anthropic.claude-fable-5", 1_000_000, [10_000_000, 50_000_000, 1_000_000, 12_500_000], true),
    ("anthropic.claude-3-7-sonnet", 200_000, [3_000_000, 15_000_000, 300_000, 3_750_000], false),
    ("eu.amazon.nova-2-lite", 1_000_000, [429_000, 3_597_000, 107_250, 429_000], false),
    ("apac.amazon.nova-2-lite", 1_000_000, [396_000, 3_311_000, 99_000, 396_000], false),
    ("jp.amazon.nova-2-lite", 1_000_000, [396_000, 3_311_000, 99_000, 396_000], false),
    ("eu.amazon.nova-lite", 300_000, [78_000, 312_000, 19_500, 78_000], false),
    ("apac.amazon.nova-lite", 300_000, [63_000, 252_000, 15_750, 63_000], false),
    ("eu.amazon.nova-micro", 128_000, [46_000, 184_000, 11_500, 46_000], false),
    ("apac.amazon.nova-micro", 128_000, [37_000, 148_000, 9_250, 37_000], false),
    ("eu.amazon.nova-pro", 300_000, [1_050_000, 4_200_000, 262_500, 1_050_000], false),
    ("apac.amazon.nova-pro", 300_000, [840_000, 3_360_000, 210_000, 840_000], false),
    ("amazon.nova-2-lite", 1_000_000, [300_000, 2_500_000, 75_000, 300_000], true),
    ("amazon.nova-2-pro", 1_000_000, [1_250_000, 10_000_000, 312_500, 1_250_000], true),
    ("amazon.nova-lite", 300_000, [60_000, 240_000, 15_000, 60_000], false),
    ("amazon.nova-micro", 128_000, [35_000, 140_000, 8_750, 35_000], false),
    ("amazon.nova-premier", 1_000_000, [2_500_000, 12_500_000, 625_000, 2_500_000], false),
    ("amazon.nova-pro", 300_000, [800_000, 3_200_000, 200_000, 800_000], false),
    ("openai.gpt-5.4", 1_050_000, [2_500_000, 15_000_000, 250_000, 2_500_000], true),
    ("openai.gpt-5.5", 1_050_000, [5_000_000, 30_000_000, 500_000, 5_000_000], true),
    ("openai.gpt-5.6-luna", 1_050_000, [200_000, 1_200_000, 20_000, 250_000], true),
    ("openai.gpt-5.6-sol", 1_050_000, [4_000_000, 20_000_000, 400_000, 5_000_000], true),
    ("openai.gpt-5.6-terra", 1_050_000, [2_000_000, 12_000_000, 200_000, 2_500_000], true),
    ("openai.gpt-6-astra", 1_050_000, [10_000_000, 50_000_000, 1_000_000, 12_500_000], true),
    ("openai.gpt-6-luna", 1_050_000, [100_000, 500_000, 10_000, 125_000], true),
    ("openai.gpt-6-sol", 1_050_000, [2_000_000, 10_000_000, 200_000, 2_500_000], true),
    ("openai.gpt-6.1-sol", 1_000_000, [2_000_000, 10_000_000, 100_000, 2_500_000], true),
    ("openai.gpt-oss-120b", 128_000, [150_000, 600_000, 150_000, 150_000], false),
    ("openai.gpt-oss-20b", 128_000, [70_000, 300_000, 70_000, 70_000], false),
    ("xai.grok-4.6", 500_000, [2_000_000, 6_000_000, 500_000, 2_000_000], true),
    ("xai.grok-4.7", 524_288, [2_000_000, 6_000_000, 500_000, 2_000_000], true),
    ("meta.llama3-1-405b", 128_000, [2_400_000, 2_400_000, 2_400_000, 2_400_000], false),
    ("meta.llama3-1-70b", 128_000, [720_000, 720_000, 720_000, 720_000], false),
    ("meta.llama3-1-8b", 128_000, [220_000, 220_000, 220_000, 220_000], false),
    ("meta.llama3-3-70b", 128_000, [720_000, 720_000, 720_000, 720_000], false),
    ("meta.llama4-maverick", 1_000_000, [240_000, 970_000, 240_000, 240_000], false),
    ("meta.llama4-scout", 10_000_000, [170_000, 660_000, 170_000, 170_000], false),
    ("mistral.mistral-large-3", 256_000, [500_000, 1_500_000, 500_000, 500_000], false),
    ("mistral.ministral-3-14b", 128_000, [200_000, 200_000, 200_000, 200_000], false),
    ("mistral.ministral-3-8b", 128_000, [150_000, 150_000, 150_000, 150_000], false),
    ("mistral.ministral-3-3b", 128_000, [100_000, 100_000, 100_000, 100_000], false),
    ("mistral.magistral-small", 128_000, [500_000, 1_500_000, 500_000, 500_000], false),
    ("mistral.devstral-2", 256_000, [400_000, 2_000_000, 400_000, 400_000], false),
    ("mistral.pixtral-large", 128_000, [2_000_000, 6_000_000, 2_000_000, 2_000_000], false),
    ("deepseek.r1", 128_000, [1_350_000, 5_400_000, 1_350_000, 1_350_000], false),
    ("deepseek.v3.2", 164_000, [620_000, 1_850_000, 620_000, 620_000], false),
    ("deepseek.v3", 128_000, [580_000, 1_680_000, 580_000, 580_000], false),
    ("qwen.qwen3-235b", 262_144, [220_000, 880_000, 220_000, 220_000], false),
    ("qwen.qwen3-32b", 32_768, [150_000, 600_000, 150_000, 150_000], false),
    ("qwen.qwen3-coder-30b", 262_144, [150_000, 600_000, 150_000, 150_000], false),
    ("qwen.qwen3-coder-480b", 262_144, [450_000, 1_800_000, 450_000, 450_000], false),
    ("qwen.qwen3-coder-next", 256_000, [500_000, 1_200_000, 500_000, 500_000], false),
    ("qwen.qwen3-next-80b", 256_000, [150_000, 1_200_000, 150_000, 150_000], false),
    ("qwen.qwen3-vl-235b", 256_000, [530_000, 2_660_000, 530_000, 530_000], false),
    ("moonshotai.kimi-k2.5", 256_000, [600_000, 3_000_000, 600_000, 600_000], false),
    ("moonshotai.kimi-k3", 1_000_000, [3_000_000, 15_000_000, 300_000, 3_750_000], true),
    ("moonshot.kimi-k2", 256_000, [600_000, 2_500_000, 600_000, 600_000], false),
    ("minimax.minimax-m2.", 196_000, [300_000, 1_200_000, 300_000, 300_000], false),
    ("zai.glm-4.7-flash", 203_000, [70_000, 400_000, 70_000, 70_000], false),
    ("zai.glm-4.7", 203_000, [600_000, 2_200_000, 600_000, 600_000], false),
    ("zai.glm-5.3", 1_000_000, [1_680_000, 5_280_000, 312_000, 2_100_000], true),
    ("zai.glm-5", 200_000, [1_000_000, 3_200_000, 1_000_000, 1_000_000], false),
];

/// Returns the row of a model, by its whole id or without its geography, and that geography.
fn find(model: &str) -> Option<(&'static Model, &str)> {
    let (geography, id) = geography(model);
    let row = |id: &str| MODELS.iter().find(|(start, ..)| id.starts_with(start));
    let whole = model.rsplit('/').next().unwrap_or_default();
    row(whole).map(|found| (found, "")).or_else(|| Some((row(id)?, geography)))
}

pub(in crate::providers) fn context_tokens_of(model: &str) -> Option<u64> {
    find(model).map(|((_, tokens, ..), _)| *tokens)
}

pub(in crate::providers) fn price_of(model: &str) -> Option<Price> {
    let ((_, _, prices, costs_more), geography) = find(model)?;
    let percent = match geography {
        "us-gov" => 120,
        "" | "global" => 100,
        _ if *costs_more => 110,
        _ => 100,
    };
    let [input, output, cached_input, cache_write] = prices.map(|price| price * percent / 100);
    Some(Price { input, cached_input, cache_write, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_depends_on_the_profile() {
        let price =
            |model| price_of(model).map(|price| (price.input, price.output, price.cached_input, price.cache_write));
        for (model, expected) in [
            ("anthropic.claude-sonnet-4-5-20250929-v1:0", (3_000_000, 15_000_000, 300_000, 3_750_000)),
            ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", (3_000_000, 15_000_000, 300_000, 3_750_000)),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", (3_300_000, 16_500_000, 330_000, 4_125_000)),
            ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", (3_600_000, 18_000_000, 360_000, 4_500_000)),
            ("us.amazon.nova-lite-v1:0", (60_000, 240_000, 15_000, 60_000)),
            ("eu.amazon.nova-lite-v1:0", (78_000, 312_000, 19_500, 78_000)),
            (
                "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-lite-v1:0",
                (78_000, 312_000, 19_500, 78_000),
            ),
            ("us.openai.gpt-oss-120b-1:0", (150_000, 600_000, 150_000, 150_000)),
        ] {
            assert_eq!(price(model), Some(expected), "{model}");
        }
        assert_eq!(price("arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc"), None);
    }

    #[test]
    fn every_model_is_found_by_its_row() {
        for (at, row) in MODELS.iter().enumerate() {
            assert_eq!(MODELS.iter().position(|other| row.0.starts_with(other.0)), Some(at), "{}", row.0);
            assert!(row.1 >= 8_192 && row.2[0] > 0 && row.2[1] >= row.2[0] && row.2[2] <= row.2[0], "{}", row.0);
        }
    }
}
