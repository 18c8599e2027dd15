use std::io::stdout;
use std::time::Duration;

use axum::http::Uri;
use clap::Args;
use llm::ModelClient;
use platform::settings::Settings;

use super::embeddings_check;
use super::finding::{Finding, Status};
use super::model_check::{Limits, ModelCheck};
use super::search_check;
use crate::command_result::{CommandError, print_line};
use crate::model_settings::{ModelSettings, no_model_message};
use crate::progress_line::ProgressLine;
use crate::server::local_config;

/// Checks each configured model, the search and the embeddings with small requests: what works, what is wrong, and what to set.
///
/// Each model is paid for some hundred tokens, the search for one credit, the embeddings for one token.
#[derive(Args, Debug)]
pub(crate) struct CheckCommand {
    /// The longest time of one request, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=900))]
    timeout: u64,
    /// A first token after this time is called slow, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=900))]
    slow: u64,
}

/// The output of a running check.
struct Report {
    progress: ProgressLine,
    worst: Status,
}

impl CheckCommand {
    /// Prints each finding as it is known; returns whether nothing failed.
    pub(crate) async fn run(self, settings: &Settings) -> Result<bool, CommandError> {
        let config = local_config(settings)?;
        let http = &config.http;
        if config.models.iter().next().is_none() {
            return Err(CommandError::Absent(no_model_message(&config.notes())));
        }
        let limits = Limits { timeout: Duration::from_secs(self.timeout), slow: Duration::from_secs(self.slow) };
        let mut report = Report { progress: ProgressLine::new(), worst: Status::Ok };
        for note in config.notes() {
            report.print(&Finding::note("settings", note));
        }
        for client in &config.models {
            check_model(client, settings, limits, &mut report).await;
        }
        report.heading("search", config.search.as_ref().map(|search| host_of(&search.base_url)).as_deref());
        report.progress.show("search: waiting for results");
        report.print(&match &config.search {
            Some(search) => search_check::check(search, http.clone(), limits.timeout).await,
            None => Finding::note("search", "not configured, demo pages are found: set TAVILY_API_KEY for the web"),
        });
        if let Some(embeddings) = &config.articles.embeddings {
            let host = host_of(&embeddings.base_url);
            report.heading("embeddings", Some(&format!("{} at {host}", embeddings.model)));
            report.progress.show("embeddings: waiting for a vector");
            report.print(&embeddings_check::check(embeddings, &host, http.clone(), limits.timeout).await);
        }
        Ok(report.finish())
    }
}

async fn check_model(client: &ModelClient, settings: &Settings, limits: Limits, report: &mut Report) {
    let config = client.config();
    let host = host_of(&config.base_url);
    let (name, id) = (&config.name, &config.model);
    let check = ModelCheck { client, names: ModelSettings::of(config, settings), host: host.clone(), limits };
    report.heading(name, Some(&format!("{id} at {host}")));
    report.progress.show(&format!("{name}: waiting for an answer"));
    let key = check.check_key().await;
    let answer = if key.is_none() { check.check_answer().await } else { Vec::new() };
    let findings: Vec<Finding> = key.into_iter().chain(answer).collect();
    for finding in &findings {
        report.print(finding);
    }
    if findings.iter().any(|finding| finding.status == Status::Failed) {
        return;
    }
    report.progress.show(&format!("{name}: waiting for a tool call"));
    report.print(&check.check_tools().await);
    report.print(&check.check_context());
    if let Some(finding) = check.check_wire() {
        report.print(&finding);
    }
}

/// Host and port of an address, without a user, a path or a query.
fn host_of(address: &str) -> String {
    let uri: Option<Uri> = address.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or("its address");
    match uri.as_ref().and_then(Uri::port_u16) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

impl Report {
    fn heading(&mut self, name: &str, detail: Option<&str>) {
        let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
        self.print_text(&format!("{name}{detail}"));
    }

    fn print(&mut self, finding: &Finding) {
        self.print_text(&finding.to_string());
        self.worst = self.worst.max(finding.status);
    }

    fn print_text(&mut self, text: &str) {
        self.progress.clear();
        print_line(&mut stdout(), text);
    }

    /// Prints the conclusion; returns whether nothing failed.
    fn finish(&mut self) -> bool {
        match self.worst {
            Status::Ok => self.print_text("Everything works."),
            Status::Note => self.print_text("Everything works; the notes name what could be better."),
            Status::Failed => {}
        }
        self.worst != Status::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn host_has_no_user_path_or_query() {
        assert_eq!(host_of("https://user:canary@h.example/canary?key=canary"), "h.example");
        assert_eq!(host_of("http://127.0.0.1:11434/v1"), "127.0.0.1:11434");
        assert_eq!(host_of("http://[::1]:80"), "[::1]:80");
        assert_eq!(host_of("not an address"), "its address");
    }
}
