// The texts of the setup guide in English.

export const setup = {
  intro: "You’re using the demo because no model is configured yet. Set one up in three steps.",
  provider: "Provider",
  providers: { bedrock: "Amazon Bedrock (no key)", anthropic: "Anthropic Claude", gemini: "Google Gemini", ark: "Volcengine Ark", openai: "OpenAI or compatible", ollama: "Ollama" },
  platform: "Runs on",
  platforms: { laptop: "A computer or container", lambda: "AWS Lambda" },
  modelStep: "Set up the model",
  searchStep: "Add web search (optional)",
  searchText: "Searches go through Tavily. Without a key, answers don’t use the web.",
  startStep: { laptop: "Restart the server", lambda: "Deploy" },
  inTerminal: "Run this in the terminal where you start the server, or set the variables on its container:",
  inParameters: "Store the key and reference it in parameters.yaml:",
  bedrockText: {
    laptop: "No key is needed: the server uses your AWS credentials. Run this in the terminal where you start it:",
    lambda: "No key is needed: the function’s role may call this model. Add it to parameters.yaml:",
  },
  awsSearchText: "AWS web search needs no key either. Without this step, answers don’t use the web.",
  ollamaText: "Ollama needs no key. The function must be able to reach it.",
  copy: "Copy the commands",
  check: "Test this server’s models",
  checking: "Testing each model…",
  works: (seconds: string) => `Works, answered in ${seconds}`,
  demo: "This is the demo. The server has no other model.",
  noModels: "The server has no models.",
  reload: "Start chatting",
};
