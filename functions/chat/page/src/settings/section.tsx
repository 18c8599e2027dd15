// A section of the settings.

import type { ComponentChildren } from "preact";

/** A section of a dialog. */
export function Section({ id, title, hidden, children }: { id?: string; title: string; hidden?: boolean; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id} hidden={hidden}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  );
}
