// What users and models write in the states of the page, per language.

export const TEXTS = {
  en: {
    question: "How do heat pumps keep a house warm in winter?",
    thinking: "The user wants to know how heat pumps work in cold weather. I should look for current figures on efficiency.",
    before: "Let me look up current figures.",
    query: "heat pump efficiency in cold weather",
    sources: [
      ["Heat pumps in cold climates", "https://energy.example/heat-pumps", "Field measurements in 40 houses: a seasonal performance factor of 2.9 to 3.4."],
      ["How a heat pump works", "https://physics.example/heat-pump", "A refrigerant takes up heat outside at low pressure and releases it inside at high pressure."],
      ["Heating costs compared", "https://consumer.example/heating-costs-compared-for-single-family-homes", "A heat pump costs less to run than gas in most homes built after 1995."],
      ["Frequently asked questions about installation", "https://installers.example/questions", "Planning takes six weeks, the installation itself three days."],
      ["Noise limits for outdoor units", "https://law.example/noise", "At night 35 decibels are allowed at the next house."],
    ],
    answer: "A heat pump **moves** heat instead of making it: a refrigerant takes it up outside, even at −15 °C, and gives it off inside [2].\n\n- One kilowatt hour of electricity moves about three of heat over a season [1].\n- The colder it is outside, the less heat each kilowatt hour moves.\n\nInsulation matters more than the outdoor temperature [1].",
    code: "Code?",
    rich: "## Compound interest\n\nThe balance after $n$ years is\n\n$$K_n = K_0 \\left(1 + \\frac{p}{100}\\right)^n$$\n\n```python\ndef balance(start: float, rate: float, years: int) -> float:\n    \"\"\"The balance after some years.\"\"\"\n    return start * (1 + rate / 100) ** years\n```\n\n| Year | Balance | Interest |\n|---|--:|--:|\n| 1 | 1,030.00 | 30.00 |\n| 2 | 1,060.90 | 30.90 |\n\n- [x] Check the formula\n- [ ] Compare offers[^1]\n\n> Past returns are no promise.\n\n[^1]: Fees are not included.",
    story: "Tell me a story.",
    found: "heat pump",
    begin: "Once upon a time there was a lighthouse keeper who counted ships.",
    wrong: "What is the weather in Oslo?",
    document: "What is the rent?",
    passage: "The rent is 900 euros a month (`contracts/lease.md:12-13`).",
  },
  zh: {
    question: "冬天这么冷，热泵怎么给房子供暖？",
    thinking: "用户想了解热泵在寒冷天气下的工作原理。我需要查一下最新的能效数据。",
    before: "我先查一下最新的数据。",
    query: "空气源热泵 低温 能效",
    sources: [
      ["寒冷地区热泵供暖实测", "https://energy.example/heat-pumps", "对 40 户住宅的实测：季节性能系数为 2.9 至 3.4。"],
      ["热泵的工作原理", "https://physics.example/heat-pump", "制冷剂在室外低压吸热，在室内高压放热。"],
      ["独栋住宅各种供暖方式的费用比较", "https://consumer.example/heating-costs-compared-for-single-family-homes", "对于 1995 年以后建成的住宅，热泵的运行费用多数低于燃气。"],
      ["热泵安装常见问题", "https://installers.example/questions", "设计约需六周，安装只需三天。"],
      ["室外机噪声限值", "https://law.example/noise", "夜间邻居窗外的噪声不得超过 35 分贝。"],
    ],
    answer: "热泵并不产生热量，而是**搬运热量**：即使室外只有 −15 °C，制冷剂也能吸收热量，再在室内放出来 [2]。\n\n- **能效：**一个采暖季里，每度电大约能搬运三度电的热量 [1]。\n- 室外越冷，每度电搬运的热量越少。\n\n与室外温度相比，*房屋保温*的影响更大 [1]。",
    code: "写段代码？",
    rich: "## 复利\n\n$n$ 年后的余额为\n\n$$K_n = K_0 \\left(1 + \\frac{p}{100}\\right)^n$$\n\n```python\ndef balance(start: float, rate: float, years: int) -> float:\n    \"\"\"若干年后的余额。\"\"\"\n    return start * (1 + rate / 100) ** years\n```\n\n| 年份 | 余额 | 利息 |\n|---|--:|--:|\n| 1 | 1,030.00 | 30.00 |\n| 2 | 1,060.90 | 30.90 |\n\n- [x] 核对公式\n- [ ] 比较各家报价[^1]\n\n> 过往收益不代表未来。\n\n[^1]: 未计手续费。",
    story: "给我讲个故事。",
    found: "热泵",
    begin: "从前有一位守塔人，他每天都数过往的船只。",
    wrong: "奥斯陆天气怎么样？",
    document: "房租是多少？",
    passage: "房租每月 900 欧元（`contracts/lease.md:12-13`）。",
  },
};

/** Two models and two agents, so that there is something to choose. */
export const MODELS = JSON.stringify([{ name: "deepseek", model: "deepseek-chat", baseUrl: "http://127.0.0.1:1/v1" }]);
