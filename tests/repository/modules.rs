//! Dependencies point down: between crates by the table of layers, and between the modules of a crate without a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::{Syntax, Token, TokenKind, tokens};
use crate::sources::{SourceFile, files_below};

/// The layer of each crate. A crate depends on crates of lower layers only.
const LAYERS: [(&str, u8); 24] = [
    ("domain", 0),
    ("bounded-regex", 0),
    ("sse", 0),
    ("platform", 0),
    ("prompts", 0),
    ("tool-calls", 1),
    ("llm", 1),
    ("client-protocols", 1),
    ("store", 1),
    ("egress", 1),
    ("smoke", 1),
    ("redaction", 1),
    ("fairness", 1),
    ("tools", 2),
    ("search", 2),
    ("articles", 2),
    ("custom-tools", 2),
    ("documents", 2),
    ("agent", 3),
    ("web", 3),
    ("turns", 4),
    ("chat", 5),
    ("verify", 5),
    ("local", 5),
];

/// Dependencies between crates of one layer, and why. Layer 1 has none.
const WITHIN_LAYER: [(&str, &str, &str); 6] = [
    ("prompts", "domain", "a language is a domain type"),
    ("search", "tools", "the search tools implement `Tool`"),
    ("articles", "tools", "the search of articles implements `Tool`"),
    ("custom-tools", "tools", "the tools of rows and of MCP servers implement `Tool`"),
    ("documents", "tools", "the document tools implement `Tool`"),
    ("local", "chat", "the local server is the same product on one machine"),
];

/// Folders of production crates: each crate below them has a layer.
const PRODUCTION: [&str; 3] = ["shared/", "functions/", "infra/local/"];

/// The largest number of references that a fault lists.
const MAX_LISTED: usize = 5;

/// A module within its crate: the names from the root, which has none.
type ModulePath = Vec<String>;

/// A path in the code of a module that points into its own crate.
#[derive(Clone, Debug)]
struct Reference {
    from: ModulePath,
    to: ModulePath,
    file: String,
    line: usize,
}

/// A name that a `use` brings into a module, where other modules can refer to it.
type Aliases = BTreeMap<(ModulePath, String), ModulePath>;

/// What the files of a crate declare and refer to.
#[derive(Default)]
struct CrateModules {
    /// Modules with a file of their own, without those that only tests have.
    modules: BTreeSet<ModulePath>,
    aliases: Aliases,
    references: Vec<Reference>,
}

impl CrateModules {
    /// Reads the files of a crate, whose sources are below `folder`, with a slash at its end.
    fn read(files: &[SourceFile], folder: &str) -> Self {
        let mut readers: Vec<Reader<'_>> = files
            .iter()
            .filter(|file| !file.path[folder.len()..].starts_with("bin/"))
            .map(|file| Reader::new(file, module_of(&file.path[folder.len()..])))
            .collect();
        readers.iter_mut().for_each(Reader::read);
        let only_tests: BTreeSet<ModulePath> = readers.iter().flat_map(|reader| reader.only_tests.clone()).collect();
        readers.retain(|reader| !only_tests.iter().any(|module| reader.module.starts_with(module)));
        let mut all = Self::default();
        for reader in readers {
            all.modules.insert(reader.module);
            all.aliases.extend(reader.aliases);
            all.references.extend(reader.references);
        }
        all
    }

    /// The module that holds what a path names: through re-exports, and as deep as modules have files.
    fn resolve(&self, path: &[String], depth: usize) -> ModulePath {
        let mut module = ModulePath::new();
        for (at, name) in path.iter().enumerate() {
            let mut child = module.clone();
            child.push(name.clone());
            if self.modules.contains(&child) {
                module = child;
                continue;
            }
            if let Some(target) = self.aliases.get(&(module.clone(), name.clone())).filter(|_| depth < 8) {
                return self.resolve(&[target, &path[at + 1..]].concat(), depth + 1);
            }
            break;
        }
        module
    }

