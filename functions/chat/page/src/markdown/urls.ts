// Replaces the package with which markdown-it writes URLs. They need not be taken apart: the browser's `URL` does it for each
// link (`links.ts`), and encodes host names.

/** The whole URL as the part that is encoded. */
export const parse = (pathname: string) => ({ pathname });

export const format = ({ pathname }: { pathname: string }) => pathname;

/** Encodes what a URL cannot have; what is encoded stays. */
export function encode(url: string): string {
  return encodeURI(url.replace(/\p{Surrogate}/gu, "\ufffd")).replace(/%25([\da-f]{2})/gi, "%$1");
}

/** Decodes what is no mark of a URL, for the text of a link. */
export function decode(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

decode.defaultChars = "";
