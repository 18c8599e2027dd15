// The list of keyboard shortcuts.

import { t } from "../i18n/index.ts";
import { showDialog } from "../view/dialog.ts";
import { texts } from "./texts.ts";

/** Opens the list. */
export function openShortcuts(): void {
  const { keys, title, returnKey, shift, escape } = texts.shortcuts;
  const control = /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl";
  const rows: [label: string, keys: string[]][] = [
    [t.shell.palette, [control, "K"]],
    [t.newConversation, [control, shift, "O"]],
    [keys.shortcuts, ["?"]],
    [keys.send, [returnKey]],
    [keys.line, [shift, returnKey]],
    [keys.stop, [escape]],
  ];
  const items = rows.map(([label, combination]) => (
    <div key={label}>
      <dt>{label}</dt>
      <dd>{combination.map((key) => <kbd key={key}>{key}</kbd>)}</dd>
    </div>
  ));
  showDialog({ id: "shortcuts-dialog", title, content: <dl class="shortcuts">{items}</dl> });
}
