// The setup guide: three steps from the demo to a real model, and a check whether it works.

import { t } from "../i18n/index.ts";
import { showDialog } from "../view/dialog.ts";
import { button, copyText, el, flash, type Child } from "../view/dom.ts";
import { commandsFor, type Platform, type Provider } from "./commands.ts";
import { modelCheck } from "./model-check.ts";

const PROVIDERS: readonly Provider[] = ["ark", "openai", "ollama"];
const PLATFORMS: readonly Platform[] = ["laptop", "lambda"];

/** Opens the guide. */
export function openGuide(): void {
  // A page on a computer's own address is served by `cargo run`.
  let platform: Platform = /^(localhost|127\.|\[::1\])/.test(location.hostname) ? "laptop" : "lambda";
  let provider: Provider = t.locale === "zh-CN" ? "ark" : "openai";
  const steps = el("ol", { class: "steps-guide" });
  const show = () => steps.replaceChildren(...stepsFor(provider, platform));
  const providers = choice(t.setup.provider, PROVIDERS.map((id) => [id, t.setup.providers[id]]), provider, (id) => {
    provider = id;
    show();
  });
  const platforms = choice(t.setup.platform, PLATFORMS.map((id) => [id, t.setup.platforms[id]]), platform, (id) => {
    platform = id;
    show();
  });
  show();
  const reload = button(t.setup.reload, () => location.reload(), { kind: "primary" });
  const check = modelCheck(() => check.append(reload));
  showDialog({
    id: "setup-dialog",
    title: t.setup.title,
    body: [el("p", {}, t.setup.intro), providers, platforms, steps, check],
  });
}

function stepsFor(provider: Provider, platform: Platform): HTMLElement[] {
  const commands = commandsFor(provider, platform);
  const where = platform === "laptop" ? t.setup.inTerminal : provider === "ollama" ? t.setup.ollamaText : t.setup.inParameters;
  return [
    step(t.setup.modelStep, where, commands.model),
    step(t.setup.searchStep, t.setup.searchText, commands.search),
    step(t.setup.startStep[platform], "", commands.start),
  ];
}

function step(title: string, text: string, commands: string): HTMLElement {
  const copy = button(t.copy, () => void copyText(commands).then(() => flash(copy, t.copied, t.copy)), { iconName: "copy", kind: "text" });
  copy.setAttribute("aria-label", `${t.setup.copy}: ${title}`);
  const lines = el("pre", { tabindex: 0, class: "scrolls", role: "group", "aria-label": title }, el("code", {}, commands));
  const heading = el("div", { class: "step-head" }, el("h3", {}, title), copy);
  return el("li", {}, heading, text ? el("p", {}, text) : [], lines);
}

function choice<Id extends string>(
  label: string,
  options: [value: Id, text: string][],
  selected: Id,
  onSelect: (value: Id) => void,
): HTMLElement {
  const id = `setup-${options[0]?.[0]}`;
  const items: Child[] = options.map(([value, text]) => el("option", { value, selected: value === selected }, text));
  const node = el("select", { id }, items);
  node.addEventListener("change", () => onSelect(node.value as Id));
  return el("div", { class: "setting" }, el("label", { for: id }, label), node);
}
