//! What the configured models, search and embeddings can do: the commands `check` and `evaluate`.

mod check;
mod evaluate;
mod model_settings;

use chat::Config;
use commands::CommandError;
use platform::settings::Settings;
use web::Platform;

pub use check::CheckCommand;
pub use evaluate::EvaluateCommand;

/// Reads the whole configuration of a command on this machine.
fn read_config(settings: &Settings) -> Result<Config, CommandError> {
    Ok(Config::from_settings(settings, Platform::Local, platform::transport::build_client()?)?)
}
