//! Fuzzing of documents that anyone may have written, and of an embeddings endpoint's replies.

use ::fuzz::{ensure, run, run_text};

use crate::chunks::divide;
use crate::embeddings::parse_reply;
use crate::terms::QueryTerms;
use files::{Format, extract};

const MARKDOWN: [&str; 5] = [
    "# 退款 policy\n\nWithin **7** days, see [terms](https://example.com/a).\n\n## Details\n- item\n  - inner\n",
    "---\ntitle: A\n---\nTitle\n=====\n\n> quoted\n\n```rust\nfn main() {}\n```\n~~~\nopen",
    "| a | b |\n|---|---|\n| 1 | `x` |\n\n![alt](a.png) <b>bold</b> &amp; &#x6C49; \\* text.",
    "Setext\n---\n1. one\n2. two\n\n***\n\n[ref]: https://example.com \"t\"\n",
    "一句话。两句话！“三句话？”\r\nEnd. \u{200b}\u{202e}x",
];

const MARKDOWN_TOKENS: [&str; 16] =
    ["# ", "###### ", "\n\n", "```\n", "~~~", "- ", "| ", "[", "](", "![", "<!--", "---\n", "`", "**", "&#", "。"];

const HTML: [&str; 4] = [
    "<!DOCTYPE html><title>T</title><body><h1>A</h1><p>text &amp; &#27721; &notin;<br>x</p><h2 id=a>B</h2><ul><li>i</ul>",
    "<script>if (a < b) { '</p>' }</script><style>p{}</style><p hidden>x<table><tr><td>1<td>2</table><pre>\n a\n</pre>",
    "<svg><title>no</title></svg><textarea><b></textarea><!-- <p> --><![CDATA[x]]><a href='https://e.x/\"'>l</a>",
    "<h1>汉<h2><p>字<template><p>t</template><noscript>n</noscript><p title=\"a>b\">c</p",
];

const HTML_TOKENS: [&str; 16] = [
    "<p>",
    "</p>",
    "<h1>",
    "</h1>",
    "<script>",
    "</script>",
    "<style",
    "<!--",
    "-->",
    "<",
    ">",
    "&",
    "&#",
    "\"",
    "<pre>",
    "</",
];

#[test]
fn fuzz_articles_are_divided_without_loss() {
    for (name, format, samples, tokens) in [
        ("Markdown", Format::Markdown, &MARKDOWN[..], &MARKDOWN_TOKENS),
        ("HTML", Format::Html, &HTML[..], &HTML_TOKENS),
        ("plain text", Format::Text, &MARKDOWN[..], &MARKDOWN_TOKENS),
    ] {
        run_text(name, samples, tokens, |text| {
            let Ok(document) = extract(text, format) else { return Ok(()) };
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            let extracted: usize = document.sections.iter().map(|section| letters(&section.text)).sum();
            // A reference to a character may name two, and a link is followed by its address.
            ensure(extracted <= 4 * letters(text), || format!("{extracted} letters of {}", letters(text)))?;
            let chunks = divide(&document, "T");
            ensure(chunks.iter().all(|chunk| chunk.chars().count() <= 1_000), || "a chunk is too long".to_owned())?;
            let kept: usize = chunks.iter().map(|chunk| letters(chunk)).sum();
            ensure(kept >= extracted, || format!("{kept} letters are left of {extracted}"))?;
            ensure(divide(&document, "T") == chunks, || "a second division differs".to_owned())
        });
    }
}

#[test]
fn fuzz_query_terms_rank_what_contains_them() {
    run_text("query terms", &MARKDOWN, &MARKDOWN_TOKENS, |text| {
        let ranked = QueryTerms::new(text).rank(["", text, "nothing"].into_iter(), &work::StopFlag::default());
        ensure(ranked.iter().all(|(_, score)| score.is_finite()), || format!("{ranked:?}"))?;
        ensure(ranked.iter().all(|(text, _)| *text < 3), || format!("{ranked:?}"))
    });
}

#[test]
fn fuzz_replies_of_embeddings_endpoints() {
    let samples: [&[u8]; 3] = [
        br#"{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[4,0.5e-3]}],"usage":{}}"#,
        br#"{"data":[{"embedding":[1e38,-1e38]},{"embedding":[0.0,1]}]}"#,
        br#"{"error":{"message":"x"}}"#,
    ];
    run("embeddings", &samples, &["[", "]", ",", "1e39", "-0", "null", "\"index\":", "{\"embedding\":[1]}"], |bytes| {
        let Some(vectors) = parse_reply(bytes, 2) else { return Ok(()) };
        ensure(vectors.len() == 2, || format!("{} vectors of two texts", vectors.len()))?;
        let is_usable = vectors.iter().all(|vector| vector.scale.is_finite() && vector.values.len() <= bytes.len());
        ensure(is_usable, || format!("{vectors:?}"))
    });
}
