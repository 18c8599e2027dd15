use agent::{Agent, PreSearch};
use client_protocols::TurnOptions;
use domain::{ErrorCode, SearchMode, ToolChoice};
use platform::secrets::Secret;
use secrecy::ExposeSecret;
use tools::url_allowlist::{READ_URL, SEARCH_WEB};
use tools::{TimeZone, ToolRegistry};
use turns::{PromptLocale, ResolvedAgent};
use web::ApiError;

use super::agent_definition::{AgentDefinition, Purpose};
use super::agents::{AgentRow, Agents};
use super::custom_tools::{BoundTools, CustomTools};
use super::models::{TitleModel, VisibleModels};
use crate::Result;
use crate::document_root::DocumentRoot;

/// The agents of the deployment, with the parts from which they are assembled.
pub(crate) struct AgentCatalog {
    /// The tools of the default agent, with the limits of the settings; agents are derived from it.
    pub(crate) base: Agent,
    /// All built-in tools, which agents may bind.
    pub(crate) built_in: ToolRegistry,
    pub(crate) agents: Agents,
    /// The model that writes titles.
    pub(crate) title_model: TitleModel,
    /// Tools in addition to the built-in ones.
    pub(crate) tools: CustomTools,
    /// How models are prompted, unless a request overrides it.
    pub(crate) locale: PromptLocale,
    /// The system prompt of agents without one.
    pub(crate) system_prompt: Option<Secret>,
}

impl AgentCatalog {
    /// Resolves the models of an agent for a request, and checks every name that the request uses.
    ///
    /// # Errors
    /// `invalid_request` for an unknown model or tool, or the failure of the store.
    pub(crate) async fn resolve(
        &self,
        models: VisibleModels<'_>,
        AgentRow { id, definition }: &AgentRow,
        options: &TurnOptions,
    ) -> Result<ResolvedAgent> {
        let mut agent = self.assemble(definition).await?;
        if definition.purpose == Purpose::General && agent.system_prompt.is_none() {
            agent.system_prompt = self.read_system_prompt().await?;
        }
        apply_search_mode(&mut agent, options.search)?;
        if let Some(ToolChoice::Tool(name)) = &options.tool_choice
            && !agent.tools.has(name)
        {
            let names: Vec<_> = agent.tools.names().collect();
            let message = format!("`toolChoice` names no tool; there are: {}", names.join(", "));
            return Err(ApiError::invalid_request(message));
        }
        let tool_choice = options.tool_choice.clone().unwrap_or_else(|| definition.choice(&agent));
        let chain = models.chain(options.model.as_deref(), definition.model.as_deref())?;
        let title_model = chain.first().and_then(|first| models.title_model(&self.title_model, first));
        let locale = self.locale_in(options.time_zone.as_deref())?;
        Ok(ResolvedAgent { id: id.clone(), agent, models: chain, title_model, tool_choice, locale })
    }

    /// The built-in tools of an agent, as it uses them.
    pub(crate) fn built_in_tools(&self, definition: &AgentDefinition) -> ToolRegistry {
        let bindings = definition.bindings();
        bindings.map_or_else(|| self.base.tools.clone(), |bindings| self.built_in.restricted_to(&bindings))
    }

    /// How models are prompted for a user in this time zone.
    fn locale_in(&self, time_zone: Option<&str>) -> Result<PromptLocale> {
        let Some(name) = time_zone else { return Ok(self.locale.clone()) };
        let message = "`timeZone` must be an IANA time zone such as Asia/Shanghai";
        let time_zone = TimeZone::find(name).ok_or_else(|| ApiError::invalid_request(message))?;
        Ok(PromptLocale { time_zone, ..self.locale.clone() })
    }

    /// The system prompt of the settings. Without it nothing is answered, because it may limit what an answer is about.
    async fn read_system_prompt(&self) -> Result<Option<String>> {
        let Some(prompt) = &self.system_prompt else { return Ok(None) };
        let unreadable = |_| ApiError::new(ErrorCode::UpstreamUnavailable, "The system prompt cannot be read now.");
        let prompt = prompt.get().await.map_err(unreadable)?;
        Ok(Some(prompt.expose_secret().to_owned()))
    }

    /// The agent of a definition, with the tools that the deployment has.
    pub(crate) async fn assemble(&self, definition: &AgentDefinition) -> Result<Agent> {
        let base = &self.base;
        let bindings = definition.bindings();
        Ok(Agent {
            system_prompt: definition.system_prompt.clone(),
            built_in_prompt: (definition.purpose == Purpose::Documents).then_some(DocumentRoot::system_prompt),
            added_prompt: None,
            searches_deeply: false,
            tools: match bindings {
                Some(bindings) => {
                    let BoundTools { tools, bindings } = self.tools.with_custom_tools(&self.built_in, bindings).await?;
                    tools.restricted_to(&bindings)
                }
                None => base.tools.clone(),
            },
            max_rounds: definition.max_rounds.or(base.max_rounds),
            history_tokens: base.history_tokens,
            summarise: definition.summarise.unwrap_or(base.summarise),
            pre_search: definition.pre_search,
            prompts: base.prompts.clone(),
        })
    }
}

/// Removes the tools of the web from an agent, or lets it call them more often than otherwise.
fn apply_search_mode(agent: &mut Agent, mode: SearchMode) -> Result<()> {
    match mode {
        SearchMode::Auto => {}
        SearchMode::Off => {
            agent.tools = agent.tools.without(&[SEARCH_WEB, READ_URL]);
            agent.pre_search = PreSearch::Off;
        }
        SearchMode::Deep if !agent.tools.has(SEARCH_WEB) => {
            return Err(ApiError::invalid_request("`search` must not be \"deep\": this agent does not search the web"));
        }
        SearchMode::Deep => (agent.searches_deeply, agent.pre_search) = (true, PreSearch::Off),
    }
    Ok(())
}

impl AgentDefinition {
    /// The tool choice of the first round; a tool that the agent no longer has cannot be required.
    pub(crate) fn choice(&self, agent: &Agent) -> ToolChoice {
        match &self.tool_choice {
            ToolChoice::Tool(name) if !agent.tools.has(name) => ToolChoice::Auto,
            choice => choice.clone(),
        }
    }
}
