use tracing::{Level, Metadata};

/// Whether a line of the log may be written at all, whatever levels were asked for.
///
/// The finest lines of the AWS SDK hold whole items: users' messages, titles and searches.
pub fn may_be_logged(metadata: &Metadata<'_>) -> bool {
    *metadata.level() < Level::TRACE || !metadata.target().starts_with("aws_")
}
