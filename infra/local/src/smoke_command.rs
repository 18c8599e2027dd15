use clap::Args;
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use smoke::{SmokeOptions, Target, TargetError};

use crate::command_result::print_line;

/// Environment variable that is read when none is named; it may be unset.
const DEFAULT_KEY_VARIABLE: &str = "LAMBDA_CHAT_KEY";

/// Checks a deployment as its clients see it: access, streaming, storage, a tool, resuming, stopping.
///
/// Four turns are paid for; what they leave is deleted.
#[derive(Args, Debug)]
pub(crate) struct SmokeCommand {
    /// Where the deployment is, such as `https://chat.example`.
    url: String,
    /// The model that answers; the default one if none is named.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The environment variable that holds an API key or a token [default: `LAMBDA_CHAT_KEY`, if it is set]
    #[arg(long, value_name = "VARIABLE")]
    key_from: Option<String>,
}

/// Why nothing was checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SmokeError {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Key(#[from] SettingError),
}

impl SmokeCommand {
    /// Prints each outcome as it arrives; returns whether all checks passed.
    pub(crate) async fn run(self, settings: &Settings) -> Result<bool, SmokeError> {
        let key = Secret::from_settings(settings, self.key_from.as_deref().unwrap_or(DEFAULT_KEY_VARIABLE))?;
        if let (Some(variable), None) = (self.key_from, &key) {
            return Err(SettingError::new(variable, "the key that --key-from promises").into());
        }
        let target = Target::new(&self.url, key)?;
        let options = SmokeOptions { model: self.model, ..SmokeOptions::default() };
        Ok(smoke::run(target, options, |outcome| print_line(&mut std::io::stdout(), &outcome.to_string())).await)
    }
}
