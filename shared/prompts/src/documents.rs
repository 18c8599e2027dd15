use crate::group::declare_texts;

declare_texts! {
    /// The agent that answers from documents: its system prompt, and the results and failures of its tools.
    DocumentTexts in "documents":
    /// The system prompt of the agent.
    system,
    /// Reason: a path that is not one below the root.
    invalid_path,
    /// Reason: nothing is at the path.
    not_found,
    /// Reason: a folder is at the path, not a file.
    is_folder,
    /// Reason: a file is at the path, not a folder.
    is_file,
    /// Reason: the file is not text.
    binary,
    /// Reason: the file or the folder cannot be read.
    unreadable,
    /// Reason: the documents are still being copied to this instance.
    loading,
    /// Reason: the documents cannot be copied to this instance.
    unavailable,
    /// Reason: time ran out.
    out_of_time,
    /// Argument error: no regular expression, for a `{reason}`.
    invalid_pattern,
    /// Fault of a pattern: its parentheses are not balanced.
    pattern_group,
    /// Fault of a pattern: a set in brackets is faulty.
    pattern_class,
    /// Fault of a pattern: a repetition is faulty.
    pattern_repetition,
    /// Fault of a pattern: it has assertions about the text around.
    pattern_assertion,
    /// Fault of a pattern: it has backreferences.
    pattern_backreference,
    /// Fault of a pattern: an unknown escape.
    pattern_escape,
    /// Fault of a pattern: it exceeds a limit.
    pattern_too_large,
    /// Fault of a pattern: any other.
    pattern_faulty,
    /// Argument error: the `{field}` is no glob.
    invalid_glob,
    /// Argument error: the `{field}` is blank.
    blank,
    /// For users: `{done}` of `{total}` files have been searched.
    progress,
    /// Note: some matches are left out.
    more_matches,
    /// Note: files from `{offset}` on are left out.
    more_files,
    /// Note: entries of the tree are left out.
    more_entries,
    /// Note: lines from `{offset}` on are left out.
    more_lines,
    /// Note: long lines are cut.
    cut_lines,
    /// Note: not all files were searched.
    incomplete,
}
