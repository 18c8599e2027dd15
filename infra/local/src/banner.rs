use std::fmt::Write;
use std::net::SocketAddr;

use chat::{Config, DOCUMENTS_DIR};
use platform::settings::Settings;

use crate::Data;
use crate::database::{self, EmbeddedDatabase};
use crate::recording::RecordingFolder;

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
    row("Open", &format!("http://{address}"));
    row("Models", &models(config));
    for note in config.notes() {
        row("", &note);
    }
    row("Search", if demo_search { "demo pages (set TAVILY_API_KEY for the web)" } else { "Tavily" });
    if let Some(folder) = settings.var(DOCUMENTS_DIR) {
        row("Docs", &format!("{folder} (the agent `documents` answers from it)"));
    }
    row("Store", &store(data, settings));
    for note in data.into_iter().flat_map(|(data, embedded)| store_notes(data, embedded)) {
        row("", &note);
    }
    if let Some(folder) = recordings {
        row("RECORDS", &format!("every turn, with all that users write, in {}", folder.path().display()));
    }
    row("Access", &access(config));
    row("Stop", "Ctrl-C");
    banner
}

fn access(config: &Config) -> String {
    if config.auth.is_open() {
        return "no key is required: every user of this machine may chat and read all conversations (AUTH=api_key changes that)"
            .to_owned();
    }
    format!("{}; `keys create --user NAME` makes a key", config.auth.name())
}

fn models(config: &Config) -> String {
    let default = config.models.default_model().map(|client| client.config().name.clone());
    let row = |client: &llm::ModelClient| {
        let config = client.config();
        let mark = if default.as_ref() == Some(&config.name) { ", default" } else { "" };
        if config.demo {
            format!(
                "{} (a scripted demo{mark}; set ARK_API_KEY and ARK_MODEL, or OPENAI_…, for a real one)",
                config.name
            )
        } else {
            let private = config.only_for.as_ref().map(|owner| format!(", only for {}", owner.escape_debug()));
            format!("{} ({}{mark}{})", config.name, config.model, private.unwrap_or_default())
        }
    };
    config.models.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn store(data: Option<(&Data, &EmbeddedDatabase)>, settings: &Settings) -> String {
    match data {
        Some((Data::Memory, _)) => "DynamoDB in this process, in memory: gone when it ends".to_owned(),
        Some((Data::Folder(folder), embedded)) => {
            let new = if embedded.is_new() { " (new: nothing was there)" } else { "" };
            format!("DynamoDB in this process, kept in {}{new}", folder.display())
        }
        None => format!("DynamoDB at {}", settings.var("AWS_ENDPOINT_URL_DYNAMODB").unwrap_or_default()),
    }
}

/// Warnings about other users and programs that can access the stored data.
fn store_notes(data: &Data, embedded: &EmbeddedDatabase) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(address) = embedded.address() {
        notes.push(format!(
            "OPEN at http://{address}: every user and every program of this machine can read and change all of it"
        ));
    }
    let Data::Folder(folder) = data else { return notes };
    if database::is_open_to_others(folder) {
        notes.push(format!(
            "others may look into {}, but not into its files; `chmod 700` takes that from them",
            folder.display()
        ));
    }
    if let Some(above) = database::movable_in(folder) {
        notes.push(format!(
            "WARNING: every user may write to {}, and so move the stored data away; `chmod o-w` takes that from them",
            above.display()
        ));
    }
    notes
}
