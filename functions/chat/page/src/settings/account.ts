// The caller's account: who the caller is, and what was used.

import { request } from "../api/client.ts";
import type { Authentication } from "../api/credential.ts";

export interface Account {
  user: string;
  /** What people call the user, if the token has a name. */
  name?: string;
  groups?: string[];
  admin: boolean;
  auth: Authentication["mode"];
}

export interface UsageDay {
  date: string;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  searchCredits: number;
  /** Millionths of the currency of the prices. */
  costMicros?: number;
}

export interface Budget {
  limit: number;
  used: number;
  resetsAt: string;
}

export type BudgetName = "tokens" | "searches" | "costMicros";

export interface UsageReport {
  days: UsageDay[];
  today: UsageDay;
  budgets: Partial<Record<BudgetName, Budget>>;
}

/** Reads who the caller is. */
export const readAccount = () => request<Account>("GET", "/api/me");

/** Reads the usage of the last 30 days: the caller's, or for administrators that of all callers. */
export const readUsage = (scope: "own" | "deployment" = "own") =>
  request<UsageReport>("GET", `/api/usage?days=30${scope === "deployment" ? "&scope=deployment" : ""}`);
