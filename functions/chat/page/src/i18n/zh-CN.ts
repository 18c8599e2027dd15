// 页面的简体中文文案，键与 `en.ts` 相同。

import { number } from "./format.ts";
import type { Texts } from "./en.ts";
import { settings } from "./settings/zh-CN.ts";
import { setup } from "./setup/zh-CN.ts";
import { signIn } from "./sign-in/zh-CN.ts";

const LOCALE = "zh-CN";
const n = (value: number) => number(LOCALE, value);

export const zhCN: Texts = {
  locale: LOCALE,
  name: "简体中文",
  newConversation: "新对话",
  untitled: "无标题",
  retry: "重试",
  cancel: "取消",
  close: "关闭",
  dismiss: "关闭提示",
  loading: "加载中…",
  copy: "复制",
  copied: "已复制",
  copyCode: "复制代码",
  table: "表格",

  shell: {
    skip: "跳到输入框",
    conversations: "对话列表",
    closeList: "收起列表",
    list: "对话列表",
    settings: "设置",
    lightColours: "切换到浅色",
    darkColours: "切换到深色",
    latest: "回到最新消息",
    message: "消息",
    placeholder: "有什么想问的？",
    send: "发送（Enter）",
    stop: "停止（Esc）",
  },

  welcome: {
    title: "想了解点什么？",
    text: "需要时会联网搜索。搜了什么、答案参考了哪些网页，都一目了然。",
    examples: ["热泵是怎么工作的？", "365×24×60 等于多少？", "东京现在几点？"],
  },

  demo: {
    name: "演示模型",
    text: "用来展示回答的样子，只了解本产品。",
    example: "Lambda Chat 是什么？",
    more: "使用真实模型",
  },

  list: {
    empty: "对话会显示在这里。",
    more: "加载更多",
    rename: "重命名",
    delete: "删除",
    actions: (title) => `“${title}”的操作`,
    today: "今天",
    yesterday: "昨天",
    lastWeek: "最近 7 天",
    earlier: "更早",
    renameTitle: "重命名对话",
    title: "标题",
    titleLength: (max) => `标题须为 1 到 ${max} 个字符。`,
    deleteTitle: "删除这个对话？",
    deleteText: (title) => `“${title}”及其全部消息将被删除，且无法恢复。`,
  },

  settings,
  setup,
  signIn,

  key: {
    title: "请输入密钥",
    text: "此服务需要密钥。密钥只会发送给此服务。",
    label: "密钥",
    use: "使用密钥",
    rejected: "密钥无效。",
    invalid: "密钥只能包含字母、数字和符号，不能有空格。",
  },

  data: {
    exportTitle: "导出我的数据",
    exportText: "下载此服务保存的全部个人数据：对话、用量和工具调用记录。每行一个 JSON 对象。",
    export: "导出我的数据",
    collecting: "正在导出…",
    collected: (size) => `正在导出… 已收到 ${size}`,
    saved: (size, file) => `已保存为 ${file}（${size}）。`,
    incomplete: "导出中断，未保存文件，请重试。",
    eraseTitle: "清除我的数据",
    eraseText: "从此服务永久删除你的全部数据，操作前会再次确认。",
    erase: "清除全部数据…",
    confirmTitle: "清除全部数据？",
    confirmText: "以下内容将被永久删除：",
    effects: ["全部对话，包括正在生成的回答", "用量、费用和工具调用记录"],
    effectKeys: "你的密钥，包括以你的名义发给他人的密钥",
    effectBrowser: "此浏览器中的草稿和偏好设置",
    confirmLabel: (text) => `输入 ${text} 以确认`,
    confirmError: (text) => `请输入“${text}”。`,
    confirm: "清除",
    erasing: "正在清除…",
    erasedTitle: "数据已全部清除",
    startOver: "重新开始",
    nothingErased: "没有需要清除的数据。",
    erased: (list) => `已删除：${list}。`,
    conversations: (value) => `${n(value)} 个对话`,
    keys: (value) => `${n(value)} 个密钥`,
    records: (value) => `${n(value)} 条其他记录`,
  },

  composer: {
    stillWriting: "回答还在生成，你的输入会保留在这里。",
    tooLong: (excess, limit) => `超出 ${n(excess)} 个字符，每条消息最多 ${n(limit)} 个字符。`,
    length: (value, limit) => `${n(value)} / ${n(limit)} 个字符`,
    choose: (current) => `模型和智能体：${current}`,
    model: "模型",
    agent: "智能体",
    failing: "暂时不可用",
  },

  chat: {
    you: "你",
    answer: "回答",
    lost: "已中断：与服务器的连接断开了。",
    reloaded: "已中断：连接断开过，这里显示的是服务器保存的回答。",
    unsaved: "已中断：服务器没有保存这段文字，请及时复制。",
    load: "加载已保存的回答",
    waiting: "等待模型回复…",
    backInBox: "消息已放回输入框。",
    backInItsBox: "消息已放回所属对话的输入框。",
    sendAgain: "重新发送",
    gone: "对话不存在，可能已被删除。",
    startNew: "开始新对话",
    stoppedBefore: "已在回答开始前停止。",
    reconnecting: "连接断开，正在重新连接…",
  },

  answer: {
    steps: "步骤",
    sources: "来源",
    source: (index) => `来源 ${index}`,
    moreSources: (value) => `还有 ${n(value)} 个`,
    openSource: "打开网页",
    thinking: "思考中…",
    thoughts: "思考过程",
    thoughtFor: (duration) => `思考了 ${duration}`,
    stopping: "正在停止…",
    reading: "正在阅读结果…",
    stillWriting: "回答还在生成…",
    interrupted: "回答被中断了。",
    request: (id) => `请求编号 ${id}`,
    again: "重新回答",
    retryTitle: "重新回答这条消息。",
    complete: "回答完毕。",
    ended: (reason) => `回答结束。${reason}`,
    noResult: "没有结果",
    failed: "执行失败。",
    results: (value) => `${n(value)} 条结果`,
    cached: "缓存",
    stepCount: (value) => `${n(value)} 个步骤`,
    continuedBy: (models) => `由 ${models} 续写`,
    answeredBy: (models) => `由 ${models} 回答`,
    usage: (input, output, credits) =>
      [`输入 ${input} tokens`, `输出 ${output}`, ...(credits > 0 ? [`搜索点数 ${n(credits)}`] : [])].join(" · "),
    taskDone: "已完成",
    taskOpen: "未完成",
    footnotes: "脚注",
    footnoteBack: (label) => `回到引用处 ${label}`,
  },

  passage: {
    open: "查看原文",
    lines: (first, last) => (first === last ? `第 ${first} 行` : `第 ${first}–${last} 行`),
    above: "显示上文",
    below: "显示下文",
    missing: "没有找到这份文档，可能已被移动或删除。",
    notText: "这份文档不是文本，无法在此显示。",
    short: (line) => `这份文档没有第 ${line} 行，内容可能已经变动。`,
  },

  finish: {
    length: "已达到模型的输出上限，回答可能不完整。",
    content_filter: "回答被模型服务商的内容过滤截断。",
    stopped: "回答已停止。",
    deadline: "时间已到，回答基于此前找到的内容。",
    tool_limit: "工具调用次数已达上限，其余内容未使用工具。",
  },

  tools: {
    search_web: ["正在搜索", "已搜索"],
    read_url: ["正在阅读", "已阅读"],
    search_articles: ["正在检索文章", "已检索文章"],
    calculator: ["正在计算", "已计算"],
    current_time: ["正在查询时间", "已查询时间"],
    grep_search: ["正在检索文档", "已检索文档"],
    glob_search: ["正在查找文件", "已查找文件"],
    read_file: ["正在阅读", "已阅读"],
    list_directory: ["正在浏览目录", "已浏览目录"],
  },
  otherTool: (name) => [`正在使用 ${name}`, `已使用 ${name}`],
  stepLabel: (label, subject) => `${label}：${subject}`,

  details: {
    title: "详情",
    forbidden: "只有管理员可以查看调用详情。",
    none: "这些调用的详情已不再保存。",
    columns: ["工具", "参数", "结果", "耗时", "模型读取", "点数"],
    done: "完成",
    failed: "失败",
  },


  errors: {
    network: "无法连接服务器。",
    offline: "当前没有网络连接。",
    disconnected: "与服务器的连接断开了。",
    unreadable: "无法识别服务器返回的内容。",
    unauthorized: "需要有效的密钥。",
    signed_out: "请先登录。",
    forbidden: "你没有权限执行此操作。",
    not_found: "内容不存在，可能已被删除。",
    turn_in_progress: "这个对话正在生成另一个回答。",
    too_large: "消息太长了。",
    rate_limited: "请求过于频繁。",
    quota_exhausted: "额度已用完。",
    content_filtered: "模型服务商拒绝了这段内容。",
    context_too_long: "对话太长，模型无法处理，请开始新对话。",
    internal: "服务器出错了。",
    storage_damaged: "数据库文件损坏或丢失。",
    storage_busy: "数据库繁忙。",
    storage_full: "磁盘空间已满。",
    upstream_unavailable: "模型暂时无法访问或负载过高。",
    upstream_bad_response: "模型返回的内容无效。",
    upstream_rejected: "模型拒绝了这次请求。",
    upstream_auth: "模型服务商拒绝了服务器的密钥。",
    upstream_stalled: "模型停止了响应。",
    upstream_disconnected: "与模型的连接断开了。",
    auth_not_configured: "服务尚未配置：管理员需要将 AUTH 设为 api_key 或 jwt。",
    not_configured: "服务的某项设置有误，详见服务日志。",
    interrupted: "回答被中断了。",
    deadline: "在得到回答之前已超时。",
  },
  errorStatus: (status) => `服务器返回状态码 ${status}。`,
  retryIn: (sentence, seconds) => `${sentence}${waitText(seconds)}后可以重试。`,
  retryNow: (sentence) => `${sentence}现在可以重试了。`,

  size: {
    bytes: (value) => `${n(value)} 字节`,
  },
};

function waitText(seconds: number): string {
  if (seconds > 7200) return `${n(Math.ceil(seconds / 3600))} 小时`;
  return seconds > 120 ? `${n(Math.ceil(seconds / 60))} 分钟` : `${n(seconds)} 秒`;
}
