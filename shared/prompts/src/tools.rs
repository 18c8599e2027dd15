use crate::group::declare_texts;

declare_texts! {
    /// Results and failures of tools, and notes on them.
    ToolTexts in "tools":
    /// A call that failed for a `{reason}`.
    failed,
    /// Reason: the tool or the turn ran out of time.
    timed_out,
    /// Reason: the tool itself is faulty.
    broken,
    /// The model named a tool that is not one of `{names}`.
    unknown_tool,
    /// In place of names if there is no tool.
    no_tools,
    /// The arguments are invalid for a `{reason}`.
    invalid_arguments,
    /// Reason: the arguments are nested more than `{depth}` deep.
    arguments_too_deep,
    /// Reason: the arguments have more than `{size}` KiB.
    arguments_too_long,
    /// Reason: the arguments do not fit the schema.
    arguments_unfit,
    /// This call and those after it exceed the `{limit}` of one reply.
    too_many_calls,
    /// Follows a truncated result.
    truncated,
    /// Follows the result of a call that was made before.
    repeated_call,
}
