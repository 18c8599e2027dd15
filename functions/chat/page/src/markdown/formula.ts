// Formulas: MathML once the part that makes it is loaded, TeX until then.

import { el } from "../view/dom.ts";
import { loadMaths, type Maths } from "../parts/load.ts";

/** The form of a formula. */
export interface FormulaForm {
  display: boolean;
  /** Whether the formula is a block of its own. */
  block?: boolean;
  /** Whether its end has not arrived yet. */
  open?: boolean;
}

/** The formulas that are made already, by form and TeX. */
const made = new Map<string, HTMLElement>();
const MAX_MADE = 500;

let maths: Maths | null = null;
let requested = false;

/** The element of a formula. */
export function formulaElement(tex: string, { display, block = false, open = false }: FormulaForm): HTMLElement {
  const attributes = { class: `math ${display ? "display" : "inline"}`, "data-tex": tex };
  const holder = el(block ? "div" : "span", { ...attributes, ...(block && { tabindex: "0" }) });
  if (open || !maths) {
    holder.append(el("code", {}, tex));
    if (!open) request();
    return holder;
  }
  holder.append(formula(maths, tex, display));
  return holder;
}

function formula(maths: Maths, tex: string, display: boolean): Node {
  const name = `${display}${tex}`;
  let element = made.get(name);
  if (!element) {
    element = el("span", {}, maths.toMathMl(tex, display) ?? el("code", {}, tex));
    if (made.size >= MAX_MADE) made.clear();
    made.set(name, element);
  }
  return element.firstChild?.cloneNode(true) ?? document.createTextNode(tex);
}

/** Loads the part and shows the formulas that are on the page. Without the part they stay TeX. */
function request(): void {
  if (requested) return;
  requested = true;
  void loadMaths().then((loaded) => {
    maths = loaded;
    for (const holder of document.querySelectorAll<HTMLElement>(".math[data-tex]")) {
      const display = holder.classList.contains("display");
      if (loaded) holder.replaceChildren(formula(loaded, holder.dataset.tex ?? "", display));
    }
  });
}
