use std::ops::Deref;
use std::sync::Arc;

use agent::{Agent, PreSearch, PromptCache};
use attachments::Attachments;
use aws_types::SdkConfig;
use search::{ReadUrl, Search, WebSearch};
use store::Store;
use tools::{Calculator, CurrentTime, Tool, ToolRegistry};
use turns::{ServiceParts, TurnLimits, TurnServices};
use web::{Auth, Caller};

use crate::Config;
use crate::definitions::{AgentCatalog, Agents, CustomTools, VisibleModels};
use crate::document_root::DocumentRoot;
use crate::rejections::Rejections;

/// The assembled function. Each route and layer holds a clone and makes another for each request, so a clone is one
/// reference count.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of the function.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) catalog: AgentCatalog,
    pub(crate) turns: TurnServices,
    pub(crate) auth: Auth,
    pub(crate) rejections: Rejections,
}

impl App {
    /// Assembles the function; makes no call.
    pub fn new(config: Config, aws: &SdkConfig) -> Self {
        let store = with_article_index(Store::new(aws, config.tables.clone()), &config);
        let base = Agent {
            system_prompt: None,
            built_in_prompt: None,
            added_prompt: None,
            searches_deeply: false,
            tools: ToolRegistry::new(built_in_tools(&config, &store)),
            max_rounds: config.max_tool_rounds,
            history_tokens: config.history_tokens,
            summarise: config.summarise,
            pre_search: PreSearch::Off,
            prompts: PromptCache::default(),
        };
        let auth = Auth::new(&config.auth, store.keys.clone(), config.http.clone());
        let document_tools = config.documents.as_ref().map(DocumentRoot::tools).unwrap_or_default();
        let catalog = AgentCatalog {
            agents: Agents::new(
                store.definitions.clone(),
                config.documents.is_some(),
                config.articles.enabled == Some(true) && config.articles.embeddings.is_some(),
            ),
            tools: CustomTools::new(&store, config.tool_policy, config.tool_secrets.clone(), &base.tools),
            title_model: config.title_model.clone(),
            built_in: base.tools.extended_with(document_tools),
            base,
            locale: config.locale.clone(),
            system_prompt: config.system_prompt.clone(),
        };
        let (files, reader) = (store.files.clone(), config.reader.clone());
        let turns = TurnServices::new(ServiceParts {
            store: store.clone(),
            attachments: config.attachments.clone().map(|blobs| Attachments::new(blobs, files, reader)),
            limits: TurnLimits {
                rate: config.chat_limit,
                budgets: config.budgets.clone(),
                max_duration: config.max_turn_duration,
            },
            metrics: config.metrics.clone(),
            traces: config.traces.clone(),
            redactor: config.redactor.clone(),
            recorder: config.recorder.clone(),
        });
        Self(Arc::new(Parts { config, store, catalog, turns, auth, rejections: Rejections::default() }))
    }

    pub(crate) fn models_for<'a>(&'a self, caller: &'a Caller) -> VisibleModels<'a> {
        VisibleModels { models: &self.config.models, auth: &self.config.auth, caller }
    }

    /// Interrupts the running turns and waits until each is stored and has ended its stream; none can start afterwards. Then
    /// sends the spans that wait.
    pub async fn shut_down(&self) {
        self.turns.registry.shut_down().await;
        self.turns.traces.flush(None).await;
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The store, with the vector index of the settings kept in step with its articles.
#[cfg_attr(not(feature = "articles"), expect(unused_variables, reason = "only articles have an index"))]
fn with_article_index(store: Store, config: &Config) -> Store {
    #[cfg(feature = "articles")]
    if let Some(index) = config.articles.index(&config.http) {
        return store.with_article_index(Arc::new(index));
    }
    store
}

fn built_in_tools(config: &Config, store: &Store) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(search) = &config.search {
        let reads_pages = search.reads_pages();
        let search = Search::new(search.clone(), &config.http, store);
        let search = Arc::new(search.with_credit_observer(Arc::new(config.metrics.clone())));
        tools.push(Arc::new(WebSearch(Arc::clone(&search))));
        if reads_pages {
            tools.push(Arc::new(ReadUrl(search)));
        }
    }
    #[cfg(feature = "articles")]
    if config.articles.enabled == Some(true) {
        let search = articles::ArticleSearch::new(store.articles.clone(), &config.articles, &config.http);
        tools.push(Arc::new(articles::SearchArticles(Arc::new(search))));
    }
    tools.push(Arc::new(Calculator));
    tools.push(Arc::new(CurrentTime));
    tools
}

#[cfg(test)]
mod tests {
    use platform::settings::Settings;
    use web::Platform;

    use super::*;
    use crate::definitions::RESERVED_NAMES;

    fn names(pairs: &[(&str, &str)]) -> Vec<String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let config =
            Config::from_settings(&settings, Platform::Local, platform::transport::build_client().unwrap()).unwrap();
        let aws = [("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")];
        let store = Store::new(&store::sdk_config(&Settings::from_pairs(aws)).unwrap(), config.tables.clone());
        ToolRegistry::new(built_in_tools(&config, &store)).names().map(str::to_owned).collect()
    }

    #[cfg(feature = "articles")]
    #[test]
    fn erasures_reach_the_configured_vector_index() {
        let pairs = [
            ("EMBEDDINGS_MODEL", "m"),
            ("ARTICLES_VECTORS", "s3vectors://bucket/index"),
            ("AWS_ENDPOINT_URL_S3VECTORS", "http://127.0.0.1:1"),
            ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1"),
        ];
        let index_of = |pairs: &[(&str, &str)]| {
            let settings = Settings::from_pairs(pairs.iter().copied());
            let http = platform::transport::build_client().unwrap();
            let config = Config::from_settings(&settings, Platform::Local, http).unwrap();
            let app = App::new(config, &store::sdk_config(&settings).unwrap());
            app.store.articles.index_name().map(str::to_owned)
        };
        assert_eq!(index_of(&pairs).as_deref(), Some("bucket/index"));
        assert_eq!(index_of(&pairs[2..]), None);
    }

    #[test]
    fn search_tools_need_a_configured_provider() {
        assert_eq!(names(&[]), ["calculator", "current_time"]);
        assert_eq!(names(&[("TAVILY_API_KEY", "tvly-key")]), RESERVED_NAMES, "and no row has one of these names");
        let aws = names(&[("SEARCH_PROVIDER", "aws"), ("AWS_SEARCH_BASE_URL", "http://127.0.0.1:1")]);
        let others = RESERVED_NAMES.iter().copied().filter(|name| *name != "read_url");
        assert!(aws.iter().map(String::as_str).eq(others), "AWS reads no pages: {aws:?}");
    }

    #[cfg(feature = "articles")]
    #[test]
    fn articles_tool_needs_a_setting() {
        let expected = ["search_articles", "calculator", "current_time"];
        assert_eq!(names(&[("ARTICLES", "yes")]), expected);
        assert_eq!(names(&[("EMBEDDINGS_MODEL", "m")]), expected);
        assert_eq!(names(&[("EMBEDDINGS_MODEL", "m"), ("ARTICLES", "no")]), expected[1..]);
    }
}
