use crate::group::declare_texts;

declare_texts! {
    /// Failures of custom tools and rejected arguments.
    CustomToolTexts in "custom_tools":
    /// Reason: the tool's secret is not available.
    no_secret,
    /// Reason: the tool's secret is too short to be masked in results.
    short_secret,
    /// Reason: the tool is called too often.
    rate_limited,
    /// Reason: the address of the tool is not allowed.
    address_not_allowed,
    /// Reason: the response is too large.
    too_large,
    /// Reason: the service cannot be reached.
    unreachable,
    /// Reason: the service returned an HTTP `{status}` and a `{text}`.
    status,
    /// Reason: the response has no value at the selected path.
    no_match,
    /// A failed call for a `{reason}`, whose effects may have happened.
    may_have_run,
    /// Reason: the server returned an error `{code}` with a `{message}`.
    server_error,
    /// Reason: the response cannot be parsed.
    unreadable,
    /// Reason: the server requires input from the user.
    input_required,
    /// Reason: the text in a `{field}` is too short or too long.
    wrong_length,
    /// Reason: the text in a `{field}` does not match a `{pattern}`.
    wrong_pattern,
    /// Reason: an argument is not accepted in the path of a URL.
    invalid_path,
    /// Reason: an argument is not accepted in a header.
    invalid_header,
}
