//! The groups of texts: a struct for each folder, with a field for each of its files.

/// Declares groups and reads their texts. A field is documented by its English text.
macro_rules! declare_texts {
    ($($(#[$group_doc:meta])* $group:ident in $folder:literal { $($name:ident,)* })*) => {
        $(
            $(#[$group_doc])*
            #[derive(Debug)]
            pub struct $group {
                $(
                    #[doc = concat!(
                        "```text\n",
                        include_str!(concat!("../en/", $folder, "/", stringify!($name), ".txt")),
                        "```",
                    )]
                    pub $name: &'static str,
                )*
            }

            impl $group {
                /// The texts in a language.
                pub fn of(language: domain::Language) -> &'static Self {
                    match language {
                        domain::Language::Zh => &Self::ZH,
                        domain::Language::En => &Self::EN,
                    }
                }

                const ZH: Self = Self {
                    $($name: without_line_break(
                        include_str!(concat!("../zh/", $folder, "/", stringify!($name), ".txt")),
                    ),)*
                };

                const EN: Self = Self {
                    $($name: without_line_break(
                        include_str!(concat!("../en/", $folder, "/", stringify!($name), ".txt")),
                    ),)*
                };
            }
        )*

        #[cfg(test)]
        #[test]
        fn files_and_languages_agree() {
            $(
                let texts = |group: &$group| vec![$((stringify!($name), group.$name)),*];
                tests::check($folder, &texts(&$group::ZH), &texts(&$group::EN));
            )*
        }
    };
}

declare_texts! {
    /// The agent's texts: system prompts, and the messages that it adds to a conversation.
    AgentTexts in "agent" {
        default_system,
        compact_system,
        compact_tools,
        current_date,
        deep_search,
        untrusted_tools,
        user_instructions,
        tools_available,
        any_tool_required,
        named_tool_required,
        correction,
        truncated_call,
        call_too_long,
        call_empty,
        call_format_unknown,
        call_json_unreadable,
        call_string_open,
        call_json_incomplete,
        call_without_name,
        call_no_object,
        call_no_python,
        call_no_parameters,
        invented_result,
        missing_call,
        continuation,
        time_is_short,
        summarise,
        title,
        title_request,
        previous_summary,
        conversation,
        user_line,
        assistant_line,
        tool_line,
        summary,
        search_results,
        tool_results,
        failed_search,
        failed_calls,
        invalid_calls,
        partial_results,
        quoted,
        earlier_results,
        tools_off,
        reference_information,
        attached_note,
        unread_file,
        truncated,
        // The others are for users.
        no_answer,
        empty_reply,
        out_of_time,
    }

    /// What the tools of attachments return besides their text.
    AttachmentTexts in "attachments" {
        not_found,
        more,
        no_matches,
        unavailable,
    }

    /// Why arguments do not match a schema.
    ArgumentTexts in "arguments" {
        missing,
        invalid,
        not_an_object,
        too_large,
        separator,
        alternative,
        one_of,
        between,
        at_least,
        at_most,
        string,
        integer,
        number,
        boolean,
        array,
        object,
        null,
        other,
    }

    /// Notes on searches of articles, and their failures.
    ArticleTexts in "articles" {
        terms_only,
        embeddings_failed,
        other_model,
        meaning_only,
        not_indexed,
        no_results,
        search_failed,
        too_large,
        unavailable,
        blank_query,
    }

    /// Failures of calculations.
    CalculatorTexts in "calculator" {
        unreadable,
        failed,
        too_large,
        division_by_zero,
        zero_to_zero,
        imprecise,
        factorial,
        square_root,
        arc_sine,
        logarithm,
        logarithm_base,
        negative_power,
        too_long,
        empty,
        unknown_symbol,
        unbalanced,
        too_many_parentheses,
        too_complex,
        bad_number,
        stray_comma,
        malformed,
        incomplete,
        ambiguous_product,
        percent_as_remainder,
        unknown_name,
        argument_count,
    }

    /// How a system prompt teaches models to write calls as text.
    CallTexts in "calls" {
        instructions,
        format,
        example,
        parameter,
        described_parameter,
        facts,
        optional,
        default_value,
        fact_separator,
        list_separator,
    }

    /// Times and unknown time zones.
    CurrentTimeTexts in "current_time" {
        content,
        weekdays,
        unknown_zone,
        similar_zones,
    }

    /// Failures of custom tools and rejected arguments.
    CustomToolTexts in "custom_tools" {
        no_secret,
        short_secret,
        rate_limited,
        address_not_allowed,
        too_large,
        unreachable,
        status,
        no_match,
        may_have_run,
        server_error,
        unreadable,
        input_required,
        wrong_length,
        wrong_pattern,
        invalid_path,
        invalid_header,
    }

    /// The agent that answers from documents: its system prompt, and the results and failures of its tools.
    DocumentTexts in "documents" {
        system,
        invalid_path,
        not_found,
        is_folder,
        is_file,
        binary,
        unreadable,
        loading,
        unavailable,
        out_of_time,
        invalid_pattern,
        pattern_group,
        pattern_class,
        pattern_repetition,
        pattern_assertion,
        pattern_backreference,
        pattern_escape,
        pattern_too_large,
        pattern_faulty,
        invalid_glob,
        blank,
        // For users.
        progress,
        more_matches,
        more_files,
        more_entries,
        more_lines,
        cut_lines,
        incomplete,
    }

    /// Results and failures of searches and read pages.
    SearchTexts in "search" {
        summary,
        results,
        date,
        content,
        no_results,
        truncated,
        basic_only,
        stale,
        deepened,
        stale_for_user,
        page_number,
        page_title,
        page_truncated,
        search_failed,
        page_failed,
        do_not_invent,
        limited,
        out_of_budget,
        timed_out,
        busy,
        rejected,
        refused,
        spent,
        unavailable,
        bad_response,
        unreadable,
        blank_query,
        too_many_domains,
        invalid_domain,
        invalid_url,
        unknown_url,
        personal_url,
    }

    /// Results and failures of tools, and notes on them.
    ToolTexts in "tools" {
        failed,
        timed_out,
        broken,
        unknown_tool,
        no_tools,
        invalid_arguments,
        arguments_too_deep,
        arguments_too_long,
        arguments_unfit,
        too_many_calls,
        truncated,
        repeated_call,
    }
}

/// The content of a file without the line break at its end.
const fn without_line_break(text: &'static str) -> &'static str {
    match text.as_bytes() {
        [.., b'\n'] => text.split_at(text.len() - 1).0,
        _ => text,
    }
}

#[cfg(test)]
pub(crate) mod tests;
