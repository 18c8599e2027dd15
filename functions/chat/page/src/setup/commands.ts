// The commands that configure a model and the search, for a computer and for AWS Lambda. Pure.

export type Provider = "ark" | "openai" | "ollama";
export type Platform = "laptop" | "lambda";

/** The commands of each step. */
export interface Commands {
  model: string;
  search: string;
  start: string;
}

const LAPTOP: Record<Provider, string[]> = {
  ark: ["export ARK_API_KEY=YOUR_KEY", "export ARK_MODEL=doubao-seed-1-6-250615"],
  openai: [
    "export OPENAI_API_KEY=YOUR_KEY",
    "export OPENAI_MODEL=gpt-4o-mini",
    "# for another service: export OPENAI_BASE_URL=https://api.example.com/v1",
  ],
  ollama: ["ollama pull qwen3:8b", "export OLLAMA_API_URL=http://127.0.0.1:11434", "export OLLAMA_MODEL=qwen3:8b"],
};

const storeKey = (name: string) =>
  `aws ssm put-parameter --type SecureString --name /lambda-chat/${name} --value YOUR_KEY`;

const appendParameters = (...lines: string[]) => ["cat >> parameters.yaml <<'END'", ...lines, "END"];

const LAMBDA: Record<Provider, string[]> = {
  ark: [
    storeKey("ark"),
    ...appendParameters("ArkModel: doubao-seed-1-6-250615", "ArkApiKeyParameter: /lambda-chat/ark"),
  ],
  openai: [
    storeKey("openai"),
    ...appendParameters(
      "OpenaiModel: gpt-4o-mini",
      "OpenaiApiKeyParameter: /lambda-chat/openai",
      "# for another service: OpenaiBaseUrl: https://api.example.com/v1",
    ),
  ],
  ollama: appendParameters("OllamaModel: qwen3:8b", "OllamaApiUrl: https://ollama.example.com"),
};

/** The commands for a provider and a platform. */
export function commandsFor(provider: Provider, platform: Platform): Commands {
  if (platform === "laptop") {
    return { model: LAPTOP[provider].join("\n"), search: "export TAVILY_API_KEY=YOUR_KEY", start: "cargo run" };
  }
  const search = [storeKey("tavily"), ...appendParameters("TavilyApiKeyParameter: /lambda-chat/tavily")];
  return { model: LAMBDA[provider].join("\n"), search: search.join("\n"), start: "sam build && sam deploy" };
}
