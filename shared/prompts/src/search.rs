use crate::group::declare_texts;

declare_texts! {
    /// Results and failures of searches and read pages.
    SearchTexts in "search":
    /// Names the `{query}` of a search.
    query,
    /// Precedes the results with the provider's `{summary}`.
    summary,
    /// Precedes the entries of a search.
    results,
    /// The `{date}` on which a page was published.
    date,
    /// Precedes the text of a page: `{content}`.
    content,
    /// A search found nothing.
    no_results,
    /// Follows the entries if not all of `{count}` fit.
    truncated,
    /// Note on results of a cheaper search.
    basic_only,
    /// Note on old results.
    stale,
    /// Note on the results of a second, deeper search.
    deepened,
    /// For users: note on old results.
    stale_for_user,
    /// The `{number}` of a page that was read.
    page_number,
    /// The `{title}` of a page that was read.
    page_title,
    /// Follows the first `{shown}` of all `{count}` characters of a page.
    page_truncated,
    /// A search failed for a `{reason}`.
    search_failed,
    /// A page could not be read for a `{reason}`.
    page_failed,
    /// Follows either failure.
    do_not_invent,
    /// Reason: the rate limit is exceeded for `{seconds}` more.
    limited,
    /// Reason: the daily quota is used up.
    out_of_budget,
    /// Reason: no reply in time.
    timed_out,
    /// Reason: the provider is busy.
    busy,
    /// Reason: the provider rejects the query.
    rejected,
    /// Reason: the provider rejects the key.
    refused,
    /// Reason: the plan or the budget is exhausted.
    spent,
    /// Reason: the provider cannot be reached.
    unavailable,
    /// Reason: the provider's reply is invalid.
    bad_response,
    /// Reason: the provider cannot read the page.
    unreadable,
    /// Argument error: the query is blank.
    blank_query,
    /// Argument error: the list `{field}` has more than `{count}` items.
    too_many_domains,
    /// Argument error: the list `{field}` has an invalid host name.
    invalid_domain,
    /// Argument error: no address of a public page.
    invalid_url,
    /// Argument error: the address did not appear in the conversation.
    unknown_url,
    /// Argument error: the address contains personal data.
    personal_url,
}
