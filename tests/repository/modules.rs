//! The modules of a crate depend on each other without a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::layers::{PRODUCTION, manifests};
use crate::module_reader::{Aliases, ModulePath, Reader, Reference, module_of};
use crate::sources::{SourceFile, files_below};

/// The largest number of references that a fault lists.
const MAX_LISTED: usize = 5;

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
