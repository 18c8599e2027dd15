// Sign-in at an identity provider: the whole flow, renewal, sign-out, and redirects that the page must refuse.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { exchange, setUp } from "../support/fixture.js";
import { openIdentityProvider, settingsFor } from "../support/identity.js";

const prompt = (page) => page.getByRole("dialog", { name: "Sign in" });
const settings = (page) => page.getByRole("dialog", { name: "Settings" });

/** Opens the provider, a server that trusts it, and the page. */
async function setUpSignIn(t, { lifetime, context, audience } = {}) {
  const identity = await openIdentityProvider();
  const fixture = await setUp(t, { settings: settingsFor(identity.issuer, audience), context });
  t.after(identity.close);
  identity.register(fixture.url, { lifetime });
  await fixture.page.goto(fixture.url);
  return { ...fixture, identity };
}

async function signIn(page, name) {
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Continue" }).click();
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
  await settings(page).getByText("You are ann.").waitFor();
  await settings(page).getByText("You stay signed in until you close this tab.").waitFor();
  await assertAccessible(page, "#settings-dialog");
  await settings(page).getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${identity.issuer}/session/end*`);
  await page.getByRole("button", { name: /^Yes/ }).click();
  await prompt(page).waitFor();
  assert.equal(await stored(page), null);
  await prompt(page).getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Name").waitFor();
});

test("access tokens are requested for the audience of the server", async (t) => {
  const { page } = await setUpSignIn(t, { audience: "https://chat.example" });
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
  await prompt(page).getByLabel("Keep on this device").check();
  await signIn(page, "ann");
  assert.equal(await stored(page), null);
  const other = await context.newPage();
  await other.goto(url);
  await other.getByText("Your conversations will appear here.").waitFor();
  await other.getByRole("button", { name: "Settings" }).click();
  await settings(other).getByText("You stay signed in on this device.").waitFor();
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
