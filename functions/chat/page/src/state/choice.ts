// The models and agents of the server, and those that the user has chosen.

import { computed, signal } from "@preact/signals";

import { listAgents, listModels } from "../api/client.ts";
import type { Agent, Model } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { labelOf } from "./model-label.ts";
import { openId } from "./open.ts";

const DEFAULT_AGENT = "default";
const DOCUMENTS_AGENT = "documents";

/** The models of the server. */
export const models = signal<Model[]>([]);

/** The agents that the user may choose. */
export const agents = signal<Agent[]>([]);

/** Whether messages can have files. */
export const takesFiles = signal(false);

/** The name of the model of the open conversation, or of the next one. */
export const model = signal("");

/** The id of the user's agent. */
export const agent = signal(DEFAULT_AGENT);

/** The label of a model where one is chosen. */
export const modelLabel = (name: string): string => labelOf(name, models.value);

/** Whether the demo answers. */
export const isDemo = computed(() => models.value.find(({ name }) => name === model.value)?.demo ?? false);

/** How much a turn may search. */
export const SEARCH_MODES = ["auto", "deep", "off"] as const;

/** How much the next turns search; a visit begins with `auto`, because a deep search costs more. */
export const searchMode = signal<(typeof SEARCH_MODES)[number]>("auto");

/** Whether the user's agent searches the web. */
export const canSearch = computed(() => !isDemo.value && agents.value.find(({ id }) => id === agent.value)?.searches !== false);

/** Sets how much the next turns search. */
export function setSearchMode(name: string): void {
  searchMode.value = SEARCH_MODES.find((mode) => mode === name) ?? "auto";
}

/** Whether the demo answers, or the user's agent wants questions below its answers. */
export const wantsFollowUps = () => isDemo.value || agents.value.find(({ id }) => id === agent.value)?.followUps === true;

/** A name or a description of the server in the page's language. */
export const inLanguage = (text: string): string => t.composer.ofServer[text] ?? text;

/** Loads the models and the agents. */
export async function loadChoice(): Promise<void> {
  const [{ models: list, attachments = false }, answer] = await Promise.all([listModels(), listAgents()]);
  models.value = list;
  takesFiles.value = attachments;
  agents.value = answer.agents.map((one) =>
    [DEFAULT_AGENT, DOCUMENTS_AGENT].includes(one.id) ? { ...one, name: inLanguage(one.name), description: inLanguage(one.description) } : one);
  readStored();
}

/** The model that was selected last, which may not be known yet. */
let wanted: string | null | undefined = null;

/** Selects the user's agent again, after that of an example of the demo. */
export function restoreAgent(): void {
  const stored = localStorage.getItem("agent");
  agent.value = agents.value.find(({ id }) => id === stored)?.id ?? DEFAULT_AGENT;
}

/** Selects what the browser stores, also after a choice in another tab; an open conversation keeps its model. */
function readStored(): void {
  restoreAgent();
  if (openId.value === null || model.value === "") selectModel(openId.value === null ? null : wanted);
}

window.addEventListener("storage", readStored);

/** Selects a conversation's model, else the user's last choice, else the server's default. */
export function selectModel(name: string | null | undefined): void {
  wanted = name;
  const named = (one: string | null | undefined) => models.value.find((known) => known.name === one);
  model.value = (named(name) ?? named(defaultModel()) ?? models.value.find((one) => one.default))?.name ?? "";
}

/** The user's model for new conversations; empty for the server's default. */
export const defaultModel = () => localStorage.getItem("model") ?? "";

/** Sets the model for new conversations, and for the open one; empty for the server's default. */
export function setDefaultModel(name: string): void {
  if (name === "") localStorage.removeItem("model");
  else localStorage.setItem("model", name);
  selectModel(null);
}

/** Selects the agent of an example of the demo: the second one is about the documents. */
export function selectDemoAgent(example: number): void {
  agent.value = agents.value.find(({ id }) => example === 1 && id === DOCUMENTS_AGENT)?.id ?? DEFAULT_AGENT;
}

/** Sets the agent. */
export function setAgent(id: string): void {
  localStorage.setItem("agent", id);
  agent.value = id;
}

/** The choice to send with a message: null for the only model, for the default agent, and for searches as needed. */
export const chosen = () => ({
  modelType: models.value.length > 1 ? model.value : null,
  agentId: agents.value.length > 1 && agent.value !== DEFAULT_AGENT ? agent.value : null,
  search: canSearch.value && searchMode.value !== "auto" ? searchMode.value : null,
});
