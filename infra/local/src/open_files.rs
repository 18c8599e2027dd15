//! How many connections the process may hold.

/// Raises the limit of open files to what the system allows: a stream takes two connections, and where the limit is 1,024 a
/// few hundred turns at once would be refused without need.
#[cfg(unix)]
pub(crate) fn allow_as_many_as_may_be() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// How many files the process may have open; `None` for as many as it likes.
#[cfg(unix)]
pub(crate) fn limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn limit() -> Option<u64> {
    None
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn allow_as_many_as_may_be() {}
