//! Rules for dependencies: `deny.toml`, the lock file, and the workflow that runs `cargo deny` with network access.

use std::process::Command;

use serde_json::Value;

use crate::licence::permits;
use crate::{mutate, read_file, repository_root};

/// The only registry for packages.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Lines that `deny.toml` must contain, by section.
const RULES: [(&str, &str); 4] = [
    ("advisories", r#"yanked = "deny""#),
    ("sources", r#"unknown-registry = "deny""#),
    ("sources", r#"unknown-git = "deny""#),
    ("bans", r#"{ crate = "openssl-sys" }"#),
];

/// The lines of a section of `deny.toml`, without comments.
fn section<'a>(deny: &'a str, name: &str) -> Vec<&'a str> {
    let lines = deny.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let after = lines.skip_while(|line| *line != format!("[{name}]")).skip(1);
    after.take_while(|line| !line.starts_with('[') || line.starts_with("[{")).collect()
}

/// The licences that `deny.toml` allows.
fn allowed_licences(deny: &str) -> Vec<String> {
    let lines = section(deny, "licenses").into_iter();
    let listed = lines.skip_while(|line| *line != "allow = [").skip(1).take_while(|line| *line != "]");
    listed.map(|line| line.trim_matches([',', '"']).to_owned()).collect()
}

fn faults_of_rules(deny: &str) -> Vec<String> {
    let missing = RULES.iter().filter(|(name, rule)| !section(deny, name).iter().any(|line| line.contains(rule)));
    let mut faults: Vec<String> = missing.map(|(name, rule)| format!("[{name}] lacks {rule}")).collect();
    let weak =
        |line: &&str| ["ignore", "exceptions", "allow-git", "clarify", "skip"].iter().any(|key| line.contains(key));
    faults.extend(deny.lines().filter(weak).map(|line| format!("an exception: {line}")));
    faults
}

/// The faults of a workflow that must run the check on a schedule and fail when the check fails.
fn faults_of_workflow(workflow: &str) -> Vec<String> {
    let runs = |line: &str| line.trim().trim_start_matches("- ").trim_start_matches("run: ").starts_with("cargo deny");
    let steps: Vec<&str> = workflow.lines().filter(|line| runs(line)).collect();
    let mut faults = Vec::new();
    let checks = |line: &&str| line.contains("--workspace") && line.ends_with(" check");
    if !steps.iter().any(checks) {
        faults.push("no step runs `cargo deny --workspace check`".to_owned());
    }
    faults.extend(steps.iter().filter(|line| line.contains("||")).map(|line| format!("a failure passes: {line}")));
    faults.extend(workflow.contains("continue-on-error").then(|| "a failure passes".to_owned()));
    faults.extend((!workflow.contains("- cron:")).then(|| "new advisories are not looked for".to_owned()));
    faults
}

fn faults_of_lock(lock: &str) -> Vec<String> {
    let packages = lock.split("[[package]]").skip(1).filter(|package| package.contains("\nsource = "));
    let sound =
        |package: &&str| package.contains(&format!("\nsource = \"{REGISTRY}\"")) && package.contains("\nchecksum = ");
    packages.filter(|package| !sound(package)).map(|package| package.trim().to_owned()).collect()
}

fn faults_of_licences(packages: &[Value], deny: &str) -> Vec<String> {
    let allowed = allowed_licences(deny);
    let known = |package: &&Value| package["license"].as_str().is_some_and(|licence| permits(licence, &allowed));
    packages
        .iter()
        .filter(|package| !known(package))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect()
}

/// The packages for this machine's architecture, from `cargo metadata` without network access.
fn read_packages() -> Vec<Value> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let arguments = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", &target];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(repository_root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn f148_every_package_has_an_allowed_licence() {
    let (packages, deny) = (read_packages(), read_file("deny.toml"));
    assert!(packages.len() > 200, "only {} packages", packages.len());
    assert_eq!(faults_of_licences(&packages, &deny), [""; 0]);
    let without_isc = mutate(&deny, ("    \"ISC\",\n", ""));
    assert!(!faults_of_licences(&packages, &without_isc).is_empty(), "a licence that is not allowed is a fault");
    let unknown = serde_json::json!({"name": "x", "license": null});
    assert_eq!(faults_of_licences(&[unknown], &deny).len(), 1, "so is an unknown one");
}

#[test]
fn f148_every_package_comes_from_the_registry_with_checksum() {
    let lock = read_file("Cargo.lock");
    assert_eq!(faults_of_lock(&lock), [""; 0]);
    let git = mutate(&lock, (REGISTRY, "git+https://example.com/x?rev=1"));
    let unchecked = mutate(&lock, ("\nchecksum = ", "\nsum = "));
    assert!(!faults_of_lock(&git).is_empty() && !faults_of_lock(&unchecked).is_empty());
}

#[test]
fn f148_advisories_and_yanked_versions_fail_the_workflow() {
    let (deny, workflow) = (read_file("deny.toml"), read_file(".github/workflows/check.yml"));
    assert_eq!(faults_of_rules(&deny), [""; 0]);
    assert_eq!(faults_of_workflow(&workflow), [""; 0]);
    for mutation in [
        ("yanked = \"deny\"", "yanked = \"warn\""),
        ("yanked = \"deny\"", "yanked = \"deny\"\nignore = [\"RUSTSEC-2020-0001\"]"),
        ("unknown-git = \"deny\"", "unknown-git = \"allow\""),
        ("unknown-registry = \"deny\"", "# unknown-registry = \"deny\""),
    ] {
        assert!(!faults_of_rules(&mutate(&deny, mutation)).is_empty(), "{mutation:?}");
    }
    for mutation in [
        ("cargo deny --workspace check", "cargo deny --workspace list"),
        ("cargo deny --workspace check", "cargo deny --workspace check || true"),
        ("- cron:", "- never:"),
        ("  dependencies:\n", "  dependencies:\n    continue-on-error: true\n"),
    ] {
        assert!(!faults_of_workflow(&mutate(&workflow, mutation)).is_empty(), "{mutation:?}");
    }
}

#[test]
fn f148_deployments_wait_for_the_dependency_check() {
    let deploy = read_file(".github/workflows/deploy.yml");
    assert!(deploy.contains("uses: ./.github/workflows/check.yml"), "the deployment calls the checks");
    let waits = |line: &str| line.trim().starts_with("needs:") && line.contains("check");
    assert!(deploy.lines().any(waits), "a job that deploys waits for them");
}
