use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use documents::{DocumentRoot, DocumentSource, HiddenFiles};
use domain::{Language, Membership, Owner};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;
use tools::{OutboundRedactor, Progress, ResultBudget, Tool, ToolContext, ToolError, UrlAllowlist};

/// A folder of documents, with the tools over it.
pub(crate) struct Documents {
    dir: TempDir,
    pub(crate) source: DocumentSource,
    tools: Vec<Arc<dyn Tool>>,
}

impl Documents {
    /// Writes these files; each is one second older than the one before it.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        Self::with_hidden(files, HiddenFiles::Skip)
    }

    pub(crate) fn with_hidden(files: &[(&str, &[u8])], hidden: HiddenFiles) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("docs");
        fs::create_dir(&path).unwrap();
        let newest = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        for (age, (name, content)) in (0..).zip(files) {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, content).unwrap();
            File::options().write(true).open(&file).unwrap().set_modified(newest - Duration::from_secs(age)).unwrap();
        }
        let source = DocumentRoot::open(&path, hidden).unwrap().into();
        Self { tools: documents::tools(&source), dir, source }
    }

    /// The folder of the documents.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("docs")
    }

    /// The folder in which that folder is.
    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        self.tools.iter().find(|tool| tool.spec(Language::En).name == name).unwrap().as_ref()
    }

    /// Calls a tool in an English turn; its result as JSON, or what the model reads about the failure.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        self.call_in(name, arguments, &context(Language::En)).await
    }

    pub(crate) async fn call_in(&self, name: &str, arguments: Value, context: &ToolContext) -> Result<Value, String> {
        match self.tool(name).call(arguments, context).await {
            Ok(output) => {
                assert!(!output.content.contains('<'), "a result is escaped");
                assert!(output.content.len() <= context.result_budget.max_bytes);
                Ok(serde_json::from_str(&output.content).unwrap())
            }
            Err(ToolError::Model(error)) => Err(error.content),
            Err(ToolError::Fatal(error)) => unreachable!("{error}"),
        }
    }
}

/// A turn of one minute in a language.
pub(crate) fn context(language: Language) -> ToolContext {
    ToolContext {
        language,
        time_zone: tools::TimeZone::UTC,
        owner: Owner::new("ada"),
        membership: Membership::default(),
        deadline: Instant::now() + Duration::from_mins(1),
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::default(),
        calculation_budget: tools::CalculationBudget::default(),
        result_budget: ResultBudget::default(),
    }
}

/// A turn whose results have at most this many bytes.
pub(crate) fn context_of(max_bytes: usize) -> ToolContext {
    ToolContext { result_budget: ResultBudget { max_bytes, max_entries: usize::MAX }, ..context(Language::En) }
}
