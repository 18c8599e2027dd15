//! Links the function at a fixed address (docs/adr/0036), with equal functions and constants once and in the order that compresses best
//! (docs/adr/0008), and passes the commit that is built on to it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    // The pipeline and releases set it. Git is not called: another commit alone must not compile this crate again.
    println!("cargo:rerun-if-env-changed=LAMBDA_CHAT_COMMIT");
    let commit = variable("LAMBDA_CHAT_COMMIT");
    println!("cargo:rustc-env=LAMBDA_CHAT_COMMIT={}", if commit.is_empty() { "unknown" } else { &commit });
    // Only where the C library is linked dynamically; a static program starts with other objects.
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // Another linker is that of cargo-zigbuild, which infra/pipeline/zig orders.
        let is_default = variable("RUSTC_LINKER").is_empty() && variable("HOST") == variable("TARGET");
        if let Some(folder) = rust_lld().filter(|_| is_default && variable("PROFILE") == "release") {
            println!("cargo:rustc-link-arg-bins=-B{}", folder.display());
            println!("cargo:rustc-link-arg-bins=-fuse-ld=lld");
            println!(
                "cargo:rustc-link-arg-bins=-Wl,-O2,--icf=all,--ignore-data-address-equality,--bp-compression-sort=both"
            );
        }
    }
}

/// The folder of the linker that comes with the compiler, which alone has the order.
fn rust_lld() -> Option<PathBuf> {
    let printed = Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim());
    let folder = sysroot.join("lib/rustlib").join(env::var_os("HOST")?).join("bin/gcc-ld");
    folder.join("ld.lld").exists().then_some(folder)
}