    /// The graph of each folder: its modules, with the references from one to another.
    fn graphs(&self) -> BTreeMap<ModulePath, Graph> {
        let mut graphs = BTreeMap::<ModulePath, Graph>::new();
        for reference in &self.references {
            let (from, to) = (self.resolve(&reference.from, 0), self.resolve(&reference.to, 0));
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(source), Some(target)) = (from.get(common), to.get(common)) {
                let graph = graphs.entry(from[..common].to_vec()).or_default();
                graph.entry((source.clone(), target.clone())).or_default().push(reference.clone());
            }
        }
        graphs
    }
}

/// The references from one module to another of the same folder.
type Graph = BTreeMap<(String, String), Vec<Reference>>;

/// The module that a file holds, from its path below the sources.
fn module_of(path: &str) -> ModulePath {
    let mut module: ModulePath = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Reads the declarations and references of one file.
struct Reader<'a> {
    file: &'a SourceFile,
    module: ModulePath,
    code: Vec<Token<'a>>,
    at: usize,
    /// Inline modules that are open, each with the number of braces that were open before it.
    inline: Vec<(String, usize)>,
    braces: usize,
    /// Modules that are compiled for tests only.
    only_tests: Vec<ModulePath>,
    /// Children that the file declares: a path may start with one.
    children: BTreeSet<ModulePath>,
    aliases: Aliases,
    references: Vec<Reference>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a SourceFile, module: ModulePath) -> Self {
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

    fn read(&mut self) {
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

/// The shortest cycle of a graph, as its nodes in order.
fn shortest_cycle(graph: &Graph) -> Option<Vec<String>> {
    let starts: BTreeSet<&String> = graph.keys().map(|(from, _)| from).collect();
    starts.into_iter().filter_map(|start| cycle_through(graph, start)).min_by_key(Vec::len)
}

fn cycle_through(graph: &Graph, start: &String) -> Option<Vec<String>> {
    let mut paths = std::collections::VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop_front() {
        let last = path.last()?;
        for (_, next) in graph.keys().filter(|(from, _)| from == last) {
            if next == start {
                return Some(path);
            }
            if seen.insert(next) {
                paths.push_back([&path[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

/// One fault for each reference to remove until no cycle is left: of each cycle the edge with the fewest references.
fn faults_of_graph(folder: &str, mut graph: Graph) -> Vec<String> {
    let mut faults = Vec::new();
    while let Some(cycle) = shortest_cycle(&graph) {
        let edges = (0..cycle.len()).map(|at| (cycle[at].clone(), cycle[(at + 1) % cycle.len()].clone()));
        let Some(edge) = edges.min_by_key(|edge| graph[edge].len()) else { break };
        let references = graph.remove(&edge).unwrap_or_default();
        let listed = references.iter().take(MAX_LISTED);
        let lines: Vec<String> = listed
            .map(|Reference { file, line, to, .. }| format!("    {file}:{line}: crate::{}", to.join("::")))
            .collect();
        faults.push(format!(
            "{folder}: {} → {}: remove {} → {}, references: {}\n{}",
            cycle.join(" → "),
            cycle[0],
            edge.0,
            edge.1,
            references.len(),
            lines.join("\n")
        ));
    }
    faults
}

/// The cycles among the modules of a crate, folder by folder.
fn faults_of_modules(files: &[SourceFile], folder: &str) -> Vec<String> {
    let graphs = CrateModules::read(files, folder).graphs();
    graphs
        .into_iter()
        .flat_map(|(path, graph)| faults_of_graph(&format!("{folder}{}", path.join("/")), graph))
        .collect()
}

/// A crate as its `Cargo.toml` describes it.
#[derive(Debug)]
struct Manifest {
    path: String,
    name: String,
    /// The names of its dependencies, without those of its tests.
    dependencies: Vec<String>,
}

impl Manifest {
    /// Reads a manifest; one without a package is nothing.
    fn read(file: &SourceFile) -> Option<Self> {
        let (mut name, mut dependencies, mut section) = (None, Vec::new(), "");
        for line in file.text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']');
                let table = section.rsplit_once('.').filter(|(table, _)| is_dependencies(table));
                dependencies.extend(table.map(|(_, name)| name.to_owned()));
            } else if let Some((key, value)) = line.split_once('=') {
                let key = key.trim().split('.').next().unwrap_or_default();
                if section == "package" && key == "name" {
                    name = Some(value.trim().trim_matches('"').to_owned());
                } else if is_dependencies(section) {
                    dependencies.push(key.to_owned());
                }
            }
        }
        Some(Self { path: file.path.clone(), name: name?, dependencies })
    }
}

/// Whether a table of a manifest lists dependencies of production code.
fn is_dependencies(section: &str) -> bool {
    ["dependencies", "build-dependencies"].contains(&section)
        || (section.starts_with("target.") && section.ends_with(".dependencies"))
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(listed, _)| *listed == name).map(|(_, layer)| *layer)
}

/// Dependencies that do not point down, and crates without a layer.
fn faults_of_layers(manifests: &[Manifest]) -> Vec<String> {
    let is_ours = |name: &String| manifests.iter().any(|manifest| manifest.name == *name);
    let mut faults = Vec::new();
    for Manifest { path, name, dependencies } in manifests {
        if !PRODUCTION.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let own = layer(name);
        faults.extend(own.is_none().then(|| format!("{path}: {name} has no layer")));
        for dependency in dependencies.iter().filter(|dependency| is_ours(dependency)) {
            let permitted =
                WITHIN_LAYER.iter().any(|(from, to, _)| (from, to) == (&name.as_str(), &dependency.as_str()));
            match (own, layer(dependency)) {
                (_, None) => faults.push(format!("{path}: {name} depends on {dependency}, which has no layer")),
                (Some(own), Some(below)) if own < below || (own == below && !permitted) => {
                    faults.push(format!("{path}: {name} (layer {own}) depends on {dependency} (layer {below})"));
                }
                _ => {}
            }
        }
    }
    faults
}

fn manifests() -> Vec<Manifest> {
    let manifests: Vec<Manifest> = files_below("", &["Cargo.toml"]).iter().filter_map(Manifest::read).collect();
    assert!(manifests.len() > 10, "only {} crates", manifests.len());
    manifests
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    let crates = manifests().into_iter().map(|manifest| manifest.path);
    let production = crates.filter(|path| PRODUCTION.iter().any(|folder| path.starts_with(folder)));
    let folders = production.map(|path| path.replace("Cargo.toml", "src/"));
    let mut faults = Vec::new();
    for folder in folders.chain(["tests/support/src/".to_owned()]) {
        let files = files_below(folder.trim_end_matches('/'), &[".rs"]);
        assert!(!files.is_empty(), "{folder} has no sources");
        faults.extend(faults_of_modules(&files, &folder));
    }
    assert!(faults.is_empty(), "{} references to remove:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let faults = faults_of_layers(&manifests());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn cycles_of_modules_are_found() {
    for (files, expected) in [
        (&[("a.rs", "use crate::b::X;"), ("b.rs", "use std::x;")][..], &[][..]),
        (&[("a.rs", "use crate::b::X;"), ("b.rs", "fn f() { crate::a::f() }")], &["s/: a → b → a"]),
        (&[("a.rs", "use crate::{x::Y, b::{self, Z}};"), ("b.rs", "use super::a;")], &["s/: a → b → a"]),
        (&[("a.rs", "use crate::b;"), ("b.rs", "#[cfg(test)] mod t { use crate::a; }")], &[]),
        (&[("a.rs", "use crate::b;"), ("b.rs", "#[cfg(test)]\nuse crate::a;\nuse x;")], &[]),
        (&[("a.rs", "#[cfg(test)] mod t;\nuse crate::b;"), ("a/t.rs", ""), ("b.rs", "")], &[]),
        (&[("a.rs", "#[cfg(test)] mod t;"), ("a/t.rs", "use crate::b;"), ("b.rs", "use crate::a;")], &[]),
        (&[("a.rs", "use crate::b;"), ("b.rs", "pub(in crate::a) struct X; // crate::a::Y")], &[]),
        (
            &[("lib.rs", "mod a; pub use a::X;"), ("a.rs", "use crate::b;"), ("b.rs", "use crate::X;")],
            &["s/: a → b → a"],
        ),
        (&[("lib.rs", "use crate::a::X; fn f() { crate::a::f() }"), ("a.rs", "use crate::f;")], &[]),
        (
            &[("m/mod.rs", "mod a; mod b;"), ("m/a.rs", "use super::b;"), ("m/b.rs", "use crate::m::a;")],
            &["s/m: a → b → a"],
        ),
        (
            &[("m.rs", "mod a; use a::X;"), ("m/a.rs", "use super::b::Y;"), ("m/b.rs", "use super::X;")],
            &["s/m: a → b → a"],
        ),
        (&[("m.rs", "mod a;"), ("m/a.rs", "use crate::n;"), ("n.rs", "use crate::m::a::X;")], &["s/: m → n → m"]),
        (
            &[("a.rs", "use crate::b;"), ("b.rs", "mod i { use super::super::c; }"), ("c.rs", "use crate::a as x;")],
            &["s/: a → b → c → a"],
        ),
    ] {
        let file = |(path, text): &(&str, &str)| SourceFile { path: format!("s/{path}"), text: (*text).to_owned() };
        let files: Vec<SourceFile> = files.iter().map(file).collect();
        let faults = faults_of_modules(&files, "s/");
        let cycles: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": remove").next()).collect();
        assert_eq!(cycles, expected, "{:?}", files.iter().map(|file| &file.text).collect::<Vec<_>>());
    }
}

#[test]
fn the_edge_with_the_fewest_references_is_named() {
    let text = |path: &str, text: &str| SourceFile { path: format!("s/{path}"), text: text.to_owned() };
    let files = [text("a.rs", "use crate::b::X;\nuse crate::b::Y;"), text("b.rs", "\nuse crate::a::Z;")];
    let expected = "s/: a → b → a: remove b → a, references: 1\n    s/b.rs:2: crate::a::Z";
    assert_eq!(faults_of_modules(&files, "s/"), [expected]);
}

#[test]
fn dependencies_that_do_not_point_down_are_found() {
    let own = |name: &str, text: &str| {
        let text = format!("[package]\nname = \"{name}\"\n{text}");
        Manifest::read(&SourceFile { path: format!("shared/{name}/Cargo.toml"), text })
    };
    for (text, expected) in [
        ("[dependencies]\ndomain.workspace = true\nserde = \"1\"", None),
        ("[dependencies]\nagent = { workspace = true }", Some("store (layer 1) depends on agent (layer 3)")),
        ("[dependencies]\n# agent = 1\nllm = 1", Some("store (layer 1) depends on llm (layer 1)")),
        ("[dependencies.agent]\nworkspace = true", Some("store (layer 1) depends on agent (layer 3)")),
        ("[target.'cfg(unix)'.dependencies]\nagent = 1", Some("store (layer 1) depends on agent (layer 3)")),
        ("[dev-dependencies]\nagent.workspace = true", None),
        ("[dependencies]\nextra.workspace = true", Some("store depends on extra, which has no layer")),
    ] {
        let others = ["domain", "agent", "llm"].map(|name| own(name, ""));
        let extra =
            Manifest { path: "tests/Cargo.toml".to_owned(), name: "extra".to_owned(), dependencies: Vec::new() };
        let manifests: Vec<Manifest> = others.into_iter().chain([own("store", text), Some(extra)]).flatten().collect();
        let faults = faults_of_layers(&manifests);
        let expected: Vec<String> = expected.iter().map(|fault| format!("shared/store/Cargo.toml: {fault}")).collect();
        assert_eq!(faults, expected, "{text}");
    }
}
