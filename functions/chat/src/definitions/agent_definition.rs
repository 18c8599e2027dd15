use agent::PreSearch;
use domain::{Failure, Groups, StrictObject, ToolChoice};
use serde_json::{Map, Value, json};
use tools::ToolBinding;

use crate::document_root::DOCUMENT_TOOLS;

/// Maximum lengths, in characters.
const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 500;
const MAX_SYSTEM_PROMPT: usize = 20_000;

const MAX_BINDINGS: usize = 64;

const MAX_ROUNDS: u32 = 50;

const ACCEPTED_FIELDS: &str = "`name`, `description`, `systemPrompt`, `model`, `tools`, `maxRounds`, `toolChoice`, `summarise`, `preSearch`, \
    `citationLinks`, `followUps`, `groups`, `enabled`";

/// Other accepted spellings of fields.
const ALIASES: [(&str, &str); 6] = [
    ("system_prompt", "systemPrompt"),
    ("max_rounds", "maxRounds"),
    ("tool_choice", "toolChoice"),
    ("pre_search", "preSearch"),
    ("citation_links", "citationLinks"),
    ("follow_ups", "followUps"),
];

const ACCEPTED_BINDING_FIELDS: &str = "`tool`, `enabled`, `config`, `direct`";

/// An agent as an administrator writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AgentDefinition {
    /// 1 to 100 characters, unique among agents.
    pub(crate) name: String,
    /// Its purpose, shown to users who choose an agent; empty for none.
    pub(crate) description: String,
    /// Replaces the system prompt of the deployment.
    pub(crate) system_prompt: Option<String>,
    /// The name of the model that answers, unless the request names one.
    pub(crate) model: Option<String>,
    /// The tools that it may call; `None` for all built-in ones.
    pub(crate) tools: Option<Vec<Binding>>,
    /// Maximum number of rounds with tools; one round without tools follows.
    pub(crate) max_rounds: Option<u32>,
    /// The tool choice, unless the request has one.
    pub(crate) tool_choice: ToolChoice,
    /// Whether earlier turns that do not fit the prompt are summarised; `None` for the setting of the deployment.
    pub(crate) summarise: Option<bool>,
    /// Whether, and for what, the web is searched for the user message before the model requests it.
    pub(crate) pre_search: PreSearch,
    /// Whether answers over OpenAI's wire end with link definitions of the cited pages.
    pub(crate) citation_links: bool,
    /// Whether clients suggest questions that may follow an answer.
    pub(crate) follow_ups: bool,
    /// The groups whose members may use it; none for every caller.
    pub(crate) groups: Groups,
    /// Whether requests may use it.
    pub(crate) enabled: bool,
    /// Decides its built-in system prompt; not part of the document, because it follows from the id.
    pub(crate) purpose: Purpose,
}

/// What an agent is for, as far as the product itself knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Anything.
    #[default]
    General,
    /// It answers from the documents of the deployment.
    Documents,
}

/// A tool that an agent may call, with the agent's settings for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    pub(crate) tool: String,
    pub(crate) enabled: bool,
    /// Arguments that are fixed for every call.
    pub(crate) config: Map<String, Value>,
    /// Whether its result is the answer.
    pub(crate) direct: bool,
}

impl AgentDefinition {
    /// The default agent, unless an administrator has defined another one.
    pub(crate) fn built_in() -> Self {
        Self { name: "Default".to_owned(), enabled: true, ..Self::default() }
    }

    /// The agent that answers from documents, and from articles if they are searched by their meaning. It has no web search,
    /// whose queries would carry the documents out.
    pub(crate) fn documents(has_semantic_search: bool) -> Self {
        let bind = |tool: &str| Binding { tool: tool.to_owned(), enabled: true, config: Map::new(), direct: false };
        let articles = has_semantic_search.then_some("search_articles");
        let tools = DOCUMENT_TOOLS.into_iter().chain(articles).chain(["calculator", "current_time"]);
        Self {
            name: "Documents".to_owned(),
            description: "Answers from this deployment's documents and cites them by path and line.".to_owned(),
            tools: Some(tools.map(bind).collect()),
            max_rounds: Some(10),
            purpose: Purpose::Documents,
            ..Self::built_in()
        }
    }

