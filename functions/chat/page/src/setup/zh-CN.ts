// 配置向导的简体中文文案。

import type { setup as en } from "./en.ts";

export const setup: typeof en = {
  intro: "尚未配置模型，目前由演示模型回答。只需三步即可换成真实模型。",
  provider: "模型来源",
  providers: { bedrock: "Amazon Bedrock（无需密钥）", anthropic: "Anthropic Claude", gemini: "Google Gemini", ark: "火山方舟", openai: "OpenAI 或兼容服务", ollama: "Ollama" },
  platform: "运行环境",
  platforms: { laptop: "电脑或容器", lambda: "AWS Lambda" },
  modelStep: "指定模型",
  searchStep: "开启联网搜索（可选）",
  searchText: "搜索由 Tavily 提供。没有密钥时，回答不会联网。",
  startStep: { laptop: "重启服务器", lambda: "部署" },
  inTerminal: "在启动服务器的终端中运行，或设为容器的环境变量：",
  inParameters: "先保存密钥，再在 parameters.yaml 中填写它的名称：",
  bedrockText: {
    laptop: "无需密钥，直接使用你的 AWS 凭证调用模型。在启动服务器的终端中运行：",
    lambda: "无需密钥，函数的角色可直接调用该模型。只需在 parameters.yaml 中填写：",
  },
  awsSearchText: "AWS 网页搜索同样无需密钥。如果跳过这一步，回答不会联网。",
  ollamaText: "Ollama 不需要密钥，但函数必须能访问到它。",
  copy: "复制命令",
  check: "检查本服务器的模型",
  checking: "正在向每个模型发送一个简单请求…",
  works: (seconds) => `可用，${seconds}内响应`,
  demo: "这是演示模型，服务器上没有其他模型。",
  noModels: "服务器上没有模型。",
  reload: "开始对话",
};
