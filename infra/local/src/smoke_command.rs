use clap::Args;
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use smoke::{SmokeOptions, Target};

use crate::StartError;
use crate::command_result::{CommandError, print_line};

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

impl SmokeCommand {
    /// Prints each outcome as it arrives; returns whether all checks passed.
    pub(crate) async fn run(self, settings: &Settings) -> Result<bool, CommandError> {
        let variable = self.key_from.as_deref().unwrap_or(DEFAULT_KEY_VARIABLE);
        let key = Secret::from_settings(settings, variable).map_err(StartError::from)?;
        if key.is_none() && self.key_from.is_some() {
            return Err(StartError::from(SettingError::new(variable, "the key that --key-from promises")).into());
        }
        let target = Target::new(&self.url, key).map_err(|error| CommandError::Refused(error.to_string()))?;
        let options = SmokeOptions { model: self.model, ..SmokeOptions::default() };
        Ok(smoke::run(target, options, |outcome| print_line(&mut std::io::stdout(), &outcome.to_string())).await)
    }
}
