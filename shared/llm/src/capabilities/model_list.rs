//! Model lists of providers, which show which models accept tools, and their context windows.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lax::{ContentParts, Lax};
use crate::providers::ModelListApi;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const MAX_BYTES: usize = 8 * 1024 * 1024;

pub(super) struct ListedModel {
    pub(super) tools: Option<bool>,
    pub(super) context_tokens: Option<u64>,
}

impl ModelListApi {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ark | Self::OpenRouter => "/models",
            Self::Ollama => "/api/show",
        }
    }

    /// Returns what the list shows of `model`; `None` if it does not have it.
    pub(super) fn find(self, list: &[u8], model: &str) -> Option<ListedModel> {
        let has_tools = |list: &Vec<Value>| list.iter().any(|one| one == "tools");
        match self {
            Self::Ark => {
                // The list keeps removed models, under ids that were reused since.
                let entry = find_entry(list, model).filter(|entry| entry["status"] != "Shutdown")?;
                let is_native =
                    |features: &Value| features.pointer("/tools/function_calling") == Some(&Value::Bool(true));
                let tools = entry.get("features").filter(|features| features.is_object()).map(is_native);
                Some(ListedModel { tools, context_tokens: entry["token_limits"]["context_window"].as_u64() })
            }
            Self::OpenRouter => {
                // A suffix such as `:online` or `:nitro`, which is in no list, serves the model before it.
                let entry = find_entry(list, model).or_else(|| find_entry(list, model.rsplit_once(':')?.0))?;
                let tools = entry["supported_parameters"].as_array().map(has_tools);
                Some(ListedModel { tools, context_tokens: entry["context_length"].as_u64() })
            }
            Self::Ollama => {
                let shown: ShownModel<'_> = serde_json::from_slice(list).ok()?;
                let tools = shown.capabilities.0.as_ref().map(has_tools);
                Some(ListedModel { tools, context_tokens: shown.context_tokens() })
            }
        }
    }
}

/// Finds the entry of a model; unreadable entries are skipped. One entry at a time is parsed: a list can have megabytes.
fn find_entry(list: &[u8], model: &str) -> Option<Value> {
    #[derive(Deserialize)]
    struct ModelList<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
    }
    let list: ModelList<'_> = serde_json::from_slice(list).ok()?;
    let mut entries = list.data.into_iter().filter_map(|entry| serde_json::from_str::<Value>(entry.get()).ok());
    entries.find(|entry| entry["id"] == model)
}

/// What is read of the answer of `/api/show`, whose lists of tokens can have megabytes.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ShownModel<'a> {
    capabilities: Lax<Vec<Value>>,
    model_info: Lax<BTreeMap<String, Lax<u64>>>,
    #[serde(borrow)]
    parameters: ContentParts<'a>,
}