    /// Parses a definition that an administrator sent.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        fields.accept_aliases(&ALIASES)?;
        let name = fields.take_non_blank("name", MAX_NAME)?;
        let definition = Self {
            name: name.ok_or_else(|| fields.field_error("name", "given: a string"))?.trim().to_owned(),
            description: fields.take_non_blank("description", MAX_DESCRIPTION)?.unwrap_or_default(),
            system_prompt: fields.take_non_blank("systemPrompt", MAX_SYSTEM_PROMPT)?,
            model: fields.take_non_blank("model", MAX_NAME)?,
            tools: fields.take_objects("tools", MAX_BINDINGS)?.map(parse_bindings).transpose()?,
            max_rounds: fields.take_u32("maxRounds", 0..=MAX_ROUNDS)?,
            tool_choice: fields.take_tool_choice("toolChoice")?.unwrap_or_default(),
            summarise: fields.take_bool("summarise")?,
            pre_search: parse_pre_search(&mut fields)?,
            citation_links: fields.take_bool("citationLinks")?.unwrap_or(false),
            follow_ups: fields.take_bool("followUps")?.unwrap_or(false),
            groups: fields.take_groups("groups")?.unwrap_or_default(),
            enabled: fields.take_bool("enabled")?.unwrap_or(true),
            purpose: Purpose::General,
        };
        fields.reject_unknown(ACCEPTED_FIELDS)?;
        Ok(definition)
    }

    /// The definition as it is stored and returned; [`parse`](Self::parse) reads it.
    pub(crate) fn document(&self) -> Value {
        let mut document = json!({
            "name": self.name,
            "description": Some(&self.description).filter(|text| !text.is_empty()),
            "systemPrompt": self.system_prompt,
            "model": self.model,
            "tools": self.tools.as_ref().map(|all| all.iter().map(Binding::document).collect::<Vec<_>>()),
            "maxRounds": self.max_rounds,
            "toolChoice": tool_choice_document(&self.tool_choice),
            "summarise": self.summarise,
            "preSearch": pre_search_document(self.pre_search),
            "enabled": self.enabled,
        });
        // Only where they are set, because earlier releases read no agent with them.
        if self.citation_links {
            document["citationLinks"] = true.into();
        }
        if self.follow_ups {
            document["followUps"] = true.into();
        }
        if !self.groups.is_empty() {
            document["groups"] = json!(self.groups);
        }
        document
    }

    /// The enabled bindings; `None` for all built-in tools.
    pub(crate) fn bindings(&self) -> Option<Vec<ToolBinding>> {
        let bound =
            |one: &Binding| ToolBinding { name: one.tool.clone(), fixed: one.config.clone(), direct: one.direct };
        self.tools.as_ref().map(|all| all.iter().filter(|one| one.enabled).map(bound).collect())
    }
}

impl Binding {
    fn document(&self) -> Value {
        let Self { tool, enabled, config, direct } = self;
        json!({ "tool": tool, "enabled": enabled, "config": config, "direct": direct })
    }
}

fn parse_bindings(rows: Vec<StrictObject>) -> Result<Vec<Binding>, Failure> {
    rows.into_iter().map(parse_binding).collect()
}

fn parse_binding(mut fields: StrictObject) -> Result<Binding, Failure> {
    let tool = fields.take_non_blank("tool", MAX_NAME)?;
    let binding = Binding {
        tool: tool.ok_or_else(|| fields.field_error("tool", "given: the name of a tool"))?,
        enabled: fields.take_bool("enabled")?.unwrap_or(true),
        config: fields.take_object("config")?.unwrap_or_default(),
        direct: fields.take_bool("direct")?.unwrap_or(false),
    };
    fields.reject_unknown(ACCEPTED_BINDING_FIELDS)?;
    Ok(binding)
}

