// The way to the administration, for administrators; its code is loaded on first use.

import { errorText } from "../answer/strings.ts";
import { readUsage } from "../api/account.ts";
import { ApiError, request } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { loadAdministration } from "../parts/load.ts";
import { modelCheck } from "../setup/model-check.ts";
import { openDialog } from "../view/dialog.ts";
import { button, copyText, el } from "../view/dom.ts";
import { meters, usageTable } from "./usage.ts";

/** The section; hidden until the caller is known to be an administrator. `close` closes the settings. */
export function administrationSection(close: () => void): HTMLElement {
  const failure = el("p", { class: "field-error", role: "alert" });
  const open = async () => {
    const part = await loadAdministration();
    if (part === null) {
      failure.textContent = t.settings.administrationFailed;
      return;
    }
    close();
    part.openAdministration({
      locale: t.locale,
      request,
      errorText: (thrown) => (thrown instanceof ApiError ? failureText(thrown) : String(Object(thrown).message)),
      confirm,
      copy: copyText,
      usage: async () => {
        const report = await readUsage("deployment");
        return [...meters(report), usageTable(report)];
      },
      modelCheck: () => modelCheck(() => {}),
    });
  };
  const heading = el("h3", { id: "settings-administration" }, t.settings.administration);
  const start = button(t.settings.administer, () => void open(), { iconName: "tool" });
  const text = el("p", {}, t.settings.administrationText);
  return el("section", { "aria-labelledby": "settings-administration", hidden: true }, heading, text, start, failure);
}

/** The server's sentence names the field that is invalid; other errors have texts of the page. */
function failureText(error: ApiError): string {
  return error.code === "invalid_request" && error.message ? error.message : errorText(error);
}

function confirm(title: string, text: string, label: string, act: () => Promise<void>): void {
  void openDialog({
    id: "confirm-dialog",
    title,
    body: [el("p", {}, text)],
    submit: { label, kind: "danger" },
    onSubmit: () => act().catch((thrown: unknown) => Promise.reject(new Error(errorOf(thrown)))),
  });
}

const errorOf = (thrown: unknown) => failureText(ApiError.from(thrown));
