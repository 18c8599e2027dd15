use std::sync::{Arc, Mutex};

use domain::ToolSpec;
use work::lock;

use crate::estimate::{self, TextSize};
use crate::prompt::SystemPrompt;
use crate::tokens::Family;

/// Maximum number of lists of tools: agents have different ones, and each request may bring its own.
const MAX_LISTS: usize = 8;

/// Maximum number of system prompts of a list: agents, days and kinds of models.
const MAX_PROMPTS: usize = 4;

/// Caches what prompts with the same tools have in common; clones share one cache.
///
/// It is equal in all prompts of a turn, and usually from turn to turn. To render it again would be a large part of the work
/// for an answer.
#[derive(Clone, Debug, Default)]
pub struct PromptCache(Arc<Mutex<Vec<KnownTools>>>);

#[derive(Debug)]
struct KnownTools {
    specs: Arc<[ToolSpec]>,
    sizes: Vec<(Family, TextSize)>,
    /// System prompts, by [`SystemPrompt::key`].
    systems: Vec<(String, Arc<str>)>,
}

impl PromptCache {
    /// The system prompt, which offers no other tools than `specs`.
    pub(crate) fn system(&self, prompt: &SystemPrompt<'_>, specs: &Arc<[ToolSpec]>) -> Arc<str> {
        let key = prompt.key();
        self.with(specs, |tools| {
            if let Some((_, text)) = tools.systems.iter().find(|(known, _)| *known == key) {
                return Arc::clone(text);
            }
            let text: Arc<str> = prompt.render().into();
            push_bounded(&mut tools.systems, MAX_PROMPTS, (key, Arc::clone(&text)));
            text
        })
    }

    pub(crate) fn tools(&self, family: Family, specs: &Arc<[ToolSpec]>) -> TextSize {
        self.with(specs, |tools| {
            let known = tools.sizes.iter().find(|(known, _)| *known == family).map(|(_, size)| *size);
            known.unwrap_or_else(|| {
                let size = estimate::tools(family, specs);
                tools.sizes.push((family, size));
                size
            })
        })
    }

    fn with<T>(&self, specs: &Arc<[ToolSpec]>, read: impl FnOnce(&mut KnownTools) -> T) -> T {
        let mut lists = lock(&self.0);
        // Lists are compared by address, which is not reused while the cache holds the list.
        if let Some(tools) = lists.iter_mut().find(|known| Arc::ptr_eq(&known.specs, specs)) {
            return read(tools);
        }
        let mut tools = KnownTools { specs: Arc::clone(specs), sizes: Vec::new(), systems: Vec::new() };
        let result = read(&mut tools);
        push_bounded(&mut lists, MAX_LISTS, tools);
        result
    }
}

/// Adds an item, and removes the oldest one if there are too many.
fn push_bounded<T>(items: &mut Vec<T>, max: usize, item: T) {
    if items.len() == max {
        items.remove(0);
    }
    items.push(item);
}

#[cfg(test)]
mod tests {
    use domain::Language;

    use super::*;
    use crate::prompt::ToolOffer;

    fn specs(description: &str) -> Arc<[ToolSpec]> {
        let (name, description) = ("a".to_owned(), description.to_owned());
        [ToolSpec { name, description, parameters: serde_json::json!({}), examples: Vec::new() }].into()
    }

    #[test]
    fn tool_sizes_are_cached_by_list_and_family() {
        let (short, long) = (specs("短"), specs("one two three four"));
        let cache = PromptCache::default();
        let cached = || cache.0.lock().unwrap().last().unwrap().sizes.len();
        let cases = [(Family::Unknown, &short, 1), (Family::Unknown, &long, 1), (Family::O200k, &long, 2)];
        for (family, specs, expected) in cases {
            assert_eq!(cache.clone().tools(family, specs), estimate::tools(family, specs));
            assert_eq!(cached(), expected);
        }
        let planted = TextSize { characters: 1, bytes: 2, tokens: 3 };
        cache.0.lock().unwrap()[1].sizes[0].1 = planted;
        assert_eq!(cache.tools(Family::Unknown, &long), planted, "it is not measured again");
        assert_ne!(cache.tools(Family::Unknown, &long.to_vec().into()), planted);
    }

    #[test]
    fn system_prompts_cached_by_all_they_contain() {
        let (cache, tools) = (PromptCache::default(), specs("one"));
        let first = SystemPrompt {
            language: Language::En,
            is_compact: false,
            agent_prompt: Some("You answer."),
            added_prompt: None,
            searches_deeply: false,
            today: "2026-01-02",
            zone: "UTC",
            offer: ToolOffer::Text { format: tool_calls::format_for("any"), tools: &tools },
        };
        let others = [
            SystemPrompt { language: Language::Zh, ..first.clone() },
            SystemPrompt { is_compact: true, ..first.clone() },
            SystemPrompt { agent_prompt: None, ..first.clone() },
            SystemPrompt { agent_prompt: None, added_prompt: Some("You answer."), ..first.clone() },
            SystemPrompt { searches_deeply: true, ..first.clone() },
            SystemPrompt { today: "2026-01-03", ..first.clone() },
            SystemPrompt { zone: "Asia/Shanghai", ..first.clone() },
            SystemPrompt { offer: ToolOffer::Native { callable: true }, ..first.clone() },
            SystemPrompt { offer: ToolOffer::Native { callable: false }, ..first.clone() },
            SystemPrompt { offer: ToolOffer::None, ..first.clone() },
        ];
        for prompt in [first.clone()].iter().chain(&others) {
            let text = cache.clone().system(prompt, &tools);
            assert_eq!(*text, *prompt.render());
            assert!(Arc::ptr_eq(&text, &cache.system(prompt, &tools)), "it is not rendered again");
        }
        assert_eq!(cache.0.lock().unwrap()[0].systems.len(), MAX_PROMPTS);
        assert_eq!(*cache.system(&first, &tools), *first.render());
        for _ in 0..MAX_LISTS {
            cache.system(&first, &specs("one"));
        }
        let lists = cache.0.lock().unwrap();
        assert!(lists.len() == MAX_LISTS && lists.iter().all(|list| !Arc::ptr_eq(&list.specs, &tools)));
    }
}
