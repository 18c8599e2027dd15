// 导入、导出、分享与命令面板的简体中文文案，键与 `en.ts` 相同。

import type { Texts } from "./en.ts";

const n = (value: number) => new Intl.NumberFormat("zh-CN").format(value);

export const texts: Texts = {
  list: {
    renameTitle: "重命名对话",
    title: "标题",
    titleLength: (max) => `标题须为 1 到 ${max} 个字符。`,
    deleteTitle: "删除这个对话？",
    deleteText: (title) => `“${title}”及其全部消息将被删除，且无法恢复。`,
  },

  remove: {
    title: "从这里开始删除？",
    text: ({ question, after, others, stays }) =>
      [
        `这条${question ? "消息" : "回答"}${after > 0 ? `及其后的 ${n(after)} 条消息` : ""}将被永久删除${others ? "，包括它们的所有版本" : ""}。`,
        ...(stays ? [`这条${question ? "消息" : "回答"}的其他版本会保留。`] : []),
      ].join(""),
  },

  palette: {
    placeholder: "搜索对话，或输入命令",
    recent: "最近的对话",
    conversations: "对话",
    commands: "命令",
    thisOne: (title) => `当前对话：${title}`,
    nothing: "没有找到相关内容。",
    results: (value) => `${n(value)} 条结果`,
    showArchive: "查看已归档对话",
    import: "导入对话…",
    shortcuts: "键盘快捷键",
    themes: { system: "外观：跟随系统", light: "外观：浅色", dark: "外观：深色" },
    language: (name) => `语言：${name}`,
  },

  followUps: {
    label: "可以继续问",
    task: "请写出用户接下来可能想问的三个简短问题，使用用户的语言，每行一个，只写问题本身。",
  },

  shortcuts: {
    title: "键盘快捷键",
    keys: {
      shortcuts: "键盘快捷键",
      send: "发送消息",
      line: "换行",
      stop: "停止生成，或关闭当前弹窗",
    },
    returnKey: "Enter",
    shift: "Shift",
    escape: "Esc",
  },

  details: {
    title: "详情",
    none: "这些调用的详情已不再保存。",
    columns: ["工具", "参数", "结果", "耗时", "模型读取量", "搜索用量"],
    done: "完成",
    failed: "失败",
  },

  share: {
    title: "分享对话",
    warning: "任何人拿到链接后，无需登录即可阅读这份副本。",
    text: "链接指向对话此刻的副本，之后的新消息不会加入其中。附件只列出名称。",
    expiry: "链接有效期",
    days: (value) => `${n(value)} 天`,
    until: "分享范围",
    whole: "整个对话",
    upTo: (text) => `到“${text}”的回答为止`,
    create: "创建链接",
    created: "链接已创建。",
    links: "此对话的链接",
    none: "此对话还没有链接。",
    made: (time) => `创建于 ${time}`,
    expires: (time) => `${time} 到期`,
    revoke: "取消分享",
    revoked: "已取消分享。",
    of: (label, time) => `${label}：创建于 ${time} 的链接`,
  },

  export: {
    title: "导出对话",
    markdown: "Markdown",
    markdownText: "正文及来源，适合放进笔记和文档。",
    json: "JSON",
    jsonText: "全部消息及各个版本，可以重新导入。",
    print: "打印或存为 PDF",
    printText: "正文及来源，打印到纸上或存为 PDF 文件。",
    saved: (name) => `已保存为 ${name}。`,
  },

  import: {
    title: "导入对话",
    text: "请选择从此页面导出的 JSON 文件，或 ChatGPT 导出数据中的 conversations.json。文件最大 20\u00a0MiB。",
    file: "文件",
    start: "导入",
    tooLarge: "文件超过 20\u00a0MiB。",
    conversationTooLarge: "内容过大",
    invalid: "文件不是有效的 JSON。",
    empty: "文件中没有对话。",
    reading: "正在读取文件…",
    progress: (done, all) => `已处理 ${n(done)} 个，共 ${n(all)} 个对话…`,
    imported: (value) => `已导入 ${n(value)} 个对话。`,
    skipped: (value) => `已跳过 ${n(value)} 个对话：`,
    item: (index) => `第 ${n(index)} 个对话`,
    stopped: (reason) => `${reason}其余对话尚未导入。`,
    continue: "继续导入",
  },

  demo: {
    name: "当前为演示模型。",
    text: "只能回答与 Lambda Chat 有关的问题。",
    cut: "断开连接",
    cutAt: (position) => `连接已在第 ${position} 个字符后断开，正在重连…`,
    resumed: (position) => `已从第 ${position} 个字符后继续，一字不差。`,
  },

  shared: {
    copy: (time) => `${time}分享的副本`,
    open: "打开 Lambda Chat",
    gone: "此链接无效，可能已过期或已取消分享。",
    failed: "暂时无法加载分享的对话。",
    attachments: (names) => `附件：${names.join("、")}`,
  },
};
