use std::ops::RangeInclusive;

use crate::strict_json::{self, invalid_request};
use crate::{Failure, Groups, SearchMode, ToolChoice};
use serde_json::{Map, Value};

/// The fields of an untrusted JSON object, taken one by one; `null` counts as absent.
///
/// Errors are `invalid_request`; the message names the field and what is accepted, never the value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrictObject {
    fields: Map<String, Value>,
    /// The path of the object, used as a prefix of field names; empty for a body.
    path: String,
}

impl StrictObject {
    /// Parses a body that must be one JSON object without duplicate keys.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        Ok(Self { fields: strict_json::parse_object(body)?, path: String::new() })
    }

    /// An object with one field.
    pub fn of(name: &str, value: Value) -> Self {
        Self { fields: Map::from_iter([(name.to_owned(), value)]), path: String::new() }
    }

    /// A string.
    pub fn take_string(&mut self, name: &str) -> Result<Option<String>, Failure> {
        self.take(name, "a string", |value| if let Value::String(text) = value { Some(text) } else { None })
    }

    /// A string of 1 to `max_len` characters that is not blank.
    pub fn take_non_blank(&mut self, name: &str, max_len: usize) -> Result<Option<String>, Failure> {
        let text = self.take_string(name)?;
        let fits = |text: &String| !text.trim().is_empty() && text.chars().nth(max_len).is_none();
        if text.as_ref().is_some_and(|text| !fits(text)) {
            return Err(self.field_error(name, &format!("a string of 1 to {max_len} characters, not blank")));
        }
        Ok(text)
    }

    /// `true` or `false`.
    pub fn take_bool(&mut self, name: &str) -> Result<Option<bool>, Failure> {
        self.take(name, "true or false", |value| value.as_bool())
    }

    /// A whole number in a range.
    pub fn take_u32(&mut self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, Failure> {
        let accepted = format!("a whole number from {} to {}", range.start(), range.end());
        self.take(name, &accepted, |value| value.as_u64()?.try_into().ok().filter(|number| range.contains(number)))
    }

    /// A number in a range.
    pub fn take_f64(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, Failure> {
        let accepted = format!("a number from {} to {}", range.start(), range.end());
        self.take(name, &accepted, |value| value.as_f64().filter(|number| range.contains(number)))
    }

    /// A JSON object, as it is.
    pub fn take_object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, Failure> {
        self.take(name, "an object", into_object)
    }

    /// The fields of a nested object.
    pub fn take_nested(&mut self, name: &str) -> Result<Option<Self>, Failure> {
        let path = format!("{}.", self.name(name));
        Ok(self.take_object(name)?.map(|fields| Self { fields, path }))
    }

    /// An array of at most `max_len` strings.
    pub fn take_strings(&mut self, name: &str, max_len: usize) -> Result<Option<Vec<String>>, Failure> {
        let accepted = format!("an array of at most {max_len} strings");
        let text = |item: &Value| item.as_str().map(str::to_owned);
        self.take(name, &accepted, |value| {
            value.as_array().filter(|items| items.len() <= max_len)?.iter().map(text).collect()
        })
    }

    /// The names of groups.
    pub fn take_groups(&mut self, name: &str) -> Result<Option<Groups>, Failure> {
        let Some(names) = self.take_strings(name, Groups::MAX_GROUPS)? else { return Ok(None) };
        let accepted = "names of groups: each 1 to 128 characters without white space before or after them";
        Groups::new(names).map(Some).ok_or_else(|| self.field_error(name, accepted))
    }

    /// An array of at most `max_len` objects.
    pub fn take_objects(&mut self, name: &str, max_len: usize) -> Result<Option<Vec<StrictObject>>, Failure> {
        let (accepted, path) = (format!("an array of at most {max_len} objects"), self.name(name));
        let object = |(at, item)| Some(Self { fields: into_object(item)?, path: format!("{path}[{at}].") });
        self.take(name, &accepted, |value| match value {
            Value::Array(items) if items.len() <= max_len => items.into_iter().enumerate().map(object).collect(),
            _ => None,
        })
    }

    /// Whether tools may or must be used; a tool is named as `{"name"}`, or as in OpenAI's API.
    pub fn take_tool_choice(&mut self, name: &str) -> Result<Option<ToolChoice>, Failure> {
        let accepted = "\"auto\", \"none\", \"required\", {\"name\": \"…\"} or {\"type\": \"function\", \"function\": \
            {\"name\": \"…\"}}";
        self.take(name, accepted, |choice| match choice.as_str() {
            Some("auto") => Some(ToolChoice::Auto),
            Some("none") => Some(ToolChoice::None),
            Some("required") => Some(ToolChoice::Required),
            _ => named_tool(&choice).map(|name| ToolChoice::Tool(name.to_owned())),
        })
    }

    /// Takes a field that states how much is searched.
    ///
    /// # Errors
    /// `invalid_request` for anything but a mode.
    pub fn take_search_mode(&mut self, name: &str) -> Result<Option<SearchMode>, Failure> {
        self.take(name, "\"off\", \"auto\" or \"deep\"", |mode| match mode.as_str()? {
            "off" => Some(SearchMode::Off),
            "auto" => Some(SearchMode::Auto),
            "deep" => Some(SearchMode::Deep),
            _ => None,
        })
    }

    fn take<T>(
        &mut self,
        name: &str,
        accepted: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.take_value(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.field_error(name, accepted))
    }

    /// Checks that no field is left: ignoring one would surprise the client that sent it.
    pub fn reject_unknown(self, accepted: &str) -> Result<(), Failure> {
        let Some(name) = self.fields.keys().next() else { return Ok(()) };
        // The message repeats a field only if it is a plain name.
        let is_name = name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = if is_name { format!("`{}{name}`", self.path) } else { "One of the fields".to_owned() };
        Err(invalid_request(format!("{name} is not known here; accepted are: {accepted}")))
    }

    /// Renames fields that have another accepted spelling: pairs of that spelling and the field's name. A field in both
    /// spellings is an error.
    pub fn accept_aliases(&mut self, aliases: &[(&str, &str)]) -> Result<(), Failure> {
        for (alias, name) in aliases {
            let Some(value) = self.take_value(alias) else { continue };
            if self.fields.get(*name).is_some_and(|given| !given.is_null()) {
                let (name, alias) = (self.name(name), self.name(alias));
                return Err(invalid_request(format!("`{name}` and `{alias}` are one field: only one may be given")));
            }
            self.fields.insert((*name).to_owned(), value);
        }
        Ok(())
    }

    /// Moves these fields into an object of their own, with the same path; `None` if there is none of them.
    pub fn take_group(&mut self, names: &[&str]) -> Option<Self> {
        let taken = names.iter().filter_map(|name| Some(((*name).to_owned(), self.take_value(name)?)));
        let fields: Map<String, Value> = taken.collect();
        (!fields.is_empty()).then(|| Self { fields, path: self.path.clone() })
    }

    /// Whether a field is `null`, for the fields where that differs from an absent one.
    pub fn is_null(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(Value::is_null)
    }

    /// Whether a field is a string, for the fields that may be something else too.
    pub fn is_string(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(Value::is_string)
    }

    /// The fields that were not taken.
    pub fn remaining(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// Any value but `null`.
    pub fn take_value(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    /// The error for a field with an invalid value.
    pub fn field_error(&self, name: &str, accepted: &str) -> Failure {
        let param = self.name(name);
        invalid_request(format!("`{param}` must be {accepted}")).with_param(param)
    }

    /// The path of a field in the body, such as `tools[0].type`.
    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(fields) = value { Some(fields) } else { None }
}

fn named_tool(choice: &Value) -> Option<&str> {
    let in_function = choice.get("function").filter(|_| choice.get("type").is_some_and(|kind| kind == "function"));
    choice.get("name").or_else(|| in_function?.get("name")).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &str) -> StrictObject {
        StrictObject::parse(body.as_bytes()).unwrap()
    }

    #[test]
    fn invalid_field_is_named_by_path() {
        let message = |result: Result<Option<()>, Failure>| result.unwrap_err().message;
        assert_eq!(message(fields(r#"{"a":5}"#).take_string("a").map(|_| None)), "`a` must be a string");
        assert_eq!(
            message(fields(r#"{"a":" "}"#).take_non_blank("a", 3).map(|_| None)),
            "`a` must be a string of 1 to 3 characters, not blank"
        );
        assert_eq!(
            message(fields(r#"{"a":51}"#).take_u32("a", 0..=50).map(|_| None)),
            "`a` must be a whole number from 0 to 50"
        );
        let mut rows = fields(r#"{"rows":[{},{"on":1}]}"#).take_objects("rows", 2).unwrap().unwrap();
        assert_eq!(message(rows[1].take_bool("on").map(|_| None)), "`rows[1].on` must be true or false");
        assert_eq!(rows.remove(0).reject_unknown("on").map_err(|failure| failure.message), Ok(()),);
        let left = fields(r#"{"rows":[{"x":1}]}"#).take_objects("rows", 2).unwrap().unwrap().remove(0);
        assert_eq!(
            left.reject_unknown("`on`").unwrap_err().message,
            "`rows[0].x` is not known here; accepted are: `on`"
        );
    }

    #[test]
    fn nested_object_is_read_like_its_parent() {
        let mut outer = fields(r#"{"a":{"b":1,"c":["x"],"d":["x",2]}}"#);
        let mut inner = outer.take_nested("a").unwrap().unwrap();
        assert_eq!(inner.take_string("b").unwrap_err().message, "`a.b` must be a string");
        assert_eq!(inner.take_strings("c", 1), Ok(Some(vec!["x".to_owned()])));
        assert_eq!(inner.take_strings("d", 2).unwrap_err().message, "`a.d` must be an array of at most 2 strings");
        assert_eq!((outer.take_nested("a"), outer.reject_unknown("")), (Ok(None), Ok(())));
    }

    #[test]
    fn field_in_two_spellings_is_rejected() {
        let aliases = [("url_template", "urlTemplate"), ("timeout", "timeoutSeconds")];
        let mut object = fields(r#"{"url_template":"a","urlTemplate":null,"timeoutSeconds":5}"#);
        assert_eq!(object.accept_aliases(&aliases), Ok(()));
        assert_eq!(object.take_string("urlTemplate"), Ok(Some("a".to_owned())));
        let mut outer = fields(r#"{"endpoint":{"timeout":5,"timeoutSeconds":6}}"#);
        let mut twice = outer.take_nested("endpoint").unwrap().unwrap();
        assert_eq!(
            twice.accept_aliases(&aliases).unwrap_err().message,
            "`endpoint.timeoutSeconds` and `endpoint.timeout` are one field: only one may be given"
        );
    }

    #[test]
    fn group_takes_only_its_fields() {
        let mut outer = fields(r#"{"a":1,"b":2,"c":null}"#);
        let mut group = outer.take_group(&["a", "c"]).unwrap();
        assert_eq!((group.take_u32("a", 0..=1), outer.take_group(&["a", "c"])), (Ok(Some(1)), None));
        assert!(outer.reject_unknown("").unwrap_err().message.starts_with("`b` is not known here"));
    }

    #[test]
    fn tool_choice_names_a_tool_in_two_ways() {
        let choice = |body: &str| fields(body).take_tool_choice("a");
        let tool = Ok(Some(ToolChoice::Tool("f".to_owned())));
        assert_eq!(choice(r#"{"a":{"name":"f"}}"#), tool);
        assert_eq!(choice(r#"{"a":{"type":"function","function":{"name":"f"}}}"#), tool);
        assert_eq!(choice(r#"{"a":"required"}"#), Ok(Some(ToolChoice::Required)));
        for body in [r#"{"a":{}}"#, r#"{"a":{"function":{"name":"f"}}}"#, r#"{"a":{"name":5}}"#, r#"{"a":"always"}"#] {
            assert!(choice(body).unwrap_err().message.starts_with("`a` must be \"auto\", "), "{body}");
        }
    }

    #[test]
    fn null_is_absent() {
        let mut fields = fields(r#"{"a":null,"b":null}"#);
        assert_eq!(fields.take_string("a"), Ok(None));
        assert_eq!(fields.take_tool_choice("b"), Ok(None));
        assert_eq!(fields.reject_unknown(""), Ok(()));
    }
}
