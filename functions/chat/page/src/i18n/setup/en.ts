// The texts of the setup guide in English.

export const setup = {
  title: "Use a real model",
  intro: "No model is configured yet, so a demo answers. Three steps change that.",
  provider: "Model from",
  providers: { ark: "Volcengine Ark", openai: "OpenAI or a compatible service", ollama: "Ollama" },
  platform: "Runs on",
  platforms: { laptop: "This computer", lambda: "AWS Lambda" },
  modelStep: "Name the model",
  searchStep: "Add web search (optional)",
  searchText: "Searches go through Tavily. Without a key, answers don’t use the web.",
  startStep: { laptop: "Start the server again", lambda: "Deploy" },
  inTerminal: "In the terminal in which you start the server:",
  inParameters: "Store the key, and name it in parameters.yaml:",
  ollamaText: "Ollama needs no key. The function must be able to reach it.",
  copy: "Copy the commands",
  check: "Does it work now?",
  checking: "Asking each model for one word…",
  works: (seconds: string) => `Works, answered in ${seconds}`,
  demo: "This is the demo. The server has no other model.",
  noModels: "The server has no models.",
  reload: "Start chatting",
};