impl ShownModel<'_> {
    /// Returns the smaller one of the model's own window and the one that its Modelfile sets.
    fn context_tokens(self) -> Option<u64> {
        let info = self.model_info.0.into_iter().flatten();
        let own = info.filter(|(name, _)| name.ends_with(".context_length")).filter_map(|(_, length)| length.0);
        let set = self.parameters.text.lines().filter_map(|line| line.trim().strip_prefix("num_ctx"));
        own.chain(set.filter_map(|value| value.trim().parse().ok())).filter(|tokens| *tokens > 0).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supports_tools(api: ModelListApi, list: &[u8], model: &str) -> Option<bool> {
        api.find(list, model)?.tools
    }

    fn context_tokens(api: ModelListApi, list: &[u8], model: &str) -> Option<u64> {
        api.find(list, model)?.context_tokens
    }

    #[test]
    fn ark_lists_tool_support_of_served_models() {
        let list = br#"{"object":"list","data":[
            7, {"id":3}, {"object":"model"},
            {"id":"a","status":"Retiring","features":{"tools":{"function_calling":true},"cache":{"prefix_cache":true}}},
            {"id":"b","features":{"tools":{"function_calling":false}}},
            {"id":"c","features":{"cache":{}}},
            {"id":"d","status":"Shutdown","features":{"tools":{"function_calling":true}}},
            {"id":"e"}, {"id":"f","features":"tools"}, {"id":"g","features":{"tools":"all"}}]}"#;
        let supported: Vec<_> =
            ["a", "b", "c", "d", "e", "f", "g", "h"].map(|model| supports_tools(ModelListApi::Ark, list, model)).into();
        assert_eq!(supported, [Some(true), Some(false), Some(false), None, None, None, Some(false), None]);
    }

    #[test]
    fn openrouter_lists_tools_among_supported_parameters() {
        let list = br#"{"data":[
            {"id":"x/a","supported_parameters":["max_tokens","tools","tool_choice"]},
            {"id":"x/a:free","supported_parameters":["max_tokens"]},
            {"id":"x/b","supported_parameters":[]}, {"id":"x/c"}, {"id":"x/d","supported_parameters":"tools"}]}"#;
        let supported: Vec<_> = ["x/a", "x/a:free", "x/a:online", "x/b", "x/c", "x/d", "x/e"]
            .map(|model| supports_tools(ModelListApi::OpenRouter, list, model))
            .into();
        assert_eq!(supported, [Some(true), Some(false), Some(true), Some(false), None, None, None]);
    }

    #[test]
    fn ollama_shows_tools_among_capabilities() {
        let read = |text: &str| supports_tools(ModelListApi::Ollama, text.as_bytes(), "any");
        assert_eq!(read(r#"{"capabilities":["completion","tools","thinking"],"model_info":{}}"#), Some(true));
        assert_eq!(read(r#"{"capabilities":["completion"]}"#), Some(false));
        assert_eq!(read(r#"{"license":"old servers say nothing"}"#), None);
        assert_eq!(read(r#"{"capabilities":"tools"}"#), None);
    }

    #[test]
    fn lists_show_context_windows() {
        let ark =
            br#"{"data":[{"id":"a","token_limits":{"context_window":256000}},{"id":"b","token_limits":9},{"id":"c"},
            {"id":"d","status":"Shutdown","token_limits":{"context_window":1}}]}"#;
        assert_eq!(
            ["a", "b", "c", "d"].map(|model| context_tokens(ModelListApi::Ark, ark, model)),
            [Some(256_000), None, None, None]
        );
        let openrouter = br#"{"data":[{"id":"x/a","context_length":131072},{"id":"x/b","context_length":"long"}]}"#;
        assert_eq!(
            ["x/a", "x/a:nitro", "x/b"].map(|model| context_tokens(ModelListApi::OpenRouter, openrouter, model)),
            [Some(131_072), Some(131_072), None]
        );
    }

    #[test]
    fn ollama_shows_smaller_of_model_and_modelfile() {
        let read = |text: &str| context_tokens(ModelListApi::Ollama, text.as_bytes(), "any");
        let info = r#""model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"tokenizer.ggml.tokens":null}"#;
        assert_eq!(read(&format!("{{{info}}}")), Some(40_960));
        let parameters = r#""parameters":"stop    \"<|im_end|>\"\nnum_ctx     8192\ntemperature 0.6""#;
        assert_eq!(read(&format!("{{{parameters},{info}}}")), Some(8_192));
        assert_eq!(read(&format!("{{{parameters}}}")), Some(8_192));
        for text in [r#"{"model_info":{"a.context_length":0}}"#, r#"{"model_info":[],"parameters":7}"#, "{}"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn malformed_list_gives_no_information() {
        for listing in [ModelListApi::Ark, ModelListApi::OpenRouter, ModelListApi::Ollama] {
            for text in ["", "<html>", "null", "[]", "{}", r#"{"data":null}"#, r#"{"data":{}}"#] {
                assert_eq!(supports_tools(listing, text.as_bytes(), "a"), None, "{listing:?} {text}");
                assert_eq!(context_tokens(listing, text.as_bytes(), "a"), None, "{listing:?} {text}");
            }
        }
    }
}
