// Every screen, in both themes and two sizes: it opens, says its name, breaks no rule, and is pictured for the eye.
import { join } from "node:path";
import { barriers, openPage, quiet } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";

/** Address, heading. */
const SCREENS = [["attention", "Attention"]];

async function entered(browser, site, options) {
  const page = await openPage(browser, site, options);
  await page.goto(await site.loginLink());
  await page.locator("main h1").waitFor();
  return page;
}

for (const [theme, width, height] of [["light", 1440, 900], ["dark", 1440, 900], ["light", 390, 844], ["dark", 390, 844]])
  test(`every screen opens, ${theme}, ${width} px`, async ({ site, browser, shots }) => {
    const page = await entered(browser, site, { theme, width, height });
    const wrong = [];
    for (const [where, title] of SCREENS) {
      await page.goto("console/" + where);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
      await page.screenshot({ path: join(shots, `${where.split("?")[0].replaceAll("/", "-")}-${width < 700 ? "phone-" : ""}${theme}.png`) });
      if (width > 700) wrong.push(...(await barriers(page)).map((one) => `${where}: ${one}`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) wrong.push(`${where}: scrolls ${wide} px sideways`);
    }
    equal(wrong, []);
    quiet(page);
    await page.context().close();
  });

test("the page recovers when the server is killed and started again", async ({ site, browser }) => {
  const page = await entered(browser, site);
  await page.goto("console/attention");
  const dot = page.getByRole("button", { name: /^(live|reconnecting)/ });
  await page.getByRole("button", { name: "live" }).waitFor();
  await site.killServer();
  await page.getByRole("button", { name: /reconnecting/ }).waitFor({ timeout: 30000 });
  await site.serve();
  // Sessions end with the server: the page says so, and a token opens it again.
  await page.getByLabel("Token").waitFor({ timeout: 30000 });
  await page.getByLabel("Token").fill(site.admin);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { level: 1, name: "Attention" }).waitFor();
  ok(await dot.isVisible(), "the dot is there");
  quiet(page);
  await page.context().close();
});
