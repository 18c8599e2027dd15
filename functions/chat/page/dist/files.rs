// Written by build.mjs; do not edit.

/// The content security policy of the page: it permits exactly the script and the style of the document.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'sha256-GO2YWrNUf0oQQKnaUQfZ5AUzMAx9SWKYDO3ybgpQpuE=' 'sha256-z2BqIAnjR8PNZaSEkmj6SkSwa22Amd3lkDVI/Pel6UM='; style-src 'sha256-Quvz9GJxSaZyFsxThSMViKYoQaBQ12KoNgP30ecZC9c='; connect-src 'self'; img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The first digits of the document's SHA-256.
const DOCUMENT_HASH: &str = "1c8fa7f11fcf452c";

/// The document, compressed with gzip.
const DOCUMENT_GZIP: &[u8] = include_bytes!("index.html.gz");

/// The files that the page loads on demand. An immutable file has the hash of its content in its name.
const ASSETS: &[Asset] = &[
    Asset { name: "icon.svg", content_type: "image/svg+xml", immutable: false, gzip: include_bytes!("icon.svg.gz") },
    Asset { name: "manifest.webmanifest", content_type: "application/manifest+json", immutable: false, gzip: include_bytes!("manifest.webmanifest.gz") },
    Asset { name: "touch-icon.png", content_type: "image/png", immutable: false, gzip: include_bytes!("touch-icon.png.gz") },
    Asset { name: "licences.txt", content_type: "text/plain; charset=utf-8", immutable: false, gzip: include_bytes!("licences.txt.gz") },
    Asset { name: "formulas-3138f3d43d6b.woff2", content_type: "font/woff2", immutable: true, gzip: include_bytes!("formulas-3138f3d43d6b.woff2.gz") },
    Asset { name: "admin-a9bd6d2cc90e.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("admin-a9bd6d2cc90e.js.gz") },
    Asset { name: "code-bf0dd8bebc19.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("code-bf0dd8bebc19.js.gz") },
    Asset { name: "files-fa0527ffd241.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("files-fa0527ffd241.js.gz") },
    Asset { name: "library-ab7a5852e703.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("library-ab7a5852e703.js.gz") },
    Asset { name: "maths-8015670373d3.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("maths-8015670373d3.js.gz") },
    Asset { name: "settings-58211a731fb9.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("settings-58211a731fb9.js.gz") },
];
