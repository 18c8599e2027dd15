// The page of a shared copy: its title and messages for everyone who has the link, without a credential.

import { render, type ComponentChildren } from "preact";

import { wireCitations } from "../answer/citation-card.ts";
import { copySelection } from "../answer/excerpt.ts";
import { formatDate, t } from "../i18n/index.ts";
import { wireJumps } from "../markdown/jumps.ts";
import { rootUrl } from "../parts/load.ts";
import { Button } from "../view/controls.tsx";
import { showMessages, type StoredMessage } from "./read-only.ts";
import { texts } from "./texts.ts";

interface SharedCopy {
  title: string;
  createdAt: string;
  messages: StoredMessage[];
}

/** Shows a shared copy as the whole page. */
export async function showShared(id: string, main: HTMLElement): Promise<void> {
  const show = (content: ComponentChildren) => render(content, main);
  const open = <a class="button shared-open" href={rootUrl().href}>{texts.shared.open}</a>;
  show(<p class="loading">{t.loading}</p>);
  const response = await fetch(new URL(`api/shares/${id}`, rootUrl()), { credentials: "omit" }).catch(() => null);
  const copy: SharedCopy | null = response?.ok ? await response.json().catch(() => null) : null;
  if (copy === null) {
    const gone = response?.status === 404 || response?.status === 400;
    return show(
      <div class="load-error" role="alert">
        <h1>{gone ? texts.shared.gone : texts.shared.failed}</h1>
        {!gone && <Button icon="reload" onClick={() => void showShared(id, main)}>{t.retry}</Button>}
        {open}
      </div>,
    );
  }
  const title = copy.title || t.untitled;
  document.title = `${title} – Lambda Chat`;
  const time = formatDate(copy.createdAt, { dateStyle: "long" });
  show(
    <>
      <header class="shared-head">
        <h1 dir="auto">{title}</h1>
        <p>{texts.shared.copy(time)}</p>
      </header>
      <div id="messages" ref={(root) => showCopy(root, copy)} />
      {open}
    </>,
  );
}

function showCopy(root: HTMLElement | null, { messages }: SharedCopy): void {
  if (!root) return;
  showMessages(root, messages);
  document.addEventListener("copy", copySelection);
  wireCitations(root);
  wireJumps(root);
}
