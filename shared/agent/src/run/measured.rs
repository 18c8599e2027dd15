use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ToolSpec;

use super::count::Measure;
use crate::estimate;
use crate::tokens::Family;

/// What tools and the system's words take in a prompt: they are the same in every prompt of a turn, and mostly from turn to
/// turn, and to count them is much of what an answer takes.
#[derive(Clone, Debug, Default)]
pub struct Measured(Arc<Mutex<Last>>);

/// What was measured last.
#[derive(Debug, Default)]
struct Last {
    tools: Option<Tools>,
    system: Option<(Family, String, Measure)>,
}

#[derive(Clone, Debug)]
struct Tools {
    specs: Arc<[ToolSpec]>,
    /// As each family counts that was asked.
    measures: Vec<(Family, Measure)>,
}

impl Measured {
    pub(super) fn tools(&self, family: Family, specs: &Arc<[ToolSpec]>) -> Measure {
        let mut last = self.last();
        // Lists are told apart by their place: it stays taken while they are known.
        let tools = match &mut last.tools {
            Some(tools) if Arc::ptr_eq(&tools.specs, specs) => tools,
            other => other.insert(Tools { specs: Arc::clone(specs), measures: Vec::new() }),
        };
        let known = tools.measures.iter().find(|(known, _)| *known == family).map(|(_, measure)| *measure);
        known.unwrap_or_else(|| {
            let measure = estimate::tools(family, specs);
            tools.measures.push((family, measure));
            measure
        })
    }

    pub(super) fn system(&self, family: Family, text: &str) -> Measure {
        match &self.last().system {
            Some((of, known, measure)) if *of == family && known == text => return *measure,
            _ => {}
        }
        let measure = estimate::text(family, text);
        self.last().system = Some((family, text.to_owned(), measure));
        measure
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_holds_for_the_same_tools_and_family_alone() {
        let spec = |description: &str| ToolSpec {
            name: "a".to_owned(),
            description: description.to_owned(),
            parameters: serde_json::json!({}),
            examples: Vec::new(),
        };
        let (short, long): (Arc<[_]>, Arc<[_]>) = ([spec("短")].into(), [spec("one two three four")].into());
        let measured = Measured::default();
        let kept = || measured.last().tools.as_ref().map_or(0, |tools| tools.measures.len());
        let asked = [(Family::Unknown, &short, 1), (Family::Unknown, &long, 1), (Family::O200k, &long, 2)];
        for (family, specs, expected) in asked {
            assert_eq!(measured.clone().tools(family, specs), estimate::tools(family, specs));
            assert_eq!(kept(), expected);
        }
        let planted = Measure { characters: 1, bytes: 2, tokens: 3 };
        measured.last().tools.as_mut().unwrap().measures[0].1 = planted;
        assert_eq!(measured.tools(Family::Unknown, &long), planted, "it is not measured again");
        assert_ne!(measured.tools(Family::Unknown, &long.to_vec().into()), planted);
    }

    #[test]
    fn what_was_measured_of_the_systems_words_holds_for_the_same_words_and_family_alone() {
        let (measured, family) = (Measured::default(), Family::Unknown);
        for (family, words) in [(family, "今天"), (family, "one two"), (Family::O200k, "one two")] {
            assert_eq!(measured.clone().system(family, words), estimate::text(family, words));
        }
        let planted = Measure { characters: 1, bytes: 2, tokens: 3 };
        measured.last().system.as_mut().unwrap().2 = planted;
        assert_eq!(measured.system(Family::O200k, "one two"), planted, "it is not measured again");
        assert_ne!(measured.system(Family::O200k, "one"), planted);
    }
}
