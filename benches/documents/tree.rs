use std::fs;
use std::path::Path;

use encoding_rs::GBK;

/// The number of files.
const FILES: usize = 20_000;

/// Leaves out the files in Latin-1 and GBK.
pub(crate) const NOT_LEGACY: &str = "!*.legacy.txt";

const PARTS: [&str; 16] = [
    "the deposit is two months",
    "ABC-1234",
    "a month later the deposit came back",
    "total 1,250.50 EUR",
    "预算是三百万元",
    "会议纪要",
    "fn main() { println!() }",
    "café",
    "ann@example.org",
    "2026-11-23",
    "lorem ipsum dolor sit amet",
    "consectetur adipiscing elit",
    "sed do eiusmod tempor",
    "    indented line",
    "# Heading",
    "- item",
];

/// A linear congruential generator, so that each run has the same tree.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}

/// Writes the tree: of 100 files 5 are binary, 3 are Latin-1, 3 GBK and 3 UTF-16; some are hidden or ignored.
pub(crate) fn write(folder: &Path) {
    let mut random = Random(42);
    for number in 0..FILES {
        let path = folder.join(format!("d{:02}/e{:02}", number % 40, number % 13));
        fs::create_dir_all(&path).expect("a folder");
        let text = text(&mut random, number);
        let (name, content) = encode(number, &text);
        fs::write(path.join(name), content).expect("a file");
    }
    fs::write(folder.join(".gitignore"), "*.log\n").expect("a file");
    fs::write(folder.join("ignored.log"), "needle-17\n").expect("a file");
    fs::write(folder.join(".hidden"), "needle-17\n").expect("a file");
}

fn text(random: &mut Random, number: usize) -> String {
    let mut text = String::new();
    for _ in 0..20 + random.below(120) {
        for _ in 0..=random.below(3) {
            text.push_str(PARTS[random.below(PARTS.len())]);
            text.push(' ');
        }
        text.push('\n');
    }
    text + &format!("needle-{number}\n")
}

fn encode(number: usize, text: &str) -> (String, Vec<u8>) {
    match number % 100 {
        0..5 => (format!("{number}.bin"), [b"\x7FELF\0\0", text.as_bytes()].concat()),
        5..8 => {
            let latin: String = text.chars().filter(|c| u32::from(*c) < 256).collect();
            (format!("{number}.legacy.txt"), latin.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect())
        }
        8..11 => (format!("{number}.legacy.txt"), GBK.encode(text).0.into_owned()),
        11..14 => {
            let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
            (format!("{number}.txt"), units.flat_map(u16::to_le_bytes).collect())
        }
        _ => (format!("{number}.md"), text.as_bytes().to_vec()),
    }
}
