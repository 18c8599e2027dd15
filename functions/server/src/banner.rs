use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use chat::{Config, DOCUMENTS_DIR};
use local_dynamodb::{Data, EmbeddedDatabase};
use platform::settings::Settings;
use recordings::RecordingFolder;
use search::ProviderConfig;

/// Renders the start message: the configuration in use and the address to open.
///
/// `data` is the location of the embedded database; `None` when the settings name another database.
pub(crate) fn render(
    address: SocketAddr,
    config: &Config,
    demo_search: bool,
    data: Option<(&Data, &EmbeddedDatabase)>,
    recordings: Option<&RecordingFolder>,
    settings: &Settings,
) -> String {
    let mut banner = format!("Lambda Chat {}\n\n", env!("CARGO_PKG_VERSION"));
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(banner, "  {name:<8}{value}");
    };
    row("Open", &open_row(address));
    row("Models", &models(config));
    for note in config.notes() {
        row("", &note);
    }
    row("Search", &search(config, demo_search));
    if let Some(folder) = settings.var(DOCUMENTS_DIR) {
        row("Docs", &format!("{folder} (the agent `documents` answers from it)"));
    }
    row("Store", &store(data, settings));
    for note in data.into_iter().flat_map(|(data, embedded)| store_notes(data, embedded)) {
        row("", &note);
    }
    if let Some(folder) = recordings {
        row("RECORDS", &format!("every turn, with all that users write, in {}", folder.path.display()));
    }
    row("Access", &access(config));
    row("Stop", "Ctrl-C");
    banner
}

/// The address to open: one of this machine for a server that listens on all of its addresses.
pub(crate) fn url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

fn open_row(address: SocketAddr) -> String {
    let others = "on this machine, on others by its name or address; a container's port is the one that it publishes";
    if address.ip().is_unspecified() { format!("{} {others}", url(address)) } else { url(address) }
}

fn search(config: &Config, is_demo: bool) -> String {
    if is_demo {
        return "demo pages (set TAVILY_API_KEY for the web)".to_owned();
    }
    let providers = config.search.iter().flat_map(|search| &search.providers).filter(|provider| provider.searches());
    providers.map(ProviderConfig::name).collect::<Vec<_>>().join(", else ")
}

fn access(config: &Config) -> String {
    if config.auth.is_open() {
        return "no key is required: everyone on this machine can chat and read all conversations (AUTH=api_key requires keys)"
            .to_owned();
    }
    match config.auth.name() {
        "jwt" => "jwt; callers send a token of AUTH_JWT_ISSUER".to_owned(),
        name => format!("{name}; `keys create --user NAME` creates a key"),
    }
}

fn models(config: &Config) -> String {
    let default = config.models.default_model().map(|client| client.config().name.clone());
    let row = |client: &llm::ModelClient| {
        let config = client.config();
        let mark = if default.as_ref() == Some(&config.name) { ", default" } else { "" };
        if config.demo {
            format!(
                "{} (a scripted demo{mark}; set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_…, ARK_…, OLLAMA_… or \
                 BEDROCK_MODEL for a real one: `check` lists them)",
                config.name
            )
        } else {
            let private = config.only_for.as_ref().map(|who| format!(", only for {}", who.names().escape_debug()));
            format!("{} ({}{mark}{})", config.name, config.model, private.unwrap_or_default())
        }
    };
    config.models.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn store(data: Option<(&Data, &EmbeddedDatabase)>, settings: &Settings) -> String {
    match data {
        Some((Data::Memory, _)) => "DynamoDB in this process, in memory: lost when it ends".to_owned(),
        Some((Data::Folder(folder), embedded)) => {
            let new = if embedded.is_new { " (new)" } else { "" };
            format!("DynamoDB in this process, kept in {}{new}", folder.display())
        }
        None => format!("DynamoDB at {}", settings.var("AWS_ENDPOINT_URL_DYNAMODB").unwrap_or_default()),
    }
}

/// Warnings about other users and programs that can access the stored data.
fn store_notes(data: &Data, embedded: &EmbeddedDatabase) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(address) = embedded.address {
        notes.push(format!(
            "OPEN at http://{address}: every user and every program of this machine can read and change all of it"
        ));
    }
    let Data::Folder(folder) = data else { return notes };
    if local_dynamodb::is_open_to_others(folder) {
        notes.push(format!(
            "other users have access to {}, but not to its files; `chmod 700` prevents that",
            folder.display()
        ));
    }
    if let Some(above) = local_dynamodb::movable_in(folder) {
        notes.push(format!(
            "WARNING: every user can write to {}, and so move the stored data away; `chmod o-w` prevents that",
            above.display()
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_address_is_one_that_a_browser_reaches() {
        let row = |address: &str| open_row(address.parse().unwrap());
        assert_eq!(row("127.0.0.1:3000"), "http://127.0.0.1:3000");
        assert_eq!(row("192.0.2.7:3000"), "http://192.0.2.7:3000");
        assert!(row("0.0.0.0:3504").starts_with("http://127.0.0.1:3504 on this machine, on others by its name"));
        assert!(row("[::]:3504").starts_with("http://[::1]:3504 on this machine"));
    }
}
