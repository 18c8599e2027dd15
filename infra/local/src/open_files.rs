//! The process's limit of open files, and so of connections.

/// Raises the limit of open files to the system's maximum.
///
/// A stream takes two connections, so with a limit of 1,024 some hundred concurrent turns would be rejected needlessly.
pub(crate) fn raise_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Returns the limit of open files; `None` for no limit.
pub(crate) fn limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}
