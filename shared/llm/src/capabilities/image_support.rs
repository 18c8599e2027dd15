//! Whether one model takes pictures.
//!
//! The settings decide, then a refusal by the endpoint, then the model's family. Other models are tried.

use std::sync::Mutex;
use std::time::SystemTime;

use work::lock;

use super::image_families;
use super::tool_support_cache::{REJECTION_TTL, is_recent};
use crate::{ModelConfig, Wire};

/// What is known of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct ImageSupport {
    configured: Option<bool>,
    family: Option<bool>,
    refusal: Mutex<Refusal>,
    /// When this process last read what others stored.
    last_read: Mutex<Option<SystemTime>>,
}

#[derive(Debug, Default)]
struct Refusal {
    /// Until when the last one is valid.
    until: Option<SystemTime>,
    /// Whether it is not yet published to other processes.
    unpublished: bool,
}

impl ImageSupport {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        // A copy of a model at Ollama may lack the part that reads pictures.
        let family = image_families::takes_images(&config.model).filter(|_| config.wire != Wire::Ollama);
        Self { configured: config.options.images, family, refusal: Mutex::default(), last_read: Mutex::default() }
    }

    pub(crate) fn get(&self, now: SystemTime) -> Option<bool> {
        let is_refused = || lock(&self.refusal).until.is_some_and(|until| until > now);
        self.configured.or_else(|| is_refused().then_some(false)).or(self.family)
    }

    /// Whether a refusal that others stored can matter and was not read for a day; the caller must read it then.
    pub(crate) fn begin_read(&self, now: SystemTime) -> bool {
        let mut last_read = lock(&self.last_read);
        let is_due = self.get(now) != Some(false) && self.configured.is_none() && !is_recent(*last_read, now);
        if is_due {
            *last_read = Some(now);
        }
        is_due
    }

    pub(crate) fn store_refusal(&self, until: SystemTime) {
        lock(&self.refusal).until = Some(until);
    }

    pub(crate) fn record_refusal(&self, now: SystemTime) {
        if self.configured.is_none() {
            *lock(&self.refusal) = Refusal { until: Some(now + REJECTION_TTL), unpublished: true };
        }
    }

    pub(crate) fn take_unpublished(&self) -> Option<SystemTime> {
        let mut refusal = lock(&self.refusal);
        std::mem::take(&mut refusal.unpublished).then_some(refusal.until)?
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Options;

    fn support(model: &str, images: Option<bool>, wire: Wire) -> ImageSupport {
        let options = Options { images, ..Options::default() };
        ImageSupport::new(&ModelConfig { options, ..ModelConfig::new("x", "http://localhost", model, wire) })
    }

    #[test]
    fn settings_precede_refusal_and_family() {
        let now = SystemTime::UNIX_EPOCH;
        for (model, images, wire, before, after) in [
            ("other", None, Wire::Openai, None, Some(false)),
            ("gpt-5", None, Wire::Openai, Some(true), Some(false)),
            ("gpt-oss", None, Wire::Openai, Some(false), Some(false)),
            ("gpt-oss", Some(true), Wire::Openai, Some(true), Some(true)),
            ("gpt-5", Some(false), Wire::Openai, Some(false), Some(false)),
            ("gemma-4", None, Wire::Ollama, None, Some(false)),
        ] {
            let support = support(model, images, wire);
            assert_eq!(support.get(now), before, "{model} {images:?}");
            support.record_refusal(now);
            assert_eq!(support.get(now + REJECTION_TTL - Duration::from_secs(1)), after, "{model} {images:?}");
            assert_eq!(support.get(now + REJECTION_TTL), before, "{model} {images:?}");
        }
    }

    #[test]
    fn stored_refusal_is_read_once_a_day() {
        let now = SystemTime::UNIX_EPOCH;
        let day = Duration::from_hours(24);
        let unknown = support("other", None, Wire::Openai);
        assert_eq!([now, now + day / 2, now + day].map(|at| unknown.begin_read(at)), [true, false, true]);
        for (model, images, is_due) in [("gpt-5", None, true), ("gpt-oss", None, false), ("other", Some(true), false)] {
            assert_eq!(support(model, images, Wire::Openai).begin_read(now), is_due, "{model}");
        }
    }

    #[test]
    fn refusal_is_published_once() {
        let (now, support) = (SystemTime::UNIX_EPOCH, support("other", None, Wire::Openai));
        assert_eq!(support.take_unpublished(), None);
        support.record_refusal(now);
        assert_eq!((support.take_unpublished(), support.take_unpublished()), (Some(now + REJECTION_TTL), None));
        support.store_refusal(now + REJECTION_TTL);
        assert_eq!(support.take_unpublished(), None, "others published it");
    }
}
