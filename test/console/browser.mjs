// A browser for the tests: Debian's chromium, driven by playwright-core out of the folder of packages. Whatever a page says on
// its console, whatever its Content-Security-Policy stops, and whatever it asks of another host is kept as a complaint.
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const home = new URL("../..", import.meta.url).pathname;
export const packages = process.env.HF_CONSOLE_PACKAGES ?? join(home, "build/packages");
const require = createRequire(join(packages, "node_modules/"));
const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

const axe = () => readFileSync(join(packages, "node_modules/axe-core/axe.min.js"), "utf8");

/** playwright gives each browser a folder of its own and takes it away. */
export async function openBrowser() {
  const { chromium } = require("playwright-core");
  const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (!path) throw new Error("there is no chromium: apt-get install chromium");
  return chromium.launch({ executablePath: path, args: FLAGS });
}

// A failed question is said by the browser as an error. Only these are ours to expect: no session yet, and a server that is away.
const EXPECTED = /^Failed to load resource: (the server responded with a status of 401|net::ERR_)|net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/;

/** A page in a context of its own, watched. `options`: theme, width, height. */
export async function openPage(browser, site, { theme = "light", width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ baseURL: site.url, colorScheme: theme, viewport: { width, height }, reducedMotion: "reduce", timezoneId: "UTC" });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  page.complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !EXPECTED.test(message.text())) page.complaints.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => page.complaints.push("error: " + error.message));
  await context.addInitScript(() =>
    document.addEventListener("securitypolicyviolation", (event) => console.error("CSP: " + event.violatedDirective + " " + event.blockedURI)),
  );
  await page.route("**", (route) => {
    const url = route.request().url();
    if (url.startsWith(site.url) || /^(data|blob):/.test(url)) return route.continue();
    page.complaints.push("another origin: " + url);
    return route.abort();
  });
  return page;
}

/** The same, logged in by a link. */
export async function enter(browser, site, options = {}) {
  const page = await openPage(browser, site, options);
  await page.goto(await site.loginLink(options.token));
  await page.locator("main h1").waitFor();
  return page;
}

/** Takes what the browser says of answers that a case has asked for: refusals are errors to it. */
export function refusals(page, status) {
  page.complaints = page.complaints.filter((one) => !one.includes(`responded with a status of ${status} `));
}

export function quiet(page) {
  if (page.complaints.length) throw new Error(page.complaints.join("\n"));
}

/** What axe-core calls serious or critical, as sentences. Evaluated from outside, which the page's policy does not concern. */
export async function barriers(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe());
  const found = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], ...(only && { runOnly: only }) }), rules);
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${(node.any[0] ?? node.all[0] ?? node.none[0])?.message}`));
}

/** Follows a link within the console, as a click does. */
export async function follow(page, where) {
  await page.evaluate((to) => {
    const link = document.createElement("a");
    link.href = new URL(to, document.querySelector("a.logo").href.replace(/overview.*$/, "")).href;
    document.body.append(link);
    link.click();
    link.remove();
  }, where);
}

/** Until the page of that title has what it asked for. */
export async function settled(page, title) {
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
}

/** The page of a run. `rest`: what stands behind its id in the address. */
export async function openRun(page, id, rest = "") {
  await follow(page, "runs/" + encodeURIComponent(id) + rest);
  await settled(page, id);
}

/** Opens one of the menus beside the heading of a run, and takes an item of it. */
export async function choose(page, menu, item) {
  await page.getByRole("button", { name: menu, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** Fills the inputs of the dialog that is open, and sends it. */
export async function send(page, button, inputs = {}) {
  const dialog = page.getByRole("dialog");
  for (const [label, text] of Object.entries(inputs)) await dialog.getByLabel(label).fill(text);
  await dialog.getByRole("button", { name: button, exact: typeof button === "string" }).click();
}

/** The status beside the heading of a run, when it has come to that. */
export async function becomes(page, status) {
  await page.locator("main .head .pill").getByText(status, { exact: true }).waitFor({ timeout: 30000 });
}
