// Replaces the package with which markdown-it writes host names: the browser's `URL` does it for each link (`links.ts`).

const unchanged = (host: string) => host;

export default { toASCII: unchanged, toUnicode: unchanged };
