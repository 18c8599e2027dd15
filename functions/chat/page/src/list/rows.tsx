// The rows of the list: a conversation with its menu, and what a search found in it.

import { Component } from "preact";

import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { addressOf } from "../state/address.ts";
import type { Mark } from "../state/lists.ts";
import { ActionMenu } from "../view/action-menu.tsx";
import { Icon } from "../view/controls.tsx";
import { actionsOf } from "./actions.ts";

/** A text without the marks of Markdown for links, tables, code, emphasis and headings. */
const plain = (text: string) =>
  text
    .replace(/!?\[ ?((?:[^[\]]|\[\[|\]\])*?) ?\]\([^\s)]*\)?/g, "$1")
    .replace(/:?-{3,}:?|\|/g, " ")
    .replace(/(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|`+|~~|(?<=^|\s)#{1,6} /g, "");

/** What a search found: the text between `[[` and `]]` is marked. */
export function Snippet({ text }: { text: string }) {
  const [first, ...parts] = plain(text).split("[[");
  return (
    <>
      {first}
      {parts.map((part) => {
        const end = part.indexOf("]]");
        return end < 0 ? `[[${part}` : [<mark>{part.slice(0, end)}</mark>, part.slice(end + 2)];
      })}
    </>
  );
}

export interface RowProps {
  conversation: Conversation;
  current: boolean;
  mark: Mark | undefined;
}

interface PartProps {
  label: string;
  rows: RowProps[];
}

/** Rows that the browser lays out together. They are compared again only if one of them changed: a list may have thousands. */
export class Part extends Component<PartProps> {
  override shouldComponentUpdate({ label, rows }: PartProps): boolean {
    const before = this.props.rows;
    const differs = ({ conversation, current, mark }: RowProps, at: number) =>
      conversation !== before[at]?.conversation || current !== before[at].current || mark !== before[at].mark;
    return label !== this.props.label || rows.length !== before.length || rows.some(differs);
  }

  override render({ label, rows }: PartProps) {
    return <ul aria-label={label}>{rows.map((row) => <Row key={`${row.conversation.id} ${row.conversation.title}`} {...row} />)}</ul>;
  }
}

function Row({ conversation, current, mark }: RowProps) {
  const { id, pinned, matches = [] } = conversation;
  const title = conversation.title || t.untitled;
  return (
    <li class={current ? "current" : undefined}>
      <a href={addressOf(id, matches[0]?.messageId)} title={title} dir="auto" data-focus={id} aria-current={current ? "page" : undefined} aria-description={mark && t.list[mark]}>{title}</a>
      {mark && <span class={mark === "running" ? "spinner" : "unread"} role="img" aria-label={t.list[mark]} title={t.list[mark]} />}
      {pinned && <Icon name="pin" />}
      <ActionMenu label={t.list.actions(title)} actions={() => actionsOf(id)} focusKey={`actions-${id}`} />
      {matches.length > 0 && (
        <div class="matches">
          {matches.map(({ messageId, snippet }) => <a key={messageId} href={addressOf(id, messageId)} dir="auto"><Snippet text={snippet} /></a>)}
        </div>
      )}
    </li>
  );
}