fn parse_pre_search(fields: &mut StrictObject) -> Result<PreSearch, Failure> {
    match fields.take_value("preSearch") {
        None | Some(Value::Bool(false)) => Ok(PreSearch::Off),
        Some(Value::Bool(true)) => Ok(PreSearch::Concurrent),
        Some(Value::String(mode)) if mode == "context" => Ok(PreSearch::Context),
        Some(_) => Err(fields.field_error("preSearch", "true, false or \"context\"")),
    }
}

fn pre_search_document(pre_search: PreSearch) -> Value {
    match pre_search {
        PreSearch::Off => json!(false),
        PreSearch::Concurrent => json!(true),
        PreSearch::Context => json!("context"),
    }
}

fn tool_choice_document(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({ "name": name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &Value) -> Result<AgentDefinition, String> {
        AgentDefinition::parse(body.to_string().as_bytes()).map_err(|failure| failure.message)
    }

    #[test]
    fn definition_round_trips_through_its_document() {
        let full = json!({
            "name": "天气", "description": "Knows the weather.", "systemPrompt": "Be brief.", "model": "openai",
            "tools": [{"tool": "search_web", "config": {"mode": "quick"}, "direct": true}, {"tool": "read_url", "enabled": false}],
            "maxRounds": 2, "toolChoice": {"name": "search_web"}, "summarise": true, "preSearch": true,
            "citationLinks": true, "followUps": true, "groups": ["legal", "研发"], "enabled": false,
        });
        let definition = parse(&full).unwrap();
        assert_eq!(parse(&definition.document()), Ok(definition.clone()));
        let fixed = Map::from_iter([("mode".into(), json!("quick"))]);
        let on = ToolBinding { name: "search_web".into(), fixed, direct: true };
        assert_eq!(definition.bindings(), Some(vec![on]));
        let minimal = parse(&json!({ "name": "a" })).unwrap();
        assert_eq!((parse(&minimal.document()), minimal.bindings()), (Ok(minimal.clone()), None));
    }

    #[test]
    fn snake_case_fields_are_accepted() {
        let written = json!({
            "name": "a", "system_prompt": "Be brief.", "max_rounds": 2, "tool_choice": "required",
            "pre_search": "context",
        });
        let camel = json!({
            "name": "a", "systemPrompt": "Be brief.", "maxRounds": 2, "toolChoice": "required",
            "preSearch": "context",
        });
        let definition = parse(&written).unwrap();
        assert_eq!(parse(&camel), Ok(definition.clone()));
        assert_eq!(
            (parse(&definition.document()), &definition.document()["preSearch"]),
            (Ok(definition.clone()), &json!("context"))
        );
        let both = json!({"name": "a", "maxRounds": 1, "max_rounds": 1});
        assert_eq!(parse(&both).unwrap_err(), "`maxRounds` and `max_rounds` are one field: only one may be given");
    }

    #[test]
    fn invalid_field_is_named_with_accepted_values() {
        for (body, message) in [
            (json!({}), "`name` must be given: a string"),
            (json!({"name": ""}), "`name` must be a string of 1 to 100 characters, not blank"),
            (json!({"name": "a", "maxRounds": 51}), "`maxRounds` must be a whole number from 0 to 50"),
            (json!({"name": "a", "preSearch": "always"}), "`preSearch` must be true, false or \"context\""),
            (json!({"name": "a", "tools": [{}]}), "`tools[0].tool` must be given: the name of a tool"),
            (
                json!({"name": "a", "tools": [{"tool": "x", "direct": "yes"}]}),
                "`tools[0].direct` must be true or false",
            ),
            (
                json!({"name": "a", "groups": [" "]}),
                "`groups` must be names of groups: each 1 to 128 characters without white space before or after them",
            ),
            (json!({"name": "a", "tools": ["x"]}), "`tools` must be an array of at most 64 objects"),
            (
                json!({"name": "a", "tools": [{"tool": "x", "on": true}]}),
                "`tools[0].on` is not known here; accepted are: `tool`, `enabled`, `config`, `direct`",
            ),
        ] {
            assert_eq!(parse(&body), Err(message.to_owned()));
        }
        assert!(parse(&json!({"name": "a", "owner": "b"})).unwrap_err().starts_with("`owner` is not known here"));
    }
}
