use std::sync::Arc;

use settings::{SettingError, Settings};
use store::Store;

use crate::{SearchConfig, Tool, WebSearch};

/// The tools that these settings turn on, in the order in which models are told of them; makes no call.
///
/// # Errors
/// A setting that cannot be parsed.
pub fn built_in(
    settings: &Settings,
    http: &reqwest::Client,
    store: &Store,
) -> Result<Vec<Arc<dyn Tool>>, SettingError> {
    let search = SearchConfig::from_settings(settings)?;
    let search = search
        .map(|config| WebSearch::new(config, http.clone(), store.search_cache.clone(), store.rate_limiter.clone()));
    let tools: [Option<Arc<dyn Tool>>; 1] = [search.map(|tool| Arc::new(tool) as _)];
    Ok(tools.into_iter().flatten().collect())
}
