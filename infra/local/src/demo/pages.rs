//! Built-in pages of the demo search: what this product is and how to configure it, in two languages.

use crate::demo::language::Language;

/// A page in both languages.
pub(super) struct Page {
    /// Last segment of its URL.
    pub(super) slug: &'static str,
    /// Search keywords in lower case.
    pub(super) keywords: &'static [&'static str],
    pub(super) chinese: Text,
    pub(super) english: Text,
}

/// A page in one language.
pub(super) struct Text {
    pub(super) title: &'static str,
    pub(super) content: &'static str,
}

impl Page {
    pub(super) fn text(&self, language: Language) -> &Text {
        language.choose(&self.chinese, &self.english)
    }

    /// Counts its keywords in `query`, which must be in lower case.
    pub(super) fn matches(&self, query: &str) -> usize {
        self.keywords.iter().filter(|keyword| query.contains(**keyword)).count()
    }
}

/// All pages; the first ones are the results of a query that matches none.
pub(super) const PAGES: &[Page] = &[
    Page {
        slug: "overview",
        keywords: &["lambda chat", "lambda-chat", "overview", "product", "what is", "是什么", "介绍", "产品"],
        chinese: Text {
            title: "Lambda Chat 是什么",
            content: "Lambda Chat 是一个会使用工具的聊天后端。模型需要外部信息时自己提出搜索，系统执行搜索，把结果交还给模型，再把回答逐字送到浏览器。同一套代码既可以在一台电脑上运行，也可以作为函数部署到 AWS Lambda。",
        },
        english: Text {
            title: "What Lambda Chat is",
            content: "Lambda Chat is a chat backend that uses tools. When the model needs outside information it asks for a search, the product runs it, hands the results back and streams the answer to the browser. The same code runs on one machine or as functions on AWS Lambda.",
        },
    },
    Page {
        slug: "models",
        keywords: &[
            "model",
            "ark",
            "openai",
            "ollama",
            "volcengine",
            "doubao",
            "deepseek",
            "api key",
            "模型",
            "火山",
            "豆包",
            "密钥",
            "配置",
        ],
        chinese: Text {
            title: "配置真正的模型",
            content: "火山方舟：设置 ARK_API_KEY 和 ARK_MODEL。任何兼容 OpenAI 的服务：设置 OPENAI_API_KEY、OPENAI_MODEL，必要时再设 OPENAI_BASE_URL。本机的 Ollama：设置 OLLAMA_API_URL 和 OLLAMA_MODEL。更多模型写在 MODELS 里，DEFAULT_MODEL 决定默认用哪一个。设置好后重新启动。",
        },
        english: Text {
            title: "Configure a real model",
            content: "For Volcengine Ark set ARK_API_KEY and ARK_MODEL. For any OpenAI-compatible endpoint set OPENAI_API_KEY and OPENAI_MODEL, and OPENAI_BASE_URL if it is not OpenAI's own. For Ollama on your machine set OLLAMA_API_URL and OLLAMA_MODEL. Further models go into MODELS, and DEFAULT_MODEL says which one is used. Then start again.",
        },
    },
    Page {
        slug: "search",
        keywords: &["search", "tavily", "web", "news", "weather", "internet", "搜索", "联网", "新闻", "天气", "网页"],
        chinese: Text {
            title: "配置真正的联网搜索",
            content: "设置 TAVILY_API_KEY 后重新启动，search_web 就会通过 Tavily 搜索真正的网页。没有密钥时使用演示搜索，它只认识这几页说明。TAVILY_BASE_URL 可以换成别的兼容地址。",
        },
        english: Text {
            title: "Configure real web search",
            content: "Set TAVILY_API_KEY and start again: search_web then searches the web through Tavily. Without a key the demo search answers, which knows only these few pages. TAVILY_BASE_URL may name another endpoint that speaks the same way.",
        },
    },
    Page {
        slug: "turn",
        keywords: &["how does", "turn", "tool", "loop", "stream", "agent", "怎样", "原理", "工具", "流程", "流式"],
        chinese: Text {
            title: "一轮对话是怎样进行的",
            content: "用户的消息先存下来，然后调用模型。模型的回复里一出现完整的工具调用，调用就开始执行，页面上会显示正在搜索什么。结果回到模型，模型据此写出回答；每一段文字一到就送出。默认最多三轮工具调用，之后模型必须直接回答。",
        },
        english: Text {
            title: "How a turn works",
            content: "The user's message is stored, then the model is called. As soon as its reply holds a complete call the tool runs, and the page shows what is being searched. The results go back to the model, which writes the answer from them; every piece of text is sent the moment it arrives. After three rounds of calls, by default, the model has to answer.",
        },
    },
    Page {
        slug: "text-calls",
        keywords: &[
            "tool_call",
            "function calling",
            "native",
            "prompt",
            "format",
            "函数调用",
            "原生",
            "提示词",
            "格式",
        ],
        chinese: Text {
            title: "没有原生工具调用的模型怎么用工具",
            content: "系统提示词教模型把调用写成 <tool_call>{\"tool\": \"search_web\", \"query\": \"…\"}</tool_call>。扫描器在流式文本里找出这些调用，不论它们从哪里被切开，也不把其中任何一个字显示给用户。支持原生工具调用的模型则直接使用自己的接口。",
        },
        english: Text {
            title: "Tools for models without native tool calling",
            content: "The system prompt teaches the model to write a call as <tool_call>{\"tool\": \"search_web\", \"query\": \"…\"}</tool_call>. A scanner finds such calls in the streamed text wherever they are split, and shows none of it to the user. Models with native tool calling use their own interface.",
        },
    },
    Page {
        slug: "limits",
        keywords: &["limit", "rate", "cache", "cost", "credit", "fast", "限流", "限制", "缓存", "费用", "额度"],
        chinese: Text {
            title: "缓存和限流",
            content: "相同的搜索只向服务商请求一次：结果在缓存里保鲜一小时（SEARCH_CACHE_TTL_SECONDS），同时到来的相同搜索等待同一个结果。SEARCH_RATE_LIMIT 限制每个用户的搜索，默认每分钟 10 次；CHAT_RATE_LIMIT 限制对话，默认每分钟 20 次。命中缓存不计数。",
        },
        english: Text {
            title: "Cache and limits",
            content: "Equal searches ask the provider once: a result stays fresh for an hour (SEARCH_CACHE_TTL_SECONDS), and equal searches at the same time wait for one result. SEARCH_RATE_LIMIT limits each caller's searches, 10 a minute by default; CHAT_RATE_LIMIT limits turns, 20 a minute by default. Cache hits are free.",
        },
    },
    Page {
        slug: "conversations",
        keywords: &[
            "conversation",
            "history",
            "store",
            "storage",
            "dynamodb",
            "data",
            "delete",
            "对话",
            "历史",
            "存储",
            "数据",
            "删除",
        ],
        chinese: Text {
            title: "对话保存在哪里",
            content: "对话和消息保存在 DynamoDB 里。在自己的电脑上运行时，DynamoDB 嵌在进程中，数据写进 .data 目录下的一个文件，重新启动后还在；--ephemeral 则只放在内存里。每个用户只能看到自己的对话，可以改名，也可以删除。",
        },
        english: Text {
            title: "Where conversations are kept",
            content: "Conversations and messages are kept in DynamoDB. On your own machine it is embedded in the process and writes to a file in the folder .data, so that everything is still there after a restart; with --ephemeral it stays in memory. Everybody sees their own conversations only, and may rename and delete them.",
        },
    },
    Page {
        slug: "api",
        keywords: &["api", "http", "curl", "endpoint", "event", "sse", "接口", "事件", "请求"],
        chinese: Text {
            title: "用 HTTP 接口提问",
            content: "向 POST /api/chat 发送 {\"message\": \"…\"}，回答是一串事件：start、thinking、content、tool_call、tool_result、usage，最后是 done 或 error。加上 \"stream\": false 则得到一个完整的 JSON 文档。GET /api/conversations 列出对话，GET /api/models 列出模型。",
        },
        english: Text {
            title: "Ask over HTTP",
            content: "Send {\"message\": \"…\"} to POST /api/chat and read a stream of events: start, thinking, content, tool_call, tool_result, usage, and at last done or error. With \"stream\": false the answer is one JSON document. GET /api/conversations lists conversations, GET /api/models lists models.",
        },
    },
];
