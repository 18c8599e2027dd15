use std::io::stdout;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chat::{Config, DOCUMENTS_DIR};
use clap::Args;
use commands::{CommandError, ProgressLine, count, print_line};
use llm::{ModelClient, Models};
use platform::settings::Settings;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::judge::Outcome;
use super::product::Product;
use super::question::{self, Expectation, Question};
use super::report;
use crate::model_settings::no_model_message;
use crate::read_config;

/// A model that answers none of its first questions is not given the others.
const MAX_UNANSWERED: usize = 3;

const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Measures how often each configured model makes the right tool calls, with the search as configured.
///
/// Every question is a turn of the whole product: the tokens of the model and the searches are paid for as usual.
/// Nothing is stored.
#[derive(Args, Debug)]
pub struct EvaluateCommand {
    /// The only model to evaluate.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A file of questions, one JSON object in each line, instead of the 30 built-in ones.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Runs the 10 built-in questions about documents instead, over the built-in sample documents.
    #[arg(long, conflicts_with = "questions")]
    documents: bool,
}

impl EvaluateCommand {
    /// Prints the result; returns whether every model answered at least one question. `start_demo` serves a search that is
    /// not configured until its token ends, and returns whether it does.
    pub async fn run(
        self,
        mut settings: Settings,
        start_demo: impl AsyncFnOnce(&mut Config, &mut Settings, &CancellationToken) -> Result<bool, CommandError>,
    ) -> Result<bool, CommandError> {
        let documents = if self.documents { Some(write_documents(&mut settings)?) } else { None };
        let config = read_config(&settings)?;
        let questions = self.questions()?;
        if config.documents.is_none() && questions.iter().any(|one| one.expectation == Expectation::Documents) {
            return Err(CommandError::wrong_use(format!(
                "--questions: a question expects documents; set {DOCUMENTS_DIR}"
            )));
        }
        let models = self.models(&config.models)?;
        if models.is_empty() {
            return Err(CommandError::failed(no_model_message(&config.notes())));
        }
        let product = Box::pin(Product::start(config, settings, start_demo)).await?;
        print_line(&mut stdout(), &introduction(&questions, &models, product.demo_search));
        let (mut progress, mut results) = (ProgressLine::on_stderr(), Vec::new());
        let is_stopped = tokio::select! {
            // Register the handler before the first question, so that no signal is missed.
            biased;
            _ = tokio::signal::ctrl_c() => true,
            () = Box::pin(evaluate(&product, &models, &questions, &mut results, &mut progress)) => false,
        };
        product.app.shut_down().await;
        drop(documents);
        progress.clear();
        print_line(&mut stdout(), &report::render(&results));
        if is_stopped {
            return Err(CommandError::failed("stopped"));
        }
        Ok(results.iter().all(|(_, outcomes)| outcomes.iter().any(Outcome::is_answered)))
    }

    fn questions(&self) -> Result<Vec<Question>, CommandError> {
        let questions = match &self.questions {
            None if self.documents => question::documents(),
            None => question::builtin(),
            Some(path) => question::parse(&file_name(path), &read(path)?),
        };
        questions.map_err(CommandError::wrong_use)
    }

    fn models(&self, models: &Models) -> Result<Vec<ModelClient>, CommandError> {
        let Some(name) = &self.model else { return Ok(models.iter().cloned().collect()) };
        if models.iter().next().is_none() {
            return Ok(Vec::new());
        }
        let names = || models.iter().map(|client| client.config().name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown =
            || CommandError::wrong_use(format!("--model: there is no model of this name; accepted are: {}", names()));
        models.get(name).cloned().ok_or_else(unknown).map(|client| vec![client])
    }
}

/// Writes the sample documents, and names their folder in the settings.
fn write_documents(settings: &mut Settings) -> Result<TempDir, CommandError> {
    let unwritable = |error: std::io::Error| CommandError::wrong_use(format!("--documents: {error}"));
    let folder = question::write_documents().map_err(unwritable)?;
    let path = folder.path().to_str().ok_or_else(|| unwritable(std::io::ErrorKind::InvalidFilename.into()))?;
    settings.set(DOCUMENTS_DIR, path);
    Ok(folder)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<String, CommandError> {
    let refused = |reason: String| CommandError::wrong_use(format!("--questions {}: {reason}", path.display()));
    let length = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?.len();
    if length > MAX_FILE_BYTES {
        return Err(refused(format!("the file has {length} bytes; at most {MAX_FILE_BYTES} are accepted")));
    }
    std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))
}

fn introduction(questions: &[Question], models: &[ModelClient], demo_search: bool) -> String {
    let names: Vec<&str> = models.iter().map(|client| client.config().name.as_str()).collect();
    let search = if demo_search {
        "the search finds demo pages (set TAVILY_API_KEY for the web)"
    } else {
        "the search is the configured one"
    };
    format!("{} for {}; {search}.\n", count(questions.len() as u64, "question"), names.join(", "))
}

/// Adds the outcomes of each model to `results` as they are known, so that a stop keeps them. A model that answers none of
/// its first questions is not given the others.
async fn evaluate(
    product: &Product,
    models: &[ModelClient],
    questions: &[Question],
    results: &mut Vec<(String, Vec<Outcome>)>,
    progress: &mut ProgressLine,
) {
    for model in models {
        let name = &model.config().name;
        results.push((name.clone(), Vec::new()));
        let Some((_, outcomes)) = results.last_mut() else { return };
        for (number, question) in (1..).zip(questions) {
            let position = format!("{name} {number}/{}", questions.len());
            progress.show(&format!("{position}: {}", question.text));
            let observation = product.answer(model, question).await;
            let outcome = Outcome::new(question, observation, model.tools(SystemTime::now()).mode);
            progress.finish_step(&format!("{position}: {}", outcome.summary()));
            outcomes.push(outcome);
            if outcomes.len() == MAX_UNANSWERED && !outcomes.iter().any(Outcome::is_answered) {
                progress.finish_step(&format!("{name}: no answers, so the other questions are left out; see `check`"));
                break;
            }
        }
    }
}
