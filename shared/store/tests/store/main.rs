//! The stores against the embedded database, through the real SDK.

mod cache;
mod limits;
mod support;
mod turns;
