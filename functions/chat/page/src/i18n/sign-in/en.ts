// The texts of the sign-in in English.

export const signIn = {
  title: "Sign in",
  text: (host: string) => `You’ll sign in at ${host}.`,
  submit: "Sign in",
  problems: {
    cancelled: "You cancelled the sign-in.",
    mismatch: "This sign-in wasn’t started in this tab, or it took too long. Please sign in again.",
    unreachable: "The sign-in service can’t be reached. Please try again.",
    insecure: "Signing in needs a secure connection (https).",
    invalid: "The sign-in service sent an invalid response. Please try again.",
    refused: (code: string) => `The sign-in service refused the request${code ? ` (${code})` : ""}.`,
  },
};
