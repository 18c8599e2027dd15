// The tested major versions of the AI SDK. The newest has its published package names, which the examples use too.

export const VERSIONS = [5, 6, 7];

/** Loads a version's package `ai` and its class `Chat`, the state of `useChat`. */
export async function load(version) {
  const [core, react] = version === 7 ? ["ai", "@ai-sdk/react"] : [`ai-${version}`, `ai-react-${version}`];
  const [sdk, { Chat }] = await Promise.all([import(core), import(react)]);
  return { sdk, Chat };
}
