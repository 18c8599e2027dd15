//! `template.yaml` against drift: permissions, encryption, recovery, retention, and access to URLs.

use crate::{mutate, read_file};

/// A part of the template: a resource or a parameter with its lines, comments left out.
struct Part {
    name: String,
    lines: Vec<String>,
}

impl Part {
    fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    fn is(&self, kind: &str) -> bool {
        self.lines.iter().any(|line| line.trim() == format!("Type: {kind}"))
    }

    fn lacks(&self, wanted: &[&str]) -> Vec<String> {
        wanted.iter().filter(|text| !self.has(text)).map(|text| format!("{} lacks {text}", self.name)).collect()
    }
}

/// The parts of a section: each starts with a line indented by two spaces.
fn parts(template: &str, section: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let lines = template.lines().filter(|line| !line.trim_start().starts_with('#'));
    let inside = lines.skip_while(|line| *line != format!("{section}:")).skip(1);
    for line in inside.take_while(|line| line.is_empty() || line.starts_with(' ')) {
        let name =
            line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).and_then(|rest| rest.strip_suffix(':'));
        match (name, parts.last_mut()) {
            (Some(name), _) => parts.push(Part { name: name.to_owned(), lines: Vec::new() }),
            (None, Some(part)) => part.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    parts
}

fn faults(template: &str) -> Vec<String> {
    let resources = parts(template, "Resources");
    let mut faults = wildcards(template);
    for resource in &resources {
        faults.extend(faults_of_storage(resource));
        faults.extend(faults_of_calls(resource));
    }
    let auth = parts(template, "Parameters").into_iter().find(|part| part.name == "Auth");
    faults.extend(auth.map_or(vec!["no parameter Auth".to_owned()], |auth| auth.lacks(&["Default: api_key"])));
    faults.extend(Part::from_globals(template).lacks(&["        AUTH: !Ref Auth"]));
    faults.extend(template.contains("AUTH_NONE_ON_LAMBDA").then(|| "everybody may be served".to_owned()));
    faults
}

impl Part {
    fn from_globals(template: &str) -> Self {
        let lines = parts(template, "Globals").into_iter().flat_map(|part| part.lines).collect();
        Self { name: "Globals".to_owned(), lines }
    }
}

/// Tables must be encrypted, and recoverable unless all of their items may be lost; logs must have a retention period.
fn faults_of_storage(resource: &Part) -> Vec<String> {
    if resource.is("AWS::Logs::LogGroup") {
        return resource.lacks(&["RetentionInDays: !Ref LogRetentionDays"]);
    }
    if !resource.is("AWS::DynamoDB::Table") {
        return Vec::new();
    }
    let required = ["PointInTimeRecoveryEnabled: true", "DeletionProtectionEnabled: true", "DeletionPolicy: Retain"];
    let mut faults = resource.lacks(&["SSEEnabled: true"]);
    faults.extend(if resource.name == "EphemeralTable" { Vec::new() } else { resource.lacks(&required) });
    faults
}

/// A function with a public URL or a public permission must authenticate its callers.
fn faults_of_calls(resource: &Part) -> Vec<String> {
    let everybody = resource.is("AWS::Lambda::Permission") && resource.has("Principal: \"*\"");
    let by_url = resource.has("FunctionUrlAuthType: NONE") || resource.has("InvokedViaFunctionUrl: true");
    let open = resource.is("AWS::Serverless::Function") && resource.lines.iter().any(|line| is_open_url(line));
    let own_settings =
        resource.has("IgnoreGlobals:") && !resource.has("CHECK_API_KEY_PARAMETER: !Ref CheckKeyParameter");
    let other_auth = resource.lines.iter().any(|line| line.starts_with("          AUTH: "));
    let mut faults = Vec::new();
    faults.extend((everybody && !by_url).then(|| format!("{}: everybody may invoke", resource.name)));
    faults.extend(((open && own_settings) || other_auth).then(|| format!("{}: a URL without keys", resource.name)));
    faults
}

fn is_open_url(line: &str) -> bool {
    line.trim_start().strip_prefix("AuthType: ").is_some_and(|kind| kind.contains("NONE"))
}

/// Statements that allow any action, or any resource where AWS lets one be named.
fn wildcards(template: &str) -> Vec<String> {
    let lines: Vec<&str> = template.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    let action = |line: &&&str| {
        let named = line.trim_start_matches("- ").trim_start_matches("Action: ");
        ["\"*\"", "'*'", "*"].contains(&named) && line.contains("Action") || is_service_wildcard(named)
    };
    let mut faults: Vec<String> = lines.iter().filter(action).map(|line| format!("any action: {line}")).collect();
    for (at, line) in lines.iter().enumerate() {
        let any =
            ["Resource: \"*\"", "Resource: '*'", "Resource: [\"*\"]"].contains(line) || line.ends_with(":function:*");
        let statement = lines[..at].iter().rev().take_while(|line| !line.starts_with("- Sid:"));
        if any && !statement.clone().any(|line| line.starts_with("- xray:Put") || line.starts_with("- ec2:")) {
            faults.push(format!("any resource: {line}"));
        }
    }
    faults
}

/// Whether this is an action such as `dynamodb:*` or `s3:Get*`.
fn is_service_wildcard(action: &str) -> bool {
    action.split_once(':').is_some_and(|(service, name)| {
        let plain =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        plain(service) && name.strip_suffix('*').is_some_and(|rest| rest.is_empty() || plain(rest))
    })
}

#[test]
fn f149_template_keeps_all_rules() {
    let template = read_file("template.yaml");
    assert!(parts(&template, "Resources").len() > 30, "the template is understood");
    assert_eq!(faults(&template), [""; 0]);
}

#[test]
fn f149_template_drift_is_detected() {
    let template = read_file("template.yaml");
    for mutation in [
        ("                  - dynamodb:GetItem\n", "                  - dynamodb:*\n"),
        ("                  - dynamodb:GetItem\n", "                  - dynamodb:Get*\n"),
        ("Action: dynamodb:Query\n", "Action: \"*\"\n"),
        ("Resource: !GetAtt EphemeralTable.Arn", "Resource: \"*\""),
        ("function:${AWS::StackName}-ChatFunction-*", "function:*"),
        ("PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false"),
        ("DeletionProtectionEnabled: true", "DeletionProtectionEnabled: false"),
        ("DeletionPolicy: Retain", "DeletionPolicy: Delete"),
        ("SSESpecification: { SSEEnabled: true }", "SSESpecification: { SSEEnabled: false }"),
        ("      RetentionInDays: !Ref LogRetentionDays\n", ""),
        ("    Default: api_key\n", "    Default: none\n"),
        ("        AUTH: !Ref Auth\n", ""),
        ("        AUTH: !Ref Auth\n", "        AUTH: none\n"),
        ("        AUTH: !Ref Auth\n", "        AUTH: !Ref Auth\n        AUTH_NONE_ON_LAMBDA: 'yes'\n"),
        ("          SOURCE_IP_HEADER:", "          AUTH: none\n          SOURCE_IP_HEADER:"),
        ("      InvokedViaFunctionUrl: true\n", ""),
        (
            "          CHECK_API_KEY_PARAMETER: !Ref CheckKeyParameter\n      FunctionUrlConfig",
            "          OTHER: x\n      FunctionUrlConfig",
        ),
    ] {
        assert!(!faults(&mutate(&template, mutation)).is_empty(), "{mutation:?}");
    }
}

#[test]
fn saved_queries_are_those_of_the_documents() {
    let documents = ["docs/operations.md", "docs/deploy/releases.md"].map(read_file).concat();
    let documents = documents.split_whitespace().collect::<Vec<_>>().join(" ");
    let template = read_file("template.yaml");
    let queries = template.lines().filter_map(|line| line.trim().strip_prefix("QueryString: '")?.strip_suffix('\''));
    let queries: Vec<&str> = queries.collect();
    assert_eq!(queries.len(), 6);
    for query in queries {
        assert!(documents.contains(query), "{query}");
    }
}

#[test]
fn firewall_first_blocks_addresses_outside_both_lists() {
    let firewall = read_file("infra/waf.yaml");
    let rules: Vec<_> = firewall.split("- Name: ").skip(1).collect();
    let priorities: Vec<_> = rules.iter().filter_map(|rule| rule.split("Priority: ").nth(1)?.lines().next()).collect();
    assert_eq!(priorities, ["0", "1", "2"]);
    let (negation, sets) = rules[0].split_once("NotStatement:").unwrap();
    assert!(negation.contains("Action: { Block: {} }"));
    for set in ["Ipv4Addresses", "Ipv6Addresses"] {
        assert!(sets.contains(&format!("IPSetReferenceStatement: {{ Arn: !GetAtt {set}.Arn }}")), "{set}");
    }
}
