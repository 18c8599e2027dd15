//! Links the function at a fixed address (docs/adr/0036).

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Only where the C library is linked dynamically; a static program starts with other objects.
    let variable = |name| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
