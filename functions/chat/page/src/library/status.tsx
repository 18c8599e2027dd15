// The state of a dialog.

/** The state of a dialog's work, and why it failed. */
export function Status({ text, failure }: { text: string; failure: string }) {
  return (
    <>
      <p class="progress" role="status">{text}</p>
      <p class="field-error" role="alert">{failure}</p>
    </>
  );
}
