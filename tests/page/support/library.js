// What the tests of the list, the palette and the dialogs to share, export and import have in common.

/** The list of conversations. */
export const list = (page) => page.getByRole("navigation", { name: "Conversations" });

/** The titles in the list, in its order. */
export const titles = (page) => list(page).locator("li > a").allTextContents();

/** Opens the menu of a conversation and chooses an action. */
export async function choose(page, title, action) {
  await list(page).getByRole("link", { name: title, exact: true }).hover();
  await list(page).getByRole("button", { name: `Actions for ${title}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Makes conversations by the API, the first one first; the model answers each with its answer. Resolves to their ids. */
export async function converse({ url, model }, exchanges) {
  const ids = [];
  for (const [message, answer] of exchanges) {
    const sent = send(url, { message });
    const reply = await model.next();
    reply.sendText(answer);
    reply.end();
    ids.push(await sent);
  }
  return ids;
}

async function send(url, body) {
  const response = await fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await response.text();
  return /"conversationId":"(\w+)"/.exec(text)[1];
}
