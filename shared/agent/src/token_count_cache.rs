use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ToolSpec;

use crate::estimate::{self, TextSize};
use crate::tokens::Family;

/// Caches the sizes of the tools and of the system prompt; clones share one cache.
///
/// Both are equal in all prompts of a turn, and usually from turn to turn. Measuring them again would be a large part of
/// the work for an answer.
#[derive(Clone, Debug, Default)]
pub struct TokenCountCache(Arc<Mutex<Latest>>);

/// The latest measurements.
#[derive(Debug, Default)]
struct Latest {
    tools: Option<ToolSizes>,
    system: Option<(Family, String, TextSize)>,
}

#[derive(Clone, Debug)]
struct ToolSizes {
    specs: Arc<[ToolSpec]>,
    /// One for each family so far.
    sizes: Vec<(Family, TextSize)>,
}

impl TokenCountCache {
    /// The size of tools.
    pub(crate) fn tools(&self, family: Family, specs: &Arc<[ToolSpec]>) -> TextSize {
        let mut latest = self.latest();
        // Lists are compared by address, which is not reused while the cache holds the list.
        let tools = match &mut latest.tools {
            Some(tools) if Arc::ptr_eq(&tools.specs, specs) => tools,
            other => other.insert(ToolSizes { specs: Arc::clone(specs), sizes: Vec::new() }),
        };
        let cached = tools.sizes.iter().find(|(cached, _)| *cached == family).map(|(_, size)| *size);
        cached.unwrap_or_else(|| {
            let size = estimate::tools(family, specs);
            tools.sizes.push((family, size));
            size
        })
    }

    /// The size of a system prompt.
    pub(crate) fn system(&self, family: Family, text: &str) -> TextSize {
        match &self.latest().system {
            Some((of, cached, size)) if *of == family && cached == text => return *size,
            _ => {}
        }
        let size = estimate::text(family, text);
        self.latest().system = Some((family, text.to_owned(), size));
        size
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_sizes_are_cached_by_list_and_family() {
        let spec = |description: &str| ToolSpec {
            name: "a".to_owned(),
            description: description.to_owned(),
            parameters: serde_json::json!({}),
            examples: Vec::new(),
        };
        let (short, long): (Arc<[_]>, Arc<[_]>) = ([spec("短")].into(), [spec("one two three four")].into());
        let cache = TokenCountCache::default();
        let cached = || cache.latest().tools.as_ref().map_or(0, |tools| tools.sizes.len());
        let cases = [(Family::Unknown, &short, 1), (Family::Unknown, &long, 1), (Family::O200k, &long, 2)];
        for (family, specs, expected) in cases {
            assert_eq!(cache.clone().tools(family, specs), estimate::tools(family, specs));
            assert_eq!(cached(), expected);
        }
        let planted = TextSize { characters: 1, bytes: 2, tokens: 3 };
        cache.latest().tools.as_mut().unwrap().sizes[0].1 = planted;
        assert_eq!(cache.tools(Family::Unknown, &long), planted, "it is not measured again");
        assert_ne!(cache.tools(Family::Unknown, &long.to_vec().into()), planted);
    }

    #[test]
    fn system_prompt_size_cached_by_text_and_family() {
        let (cache, family) = (TokenCountCache::default(), Family::Unknown);
        for (family, text) in [(family, "今天"), (family, "one two"), (Family::O200k, "one two")] {
            assert_eq!(cache.clone().system(family, text), estimate::text(family, text));
        }
        let planted = TextSize { characters: 1, bytes: 2, tokens: 3 };
        cache.latest().system.as_mut().unwrap().2 = planted;
        assert_eq!(cache.system(Family::O200k, "one two"), planted, "it is not measured again");
        assert_ne!(cache.system(Family::O200k, "one"), planted);
    }
}
