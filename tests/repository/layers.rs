//! Dependencies between crates point down, by the table of layers.

use crate::sources::{SourceFile, files_below};

/// The layer of each crate. A crate depends on crates of lower layers only.
const LAYERS: [(&str, u8); 31] = [
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
    ("files", 1),
    ("work", 0),
    ("tools", 2),
    ("commands", 2),
    ("search", 2),
    ("articles", 2),
    ("attachments", 2),
    ("custom-tools", 2),
    ("documents", 2),
    ("agent", 3),
    ("local-dynamodb", 3),
    ("web", 4),
    ("turns", 4),
    ("recordings", 4),
    ("chat", 5),
    ("verify", 5),
    ("scripted-model", 5),
    ("evaluation", 5),
    ("server", 5),
];

/// Dependencies between crates of one layer, and why. Layer 1 has none.
const WITHIN_LAYER: [(&str, &str, &str); 12] = [
    ("work", "domain", "work is shared fairly between owners"),
    ("platform", "work", "secrets are read again like any refreshed value"),
    ("prompts", "domain", "a language is a domain type"),
    ("search", "tools", "the search tools implement `Tool`"),
    ("attachments", "tools", "the tools that read files implement `Tool`"),
    ("articles", "tools", "the search of articles implements `Tool`"),
    ("custom-tools", "tools", "the tools of rows and of MCP servers implement `Tool`"),
    ("documents", "tools", "the document tools implement `Tool`"),
    ("evaluation", "chat", "evaluate runs turns of the whole product"),
    ("server", "evaluation", "check and evaluate are two of its commands"),
    ("server", "scripted-model", "the local server serves its demo"),
    ("server", "chat", "the local server is the same product on one machine"),
];

/// Dependencies that would point down and are forbidden, and why.
const FORBIDDEN: [(&str, &[&str], &str); 1] = [(
    "turns",
    &["client-protocols", "search", "axum", "http", "lambda_http", "lambda_runtime"],
    "the life of a turn knows no HTTP, no frames and no search provider",
)];

/// Folders of production crates: each crate below them has a layer.
pub(crate) const PRODUCTION: [&str; 2] = ["shared/", "functions/"];

/// A crate as its `Cargo.toml` describes it.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: String,
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
        for (_, forbidden, why) in FORBIDDEN.iter().filter(|(from, ..)| from == name) {
            let found = dependencies.iter().filter(|dependency| forbidden.contains(&dependency.as_str()));
            faults.extend(found.map(|dependency| format!("{path}: {name} depends on {dependency}: {why}")));
        }
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

pub(crate) fn manifests() -> Vec<Manifest> {
    let manifests: Vec<Manifest> = files_below("", &["Cargo.toml"]).iter().filter_map(Manifest::read).collect();
    assert!(manifests.len() > 10, "only {} crates", manifests.len());
    manifests
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let faults = faults_of_layers(&manifests());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
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
    let found = ["store", "search"].map(|below| {
        let manifests = [own("turns", &format!("[dependencies]\n{below} = 1")), own(below, "")];
        faults_of_layers(&manifests.into_iter().flatten().collect::<Vec<_>>()).len()
    });
    assert_eq!(found, [0, 1], "a forbidden dependency that points down");
}

/// What names a package in a command.
const NAMES_A_PACKAGE: [&str; 5] = ["--package", "-p", "infra/pipeline/licences", "infra/release/sbom", "uninstall"];

#[test]
fn commands_name_packages_of_the_workspace() {
    let packages: Vec<Manifest> = files_below("", &["Cargo.toml"]).iter().filter_map(Manifest::read).collect();
    let is_name = |one: &str| one.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !one.starts_with('-');
    let folders = [("", ".md"), ("infra", ""), (".ci", ""), (".github/workflows", "")];
    let (mut checked, mut unknown) = (0, Vec::new());
    for file in folders.iter().flat_map(|(folder, ending)| files_below(folder, &[ending])) {
        for line in file.text.lines().filter(|line| line.contains("cargo ") || line.contains("infra/")) {
            let parts: Vec<&str> =
                line.split_whitespace().map(|part| part.trim_matches(['`', '"', ',', ')'])).collect();
            let named = parts.windows(2).filter(|pair| NAMES_A_PACKAGE.contains(&pair[0])).map(|pair| pair[1]);
            let installed =
                parts.windows(3).filter(|three| three[..2] == ["--bin", "lambda-chat"]).map(|three| three[2]);
            for name in named.chain(installed).filter(|name| is_name(name)) {
                checked += 1;
                if packages.iter().all(|package| package.name != name) {
                    unknown.push(format!("{}: {name}", file.path));
                }
            }
        }
    }
    assert!(checked > 10 && unknown.is_empty(), "{checked} checked, unknown: {unknown:#?}");
}
