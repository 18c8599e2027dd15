//! Documents in S3: objects below a prefix, copied to the local disk and kept fresh by their `ETag`s.
//!
//! **Invariant:** a tree is served only once all its files are there. A change makes a new tree, in which unchanged files
//! are hard links; a call keeps the tree that it began with.

mod address;
mod client;
mod fault;
#[cfg(test)]
mod fuzz;
mod listing;
mod mirror;
mod storage;

pub use address::BucketAddress;
pub use mirror::{BucketMirror, MirrorLimits};
