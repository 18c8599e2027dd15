// Sign-in at an identity provider: the whole flow, renewal, sign-out, and redirects that the page must refuse.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { exchange, lastAnswer, messageBox, sendMessage, setUp } from "../support/fixture.js";
import { openIdentityProvider, settingsFor } from "../support/identity.js";

const prompt = (page) => page.getByRole("dialog", { name: "Sign in" });
const dialog = (page) => page.getByRole("dialog", { name: "Settings" });

/** Opens the provider, a server that trusts it, and the page. */
async function setUpSignIn(t, { context, settings, ...provider } = {}) {
  const identity = await openIdentityProvider();
  const fixture = await setUp(t, { settings: settingsFor(identity.issuer, settings), context });
  t.after(identity.close);
  identity.register(fixture.url, provider);
  await fixture.page.goto(fixture.url);
  return { ...fixture, identity };
}

/** Signs in at the provider, which leads back to the page. */
async function signInAs(page, name) {
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Continue" }).click();
}

/** Signs in a user without conversations. */
async function signIn(page, name) {
  await signInAs(page, name);
  await page.getByText("Your conversations will appear here.").waitFor();
}

const stored = (page) => page.evaluate(() => sessionStorage.getItem("session"));

test("a user signs in, chats and signs out", async (t) => {
  const fixture = await setUpSignIn(t);
  const { page, url, identity } = fixture;
  await signIn(page, "ann");
  assert.equal(page.url(), `${url}/`);
  assert.deepEqual(identity.grants, ["authorization_code"]);
  await exchange(fixture, "Who am I?", "You are ann.");
  assert.equal(await page.evaluate(() => localStorage.getItem("session")), null);
  await page.reload();
  await page.getByRole("link", { name: "Who am I?" }).waitFor();
  assert.deepEqual(identity.grants, ["authorization_code"], "the token lasts");

  await page.getByRole("button", { name: "Settings" }).click();
  await dialog(page).getByText("Signed in as ann.").waitFor();
  await dialog(page).getByText("You’ll stay signed in until you close this tab.").waitFor();
  await assertAccessible(page, "#settings-dialog");
  await dialog(page).getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${identity.issuer}/session/end*`);
  await page.getByRole("button", { name: /^Yes/ }).click();
  await prompt(page).waitFor();
  assert.equal(await stored(page), null);
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Name").waitFor();
});

test("access tokens are requested for the audience of the server", async (t) => {
  const { page } = await setUpSignIn(t, { settings: { audience: "https://chat.example" } });
  const request = page.waitForRequest((one) => new URL(one.url()).pathname === "/auth");
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  assert.equal(new URL((await request).url()).searchParams.get("audience"), "https://chat.example");
  await page.getByLabel("Name").waitFor();
});

test("a conversation's address survives the sign-in", async (t) => {
  const fixture = await setUpSignIn(t);
  const { page, url } = fixture;
  await signIn(page, "ann");
  await exchange(fixture, "Remember the address", "Yes.");
  const address = page.url();
  assert.match(address, /#\/c\/\w+$/);
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(url);
  await page.goto(address);
  await page.reload();
  // The provider still knows the user, so it requires no password.
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.locator(".bubble", { hasText: "Remember the address" }).waitFor();
  assert.equal(page.url(), address);
});

test("a token is renewed before it expires", async (t) => {
  const fixture = await setUpSignIn(t, { lifetime: 30 });
  const { page, identity } = fixture;
  await signIn(page, "ann");
  const before = await stored(page);
  await exchange(fixture, "Still there?", "Yes.");
  assert.notEqual(await stored(page), before);
  assert.equal(identity.grants[0], "authorization_code");
  assert.ok(identity.grants.length > 1);
  assert.ok(identity.grants.slice(1).every((grant) => grant === "refresh_token"), identity.grants.join());
});

test("a rejected token is renewed once", async (t) => {
  const fixture = await setUpSignIn(t);
  const { page, identity } = fixture;
  await signIn(page, "ann");
  await page.evaluate(() => {
    const session = JSON.parse(sessionStorage.getItem("session"));
    sessionStorage.setItem("session", JSON.stringify({ ...session, token: `${session.token}x` }));
  });
  await exchange(fixture, "Still there?", "Yes.");
  assert.deepEqual(identity.grants, ["authorization_code", "refresh_token"]);
  await page.evaluate(() => {
    const session = JSON.parse(sessionStorage.getItem("session"));
    sessionStorage.setItem("session", JSON.stringify({ ...session, token: "x", refreshToken: "x" }));
  });
  await page.reload();
  await prompt(page).waitFor();
  assert.equal(await stored(page), null);
});

test("a kept session lasts on the device", async (t) => {
  const { page, context, url } = await setUpSignIn(t);
  await prompt(page).getByLabel("Keep me signed in on this device").check();
  await signIn(page, "ann");
  assert.equal(await stored(page), null);
  const other = await context.newPage();
  await other.goto(url);
  await other.getByText("Your conversations will appear here.").waitFor();
  await other.getByRole("button", { name: "Settings" }).click();
  await dialog(other).getByText("You’ll stay signed in on this device.").waitFor();
});

/** Changes the stored session, as time or the provider would. */
const changeSession = (page, change) =>
  page.evaluate((change) => {
    const session = JSON.parse(sessionStorage.getItem("session"));
    sessionStorage.setItem("session", JSON.stringify({ ...session, ...change }));
  }, change);

/** Answers the next message and asserts that the server has received it once, and the page shows it once. */
async function assertSentOnce({ page, model }, text) {
  const reply = await model.next();
  reply.sendText("Here I am.");
  reply.end();
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy", exact: true }).waitFor();
  await page.reload();
  await lastAnswer(page).getByText("Here I am.").waitFor();
  assert.equal(await page.locator(".bubble", { hasText: text }).count(), 1);
  assert.equal(await page.locator(".answer").count(), 1);
  assert.equal(await messageBox(page).inputValue(), "");
}

test("without a refresh token a message renews the session silently", async (t) => {
  const fixture = await setUpSignIn(t, { lifetime: 30, refresh: "never" });
  const { page, identity } = fixture;
  await signIn(page, "ann");
  const before = await stored(page);
  await sendMessage(page, "你好，还在吗？");
  await assertSentOnce(fixture, "你好，还在吗？");
  assert.notEqual(await stored(page), before);
  assert.deepEqual(identity.prompts, [null, "none"]);
  assert.deepEqual(identity.grants, ["authorization_code", "authorization_code"]);
});

test("a message survives a sign-in and is sent once", async (t) => {
  const fixture = await setUpSignIn(t, { refresh: "never" });
  const { page, context, identity } = fixture;
  await signIn(page, "ann");
  await changeSession(page, { token: "expired", expiresAt: 0 });
  await context.clearCookies();
  await sendMessage(page, "Do not lose me");
  await signInAs(page, "ann");
  await assertSentOnce(fixture, "Do not lose me");
  assert.deepEqual(identity.prompts, [null, "none", null]);
});

test("a message of a rejected token survives a sign-in in its conversation", async (t) => {
  const fixture = await setUpSignIn(t, { refresh: "never" });
  const { page } = fixture;
  await signIn(page, "ann");
  await exchange(fixture, "First", "One.");
  const address = page.url();
  await changeSession(page, { token: "rejected" });
  await sendMessage(page, "Second");
  const reply = await fixture.model.next();
  reply.sendText("Two.");
  reply.end();
  await lastAnswer(page).getByText("Two.").waitFor();
  assert.equal(page.url(), address);
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["First", "Second"]);
});

test("a message whose sign-in is cancelled is back in the box", async (t) => {
  const { page, context } = await setUpSignIn(t, { refresh: "never" });
  await signIn(page, "ann");
  await changeSession(page, { token: "expired", expiresAt: 0 });
  await context.clearCookies();
  await sendMessage(page, "Keep me");
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Refuse" }).click();
  await prompt(page).getByText("You cancelled the sign-in.").waitFor();
  await prompt(page).getByRole("button", { name: "Cancel" }).click();
  assert.equal(await messageBox(page).inputValue(), "Keep me");
});

test("a message is back in the box when the user comes back without a sign-in", async (t) => {
  const { page, context } = await setUpSignIn(t, { refresh: "never" });
  await signIn(page, "ann");
  await changeSession(page, { token: "expired", expiresAt: 0 });
  await context.clearCookies();
  await sendMessage(page, "Keep me");
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Name").waitFor();
  await page.goBack();
  await prompt(page).getByRole("button", { name: "Cancel" }).click();
  assert.equal(await messageBox(page).inputValue(), "Keep me");
});

test("another user gets neither message nor drafts", async (t) => {
  const { page, context, url } = await setUpSignIn(t, { refresh: "never" });
  await signIn(page, "ann");
  await changeSession(page, { token: "expired", expiresAt: 0 });
  await context.clearCookies();
  await sendMessage(page, "Only Ann wrote this");
  await signIn(page, "bob");
  assert.equal(await messageBox(page).inputValue(), "");
  assert.equal(await page.getByText("Only Ann wrote this").count(), 0);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
});

test("consent is requested only where no refresh token comes without it", async (t) => {
  const settings = { AUTH_JWT_SCOPE: "openid offline_access" };
  const strict = await setUpSignIn(t, { refresh: "consent", settings });
  await signIn(strict.page, "ann");
  await strict.page.evaluate(() => sessionStorage.clear());
  await strict.page.reload();
  await signIn(strict.page, "ann");
  assert.deepEqual(strict.identity.prompts, [null, "consent"]);
  assert.notEqual(JSON.parse(await stored(strict.page)).refreshToken, undefined);

  const lenient = await setUpSignIn(t, { settings });
  await signIn(lenient.page, "ann");
  await lenient.page.evaluate(() => sessionStorage.clear());
  await lenient.page.reload();
  await prompt(lenient.page).getByRole("button", { name: "Sign in" }).click();
  await lenient.page.getByText("Your conversations will appear here.").waitFor();
  assert.deepEqual(lenient.identity.prompts, [null, null]);
});

test("the settings show the name and the groups of the token", async (t) => {
  const claims = { name: "李安", groups: ["销售", "legal"], team: ["ops"] };
  const settings = { AUTH_JWT_GROUPS_CLAIM: "groups", AUTH_JWT_ADMIN_CLAIM: "team", AUTH_JWT_ADMIN_VALUE: "ops" };
  const { page } = await setUpSignIn(t, { claims, settings });
  await signIn(page, "3f1c");
  await page.getByRole("button", { name: "Settings" }).click();
  await dialog(page).getByText("Signed in as 李安 (administrator).").waitFor();
  await dialog(page).getByText("Your groups: legal and 销售.").waitFor();
  await assertAccessible(page, "#settings-dialog");
});

test("a redirect with a wrong state is refused", async (t) => {
  const { page, url, identity, watch } = await setUpSignIn(t);
  const mismatch = prompt(page).getByText("This sign-in wasn’t started in this tab, or it took too long. Please sign in again.");
  await page.goto(`${url}/?code=stolen&state=foreign#/c/abc`);
  await mismatch.waitFor();
  assert.equal(new URL(page.url()).search, "");

  await page.route(`${identity.issuer}/auth*`, (route) => route.fulfill({ body: "waiting" }));
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByText("waiting").waitFor();
  await page.goto(`${url}/?code=stolen&state=foreign`);
  await mismatch.waitFor();
  assert.deepEqual(identity.grants, []);
  assert.equal(watch.requests.some((address) => address.includes("/token")), false, "the code was not sent anywhere");
});

test("a cancelled sign-in and a lost provider are explained", async (t) => {
  const { page, identity } = await setUpSignIn(t);
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Refuse" }).click();
  await prompt(page).getByText("You cancelled the sign-in.").waitFor();
  identity.close();
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await prompt(page).getByText("The sign-in service can’t be reached. Please try again.").waitFor();
  await prompt(page).getByRole("button", { name: "Cancel" }).click();
  await page.locator("#toast").getByText("Please sign in to continue.").waitFor();
});

for (const { name, options } of SCREENS) {
  test(`the sign-in is accessible and fits on a ${name}`, async (t) => {
    const { page } = await setUpSignIn(t, { context: options });
    const dialog = page.getByRole("dialog", { name: options.isMobile ? "登录" : "Sign in" });
    await dialog.waitFor();
    await assertAccessible(page, "#sign-in-dialog");
    await assertFits(dialog);
  });
}
