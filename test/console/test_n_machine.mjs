// A step machine on the pages: its steps by their names, what it waits for, its inbox and its children.
import { barriers, becomes, enter, follow, openRun, quiet, send, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

test("a step machine shows its steps, what it waits for, its inbox and its children by name", async ({ site, browser, shots }) => {
  await site.start("kiln", "kiln-1", {}, { task_queue: "office" });
  const page = await enter(browser, site);
  await openRun(page, "kiln-1", "?tab=state");
  await becomes(page, "waiting");
  await page.getByText("next is burn; load ended with park").waitFor();
  equal(await page.locator("main .acts .btn.p").innerText(), "Signal fire…", "the first action");
  await page.getByText(/^Waiting for signal fire or discard \(step 1\) since /).first().waitFor();
  const buttons = (say) => page.locator("main .row").filter({ hasText: say }).getByRole("button");
  equal(await buttons(/^waits for/).allInnerTexts(), ["Send fire…", "Send discard…"], "what it waits for");
  equal(await buttons(/^may receive besides/).allInnerTexts(), ["Send opened…"], "what it may receive besides");
  await page.getByLabel("the state").getByText('"pots"').waitFor();
  await page.getByRole("button", { name: "Send opened…" }).click();
  await send(page, "Signal opened");
  await page.getByRole("heading", { name: /^Inbox, 1\smessage$/ }).waitFor();
  await page.getByText(/^opened came at /).waitFor();
  await page.screenshot({ path: shots + "/machine-state-light.png" });

  await openRun(page, "kiln-1", "?tab=waits");
  await page.getByRole("button", { name: "Send discard" }).waitFor();
  await page.getByRole("button", { name: "signal fire or discard", exact: true }).waitFor();
  await openRun(page, "kiln-1", "?step=1");
  const panel = page.getByRole("complementary");
  await panel.getByText("fire or discard", { exact: true }).waitFor();
  equal(await panel.getByRole("button", { name: /^Send (fire|discard)$/ }).count(), 2, "buttons beside the step");
  await openRun(page, "kiln-1", "?tab=waits");
  await page.getByRole("button", { name: "Send fire" }).click();
  await send(page, "Signal fire", { degrees: "900" });
  await becomes(page, "completed"); // "opened" was in the inbox
  await openRun(page, "kiln-1", "?tab=state");
  await page.getByText("it is over; end ended with done").waitFor();
  const children = page.getByRole("list", { name: "Children" });
  equal(await children.getByRole("link").count(), 2, "children");
  await openRun(page, "kiln-1");
  const names = page.getByRole("group", { name: "Rows of the timeline" });
  for (const name of ["load", "burn", "cool", "end"]) await names.getByRole("button", { name: new RegExp("^" + name + "\\s*machine step$") }).waitFor();
  await openRun(page, "kiln-1", "?tab=steps");
  const steps = page.getByRole("table", { name: "Machine steps" });
  await steps.waitFor();
  equal(await steps.getByRole("row").locator("td:nth-child(2)").allInnerTexts(), ["load", "burn", "cool", "end"], "its steps in words");
  await openRun(page, "kiln-1", "?tab=state");
  await children.getByRole("link").first().click();
  await becomes(page, "completed");
  await page.getByText("glaze", { exact: true }).first().waitFor();
  quiet(page);
  await page.context().close();
});

test("limits tell what is taken by whom, what is left, and how many runs of a queue wait", async ({ site, browser, shots }) => {
  const page = await enter(browser, site);
  const limits = async () => Object.fromEntries((await site.ask("GET", "console/api/limits")).limits.map((one) => [one.key, one]));
  const started = [];
  const start = async (id, ms, more) => (await site.start("bake", id, { ms }, { task_queue: "office", ...more }), started.push(id));
  for (const n of [1, 2, 3, 4, 5]) await start(`oven-${n}`, 15000, { concurrency_key: "oven:north" });
  for (const n of [1, 2, 3]) await start(`flour-${n}`, 0, { rate_limit: "flour" });
  await until(async () => {
    const { "oven:north": oven, flour } = await limits();
    return oven?.taken.length === 2 && oven.waiting === 3 && flour?.waiting === 1;
  }, 20, "they wait");
  await follow(page, "queues");
  await settled(page, "Queues");
  const table = page.getByRole("table", { name: "Limits", exact: true });
  const row = (key) => table.getByRole("row").filter({ has: page.getByText(key, { exact: true }) }).first();
  const cells = async (key) => (await row(key).getByRole("cell").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  equal((await cells("oven:north")).slice(1), ["concurrency key", "2 at once", "2 of 2 taken", "3", "office"], "the key");
  equal((await cells("oven")).slice(1), ["concurrency key", "2 at once", "0 of 2 taken", "0", "none now"], "another of the limit");
  equal((await cells("flour")).slice(1, 3), ["rate limit", "2 in 1 h"], "the rate");
  ok(/^0(\.\d+)? of 2 left, full in/.test((await cells("flour"))[3]), "tokens that are left: " + (await cells("flour"))[3]);
  await page.getByRole("button", { name: "oven:north" }).press("Enter");
  const slots = page.getByRole("table", { name: "Slots of oven:north" });
  equal(await slots.getByRole("link", { name: /^oven-\d$/ }).count(), 2, "runs that have the slots");
  ok(page.url().includes("limit=concurrency+oven%3Anorth"), "what is open is in the address: " + page.url());
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    equal(await barriers(page), [], "axe in " + theme);
    await page.screenshot({ path: `${shots}/limits-${theme}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways at 390 px");
  await page.screenshot({ path: shots + "/limits-390.png", fullPage: true });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("link", { name: /^4\sruns of office wait before limits$/ }).click();
  await page.getByText(/^Of queue office; 1\sother hidden\.$/).waitFor();
  equal(await table.getByText("oven", { exact: true }).count(), 0, "a limit that has nothing to do with it");
  for (const id of started) await site.ask("POST", `api/workflows/${id}/terminate`, {}).catch(() => {});
  await until(async () => !(await limits())["oven:north"]?.waiting, 30, "nobody waits");
  quiet(page);
  await page.context().close();
});
