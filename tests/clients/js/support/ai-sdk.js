// The published versions of the AI SDK: the newest under its own names, which the examples use too.

export const VERSIONS = [5, 6, 7];

/** A version's package `ai`, and `Chat`, which is what `useChat` holds. */
export async function load(version) {
  const [core, react] = version === 7 ? ["ai", "@ai-sdk/react"] : [`ai-${version}`, `ai-react-${version}`];
  const [sdk, { Chat }] = await Promise.all([import(core), import(react)]);
  return { sdk, Chat };
}
