// How models are called where one is chosen.

/** The names of models that settings of their own define. They do not identify a model to readers. */
const BUILT_IN = ["volcano", "openai", "local", "anthropic", "gemini", "bedrock"];

/**
 * The label of a model: of a built-in one the id, unless it is that of an endpoint or a resource, or another model has it.
 * Stored answers have names, because the id of a name changes with the settings.
 */
export function labelOf(name: string, models: { name: string; model: string }[]): string {
  const id = models.find((one) => one.name === name)?.model ?? name;
  const isUnclear = /^(arn:|ep-)/.test(id) || models.some((one) => one.name !== name && [one.name, one.model].includes(id));
  return BUILT_IN.includes(name) && !isUnclear ? id : name;
}
