// Written by build.mjs; do not edit.

/// The content security policy of the page: it permits exactly the script and the style of the document.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'sha256-GO2YWrNUf0oQQKnaUQfZ5AUzMAx9SWKYDO3ybgpQpuE=' 'sha256-6w18I6lRmie4MtMX2fs6fahMHSN9BdL00Kj8/tsaRDI='; style-src 'sha256-5CvBbx0DS4b1D9bDiyVP9uR4aB2OS3siUCEsPPWvpeM='; connect-src 'self'; img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The first digits of the document's SHA-256.
const DOCUMENT_HASH: &str = "5867590561b2c414";

/// The document, compressed with gzip.
const DOCUMENT_GZIP: &[u8] = include_bytes!("index.html.gz");

/// The files that the page loads on demand. An immutable file has the hash of its content in its name.
const ASSETS: &[Asset] = &[
    Asset { name: "icon.svg", content_type: "image/svg+xml", immutable: false, gzip: include_bytes!("icon.svg.gz") },
    Asset { name: "manifest.webmanifest", content_type: "application/manifest+json", immutable: false, gzip: include_bytes!("manifest.webmanifest.gz") },
    Asset { name: "touch-icon.png", content_type: "image/png", immutable: false, gzip: include_bytes!("touch-icon.png.gz") },
    Asset { name: "licences.txt", content_type: "text/plain; charset=utf-8", immutable: false, gzip: include_bytes!("licences.txt.gz") },
    Asset { name: "formulas-3138f3d43d6b.woff2", content_type: "font/woff2", immutable: true, gzip: include_bytes!("formulas-3138f3d43d6b.woff2.gz") },
    Asset { name: "admin-116f669fd57d.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("admin-116f669fd57d.js.gz") },
    Asset { name: "code-bf0dd8bebc19.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("code-bf0dd8bebc19.js.gz") },
    Asset { name: "files-fa0527ffd241.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("files-fa0527ffd241.js.gz") },
    Asset { name: "library-d09098d3e05a.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("library-d09098d3e05a.js.gz") },
    Asset { name: "maths-8015670373d3.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("maths-8015670373d3.js.gz") },
    Asset { name: "settings-4d35d6e413b1.js", content_type: "text/javascript; charset=utf-8", immutable: true, gzip: include_bytes!("settings-4d35d6e413b1.js.gz") },
];
