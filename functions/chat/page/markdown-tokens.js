// Flattens the scanner's tokens into well-nested output tokens. Pure.

const MAX_NESTING = 8;

/** Replaces each delimiter run by its closing tokens, its unpaired characters and its opening tokens. */
export function flatten(tokens) {
  const output = new TokenList();
  for (const token of tokens) {
    if (token.kind !== "run") {
      output.add(token);
      continue;
    }
    for (let n = 0; n < token.closes.length; n += 1) output.add({ kind: "close" });
    if (token.count > 0) output.add({ kind: "text", text: token.char.repeat(token.count) });
    for (const tag of token.opens.reverse()) output.add({ kind: "open", tag });
  }
  return output.tokens;
}

/** The output tokens. Adjacent texts are joined; elements below the maximum depth keep only their text. */
class TokenList {
  tokens = [];
  #levels = [];
  #depth = 0;

  add(token) {
    if (token.kind === "open") this.#open(token);
    else if (token.kind === "close") this.#close(token);
    else if (token.kind === "text") this.#text(token.text);
    else this.tokens.push(token);
  }

  #open(token) {
    const kept = this.#depth < MAX_NESTING;
    this.#levels.push(kept);
    if (!kept) return;
    this.#depth += 1;
    this.tokens.push(token);
  }

  #close(token) {
    if (!this.#levels.pop()) return;
    this.#depth -= 1;
    this.tokens.push(token);
  }

  #text(text) {
    const last = this.tokens.at(-1);
    if (last?.kind === "text") last.text += text;
    else this.tokens.push({ kind: "text", text });
  }
}
