// The Markdown dialect of the page: CommonMark and GFM, with what models write in addition.
//
// markdown-it parses; `render.ts` makes elements of its tokens. HTML stays text, except for an allow-list of tags.

import createMarkdownIt, { type MarkdownIt, type StateCore, type Token } from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";
import footnote from "markdown-it-footnote";

import { addBlockRules } from "./block-rules.ts";
import { addCitations } from "./citations.ts";
import { documentReferences } from "./document-references.ts";
import { addHtmlTags } from "./html-tags.ts";
import { bareLinks, safeHref } from "./links.ts";
import { addMaths } from "./maths.ts";
import { addPartialRules } from "./partial.ts";

/** What the rules know of the text; it is shared by all parses of one growing text. */
export interface Env extends Record<PropertyKey, unknown> {
  /** Whether the text may continue. */
  partial: boolean;
  /** Whether the current inline text is the last one of a partial text. */
  tail?: boolean;
  references?: Record<string, { title: string; href: string }>;
  footnotes?: { refs?: Record<string, number>; list?: unknown[] };
}

const md = createParser();

function createParser(): MarkdownIt {
  const parser = createMarkdownIt({ html: false, linkify: false, breaks: true });
  parser.validateLink = (url) => safeHref(url) !== null;
  parser.use(cjkFriendly);
  parser.use(footnote);
  addMaths(parser);
  addHtmlTags(parser);
  addCitations(parser);
  addBlockRules(parser);
  addPartialRules(parser);
  parser.core.ruler.push("bare_links", linkBareUrls);
  parser.core.ruler.push("document_references", markReferences);
  return parser;
}

/** Parses a text into block tokens. */
export function parse(text: string, env: Env): Token[] {
  return md.parse(text, env);
}

type Split = (token: Token, state: StateCore) => Token[];

function linkBareUrls(state: StateCore): void {
  splitTexts(state, splitAtLinks);
}

function markReferences(state: StateCore): void {
  splitTexts(state, splitAtReferences);
}

/** Splits the text tokens outside of links. */
function splitTexts(state: StateCore, split: Split): void {
  for (const block of state.tokens) {
    if (block.type !== "inline" || !block.children) continue;
    let depth = 0;
    block.children = block.children.flatMap((token) => {
      if (token.type === "link_open") depth += 1;
      if (token.type === "link_close") depth -= 1;
      return token.type === "text" && depth === 0 ? split(token, state) : [token];
    });
  }
}

function textToken(state: StateCore, content: string): Token {
  const token = new state.Token("text", "", 0);
  token.content = content;
  return token;
}

/** Bare URLs become links. */
function splitAtLinks(token: Token, state: StateCore): Token[] {
  const links = bareLinks(token.content);
  if (links.length === 0) return [token];
  const tokens: Token[] = [];
  const text = (content: string) => textToken(state, content);
  let at = 0;
  for (const { start, end, href } of links) {
    const open = new state.Token("link_open", "a", 1);
    open.attrs = [["href", href]];
    tokens.push(text(token.content.slice(at, start)), open, text(token.content.slice(start, end)));
    tokens.push(new state.Token("link_close", "a", -1));
    at = end;
  }
  return [...tokens, text(token.content.slice(at))];
}

/** References to lines of documents become tokens with the reference as `meta`. */
function splitAtReferences(token: Token, state: StateCore): Token[] {
  const references = documentReferences(token.content);
  if (references.length === 0) return [token];
  const tokens: Token[] = [];
  let at = 0;
  for (const { start, end, ...reference } of references) {
    const part = new state.Token("document_reference", "", 0);
    part.content = token.content.slice(start, end);
    part.meta = reference;
    tokens.push(textToken(state, token.content.slice(at, start)), part);
    at = end;
  }
  return [...tokens, textToken(state, token.content.slice(at))];
}
