// The texts of the setup guide in English.

export const setup = {
  intro: "No model is configured yet, so a demo answers. Three steps change that.",
  provider: "Model from",
  providers: { bedrock: "Amazon Bedrock (no key)", anthropic: "Anthropic Claude", gemini: "Google Gemini", ark: "Volcengine Ark", openai: "OpenAI or a compatible service", ollama: "Ollama" },
  platform: "Runs on",
  platforms: { laptop: "A computer or container", lambda: "AWS Lambda" },
  modelStep: "Name the model",
  searchStep: "Add web search (optional)",
  searchText: "Searches go through Tavily. Without a key, answers don’t use the web.",
  startStep: { laptop: "Start the server again", lambda: "Deploy" },
  inTerminal: "In the terminal in which you start the server, or as variables of its container:",
  inParameters: "Store the key, and name it in parameters.yaml:",
  bedrockText: {
    laptop: "No key is needed: your AWS credentials call the model. In the terminal in which you start the server:",
    lambda: "No key is needed: the function’s role may call this model. Name it in parameters.yaml:",
  },
  awsSearchText: "AWS web search needs no key either. Without this step, answers don’t use the web.",
  ollamaText: "Ollama needs no key. The function must be able to reach it.",
  copy: "Copy the commands",
  check: "Does it work now?",
  checking: "Asking each model for one word…",
  works: (seconds: string) => `Works, answered in ${seconds}`,
  demo: "This is the demo. The server has no other model.",
  noModels: "The server has no models.",
  reload: "Start chatting",
};
