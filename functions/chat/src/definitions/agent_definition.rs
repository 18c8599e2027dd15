use domain::StrictObject;
use domain::{Failure, ToolChoice};
use serde_json::{Map, Value, json};
use tools::ToolBinding;

/// The longest name, in characters.
const NAME: usize = 100;

/// The longest description, in characters.
const DESCRIPTION: usize = 500;

/// The longest system prompt, in characters.
const SYSTEM_PROMPT: usize = 20_000;

/// The most bindings of one agent.
const BINDINGS: usize = 64;

const ACCEPTED: &str = "`name`, `description`, `systemPrompt`, `model`, `tools`, `maxRounds`, `toolChoice`, `summarise`, `preSearch`, \
    `enabled`";

const ACCEPTED_OF_A_BINDING: &str = "`tool`, `enabled`, `config`, `direct`";

/// An agent as an administrator writes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentDefinition {
    /// 1 to 100 characters, unique among agents.
    pub(crate) name: String,
    /// What it is for, in the list from which people choose; empty for none.
    pub(crate) description: String,
    /// Replaces the default words.
    pub(crate) system_prompt: Option<String>,
    /// The model that answers unless a request names one.
    pub(crate) model: Option<String>,
    /// What it may use; `None` for all tools of the product.
    pub(crate) tools: Option<Vec<Binding>>,
    /// Rounds with tools before the last one without.
    pub(crate) max_rounds: Option<u32>,
    /// Holds unless a request chooses.
    pub(crate) tool_choice: ToolChoice,
    /// Whether earlier turns for which there is no room are summarised; `None` for what the settings say.
    pub(crate) summarise: Option<bool>,
    /// Whether the user's words are searched for beside the first call of the model.
    pub(crate) pre_search: bool,
    /// Whether requests may name it.
    pub(crate) enabled: bool,
}

/// A tool in the hands of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    /// The tool's name.
    pub(crate) tool: String,
    /// Whether it may be used now.
    pub(crate) enabled: bool,
    /// Arguments that hold for every call.
    pub(crate) config: Map<String, Value>,
    /// Whether what it gives is the answer.
    pub(crate) direct: bool,
}

impl AgentDefinition {
    /// The default agent while nobody has defined another one.
    pub(crate) fn built_in() -> Self {
        Self {
            name: "Default".to_owned(),
            description: String::new(),
            system_prompt: None,
            model: None,
            tools: None,
            max_rounds: None,
            tool_choice: ToolChoice::Auto,
            summarise: None,
            pre_search: false,
            enabled: true,
        }
    }

    /// Reads what an administrator sent.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        let name = fields.take_non_blank("name", NAME)?;
        let definition = Self {
            name: name.ok_or_else(|| fields.field_error("name", "given: a string"))?.trim().to_owned(),
            description: fields.take_non_blank("description", DESCRIPTION)?.unwrap_or_default(),
            system_prompt: fields.take_non_blank("systemPrompt", SYSTEM_PROMPT)?,
            model: fields.take_non_blank("model", NAME)?,
            tools: fields.take_objects("tools", BINDINGS)?.map(bindings).transpose()?,
            max_rounds: fields.take_u32("maxRounds", 0..=50)?,
            tool_choice: fields.take_tool_choice("toolChoice")?.unwrap_or_default(),
            summarise: fields.take_bool("summarise")?,
            pre_search: fields.take_bool("preSearch")?.unwrap_or(false),
            enabled: fields.take_bool("enabled")?.unwrap_or(true),
        };
        fields.reject_unknown(ACCEPTED)?;
        Ok(definition)
    }

    /// What is stored and shown again; [`parse`](Self::parse) reads it back.
    pub(crate) fn document(&self) -> Value {
        json!({
            "name": self.name,
            "description": Some(&self.description).filter(|text| !text.is_empty()),
            "systemPrompt": self.system_prompt,
            "model": self.model,
            "tools": self.tools.as_ref().map(|all| all.iter().map(Binding::document).collect::<Vec<_>>()),
            "maxRounds": self.max_rounds,
            "toolChoice": choice(&self.tool_choice),
            "summarise": self.summarise,
            "preSearch": self.pre_search,
            "enabled": self.enabled,
        })
    }

    /// The bindings that are switched on; `None` for all tools of the product.
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

fn bindings(rows: Vec<StrictObject>) -> Result<Vec<Binding>, Failure> {
    rows.into_iter().map(binding).collect()
}

fn binding(mut fields: StrictObject) -> Result<Binding, Failure> {
    let tool = fields.take_non_blank("tool", NAME)?;
    let binding = Binding {
        tool: tool.ok_or_else(|| fields.field_error("tool", "given: the name of a tool"))?,
        enabled: fields.take_bool("enabled")?.unwrap_or(true),
        config: fields.take_object("config")?.unwrap_or_default(),
        direct: fields.take_bool("direct")?.unwrap_or(false),
    };
    fields.reject_unknown(ACCEPTED_OF_A_BINDING)?;
    Ok(binding)
}

fn choice(choice: &ToolChoice) -> Value {
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
    fn a_definition_is_read_back_as_it_was_written() {
        let full = json!({
            "name": "天气", "description": "Knows the weather.", "systemPrompt": "Be brief.", "model": "openai",
            "tools": [{"tool": "search_web", "config": {"mode": "quick"}, "direct": true}, {"tool": "read_url", "enabled": false}],
            "maxRounds": 2, "toolChoice": {"name": "search_web"}, "summarise": true, "preSearch": true, "enabled": false,
        });
        let definition = parse(&full).unwrap();
        assert_eq!(parse(&definition.document()), Ok(definition.clone()));
        let fixed = Map::from_iter([("mode".into(), json!("quick"))]);
        let on = ToolBinding { name: "search_web".into(), fixed, direct: true };
        assert_eq!(definition.bindings(), Some(vec![on]));
        let least = parse(&json!({ "name": "a" })).unwrap();
        assert_eq!((parse(&least.document()), least.bindings()), (Ok(least.clone()), None));
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_accepted() {
        for (body, message) in [
            (json!({}), "`name` must be given: a string"),
            (json!({"name": ""}), "`name` must be a string of 1 to 100 characters, not blank"),
            (json!({"name": "a", "maxRounds": 51}), "`maxRounds` must be a whole number from 0 to 50"),
            (json!({"name": "a", "tools": [{}]}), "`tools[0].tool` must be given: the name of a tool"),
            (
                json!({"name": "a", "tools": [{"tool": "x", "direct": "yes"}]}),
                "`tools[0].direct` must be true or false",
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
