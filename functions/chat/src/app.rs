use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;

use agent::{Agent, Measured};
use aws_types::SdkConfig;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::{Extension, Router};
use conversation::Failure;
use store::Store;
use tools::{Calculator, CurrentTime, ReadUrl, Search, Tool, ToolRegistry, WebSearch};
use web::{Arrival, Auth};

use crate::agents::Agents;
use crate::begin::Door;
use crate::defined_tools::DefinedTools;
use crate::running::Running;
use crate::{Config, routes};

/// The assembled function. Every route and layer has a clone of its own, and takes another for each request, so a clone is
/// one count.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What the function is put together of.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) store: Store,
    /// Every tool of the product, with the words of its settings; agents are made from it.
    pub(crate) agent: Agent,
    pub(crate) agents: Agents,
    /// What agents may use beside those.
    pub(crate) tools: DefinedTools,
    pub(crate) running: Running,
    pub(crate) door: Door,
    pub(crate) auth: Auth,
}

impl App {
    /// Puts the function together; makes no call.
    pub fn new(config: Config, aws: &SdkConfig) -> Self {
        let store = Store::new(aws, config.tables.clone());
        let agent = Agent {
            system_prompt: config.system_prompt.clone(),
            tools: ToolRegistry::new(built_in(&config, &store)),
            max_rounds: config.max_tool_rounds,
            history_tokens: config.history_tokens,
            summarise: config.summarise,
            pre_search: false,
            measured: Measured::default(),
        };
        let auth = Auth::new(&config.auth, store.keys.clone(), config.http.clone());
        let agents = Agents::new(store.definitions.clone());
        let tools = DefinedTools::new(&store, config.tool_policy, config.tool_secrets.clone());
        let (running, door) = (Running::default(), Door::default());
        Self(Arc::new(Parts { config, store, agent, agents, tools, running, door, auth }))
    }

    /// The routes, with what every answer has around them.
    pub fn router(&self) -> Router {
        let routes = routes(self.clone()).layer(from_fn_with_state(self.clone(), count_refusals));
        web::edge(routes, self.config.origins.clone(), self.config.reach)
    }

    /// Interrupts the running turns and waits until each is stored and has ended its stream; none can begin afterwards.
    pub async fn shut_down(&self) {
        self.running.shut_down().await;
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Counts the requests that are refused.
async fn count_refusals(
    State(app): State<App>,
    Extension(arrival): Extension<Arrival>,
    request: Request,
    next: Next,
) -> Response {
    let answer = next.run(request).await;
    if let Some(failure) = answer.extensions().get::<Failure>() {
        app.config.metrics.refused(failure.code, &arrival.request_id, SystemTime::now());
    }
    answer
}

/// The tools that come with the product: a line each.
fn built_in(config: &Config, store: &Store) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(search) = &config.search {
        let search = Search::new(search.clone(), config.http.clone(), store);
        let search = Arc::new(search.watched_by(Arc::new(config.metrics.clone())));
        tools.push(Arc::new(WebSearch::new(Arc::clone(&search))));
        tools.push(Arc::new(ReadUrl::new(search)));
    }
    tools.push(Arc::new(Calculator));
    tools.push(Arc::new(CurrentTime));
    tools
}

#[cfg(test)]
mod tests {
    use settings::Settings;
    use web::Place;

    use super::*;
    use crate::defined_tools::RESERVED;

    fn names(pairs: &[(&str, &str)]) -> Vec<String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let config = Config::from_settings(&settings, Place::Local, transport::client().unwrap()).unwrap();
        let aws = [("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")];
        let store = Store::new(&store::sdk_config(&Settings::from_pairs(aws)).unwrap(), config.tables.clone());
        ToolRegistry::new(built_in(&config, &store)).names().map(str::to_owned).collect()
    }

    #[test]
    fn the_tools_that_ask_the_search_provider_are_there_when_it_is_configured() {
        assert_eq!(names(&[]), ["calculator", "current_time"]);
        assert_eq!(names(&[("TAVILY_API_KEY", "tvly-key")]), RESERVED, "and no row has one of these names");
    }
}
