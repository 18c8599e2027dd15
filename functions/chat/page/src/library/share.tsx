// The dialog to share a conversation: creates a link to a copy, lists the links and revokes them.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { truncate } from "../answer/strings.ts";
import { request } from "../api/client.ts";
import type { Conversation, Message, Share } from "../api/types.ts";
import { formatDate, t } from "../i18n/index.ts";
import { rootUrl } from "../parts/load.ts";
import { Select } from "../settings/select.tsx";
import { Button, CopyButton, type Options } from "../view/controls.tsx";
import { showDialog } from "../view/dialog.ts";
import { failureText } from "../view/failures.ts";
import { useLoaded } from "../view/loaded.ts";
import { Status } from "./status.tsx";
import { texts } from "./texts.ts";

const DAYS = [7, 30, 90, 365];

/** Opens the dialog. */
export function openShare(conversation: Pick<Conversation, "id" | "title">): void {
  showDialog({ id: "share-dialog", title: texts.share.title, content: <ShareContent {...conversation} /> });
}

function ShareContent({ id, title }: Pick<Conversation, "id" | "title">) {
  const path = `/api/conversations/${encodeURIComponent(id)}`;
  const shares = useSignal<Share[] | null>(null);
  const [status, failure, isBusy, expiry, until] = [useSignal(""), useSignal(""), useSignal(false), useSignal("30"), useSignal("")];
  // The whole conversation can be shared without the list of answers.
  const answers = useLoaded(() => request<{ messages: Message[] }>("GET", `${path}?from=end&limit=100`));
  const ends: Options = [["", texts.share.whole], ...answerOptions(answers.value?.messages ?? [])];
  const fail = (thrown: unknown) => void (failure.value = failureText(thrown));
  const load = async () => {
    ({ shares: shares.value } = await request<{ shares: Share[] }>("GET", `${path}/shares`));
  };
  const create = async () => {
    [failure.value, isBusy.value] = ["", true];
    const choice = { expiresInDays: Number(expiry.value), ...(until.value && { messageId: until.value }) };
    const made = await request<Share>("POST", `${path}/shares`, choice);
    shares.value = [made, ...(shares.value ?? [])];
    status.value = texts.share.created;
    queueMicrotask(focusLinks);
  };
  const revoke = async (revoked: Share) => {
    await request("DELETE", `${path}/shares/${encodeURIComponent(revoked.id)}`);
    shares.value = (shares.value ?? []).filter((share) => share !== revoked);
    status.value = texts.share.revoked;
    queueMicrotask(focusLinks);
  };
  useEffect(() => void load().catch(fail), []);
  return (
    <>
      <p class="share-title" dir="auto">{title || t.untitled}</p>
      <p class="warning">{texts.share.warning}</p>
      <p class="hint">{texts.share.text}</p>
      <Select
        id="share-expiry"
        label={texts.share.expiry}
        options={DAYS.map((days) => [String(days), texts.share.days(days)])}
        selected={expiry.value}
        onSelect={(days) => (expiry.value = days)}
      />
      <Select id="share-until" label={texts.share.until} options={ends} selected={until.value} onSelect={(messageId) => (until.value = messageId)} />
      <div class="row">
        <Button icon="share" kind="primary" disabled={isBusy.value} onClick={() => void create().catch(fail).finally(() => (isBusy.value = false))}>{texts.share.create}</Button>
      </div>
      <Status text={status.value} failure={failure.value} />
      <Links shares={shares.value} onCopied={() => (status.value = t.copied)} onRevoke={(share) => void revoke(share).catch(fail)} />
    </>
  );
}

interface LinkActions {
  onCopied: () => void;
  onRevoke: (share: Share) => void;
}

/** The links to the conversation; null while they are loading. */
function Links({ shares, ...actions }: LinkActions & { shares: Share[] | null }) {
  return (
    <>
      <h3>{texts.share.links}</h3>
      <ul class="shares">
        {shares?.map((share) => <Link key={share.id} share={share} {...actions} />)}
        {!shares?.length && <li>{shares ? texts.share.none : t.loading}</li>}
      </ul>
    </>
  );
}

/** Focuses the button of the newest link, else the one that creates a link. */
function focusLinks(): void {
  const dialog = document.getElementById("share-dialog");
  (dialog?.querySelector<HTMLElement>(".shares button") ?? dialog?.querySelector<HTMLElement>(".primary"))?.focus();
}

/** One option per recent answer, named after its question, the newest first. */
function answerOptions(messages: Message[]): [id: string, label: string][] {
  let question = "";
  const options: [id: string, label: string][] = [];
  for (const { id, role, content = "" } of messages) {
    if (role === "user") question = content.trim().replace(/\s+/g, " ");
    else options.unshift([id, texts.share.upTo(truncate(question, 50))]);
  }
  return options;
}

function Link({ share, onCopied, onRevoke }: LinkActions & { share: Share }) {
  const address = new URL(share.url, rootUrl()).href;
  const made = formatDate(share.createdAt);
  return (
    <li>
      <div class="share-link">
        <a href={address} target="_blank" rel="noopener">{address}</a>
        <small>{`${texts.share.made(made)} · ${texts.share.expires(formatDate(share.expiresAt))}`}</small>
      </div>
      <div class="row">
        <CopyButton text={address} aria-label={texts.share.of(t.copy, made)} onCopied={onCopied} />
        <Button kind="text risky" aria-label={texts.share.of(texts.share.revoke, made)} onClick={() => onRevoke(share)}>{texts.share.revoke}</Button>
      </div>
    </li>
  );
}
