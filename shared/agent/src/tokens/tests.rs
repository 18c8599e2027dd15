use serde_json::Value;

use super::*;

/// Texts with the token counts of the families' tokenizers.
const COUNTED: &str = include_str!("../../fixtures/tokens.jsonl");

const FAMILIES: [(&str, Family); 7] = [
    ("o200k", Family::O200k),
    ("cl100k", Family::Cl100k),
    ("deepseek", Family::DeepSeek),
    ("qwen", Family::Qwen),
    ("llama3", Family::Llama3),
    ("gemini", Family::Gemini),
    ("claude2", Family::Claude),
];

fn rows() -> Vec<(String, Value)> {
    let row = |line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["text"].as_str().unwrap().to_owned(), row["tokens"].clone())
    };
    COUNTED.lines().map(row).collect()
}

#[test]
fn f046_estimate_is_close_to_tokenizer_counts() {
    for (name, family) in FAMILIES {
        let (mut counted, mut estimated) = (0, 0);
        for (text, tokens_of) in rows() {
            let (real, estimate) = (tokens_of[name].as_u64().unwrap(), tokens(family, &text));
            let off = estimate.abs_diff(real) * 100 / real;
            assert!(off <= 35 || estimate.abs_diff(real) <= 6, "{name}: {estimate} for {real}: {text}");
            (counted, estimated) = (counted + real, estimated + estimate);
        }
        let off = estimated.abs_diff(counted) * 1000 / counted;
        assert!(off <= 50, "{name}: {estimated} for {counted} in all");
    }
}

#[test]
fn estimate_for_unknown_family_is_high() {
    for (name, _) in FAMILIES.into_iter().filter(|(name, _)| !["claude2", "cl100k"].contains(name)) {
        let counted: u64 = rows().iter().map(|(_, of)| of[name].as_u64().unwrap()).sum();
        let estimated: u64 = rows().iter().map(|(text, _)| tokens(Family::Unknown, text)).sum();
        assert!(estimated > counted && estimated < counted * 3 / 2, "{name}: {estimated} for {counted}");
    }
}

#[test]
fn family_is_found_by_model_id() {
    for (model, family) in [
        ("gpt-4.1-mini", Family::O200k),
        ("openai/gpt-oss-120b", Family::O200k),
        ("gpt-4-turbo", Family::Cl100k),
        ("o3-mini", Family::O200k),
        ("openrouter/o1", Family::O200k),
        ("solo1", Family::Unknown),
        ("deepseek-v3-1-250821", Family::DeepSeek),
        ("deepseek-r1-distill-qwen-7b", Family::Qwen),
        ("Qwen/Qwen3-8B", Family::Qwen),
        ("meta-llama/Llama-3.3-70B", Family::Llama3),
        ("gemini-2.5-flash", Family::Gemini),
        ("claude-sonnet-4", Family::Claude),
        ("doubao-seed-1-6-250615", Family::Unknown),
        ("", Family::Unknown),
    ] {
        assert_eq!(Family::of(model), family, "{model}");
    }
}

#[test]
fn every_character_has_class_and_table_is_sorted() {
    assert!(BEYOND_ASCII.is_sorted_by(|before, after| before.1 < after.0));
    assert_eq!(tokens(Family::O200k, ""), 0);
    for character in (0..=0x0010_FFFF).filter_map(char::from_u32) {
        assert!(character.is_ascii() || tokens(Family::Unknown, &character.to_string()) > 0, "{character:?}");
    }
}

#[test]
fn longest_fitting_beginning_is_found() {
    for (text, _) in rows() {
        let all = tokens(Family::Unknown, &text);
        assert_eq!(fitting_bytes(Family::Unknown, &text, all), text.len());
        for max in 0..all {
            let end = fitting_bytes(Family::Unknown, &text, max);
            let next = text[end..].chars().next().unwrap().len_utf8();
            assert!(tokens(Family::Unknown, &text[..end]) <= max, "{max}: {text}");
            assert!(tokens(Family::Unknown, &text[..end + next]) > max, "{max}: {text}");
        }
    }
}
