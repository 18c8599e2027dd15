use crate::group::declare_texts;

declare_texts! {
    /// Notes on searches of articles, and their failures.
    ArticleTexts in "articles":
    /// Note: there are no embeddings, so only terms were searched.
    terms_only,
    /// Note: the query has no embedding, so only terms were searched.
    embeddings_failed,
    /// Note: the vectors of some articles are of another model.
    other_model,
    /// Note: only the meaning was searched.
    meaning_only,
    /// Note: some articles are not in the vector index.
    not_indexed,
    /// Note: nothing was found.
    no_results,
    /// A search failed for a `{reason}`.
    search_failed,
    /// Reason: there are too many articles.
    too_large,
    /// Reason: the articles cannot be read.
    unavailable,
    /// Argument error: the query is blank.
    blank_query,
}
