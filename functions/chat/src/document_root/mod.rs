//! The documents of a deployment: the folder of `DOCUMENTS_DIR`, its tools and its agent.
//!
//! A build without the feature `documents` has no root, and refuses to start with one.

#[cfg(any(not(feature = "documents"), test))]
#[cfg_attr(
    feature = "documents",
    expect(dead_code, unreachable_pub, reason = "of this, a test needs the settings only")
)]
mod absent;
#[cfg(feature = "documents")]
mod present;

#[cfg(not(feature = "documents"))]
pub use self::absent::DocumentRoot;
#[cfg(feature = "documents")]
pub use self::present::DocumentRoot;

/// The setting with the folder.
pub const DOCUMENTS_DIR: &str = "DOCUMENTS_DIR";

/// The setting that shows hidden and ignored files.
const DOCUMENTS_HIDDEN: &str = "DOCUMENTS_HIDDEN";

/// The setting with the groups of paths.
const DOCUMENT_GROUPS: &str = "DOCUMENT_GROUPS";

/// The names of the tools, also in a build without them: no new custom tool may have one.
pub(crate) const DOCUMENT_TOOLS: [&str; 4] = ["grep_search", "glob_search", "read_file", "list_directory"];
