// Who cannot see the page or does not use a mouse: every screen after axe-core's rules in both themes, and the way that people go
// most with keys alone.
import { join } from "node:path";
import { barriers, becomes, enter, follow, openPage, quiet, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

/** Runs of every look, and the screens that are about them. */
async function seed(site) {
  const office = { task_queue: "office" };
  await site.start("order.process", "access-order", { amount: 129.9, units: 200, region: "eu" }, { ...office, business_key: "A-1", labels: { region: "eu" }, memo: { cart: 7 } });
  await site.start("review", "access-review", { item: "crane" }, office);
  await site.start("stuck", "access-stuck", {}, office);
  await site.start("sums", "access-sums", { left: 3 }, office);
  await site.start("wide", "access-wide", { steps: 120 }, office);
  await site.start("order", "access-failed", { sku: "TEA-1", amount: 2000 });
  const { runs: chain } = await until(async () => {
    const all = await site.ask("GET", "api/workflows/access-sums/runs");
    return all.runs.length === 4 && all;
  }, 30, "it has continued three times");
  await until(async () => (await site.ask("GET", "console/api/runs/access-failed")).status === "failed", 30, "it has failed");
  await until(async () => (await site.ask("GET", "console/api/runs/access-wide")).wait_kind === "signal", 60, "the wide one waits");
  return [
    ["runs", "Runs"],
    ["runs?q=is%3Aopen+nofield%3Ax", "Runs"],
    ["runs?q=nobody-is-called-this", "Runs"],
    ["runs/access-order", "access-order"],
    ["runs/access-order?step=1", "access-order"],
    ["runs/access-order?tab=steps", "access-order"],
    ["runs/access-order?tab=steps&view=events&event=3", "access-order"],
    ["runs/access-order?tab=waits", "access-order"],
    ["runs/access-order?tab=commands", "access-order"],
    ["runs/access-order?tab=lineage", "access-order"],
    ["runs/access-order?tab=state", "access-order"],
    ["runs/access-order?tab=code", "access-order"],
    ["runs/access-order?tab=json", "access-order"],
    ["runs/access-order?at=4", "access-order"],
    ["runs/access-stuck", "access-stuck"],
    ["runs/access-failed", "access-failed"],
    ["runs/access-wide", "access-wide"],
    [`runs/access-sums?run_id=${chain.at(-1).run_id}`, "access-sums"],
    ["runs/nobody", "nobody"],
    ["approvals", "Approvals"],
    ["batches/" + site.batch, /^Batch/],
    ["explore?sql=select+1", "Explore"],
    ["nothing", "No such page"],
  ];
}

test("every screen about runs is without barriers, light and dark, wide and narrow", async ({ site, browser, shots }) => {
  const screens = await seed(site);
  const wrong = [];
  const walk = async (from, to) => {
    const page = await enter(browser, site);
    for (const [where, title] of screens.slice(from, to)) {
      await follow(page, where);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
      const name = where.replace(/[^a-z]+/g, "-").replace(/-$/, "");
      for (const theme of ["dark", "light"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.screenshot({ path: join(shots, `${name}-${theme}.png`) });
        wrong.push(...(await barriers(page, theme === "dark" ? ["color-contrast"] : undefined)).map((one) => `${where}, ${theme}: ${one}`));
      }
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 844 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (wide > 0) wrong.push(`${where}: scrolls ${wide} px sideways at ${width} px`);
      }
      await page
        .waitForFunction(() => {
          const place = document.querySelector("nav.tabs [aria-current]")?.getBoundingClientRect();
          return !place || (place.left >= 0 && place.right <= innerWidth);
        }, null, { timeout: 5000 })
        .catch(() => wrong.push(`${where}: the tab that is open is out of view`));
      for (const theme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.screenshot({ path: join(shots, `${name}-phone-${theme}.png`) });
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    page.complaints = page.complaints.filter((one) => !/runs\/nobody/.test(one));
    quiet(page);
    await page.context().close();
  };
  const half = Math.ceil(screens.length / 2);
  await Promise.all([walk(0, half), walk(half)]);
  equal(wrong, []);
});

test("where the system chooses the colours, what is chosen and how runs stand are told by more than colour", async ({ site, browser, shots }) => {
  await site.start("order", "forced-1", { sku: "TEA-1", amount: 650 });
  const page = await enter(browser, site);
  await page.emulateMedia({ forcedColors: "active" });
  const style = (locator, name, part) => locator.evaluate((one, [name, part]) => getComputedStyle(one, part)[name], [name, part]);
  await follow(page, "runs");
  await settled(page, "Runs");
  for (const state of await page.locator("main tbody .st").all()) {
    ok((await state.locator("svg").count()) === 1 && (await state.innerText()).trim(), `a state is a shape and a word: ${await state.innerHTML()}`);
  }
  const frame = (locator) => style(locator, "outlineStyle");
  equal([await frame(page.locator(".rail a.on")), await frame(page.locator(".rail a:not(.on)").first())], ["solid", "none"], "frames of the page that is open, and of another");
  equal([await frame(page.locator(".view.on")), await frame(page.locator(".view:not(.on)").first())], ["solid", "none"], "frames of the list that is open, and of another");
  equal(await frame(page.locator("main")), "none", "a frame around the page, which has the focus");
  await page.screenshot({ path: join(shots, "runs-forced.png") });
  await follow(page, "runs/forced-1?tab=steps&view=events&event=3");
  await settled(page, "forced-1");
  const line = (locator) => style(locator, "borderBottomColor");
  const tabs = page.getByRole("navigation", { name: "Parts of the run" });
  ok((await line(tabs.locator("a.on"))) !== (await line(tabs.locator("a:not(.on)").first())), "the line below the tab that is open differs from the others");
  equal(await frame(page.locator("main tr.sel")), "solid", "the frame of the event that is chosen");
  await page.screenshot({ path: join(shots, "run-forced.png") });
  await follow(page, "batches/" + site.batch);
  await settled(page, /^Batch/);
  const bar = page.locator("main .meter i").first();
  ok((await style(bar, "backgroundColor")) !== (await style(page.locator("main"), "backgroundColor")), "how far a batch is can be seen");
  quiet(page);
  await page.context().close();
});

test("dialogs are without barriers, and give the focus back", async ({ site, browser, shots }) => {
  const page = await enter(browser, site);
  await follow(page, "runs/access-review");
  await settled(page, "access-review");
  const button = page.locator("main .acts").getByRole("button", { name: "Signal decide…" });
  const wrong = [];
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Signal decide" });
    await dialog.waitFor();
    await page.screenshot({ path: join(shots, `dialog-${theme}.png`) });
    wrong.push(...(await barriers(page)).map((one) => `${theme}: ${one}`));
    ok(await page.evaluate(() => !!document.activeElement.closest("dialog")), "the focus is in the dialog");
    for (let i = 0; i < 40; i++) await page.keyboard.press("Tab");
    ok(await page.evaluate(() => !document.activeElement.closest("main, header, nav")), "the focus stays out of the page behind");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    ok(await button.evaluate((one) => one === document.activeElement), "the focus is back");
  }
  await until(async () => (await page.keyboard.press("?"), page.getByRole("dialog", { name: "Keys" }).isVisible()), 10, "the keys are shown");
  wrong.push(...(await barriers(page)));
  equal(wrong, []);
  quiet(page);
  await page.context().close();
});

test("with keys alone: log in, find a run, open it, send its signal, and go back", async ({ site, browser }) => {
  await site.start("order", "keys-1", { sku: "TEA-5", amount: 750 }, { business_key: "K-100" });
  const page = await openPage(browser, site);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText);
  await page.goto("console/runs");
  await page.getByLabel("Token").waitFor();
  await page.keyboard.type(site.admin); // the field has the focus
  await page.keyboard.press("Enter");
  await settled(page, "Runs");
  await page.getByRole("link", { name: "keys-1" }).waitFor();

  // From the top, the first thing that Tab comes to leads past the frame.
  await page.reload();
  await settled(page, "Runs");
  await page.keyboard.press("Tab");
  equal(await focused(), "Skip to content", "the first stop");
  await page.keyboard.press("Enter");
  ok(await page.evaluate(() => document.activeElement.id === "main"), "the focus is in the page");

  await page.keyboard.press("/");
  await page.keyboard.type("keys-1");
  await page.getByRole("option", { name: "keys-1 order, waiting" }).waitFor();
  await page.keyboard.press("Enter");
  await settled(page, "keys-1");
  await becomes(page, "waiting");
  await page.keyboard.press("a");
  equal(await focused(), "Signal approved-by…", "the first action");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement.matches("dialog input[type=text]"))); i++) await page.keyboard.press("Tab");
  await page.keyboard.type("mia");
  await page.keyboard.press("Enter");
  await becomes(page, "completed");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("[");
  await page.getByText(/^As of event \d+, not now/).waitFor();
  await page.keyboard.press("]");
  await page.getByText(/^As of event/).waitFor({ state: "detached" });
  await page.goBack(); // Alt and the left arrow; a browser without windows does not know these keys
  await settled(page, "Runs");
  await page.getByRole("link", { name: "keys-1" }).waitFor();
  for (const key of ["j", "j", "k", "x"]) await page.keyboard.press(key);
  await page.getByRole("region", { name: "Selection" }).getByText("1 selected").waitFor();
  quiet(page);
  await page.context().close();
});
