use agent::Agent;
use client_protocols::TurnOptions;
use domain::{ErrorCode, ToolChoice};
use tools::ToolRegistry;
use turns::{PromptLocale, ResolvedAgent, find_time_zone};
use web::ApiError;

use super::agent_definition::{AgentDefinition, Purpose};
use super::agents::{AgentRow, Agents};
use super::custom_tools::{BoundTools, CustomTools};
use super::models::VisibleModels;
use crate::document_root::DocumentRoot;

/// The agents of the deployment, with the parts from which they are assembled.
pub(crate) struct AgentCatalog {
    /// The tools of the default agent, with the prompt and the limits of the settings; agents are derived from it.
    pub(crate) base: Agent,
    /// All built-in tools, which agents may bind.
    pub(crate) built_in: ToolRegistry,
    pub(crate) agents: Agents,
    /// Tools in addition to the built-in ones.
    pub(crate) tools: CustomTools,
    /// How models are prompted, unless a request overrides it.
    pub(crate) locale: PromptLocale,
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
    ) -> Result<ResolvedAgent, ApiError> {
        let agent = self.assemble(definition).await?;
        if let Some(ToolChoice::Tool(name)) = &options.tool_choice
            && !agent.tools.has(name)
        {
            let names: Vec<_> = agent.tools.names().collect();
            let message = format!("`toolChoice` names no tool; there are: {}", names.join(", "));
            return Err(ApiError::new(ErrorCode::InvalidRequest, message));
        }
        let tool_choice = options.tool_choice.clone().unwrap_or_else(|| definition.choice(&agent));
        let models = models.chain(options.model.as_deref(), definition.model.as_deref())?;
        let locale = self.locale_in(options.time_zone.as_deref())?;
        Ok(ResolvedAgent { id: id.clone(), agent, models, tool_choice, locale })
    }

    /// How models are prompted for a user in this time zone.
    ///
    /// # Errors
    /// `invalid_request` for an unknown zone.
    fn locale_in(&self, time_zone: Option<&str>) -> Result<PromptLocale, ApiError> {
        let Some(name) = time_zone else { return Ok(self.locale.clone()) };
        let message = "`timeZone` must be an IANA time zone such as Asia/Shanghai";
        let time_zone = find_time_zone(name).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, message))?;
        Ok(PromptLocale { time_zone, ..self.locale.clone() })
    }

    /// The agent of a definition, with the tools that the deployment has.
    pub(crate) async fn assemble(&self, definition: &AgentDefinition) -> Result<Agent, ApiError> {
        let base = &self.base;
        let bindings = definition.bindings();
        Ok(Agent {
            system_prompt: match definition.purpose {
                Purpose::General => definition.system_prompt.clone().or_else(|| base.system_prompt.clone()),
                Purpose::Documents => definition.system_prompt.clone(),
            },
            built_in_prompt: (definition.purpose == Purpose::Documents).then_some(DocumentRoot::system_prompt),
            added_prompt: None,
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

impl AgentDefinition {
    /// The tool choice of the first round; a tool that the agent no longer has cannot be required.
    pub(crate) fn choice(&self, agent: &Agent) -> ToolChoice {
        match &self.tool_choice {
            ToolChoice::Tool(name) if !agent.tools.has(name) => ToolChoice::Auto,
            choice => choice.clone(),
        }
    }
}
