//! Lenient parsing of fields whose type differs between endpoints.
//!
//! Each type accepts any JSON and keeps the usable parts: an unexpected field must not fail the reply.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Text as a string, as `null`, or as an array of parts, some of which are reasoning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentParts<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The text in parts of type `thinking`.
    pub(crate) thinking: String,
}

impl ContentParts<'_> {
    fn into_text(self) -> String {
        if self.thinking.is_empty() { self.text.into_owned() } else { self.thinking + &self.text }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ContentParts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentPartsVisitor)
    }
}

struct ContentPartsVisitor;

impl<'de> Visitor<'de> for ContentPartsVisitor {
    type Value = ContentParts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or parts of text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(ContentParts { text: Cow::Borrowed(text), thinking: String::new() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ContentParts { text: Cow::Owned(text.to_owned()), thinking: String::new() })
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ContentParts::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(ContentParts::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(ContentParts::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(ContentParts::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(ContentParts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut content = ContentParts::default();
        while let Some(part) = parts.next_element::<ContentParts<'de>>()? {
            content.text.to_mut().push_str(&part.text);
            content.thinking.push_str(&part.thinking);
        }
        Ok(content)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut part: A) -> Result<Self::Value, A::Error> {
        let mut content = ContentParts::default();
        while let Some(name) = part.next_key::<Cow<'de, str>>()? {
            match &*name {
                "text" => content.text = Cow::Owned(part.next_value::<ContentParts<'de>>()?.into_text()),
                "thinking" => content.thinking = part.next_value::<ContentParts<'de>>()?.into_text(),
                _ => drop(part.next_value::<IgnoredAny>()?),
            }
        }
        Ok(content)
    }
}

/// A value of type `T`; `None` if it is absent or has another type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lax<T>(pub(crate) Option<T>);

impl<T> Default for Lax<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lax<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Option::<&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.and_then(|raw| serde_json::from_str(raw.get()).ok())))
    }
}

impl<T: Default> Lax<T> {
    pub(crate) fn or_default(self) -> T {
        self.0.unwrap_or_default()
    }
}

/// Returns the arguments of a call as JSON text, from a string or an object; empty if there are none.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw.map(RawValue::get) {
        None => Cow::Borrowed(""),
        Some(json) if json.starts_with('"') => serde_json::from_str(json).map(Cow::Owned).unwrap_or_default(),
        Some(json) => Cow::Borrowed(json),
    }
}

/// Deserializes `null` as the default.
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f027_text_is_parsed_from_string_null_or_parts() {
        let cases = [
            (r#""a\n""#, "a\n", ""),
            ("null", "", ""),
            ("7", "", ""),
            ("{}", "", ""),
            (r#"["a",{"type":"text","text":"b"},{"type":"image","url":"x"}]"#, "ab", ""),
            (r#"[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"text":"b"}]"#, "b", "t"),
            (r#"[{"type":"thinking","thinking":"t"}]"#, "", "t"),
        ];
        for (json, text, thinking) in cases {
            let content: ContentParts<'_> = serde_json::from_str(json).unwrap();
            assert_eq!((&*content.text, &*content.thinking), (text, thinking), "{json}");
        }
    }
}
