use clap::Args;
use commands::{CommandError, CommandOutput, print_line};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use smoke::{SmokeOptions, Target, Timeouts};

/// Environment variable that is read when none is named; it may be unset.
const DEFAULT_KEY_VARIABLE: &str = "LAMBDA_CHAT_KEY";

/// Checks a deployment as its clients see it: access, streaming, storage, a tool, resuming, stopping.
///
/// It runs four turns, which cost tokens, and deletes what they store.
#[derive(Args, Debug)]
pub(crate) struct SmokeCommand {
    /// The URL of the deployment, such as `https://chat.example`.
    url: String,
    /// The model that answers; the default one if none is named.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The environment variable that holds an API key or a token [default: `LAMBDA_CHAT_KEY`, if it is set]
    #[arg(long, value_name = "VARIABLE")]
    key_from: Option<String>,
}

/// Checks whether a server answers, for health checks of containers: exit code 0, or 1 with the reason.
#[derive(Args, Debug)]
pub(crate) struct HealthCommand {
    /// The URL of the server.
    #[arg(default_value = "http://127.0.0.1:3000")]
    url: String,
}

impl HealthCommand {
    pub(crate) async fn run(self) -> Result<CommandOutput, CommandError> {
        match smoke::probe(&target(&self.url, None)?, Timeouts::default().answer).await {
            Ok(200) => Ok("ok".to_owned().into()),
            Ok(status) => Err(CommandError::failed(format!("{}: status {status}", self.url))),
            Err(failure) => Err(CommandError::failed(format!("{}: {failure}", self.url))),
        }
    }
}

fn target(url: &str, key: Option<Secret>) -> Result<Target, CommandError> {
    Target::new(url, key).map_err(CommandError::wrong_use)
}

impl SmokeCommand {
    /// Prints each outcome as it arrives; returns whether all checks passed. Without any answer it fails at once.
    pub(crate) async fn run(self, settings: &Settings) -> Result<bool, CommandError> {
        let variable = self.key_from.as_deref().unwrap_or(DEFAULT_KEY_VARIABLE);
        let key = Secret::from_settings(settings, variable)?;
        if key.is_none() && self.key_from.is_some() {
            return Err(SettingError::new(variable, "the key that --key-from names").into());
        }
        let target = target(&self.url, key)?;
        let options = SmokeOptions { model: self.model, ..SmokeOptions::default() };
        let unreachable = |failure| CommandError::failed(format!("{}: {failure}", self.url));
        smoke::probe(&target, options.timeouts.answer).await.map_err(unreachable)?;
        Ok(smoke::run(target, options, |outcome| print_line(&mut std::io::stdout(), &outcome.to_string())).await)
    }
}
