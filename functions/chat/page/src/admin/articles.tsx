// Articles that models can search: list, add and delete, for all callers or for one.

import { useSignal } from "@preact/signals";

import { request } from "../api/client.ts";
import { formatNumber } from "../i18n/index.ts";
import { withoutEmpty, type ItemForm, type Values } from "./form.tsx";
import { Filter, FormLink, Loaded, RemoveAction, Table, timeText, usePages } from "./list.tsx";
import { texts } from "./texts.ts";
import { hrefOf, NEW } from "./view.ts";

interface Article {
  id: string;
  title: string;
  url?: string;
  chunkCount: number;
  updatedAt: string;
  groups?: string[];
}

const PATH = "/api/admin/articles";

/** The panel of articles. */
export function ArticlesPanel() {
  const owner = useSignal("");
  const selection: Record<string, string> = owner.value === "" ? {} : { owner: owner.value };
  const pages = usePages<Article>("articles", PATH, { limit: "50", ...selection });
  const row = (article: Article) => {
    const { id, title, chunkCount, updatedAt, groups = [] } = article;
    const path = `${PATH}/${encodeURIComponent(id)}?${new URLSearchParams(selection)}`;
    return [
      <span><Name {...article} /><span class="dim">{groups.map((group) => ` · ${group}`)}</span></span>,
      formatNumber(chunkCount),
      timeText(updatedAt),
      <RemoveAction name={title} path={path} onRemoved={() => void pages.refresh()} />,
    ];
  };
  const head = (
    <>
      <FormLink label={texts.articles.add} href={hrefOf("articles", NEW)} />
      <p class="dim">{texts.articles.note}</p>
      <Filter id="article-owner" label={texts.articles.ownerFilter} submit={texts.articles.filter} value={owner} pages={pages} />
    </>
  );
  return <Loaded pages={pages} head={head}>{(articles) => <Table label={texts.tabs.articles} columns={texts.articles.columns} rows={articles.map(row)} />}</Loaded>;
}

function Name({ url, title }: Article) {
  if (!url || !/^https?:/.test(url)) return <span dir="auto">{title}</span>;
  return <a href={url} title={url} target="_blank" rel="noopener noreferrer nofollow" dir="auto">{title}</a>;
}

/** The form of a new article. */
export async function articleForm(): Promise<ItemForm> {
  const label = texts.articles;
  const groups: ItemForm["groups"] = {
    "": {
      title: { label: label.title, kind: "text", value: "" },
      url: { label: label.url, kind: "text", value: "", placeholder: "https://" },
      format: { label: label.format, kind: "select", value: "markdown", options: label.formats },
      content: { label: label.content, kind: "area", value: "" },
      owner: { label: label.owner, kind: "text", value: "" },
      groups: { label: label.groups, kind: "names", value: [] },
    },
  };
  const save = async ({ format, content, groups, ...names }: Values) => {
    const limits = (groups as string[]).length > 0 ? { groups } : {};
    await request("POST", PATH, { ...withoutEmpty(names), ...limits, [String(format)]: content ?? "" });
  };
  return { id: "article-form", title: label.add, groups, save };
}
