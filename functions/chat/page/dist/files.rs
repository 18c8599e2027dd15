// Written by build.mjs; do not edit.

/// The content security policy of the page: it permits exactly the script and the style of the document.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'sha256-2zJefAkWTaLBLO2WwskdHnSKD8OE9DRBuuAVgIcKvjY=' 'sha256-Vt+uyJx7t0FquMnQcRqYHt2hxu5OyGnmobI1Q/izc7o='; style-src 'sha256-f6z9vMg50ZAkmpuyFafH1oFj1aZ7C+qWPgVpSAU/XFU='; connect-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The first digits of the document's SHA-256.
const DOCUMENT_HASH: &str = "6dee5231cb96843a";

/// The document, compressed with gzip.
const DOCUMENT_GZIP: &[u8] = include_bytes!("index.html.gz");

/// The files that the page loads on demand. An immutable file has the hash of its content in its name.
const ASSETS: &[Asset] = &[
    Asset { name: "icon.svg", content_type: "image/svg+xml", immutable: false, gzip: include_bytes!("icon.svg.gz") },
    Asset { name: "manifest.webmanifest", content_type: "application/manifest+json", immutable: false, gzip: include_bytes!("manifest.webmanifest.gz") },
    Asset { name: "licences.txt", content_type: "text/plain; charset=utf-8", immutable: false, gzip: include_bytes!("licences.txt.gz") },
    Asset { name: "admin-b8fcc7bc5c94.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("admin-b8fcc7bc5c94.js.gz") },
    Asset { name: "code-0fe4998670d8.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("code-0fe4998670d8.js.gz") },
    Asset { name: "maths-97f2026f9b17.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("maths-97f2026f9b17.js.gz") },
];
