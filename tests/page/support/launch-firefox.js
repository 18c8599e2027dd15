import puppeteer from "puppeteer-core";

/** Starts Firefox; `preferences` are rows of about:config. */
export async function launch(preferences = {}) {
  return puppeteer.launch({
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    headless: true,
    timeout: 120_000,
    protocolTimeout: 120_000,
    defaultViewport: { width: 1200, height: 800 },
    extraPrefsFirefox: { "intl.accept_languages": "en-GB", ...preferences },
  });
}
