use crate::group::declare_texts;

declare_texts! {
    /// How a system prompt teaches models to write calls as text.
    CallTexts in "calls":
    /// The instructions around the tools' `{sections}`, with their `{names}` and a sample `{call}`.
    instructions,
    /// Precedes when to use a tool: `{condition}`.
    when_to_use,
    /// Precedes the `{parameters}` of a tool.
    parameters,
    /// A tool without parameters.
    no_parameters,
    /// Precedes the `{call}` that shows the format.
    format,
    /// Precedes the `{examples}` of a tool.
    examples,
    /// A `{question}` and the `{call}` that it needs.
    example,
    /// A parameter `{name}` with its `{facts}`.
    parameter,
    /// A parameter `{name}` with its `{facts}` and its `{description}`.
    described_parameter,
    /// Fact of a parameter that must be given.
    required,
    /// Fact of a parameter that may be omitted.
    optional,
    /// Fact of a parameter with these `{values}` only.
    one_of,
    /// Fact of a parameter with this `{value}` by default.
    default_value,
    /// Separates the facts of a parameter.
    fact_separator,
    /// Separates the elements of a list.
    list_separator,
}
