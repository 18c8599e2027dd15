// Articles that models can search: list, add and delete, for all callers or for one.

import { button, el, link } from "../view/dom.ts";
import { withoutEmpty } from "./agents.ts";
import { openForm } from "./form.ts";
import type { Context } from "./kit.ts";
import { action, table, time } from "./list.ts";

interface Article {
  id: string;
  title: string;
  url?: string;
  chunkCount: number;
  updatedAt: string;
}

/** The panel of articles. */
export async function articlesPanel(context: Context): Promise<HTMLElement[]> {
  const { texts } = context;
  const list = el("div", {});
  const more = button(texts.more, () => void attempt(false));
  const field = el("input", { type: "search", id: "article-owner", autocomplete: "off", spellcheck: false });
  const filter = el("form", { class: "admin-filter" }, el("label", { for: "article-owner" }, texts.articles.ownerFilter), field);
  filter.append(el("button", { type: "submit", class: "button" }, texts.articles.filter));
  const add = button(texts.articles.add, () => create(context, owner, () => attempt(true)), { iconName: "new" });
  let owner = "";
  let articles: Article[] = [];
  let cursor: string | null = null;
  const load = async (again: boolean) => {
    const query = new URLSearchParams({ limit: "50", ...(owner && { owner }), ...(cursor && !again && { cursor }) });
    const page = await context.request<{ articles: Article[]; nextCursor: string | null }>("GET", `/api/admin/articles?${query}`);
    articles = again ? page.articles : [...articles, ...page.articles];
    cursor = page.nextCursor;
    more.hidden = cursor === null;
    const rows = articles.map((article) => row(context, article, () => remove(context, article, owner, () => attempt(true))));
    list.replaceChildren(rows.length === 0 ? el("p", {}, texts.none) : table(texts.tabs.articles, texts.articles.columns, rows));
  };
  const attempt = (again: boolean) =>
    load(again).catch((thrown: unknown) => list.append(el("p", { class: "field-error", role: "alert" }, context.errorText(thrown))));
  filter.addEventListener("submit", (event) => {
    event.preventDefault();
    owner = field.value.trim();
    void attempt(true);
  });
  await load(true);
  return [add, el("p", { class: "dim" }, texts.articles.note), filter, list, more];
}

function row(context: Context, { title, url, chunkCount, updatedAt }: Article, onRemove: () => void): (string | HTMLElement)[] {
  const name = url && /^https?:/.test(url) ? link(url, { dir: "auto" }, title) : el("span", { dir: "auto" }, title);
  const size = new Intl.NumberFormat(context.locale).format(chunkCount);
  return [name, size, time(context, updatedAt), action(context.texts.remove, title, onRemove, "text risky")];
}

function create(context: Context, owner: string, refresh: () => Promise<void>): void {
  const { save, articles: texts } = context.texts;
  openForm(context, {
    id: "article-form",
    title: texts.add,
    submit: save,
    fields: {
      title: { label: texts.title, kind: "text", value: "" },
      url: { label: texts.url, kind: "text", value: "", placeholder: "https://" },
      format: { label: texts.format, kind: "select", value: "markdown", options: texts.formats },
      content: { label: texts.content, kind: "area", value: "" },
      owner: { label: texts.owner, kind: "text", value: owner },
    },
    onSubmit: async ({ format, content, ...names }) => {
      await context.request("POST", "/api/admin/articles", { ...withoutEmpty(names), [String(format)]: content ?? "" });
      await refresh();
    },
  });
}

function remove(context: Context, { id, title }: Article, owner: string, refresh: () => Promise<void>): void {
  const { texts } = context;
  context.confirm(texts.removeTitle(title), texts.removeText, texts.remove, async () => {
    const query = owner ? `?${new URLSearchParams({ owner })}` : "";
    await context.request("DELETE", `/api/admin/articles/${encodeURIComponent(id)}${query}`);
    await refresh();
  });
}
