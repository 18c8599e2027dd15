use crate::group::declare_texts;

declare_texts! {
    /// The agent's texts: system prompts, and the messages that it adds to a conversation.
    AgentTexts in "agent":
    /// The system prompt of agents that have none.
    default_system,
    /// The same for models with a small context window.
    compact_system,
    /// Teaches the `{tools}` to models with a small context window.
    compact_tools,
    /// States the date `{today}`, its `{weekday}` and the time `{zone}` in the system prompt.
    current_date,
    /// States in the system prompt that tool results are quotations.
    untrusted_tools,
    /// States in the system prompt when tools should be called.
    tools_available,
    /// Requires any tool call.
    any_tool_required,
    /// Requires a call of the tool `{name}`.
    named_tool_required,
    /// Follows a reply whose call could not be parsed because of `{reason}`.
    correction,
    /// The reason of a correction after a call was truncated by the output limit.
    truncated_call,
    /// Reason: the call is longer than one may be.
    call_too_long,
    /// Reason: the call has no content.
    call_empty,
    /// Reason: the call is in no known format.
    call_format_unknown,
    /// Reason: the JSON cannot be parsed.
    call_json_unreadable,
    /// Reason: a string in the JSON is not closed.
    call_string_open,
    /// Reason: the JSON ends before it is complete.
    call_json_incomplete,
    /// Reason: the call names no tool.
    call_without_name,
    /// Reason: the arguments are no JSON object.
    call_no_object,
    /// Reason: a call in the form of a function cannot be parsed.
    call_no_python,
    /// Reason: the parameters are in no known form.
    call_no_parameters,
    /// Follows a reply with a made-up tool result.
    invented_result,
    /// Follows a reply without the call that the `{requirement}` demands.
    missing_call,
    /// Requests the continuation of an interrupted answer.
    continuation,
    /// Requests an immediate answer without tools.
    time_is_short,
    /// The system prompt for summaries.
    summarise,
    /// Precedes the conversation to summarise with an earlier `{summary}`.
    previous_summary,
    /// Precedes the messages to summarise.
    conversation,
    /// A user message `{text}` to summarise.
    user_line,
    /// A reply `{text}` to summarise.
    assistant_line,
    /// A tool result `{text}` to summarise.
    tool_line,
    /// Represents the oldest turns by their `{summary}`.
    summary,
    /// Search `{results}` as a user message.
    search_results,
    /// Tool `{results}` as a user message.
    tool_results,
    /// The `{results}` of searches that all failed, as a user message.
    failed_search,
    /// The `{results}` of calls that all failed, as a user message.
    failed_calls,
    /// The `{results}` of calls that must all be corrected, as a user message.
    invalid_calls,
    /// The `{results}` of calls of which some failed, as a user message.
    partial_results,
    /// Follows results in a user message: they are quotations.
    quoted,
    /// Follows the pages of an ended turn: some of their content is left out.
    earlier_results,
    /// Requests an answer because the rounds with tools are used up.
    tools_off,
    /// A user message: `{question}` with search `{results}` that precede any call.
    reference_information,
    /// Follows truncated text.
    truncated,
    /// For users: an answer without text or sources.
    no_answer,
    /// For users: precedes the sources if the model wrote no text.
    empty_reply,
    /// For users: precedes the sources if time ran out.
    out_of_time,
}
