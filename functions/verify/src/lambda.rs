use std::io::Write;
use std::process::ExitCode;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use platform::settings::Settings;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::hook::Hook;
use crate::model::Model;

/// Runs the function until its instance ends: the hook if `CHECKED_FUNCTION` is set, else the model.
///
/// An invalid setting prints one line and returns exit code 2; a runtime error returns exit code 1.
pub fn run() -> ExitCode {
    let settings = Settings::from_env();
    init_logging(&settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(serve(&settings)),
        Err(error) => Err((error.into(), 1)),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err((error, code)) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(code)
        }
    }
}

/// Serves the function; an error has the exit code of the process.
async fn serve(settings: &Settings) -> Result<(), (Error, u8)> {
    let invalid = |error| (error, 2);
    let served = if settings.var("CHECKED_FUNCTION").is_some() {
        let http = platform::transport::build_client().map_err(|error| invalid(error.into()))?;
        let hook = &Hook::from_settings(settings, http).map_err(|error| invalid(error.into()))?;
        let handler = |event: LambdaEvent<_>| async move {
            hook.on_event(&event.payload, event.context.deadline()).await.map_err(Error::from)
        };
        lambda_runtime::run(service_fn(handler)).await
    } else {
        let model = &Model::from_settings(settings).map_err(|error| invalid(error.into()))?;
        let handler = |event: LambdaEvent<_>| async move { Ok::<_, Error>(model.respond(event.payload).await) };
        lambda_runtime::run(service_fn(handler)).await
    };
    served.map_err(|error| (error, 1))
}

/// Sets up logging: one JSON object per line. A panic logs only its location.
fn init_logging(settings: &Settings) {
    let filter = settings.var("RUST_LOG").and_then(|text| text.parse().ok());
    let targets = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "a panic");
    }));
}
