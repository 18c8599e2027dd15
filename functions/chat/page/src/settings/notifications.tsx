// Notifications of answers that end while nobody sees the page; off until the user turns them on.

import { useSignal } from "@preact/signals";

import { t } from "../i18n/index.ts";
import { addressOf } from "../state/address.ts";
import { find } from "../state/lists.ts";
import { texts } from "./texts.ts";

/** The switch, where the browser has notifications. */
export function NotificationSwitch() {
  const [isOn, failure] = [useSignal(localStorage.getItem("notify") !== null), useSignal("")];
  if (!("Notification" in window)) return null;
  const turn = async (on: boolean) => {
    isOn.value = on;
    const works = on && (await Notification.requestPermission()) === "granted" && notify(texts.notified, {}) !== null;
    if (works) localStorage.setItem("notify", "yes");
    else localStorage.removeItem("notify");
    isOn.value = works;
    failure.value = on && !works ? texts.notNotified : "";
  };
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isOn.value} onChange={({ currentTarget }) => void turn(currentTarget.checked)} />
        {texts.notify}
      </label>
      <p class="field-error" role="alert">{failure}</p>
    </>
  );
}

/** Shows that an answer of a conversation has ended; a click opens it. */
export function notifyEnd(id: string): void {
  const notification = notify(find(id)?.title || t.untitled, { body: texts.answered, tag: id });
  if (notification === null) return;
  notification.onclick = () => {
    window.focus();
    location.hash = addressOf(id);
    notification.close();
  };
}

/** A notification; null where the browser permits none, as on Android outside of a service worker. */
function notify(title: string, options: NotificationOptions): Notification | null {
  try {
    return new Notification(title, options);
  } catch {
    return null;
  }
}
