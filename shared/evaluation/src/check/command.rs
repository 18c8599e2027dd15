use std::io::stdout;
use std::time::Duration;

use chat::Config;
use clap::Args;
use commands::{CommandError, ProgressLine, print_line};
use llm::ModelClient;
use platform::settings::Settings;

use super::endpoint_checks;
use super::finding::{Finding, Status, check_key, host_of};
use super::model_check::{Limits, ModelCheck};
use crate::model_settings::{ModelSettings, no_model_message};
use crate::read_config;

/// Checks each configured model, the search and the embeddings with small requests: what works, what is wrong, and what to set.
///
/// Each model is paid for some hundred tokens, the search for one credit, the embeddings for one token.
#[derive(Args, Debug)]
pub struct CheckCommand {
    /// The longest time of one request, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=900))]
    timeout: u64,
    /// A first token after this time is called slow, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=900))]
    slow: u64,
}

struct Report {
    progress: ProgressLine,
    worst: Status,
}

impl CheckCommand {
    /// Prints each finding as it is known; returns whether nothing failed.
    pub async fn run(self, settings: &Settings) -> Result<bool, CommandError> {
        let config = read_config(settings)?;
        let http = &config.http;
        if config.models.iter().next().is_none() {
            return Err(CommandError::failed(no_model_message(&config.notes())));
        }
        let limits = Limits { timeout: Duration::from_secs(self.timeout), slow: Duration::from_secs(self.slow) };
        let mut report = Report { progress: ProgressLine::on_stderr(), worst: Status::Ok };
        for note in config.notes() {
            report.print(&Finding::note("settings", note));
        }
        for client in &config.models {
            check_model(client, settings, limits, &mut report).await;
        }
        check_search(&config, limits, &mut report).await;
        if let Some(embeddings) = &config.articles.embeddings {
            let host = host_of(&embeddings.base_url);
            report.heading("embeddings", Some(&format!("{} at {host}", embeddings.model)));
            report.progress.show("embeddings: waiting for a vector");
            report.print(&endpoint_checks::check_embeddings(embeddings, &host, http.clone(), limits.timeout).await);
        }
        Ok(report.finish())
    }
}

/// Checks each provider, because a failover hides that one of them fails.
async fn check_search(config: &Config, limits: Limits, report: &mut Report) {
    let Some(search) = &config.search else {
        report.heading("search", None);
        let missing = "not configured, demo pages are found: set TAVILY_API_KEY for the web";
        return report.print(&Finding::note("search", missing));
    };
    for provider in &search.providers {
        report.heading("search", Some(&host_of(provider.base_url().0)));
        report.progress.show("search: waiting for results");
        report.print(&endpoint_checks::check_search(provider, config.http.clone(), limits.timeout).await);
    }
}

async fn check_model(client: &ModelClient, settings: &Settings, limits: Limits, report: &mut Report) {
    let config = client.config();
    let host = host_of(&config.base_url);
    let (name, id) = (&config.name, &config.model);
    let check = ModelCheck { client, names: ModelSettings::of(config, settings), host: host.clone(), limits };
    report.heading(name, Some(&format!("{id} at {host}")));
    report.progress.show(&format!("{name}: waiting for an answer"));
    let key = check_key(config.api_key.as_ref(), "the secret", limits.timeout).await;
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

    fn finish(&mut self) -> bool {
        match self.worst {
            Status::Ok => self.print_text("Everything works."),
            Status::Note => self.print_text("Everything works; the notes name what could be better."),
            Status::Failed => {}
        }
        self.worst != Status::Failed
    }
}
