//! Reads what one Rust file declares, and which modules of its crate it refers to.

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::{Syntax, Token, TokenKind, tokens};
use crate::sources::SourceFile;

/// A module within its crate: the names from the root, which has none.
pub(crate) type ModulePath = Vec<String>;

/// A path in the code of a module that points into its own crate.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) from: ModulePath,
    pub(crate) to: ModulePath,
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// A name that a `use` brings into a module, where other modules can refer to it.
pub(crate) type Aliases = BTreeMap<(ModulePath, String), ModulePath>;

/// The module that a file holds, from its path below the sources.
pub(crate) fn module_of(path: &str) -> ModulePath {
    let mut module: ModulePath = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Reads the declarations and references of one file.
pub(crate) struct Reader<'a> {
    file: &'a SourceFile,
    pub(crate) module: ModulePath,
    code: Vec<Token<'a>>,
    at: usize,
    /// Inline modules that are open, each with the number of braces that were open before it.
    inline: Vec<(String, usize)>,
    braces: usize,
    /// Modules that are compiled for tests only.
    pub(crate) only_tests: Vec<ModulePath>,
    /// Children that the file declares: a path may start with one.
    children: BTreeSet<ModulePath>,
    pub(crate) aliases: Aliases,
    pub(crate) references: Vec<Reference>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a SourceFile, module: ModulePath) -> Self {
        let mut code = tokens(&file.text, Syntax::Rust);
        code.retain(|token| token.kind != TokenKind::Comment);
        let declared = code.windows(2).filter(|pair| pair[0].is("mod") && pair[1].kind == TokenKind::Identifier);
        let children = declared.map(|pair| [&module[..], &[pair[1].text.to_owned()]].concat()).collect();
        Self {
            file,
            module,
            code,
            at: 0,
            inline: Vec::new(),
            braces: 0,
            only_tests: Vec::new(),
            children,
            aliases: Aliases::new(),
            references: Vec::new(),
        }
    }

    fn is(&self, offset: usize, text: &str) -> bool {
        self.code.get(self.at + offset).is_some_and(|token| token.is(text))
    }

    fn is_path_separator(&self, offset: usize) -> bool {
        self.is(offset, ":") && self.is(offset + 1, ":")
    }

    pub(crate) fn read(&mut self) {
        while let Some(&token) = self.code.get(self.at) {
            if token.is("#") && self.is(1, "[") {
                self.attribute();
                continue;
            }
            match token.text {
                "use" if token.kind == TokenKind::Identifier && !self.is(1, "<") => self.use_declaration(),
                "crate" | "super" | "self" if self.is_path_separator(1) => self.path(),
                "mod" if self.is(2, "{") => self.inline.push((self.code[self.at + 1].text.to_owned(), self.braces)),
                "{" if token.kind == TokenKind::Punctuation => self.braces += 1,
                "}" if token.kind == TokenKind::Punctuation => self.close_brace(),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn close_brace(&mut self) {
        self.braces = self.braces.saturating_sub(1);
        if self.inline.last().is_some_and(|(_, before)| *before == self.braces) {
            self.inline.pop();
        }
    }

    /// The module at this point of the file, with the inline modules around it.
    fn current(&self) -> ModulePath {
        self.module.iter().chain(self.inline.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// Skips an attribute, and the item that follows it if this is compiled for tests only.
    fn attribute(&mut self) {
        let first = self.at;
        self.skip_brackets();
        let names: Vec<&str> = self.code[first..self.at].iter().filter_map(identifier).collect();
        let is_test = names.last() == Some(&"test") && names.first() != Some(&"cfg");
        let is_for_tests = names.first() == Some(&"cfg") && names.contains(&"test") && !names.contains(&"not");
        if is_test || is_for_tests {
            self.skip_item();
        }
    }

    /// Skips to the end of the brackets that open at the next tokens.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.code.get(self.at) {
            depth += change_of_depth(token);
            self.at += 1;
            if depth == 0 && token.is("]") {
                return;
            }
        }
    }

    fn skip_item(&mut self) {
        while self.is(0, "#") {
            self.skip_brackets();
        }
        let first = self.at;
        let is_item = |token: &Token<'_>| ITEMS.iter().any(|item| token.is(item));
        let ends_at_comma = !self.code.get(first).is_some_and(is_item);
        let mut depth = 0;
        while let Some(token) = self.code.get(self.at) {
            depth += change_of_depth(token);
            if depth < 0 {
                break;
            }
            self.at += 1;
            if depth == 0 && (token.is(";") || token.is("}") || (ends_at_comma && token.is(","))) {
                break;
            }
        }
        let declared = self.code[first..self.at].windows(2).find(|pair| pair[0].is("mod"));
        if let Some(pair) = declared {
            self.only_tests.push([&self.current()[..], &[pair[1].text.to_owned()]].concat());
        }
    }

    /// Reads `use a::{b, c::d as e};` up to its semicolon.
    fn use_declaration(&mut self) {
        self.at += 1;
        self.use_tree(&mut Vec::new());
    }

    /// Reads one tree of a `use` and stops at the comma, brace or semicolon after it.
    fn use_tree(&mut self, prefix: &mut Vec<String>) {
        let shared = prefix.len();
        let (mut line, mut renamed, mut is_glob) = (0, None, false);
        while let Some(&token) = self.code.get(self.at) {
            if token.is(";") || token.is(",") || token.is("}") {
                break;
            }
            self.at += 1;
            if token.is("{") {
                while !self.is(0, "}") && self.at < self.code.len() {
                    self.use_tree(prefix);
                    self.at += usize::from(self.is(0, ","));
                }
                self.at += 1;
                prefix.truncate(shared);
                return;
            }
            if token.is("as") {
                renamed = self.code.get(self.at).and_then(identifier);
                self.at += 1;
            } else if token.kind == TokenKind::Identifier {
                prefix.push(token.text.to_owned());
                line = token.line;
            }
            is_glob |= token.is("*");
        }
        if prefix.len() > 1 && prefix.last().is_some_and(|last| last == "self") {
            prefix.pop();
        }
        if let Some(target) = self.absolute(prefix) {
            if let Some(name) = renamed.or(target.last().map(String::as_str)).filter(|_| !is_glob) {
                self.aliases.insert((self.current(), name.to_owned()), target.clone());
            }
            self.refer(target, line);
        }
        prefix.truncate(shared);
    }

    /// Reads a path in code, which starts with `crate`, `super` or `self`, and stops at its last name.
    fn path(&mut self) {
        let line = self.code[self.at].line;
        let is_visibility = self.at > 0 && self.code[self.at - 1].is("in");
        let mut names = vec![self.code[self.at].text.to_owned()];
        while let Some(name) =
            self.code.get(self.at + 3).and_then(identifier).filter(|_| self.is_path_separator(1)).map(str::to_owned)
        {
            names.push(name);
            self.at += 3;
        }
        if let Some(target) = self.absolute(&names).filter(|_| !is_visibility) {
            self.refer(target, line);
        }
    }

    fn refer(&mut self, to: ModulePath, line: usize) {
        self.references.push(Reference { from: self.current(), to, file: self.file.path.clone(), line });
    }

    /// A path from the root of the crate, or nothing if it points out of the crate.
    fn absolute(&self, names: &[String]) -> Option<ModulePath> {
        let mut module = self.current();
        let mut rest = names;
        match names.first()?.as_str() {
            "crate" => module.clear(),
            "self" | "super" => {}
            first => {
                module.push(first.to_owned());
                return self.children.contains(&module).then(|| [&module[..], &names[1..]].concat());
            }
        }
        while let Some((first, others)) = rest.split_first().filter(|(first, _)| is_relative(first)) {
            if first == "super" {
                module.pop();
            }
            rest = others;
        }
        Some([&module[..], rest].concat())
    }
}

/// Keywords with which an item starts that ends at a semicolon or with its block.
const ITEMS: [&str; 14] =
    ["mod", "fn", "use", "pub", "impl", "struct", "enum", "const", "static", "type", "trait", "async", "unsafe", "let"];

fn is_relative(name: &str) -> bool {
    ["crate", "self", "super"].contains(&name)
}

fn identifier<'a>(token: &Token<'a>) -> Option<&'a str> {
    (token.kind == TokenKind::Identifier).then_some(token.text)
}

fn change_of_depth(token: &Token<'_>) -> i32 {
    match token.text {
        "(" | "[" | "{" if token.kind == TokenKind::Punctuation => 1,
        ")" | "]" | "}" if token.kind == TokenKind::Punctuation => -1,
        _ => 0,
    }
}
