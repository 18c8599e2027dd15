use std::io::Write;
use std::process::ExitCode;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use platform::settings::Settings;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::hook::Hook;
use crate::model::Model;

/// The function that this process runs.
enum Function {
    Hook(Hook),
    Model(Model),
}

/// Runs the function until its instance ends: the hook if `CHECKED_FUNCTION` is set, else the model.
///
/// An invalid setting prints one line and returns exit code 2; a runtime error returns exit code 1.
pub fn run() -> ExitCode {
    let settings = Settings::from_env();
    init_logging(&settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match (Function::from_settings(&settings), runtime) {
        (Err(error), _) => exit_with(&error.to_string(), 2),
        (_, Err(error)) => exit_with(&error.to_string(), 1),
        (Ok(function), Ok(runtime)) => match runtime.block_on(function.serve()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit_with(&error.to_string(), 1),
        },
    }
}

impl Function {
    fn from_settings(settings: &Settings) -> Result<Self, Error> {
        Ok(match settings.var("CHECKED_FUNCTION") {
            Some(_) => Self::Hook(Hook::from_settings(settings, platform::transport::build_client()?)?),
            None => Self::Model(Model::from_settings(settings)?),
        })
    }

    async fn serve(self) -> Result<(), Error> {
        match &self {
            Self::Hook(hook) => {
                let handler = |event: LambdaEvent<_>| async move {
                    hook.on_event(&event.payload, event.context.deadline()).await.map_err(Error::from)
                };
                lambda_runtime::run(service_fn(handler)).await
            }
            Self::Model(model) => {
                let handler = |event: LambdaEvent<_>| async move { Ok::<_, Error>(model.respond(event.payload).await) };
                lambda_runtime::run(service_fn(handler)).await
            }
        }
    }
}

fn exit_with(line: &str, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::from(code)
}

/// Sets up logging: one JSON object per line, without level `trace`, at which whole events are logged. A panic logs
/// only its location.
fn init_logging(settings: &Settings) {
    let filter = settings.var("RUST_LOG").and_then(|text| text.parse().ok());
    let targets = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(LevelFilter::DEBUG).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "a panic");
    }));
}
