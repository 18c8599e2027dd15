// Pairs the delimiter runs (`*`, `_`, `~`) of emphasis. Pure.
//
// This is the delimiter stack of the CommonMark specification with two additions. `~~struck~~` is supported. Wide
// (Chinese, Japanese, Korean) characters count as a boundary, because `**标题：**正文` would otherwise never be bold.
// Each kind of closer stores how far back its search failed, which keeps the work linear.

const SPACE = /\s/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const WIDE =
  /[\u1100-\u11FF\u2E80-\u30FF\u3130-\u318F\u31A0-\uA4CF\uAC00-\uD7AF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFFEF]/;

/** Whether a character is Chinese, Japanese or Korean script or punctuation. */
export function isWide(char) {
  return WIDE.test(char);
}

/** Whether a run between two characters (undefined at an end of the text) can open and can close emphasis. */
export function flanking(char, before, after) {
  const left = canFlank(after, before);
  const right = canFlank(before, after);
  if (char !== "_") return { canOpen: left, canClose: right };
  return { canOpen: left && (!right || isPunctuation(before)), canClose: right && (!left || isPunctuation(after)) };
}

function canFlank(inner, outer) {
  if (isSpace(inner)) return false;
  return !isPunctuation(inner) || isSpace(outer) || isPunctuation(outer) || isWide(outer);
}

function isSpace(char) {
  return char === undefined || SPACE.test(char);
}

function isPunctuation(char) {
  return char !== undefined && PUNCTUATION.test(char);
}

/** The stack of runs; pairing writes the opened and closed tags into the runs' tokens. */
export class Emphasis {
  #last = null;
  #added = 0;

  /** Adds a run; `token` has `char`, `count`, `opens` and `closes`. */
  add(token, { canOpen, canClose }) {
    this.#added += 1;
    const run = { token, canOpen, canClose, size: token.count, index: this.#added, previous: this.#last, next: null };
    if (this.#last) this.#last.next = run;
    this.#last = run;
  }

  /** The current position of the stack; `resolve(mark)` pairs only the runs after it. */
  mark() {
    return this.#added;
  }

  /** Pairs the runs after `mark`, the start of a link's text, and removes them from the stack. */
  resolve(mark) {
    this.#pairAll(mark);
    this.#truncate(mark);
  }

  /** Pairs the remaining runs; with `partial`, returns the tokens that close the unclosed runs. */
  finish(partial) {
    this.#pairAll(0);
    return partial ? this.#closeOpenRuns() : [];
  }

  #pairAll(mark) {
    const lowerBounds = new Map();
    let closer = this.#first(mark);
    while (closer) closer = closer.canClose ? this.#close(closer, mark, lowerBounds) : closer.next;
  }

  /** Extends unclosed strong and struck text to the end of the text. */
  #closeOpenRuns() {
    const closes = [];
    for (let run = this.#first(0); run; run = run.next) {
      if (!run.canOpen || run.token.count !== 2 || run.token.char === "_") continue;
      run.token.count = 0;
      run.token.opens.push(run.token.char === "~" ? "del" : "strong");
      closes.push({ kind: "close" });
    }
    return closes;
  }

  #first(mark) {
    let run = this.#last;
    if (!run || run.index <= mark) return null;
    while (run.previous && run.previous.index > mark) run = run.previous;
    return run;
  }

  #truncate(mark) {
    const first = this.#first(mark);
    if (!first) return;
    this.#last = first.previous;
    if (this.#last) this.#last.next = null;
  }

  /** Searches the opener of one closer; returns the next run. */
  #close(closer, mark, lowerBounds) {
    const kind = `${closer.token.char}${closer.canOpen}${closer.token.char === "~" ? closer.size : closer.size % 3}`;
    const lowerBound = Math.max(mark, lowerBounds.get(kind) ?? 0);
    let opener = closer.previous;
    while (opener && opener.index > lowerBound && !pairs(opener, closer)) opener = opener.previous;
    if (opener && opener.index > lowerBound) return this.#pair(opener, closer);
    lowerBounds.set(kind, closer.previous?.index ?? 0);
    if (!closer.canOpen) this.#remove(closer);
    return closer.next;
  }

  #pair(opener, closer) {
    const used = opener.token.count >= 2 && closer.token.count >= 2 ? 2 : 1;
    const tag = closer.token.char === "~" ? "del" : ["em", "strong"][used - 1];
    opener.token.opens.push(tag);
    closer.token.closes.push(tag);
    opener.token.count -= used;
    closer.token.count -= used;
    opener.next = closer;
    closer.previous = opener;
    if (opener.token.count === 0) this.#remove(opener);
    if (closer.token.count > 0) return closer;
    this.#remove(closer);
    return closer.next;
  }

  #remove(run) {
    if (run.previous) run.previous.next = run.next;
    if (run.next) run.next.previous = run.previous;
    else this.#last = run.previous;
  }
}

function pairs(opener, closer) {
  if (!opener.canOpen || opener.token.char !== closer.token.char) return false;
  if (closer.token.char === "~") return opener.size === closer.size && closer.size <= 2;
  const oneIsBoth = opener.canClose || closer.canOpen;
  return !(oneIsBoth && (opener.size + closer.size) % 3 === 0 && (opener.size % 3 || closer.size % 3));
}
