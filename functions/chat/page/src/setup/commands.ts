// The commands that configure a model and the search, for a computer and for AWS Lambda. Pure.

export type Provider = "bedrock" | "anthropic" | "gemini" | "ark" | "openai" | "ollama";
export type Platform = "laptop" | "lambda";

/** The commands of each step. */
export interface Commands {
  model: string;
  search: string;
  start: string;
}

const LAPTOP: Record<Provider, string[]> = {
  bedrock: [
    'eval "$(aws configure export-credentials --format env)"',
    "export AWS_REGION=us-east-1",
    "export BEDROCK_MODEL=global.amazon.nova-2-lite-v1:0",
  ],
  anthropic: ["export ANTHROPIC_API_KEY=YOUR_KEY", "export ANTHROPIC_MODEL=claude-haiku-5-5"],
  gemini: ["export GEMINI_API_KEY=YOUR_KEY", "export GEMINI_MODEL=gemini-3.8-flash"],
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

/** A row of MODELS, with a stored key. */
const rowWithKey = (name: string, model: string) => [
  storeKey(`models/${name}`),
  ...appendParameters(
    "ModelKeysUnder: /lambda-chat/models/",
    `Models: '[{"name":"${name}","wire":"${name}","model":"${model}","apiKeyParameter":"/lambda-chat/models/${name}"}]'`,
  ),
];

const LAMBDA: Record<Provider, string[]> = {
  anthropic: rowWithKey("anthropic", "claude-haiku-5-5"),
  gemini: rowWithKey("gemini", "gemini-3.8-flash"),
  bedrock: appendParameters("BedrockModel: global.amazon.nova-2-lite-v1:0"),
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
  const isBedrock = provider === "bedrock";
  if (platform === "laptop") {
    const search = isBedrock ? "export SEARCH_PROVIDER=aws" : "export TAVILY_API_KEY=YOUR_KEY";
    return { model: LAPTOP[provider].join("\n"), search, start: "cargo run" };
  }
  const tavily = [storeKey("tavily"), ...appendParameters("TavilyApiKeyParameter: /lambda-chat/tavily")];
  const search = isBedrock ? appendParameters("SearchProvider: aws") : tavily;
  return { model: LAMBDA[provider].join("\n"), search: search.join("\n"), start: "sam build && sam deploy" };
}
