// 登录的简体中文文案。

import type { signIn as en } from "./en.ts";

export const signIn: typeof en = {
  title: "登录",
  text: (host) => `将前往 ${host} 登录，完成后会回到此页面。`,
  submit: "登录",
  problems: {
    cancelled: "登录已取消。",
    mismatch: "这次登录不是从此标签页开始的，或已超时。请重新登录。",
    unreachable: "无法连接登录服务，请重试。",
    insecure: "登录需要安全连接（https）。",
    invalid: "登录服务返回的内容无效。",
    refused: (code) => `登录服务拒绝了请求${code ? `（${code}）` : ""}。`,
  },
};
