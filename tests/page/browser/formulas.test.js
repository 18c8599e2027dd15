// Formulas in an answer: each becomes MathML without an error, live and after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, prose, setUp } from "../support/fixture.js";

/** What models write in school and university mathematics, physics, statistics, chemistry and computer science. */
const FORMULAS = [
  "a^2 + b^2 = c^2", "x_{1,2} = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}", "e^{i\\pi} + 1 = 0", "\\sqrt[3]{x^3 + y^3}", "\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}",
  "\\prod_{p} \\frac{1}{1 - p^{-s}} = \\zeta(s)", "\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}", "\\oint_{\\partial S} \\mathbf{F}\\cdot d\\mathbf{r}", "\\iint_D f(x,y)\\,dA", "\\lim_{x \\to 0} \\frac{\\sin x}{x} = 1",
  "\\frac{\\partial u}{\\partial t} = \\alpha \\nabla^2 u", "f'(x) = \\lim_{h\\to0}\\frac{f(x+h)-f(x)}{h}", "\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}", "\\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}^{-1}", "\\det\\begin{vmatrix} a & b \\\\ c & d \\end{vmatrix} = ad - bc",
  "f(x) = \\begin{cases} x & \\text{if } x \\ge 0 \\\\ -x & \\text{otherwise} \\end{cases}", "\\begin{aligned} 2x + y &= 3 \\\\ x - y &= 0 \\end{aligned}", "\\binom{n}{k} = \\frac{n!}{k!(n-k)!}", "P(A \\mid B) = \\frac{P(B \\mid A)P(A)}{P(B)}", "\\mathbb{E}[X] = \\sum_i x_i p_i",
  "\\operatorname{Var}(X) = \\mathbb{E}[X^2] - \\mathbb{E}[X]^2", "\\mathcal{N}(\\mu, \\sigma^2)", "\\hat{\\beta} = (X^\\top X)^{-1} X^\\top y", "\\bar{x} = \\frac{1}{n}\\sum_{i=1}^n x_i", "\\vec{F} = m\\vec{a}",
  "\\dot{x} = Ax,\\quad \\ddot{x} = -\\omega^2 x", "\\forall \\varepsilon > 0\\ \\exists \\delta > 0", "A \\cup B \\subseteq C \\cap D", "x \\in \\mathbb{R} \\setminus \\{0\\}", "\\neg (p \\land q) \\iff \\neg p \\lor \\neg q",
  "\\emptyset \\neq \\{\\emptyset\\}", "\\left\\lfloor \\frac{n}{2} \\right\\rfloor + \\left\\lceil \\frac{n}{2} \\right\\rceil = n", "\\left( \\frac{a}{b} \\right)^{n}", "\\lVert x \\rVert_2 = \\sqrt{\\langle x, x \\rangle}", "\\left| \\frac{x}{y} \\right| \\le 1",
  "\\overbrace{a + b + c}^{3} + \\underbrace{d + e}_{2}", "\\overline{AB} \\parallel \\underline{CD}", "a \\equiv b \\pmod{m}", "\\gcd(a,b) \\cdot \\operatorname{lcm}(a,b) = ab", "O(n \\log n) \\subset \\Theta(n^2)",
  "\\mathrm{H_2O} + \\mathrm{CO_2} \\rightleftharpoons \\mathrm{H_2CO_3}", "\\ce{2H2 + O2 -> 2H2O}", "E = mc^2 \\approx 9 \\times 10^{16}\\,\\mathrm{J}", "\\Delta G^\\circ = -RT \\ln K", "\\psi(x,t) = Ae^{i(kx - \\omega t)}",
  "\\langle \\psi | \\hat{H} | \\psi \\rangle", "\\nabla \\times \\mathbf{E} = -\\frac{\\partial \\mathbf{B}}{\\partial t}", "\\cfrac{1}{1 + \\cfrac{1}{1 + x}}", "\\boxed{x = 42}", "\\text{速度} = \\frac{\\text{路程}}{\\text{时间}}",
];

test("fifty formulas become MathML without an error", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  assert.equal(FORMULAS.length, 50);
  await exchange(fixture, "Formulas?", FORMULAS.map((tex, n) => (n % 2 === 0 ? `${n}. $${tex}$` : `$$\n${tex}\n$$`)).join("\n\n"));
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await prose(page).locator(".math").nth(FORMULAS.length - 1).waitFor();
    await page.waitForFunction(() => document.querySelector(".math:not(:has(math)) > code") === null);
    const failed = await lastAnswer(page).locator(".math").evaluateAll((all) =>
      all.filter((node) => !node.querySelector("math") || node.querySelector("merror, .temml-error, [mathcolor='#b22222']")).map((node) => node.dataset.tex),
    );
    assert.deepEqual(failed, []);
  }
});

test("columns of aligned formulas meet at their signs", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Aligned?", "$$\\begin{aligned} a &= b \\\\ abc + d &= e \\end{aligned}$$");
  await page.locator(".prose mtd").first().waitFor();
  const ends = await page.locator(".prose mtr > :first-child").evaluateAll((cells) =>
    cells.map((cell) => Math.max(...[...cell.querySelectorAll("mi")].map((node) => node.getBoundingClientRect().right))),
  );
  assert.ok(Math.abs(ends[0] - ends[1]) < 2, String(ends));
});

test("formulas grow also on a device without a font for them", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Sums?", "$$\\sum_{k=1}^n \\frac{\\frac{a}{b}}{\\frac{c}{d}}$$\n\nAnd $\\sum k$, $\\left(\\frac{\\frac{a}{b}}{\\frac{c}{d}}\\right)$, $f'$ and $\\overline{AB}$.");
  await page.locator(".prose math").last().waitFor();
  await page.waitForFunction(() => [...document.fonts].some(({ family, status }) => family === "Formulas" && status === "loaded"));
  const box = (selector) => page.locator(`.prose ${selector}`).first().evaluate((node) => node.getBoundingClientRect().height);
  const height = async (text, display) => page.locator(`.prose math${display ? ".tml-display" : ":not(.tml-display)"} mo`, { hasText: text }).first().evaluate((node) => node.getBoundingClientRect().height);
  assert.ok((await height("∑", true)) > 1.3 * (await height("∑", false)), "a sum of a displayed formula is larger");
  assert.ok((await height("(", false)) > 30, "brackets stretch");
  assert.ok((await box("menclose")) > 10 && (await page.locator(".prose menclose").evaluate((node) => getComputedStyle(node).borderTopStyle)) === "solid", "a line is above AB");
});

test("the font of formulas has all italic letters", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Sums?", "$h$");
  await page.waitForFunction(() => [...document.fonts].some(({ family, status }) => family === "Formulas" && status === "loaded"));
  const missing = await page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d");
    const width = (character, others) => {
      context.font = `100px Formulas, ${others}`;
      return context.measureText(character).width;
    };
    // The italic h is at the place of Planck's constant, not between the other letters.
    const letters = [...Array.from({ length: 0x1d467 - 0x1d434 + 1 }, (_, at) => 0x1d434 + at).filter((code) => code !== 0x1d455), 0x210e];
    const italic = letters.map((code) => String.fromCodePoint(code));
    return italic.filter((character) => width(character, "serif") !== width(character, "monospace"));
  });
  assert.deepEqual(missing, []);
});
