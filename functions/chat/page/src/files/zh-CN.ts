// 文件与原文的简体中文文案。

import type { texts as en } from "./en.ts";

export const texts: typeof en = {
  list: "附件",
  progress: (name) => `正在上传 ${name}`,
  sending: (share) => `正在上传… ${share}`,
  reading: "正在读取…",
  truncated: "仅使用开头部分",
  attached: (name) => `已添加 ${name}。`,
  failed: (name, reason) => `${name}：${reason}`,
  remove: (name) => `移除 ${name}`,
  cancel: (name) => `取消上传 ${name}`,
  retry: (name) => `重新上传 ${name}`,
  waits: "上传完成后即可发送。",
  blocks: "有文件上传失败，请重试或移除后再发送。",
  noImages: (model) => `${model} 无法识别图片，请更换模型或移除图片。`,
  tooMany: (max) => `每条消息最多 ${max} 个附件，其余文件未添加。`,
  tooLarge: "文件太大：文件上限为 25 MB，图片上限为 4 MB、单边 8,000 像素。",
  unreadable: "无法读取该文件。不支持上传文件夹。",
  download: "下载",
  original: "查看原图",
  noPicture: "无法在此加载这张图片。",
  gone: "文件不存在，可能已被删除。",
  above: "显示上文",
  below: "显示下文",
  missing: "没有找到这份文档，可能已被移动或删除。",
  notText: "这份文档不是文本，无法在此显示。",
  noLine: (line) => `这份文档没有第 ${line} 行，内容可能已经变动。`,
  noPage: (page) => `这份文档没有第 ${page} 页。`,
};
