//! Refusals of one tool of a request.

/// Names of the request's fields that belong to one tool.
const TOOL_FIELDS: &[&str] = &["input_schema", "invalid schema for function", "function_declarations"];

/// Names of lists of tools, which a position in brackets or after a dot follows.
const TOOL_LISTS: &[&str] = &["tools", "functions", "function_declarations", "functiondeclarations"];

/// Whether a message in lower case is about one tool of a request, and not about tools as such.
pub(super) fn names_one_tool(message: &str) -> bool {
    let is_indexed = |list: &str| {
        message.match_indices(list).any(|(at, _)| {
            let mut rest = message[at + list.len()..].chars();
            matches!(rest.next(), Some('.' | '[')) && rest.next().is_some_and(|digit| digit.is_ascii_digit())
        })
    };
    TOOL_FIELDS.iter().any(|field| message.contains(field)) || TOOL_LISTS.iter().any(|list| is_indexed(list))
}
