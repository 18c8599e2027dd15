// Replaces the package with which markdown-it finds punctuation: the browser's regular expressions know the classes.

export const Any = /[\0-\u{10ffff}]/u;
export const Cc = /\p{Cc}/u;
export const Cf = /\p{Cf}/u;
export const P = /\p{P}/u;
export const S = /\p{S}/u;
export const Z = /\p{Z}/u;
