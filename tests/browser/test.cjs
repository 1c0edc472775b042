// Opens each page as its reader would: test.cjs BROWSER FOLDER [FOLDER FOR SCREENSHOTS]
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");

const [executablePath, folder, pictures] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What must not be there, however the page is looked at. */
async function look(browser, file, scheme, width) {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) said.push(`it asked for ${request.url()}`);
  });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(`file://${file}`);
  const name = `${path.basename(file, ".html")} ${scheme} ${width}`;
  const scrolls = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(scrolls <= 0, `${name}: it is ${scrolls} pixels wider than the window`);
  if (pictures) {
    await page.screenshot({ path: path.join(pictures, `${name.replaceAll(" ", "-")}.png`), fullPage: true });
    // What a reader sees first, for the README.
    const front = path.join(pictures, `front-${scheme}.png`);
    if (path.basename(file) === "problems.html" && width > 1000) await page.screenshot({ path: front });
  }
  await testPicture(page, name);
  // The page's policy keeps scripts out that are not its own; the browser's own door is open.
  const world = await page.createCDPSession();
  const { result, exceptionDetails } = await world.send("Runtime.evaluate", {
    expression: `${axe}; axe.run().then((found) => JSON.stringify(found.violations.map(
      (one) => ({ id: one.id, impact: one.impact, nodes: one.nodes.map((node) => node.html) }))))`,
    awaitPromise: true,
  });
  assert.ok(!exceptionDetails, JSON.stringify(exceptionDetails));
  const violations = JSON.parse(result.value);
  const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepStrictEqual(serious, [], `${name}: ${JSON.stringify(serious, null, 1)}`);
  for (const one of violations) console.log(`${name}: axe, ${one.impact}: ${one.id}`);
  assert.deepStrictEqual(said, [], `${name}: the console is not clean`);
  return page;
}

/** The way of a node is there, and its signs are drawn. */
async function testPicture(page, name) {
  const boxes = await page.$$eval("ol.way > li svg", (signs) =>
    signs.map((sign) => sign.getBoundingClientRect().width),
  );
  assert.ok(boxes.length >= 4 && boxes.every((width) => width > 5), `${name}: no picture`);
  const dead = await page.$$eval("a[href^='#']", (links) =>
    links.filter((link) => !document.getElementById(link.hash.slice(1))).map((link) => link.hash),
  );
  assert.deepStrictEqual(dead, [], `${name}: links that lead nowhere`);
}

/** The copy buttons copy, by mouse and by keyboard. */
async function testCopy(browser, page) {
  const context = browser.defaultBrowserContext();
  await context.overridePermissions("file://", ["clipboard-read", "clipboard-write"]).catch(() => {});
  await page.bringToFront();
  // What is folded away can neither be clicked nor focused.
  const buttons = [];
  for (const button of await page.$$(".code button.copy")) {
    if (await button.evaluate((one) => one.checkVisibility())) buttons.push(button);
  }
  assert.ok(buttons.length > 2, "there are fixes to copy");
  const [first, second] = buttons;
  await page.evaluate(() => {
    window.copied = [];
    const real = navigator.clipboard;
    const write = (text) => (window.copied.push(text), Promise.resolve());
    Object.defineProperty(navigator, "clipboard", { value: { writeText: write, real } });
  });
  await first.click();
  await second.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.copied.length === 2);
  const texts = await Promise.all(
    buttons.map((button) => button.evaluate((one) => one.closest(".code").querySelector("code").textContent)),
  );
  assert.deepStrictEqual(await page.evaluate(() => window.copied), texts.slice(0, 2));
  assert.ok(texts.some((text) => text.startsWith("aws ")), texts.join("\n"));
  assert.strictEqual(await first.evaluate((button) => button.textContent), "Copied");
  assert.strictEqual(await page.$eval("[role=status]", (status) => status.textContent), "Copied");
  const whole = await page.$("button.copy.all");
  const steps = await whole.evaluate((one) =>
    [...one.parentElement.querySelectorAll("code")].map((code) => code.textContent),
  );
  assert.ok(steps.length > 1, "a remedy in several steps");
  await whole.click();
  await page.waitForFunction(() => window.copied.length === 3);
  assert.strictEqual(await page.evaluate(() => window.copied[2]), steps.join("\n\n"));
}

/** A box that is not checked hides the checks of its status, and no others. */
async function testFilter(page) {
  const seen = () =>
    page.$$eval("article.check", (all) =>
      all.filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.classList[1]),
    );
  const before = await seen();
  assert.ok(before.includes("fail") && before.includes("unknown"), before.join());
  await page.click("input.show-unknown");
  assert.deepStrictEqual(await seen(), before.filter((status) => status !== "unknown"));
  await page.click("input.show-unknown");
}

/** Where the clipboard refuses, the text is selected and copied as by hand. */
async function testRefusedCopy(page) {
  await page.evaluate(() => {
    const refuse = () => Promise.reject(new Error("no"));
    Object.defineProperty(navigator, "clipboard", { value: { writeText: refuse }, configurable: true });
    document.execCommand = (command) => command === "copy";
  });
  const button = await page.$(".code button.copy");
  await button.click();
  await page.waitForFunction(() => getSelection().toString().length > 0);
  const text = await button.evaluate((one) => one.parentElement.querySelector("code").textContent);
  assert.strictEqual((await page.evaluate(() => getSelection().toString())).trim(), text.trim());
}

/** Without scripts the page says the same, and shows no button that could do nothing. */
async function testWithoutScripts(browser, file) {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(`file://${file}`);
  const shown = await page.$$eval("button.copy", (all) => all.filter((one) => !one.hidden).length);
  assert.strictEqual(shown, 0);
}

async function main() {
  const { default: puppeteer } = await import(
    require("node:url").pathToFileURL(require.resolve("puppeteer-core")).href
  );
  const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
  let looks = 0;
  try {
    for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".html"))) {
      const whole = path.join(folder, file);
      for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 390], ["dark", 390]]) {
        const page = await look(browser, whole, scheme, width);
        if (file === "problems.html" && scheme === "light" && width === 1280) {
          await testCopy(browser, page);
          await testFilter(page);
          if (pictures) await page.pdf({ path: path.join(pictures, "problems.pdf") });
        }
        if (file === "problems.html" && scheme === "dark" && width === 390) await testRefusedCopy(page);
        await page.close();
        looks += 1;
      }
    }
    await testWithoutScripts(browser, path.join(folder, "problems.html"));
  } finally {
    await browser.close();
  }
  assert.ok(looks >= 8, "there were pages to look at");
  console.log(`the HTML report: ${looks} looks, all well`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
