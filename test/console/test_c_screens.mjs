// Every screen, in both themes and two sizes: it opens, says its name, breaks no rule, and is pictured for the eye.
import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { join } from "node:path";
import { barriers, enter, follow, quiet, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { Site, until } from "./site.mjs";

/** Address, heading. */
const SCREENS = [
  ["overview", "Overview"],
  ["first", "Your first runs"],
  ["attention", "Attention"],
  ["failures", "Failures"],
  ["schedules", "Schedules"],
  ["schedules/every-five", "every-five"],
  ["workers", "Workers and builds"],
  ["queues", "Queues"],
  ["types", "Types"],
  ["types/order", "order"],
  ["batches", "Batches"],
  ["settings", "Settings"],
  ["settings?tab=namespaces", "Settings"],
  ["settings?tab=tokens", "Settings"],
  ["settings?tab=numbers", "Settings"],
  ["settings?tab=about", "Settings"],
];

for (const [size, width, height] of [["", 1440, 900], ["phone-", 390, 844], ["narrow-", 320, 700]])
  test(`every screen opens, light and dark, ${width} px`, async ({ site, browser, shots }) => {
    const page = await enter(browser, site, { width, height });
    const wrong = [];
    for (const [where, title] of SCREENS) {
      await follow(page, where);
      await settled(page, title);
      const name = where.replace(/\?tab=/, "-").split("?")[0].replaceAll("/", "-");
      for (const theme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.screenshot({ path: join(shots, `${name}-${size}${theme}.png`) });
        if (!size) wrong.push(...(await barriers(page, theme === "dark" ? ["color-contrast"] : undefined)).map((one) => `${where}, ${theme}: ${one}`));
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) wrong.push(`${where}: scrolls ${wide} px sideways`);
      const broken = await page.evaluate(() => [...document.querySelectorAll("main dt")].filter((one) => one.clientWidth < 60 && one.clientHeight > 40).map((one) => one.innerText));
      if (broken.length) wrong.push(`${where}: names are broken by letters: ${broken.slice(0, 3)}`);
    }
    equal(wrong, []);
    quiet(page);
    await page.context().close();
  });

test("a reader sees everything and can change nothing", async ({ site, browser }) => {
  const { secret } = await site.token("read", "reader");
  const page = await enter(browser, site, { token: secret });
  await follow(page, "schedules/every-five");
  await settled(page, "every-five");
  for (const name of ["Trigger now…", "Pause…", "Backfill…"]) {
    const button = page.getByRole("button", { name });
    equal(await button.getAttribute("aria-disabled"), "true", name);
    await button.click({ force: true });
    equal(await page.getByRole("dialog").count(), 0, "dialogs after " + name);
  }
  equal(
    await page.evaluate(async () => (await fetch("../../api/schedules/every-five/trigger", { method: "POST", body: "{}", headers: { "Content-Type": "application/json", "X-Holdfast-Console": "1", "X-Durable-Workflow-Control-Plane-Version": "2" } })).status),
    403,
    "the server, asked all the same,",
  );
  page.complaints = page.complaints.filter((one) => !one.includes("status of 403"));
  await follow(page, "settings?tab=tokens");
  await page.getByText("Tokens are for the role admin.").waitFor();
  quiet(page);
  await page.context().close();
});

test("each namespace shows its own, and the address says which", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "schedules");
  await page.getByRole("link", { name: "every-five" }).waitFor();
  await page.getByRole("button", { name: "Namespace default" }).click();
  await page.getByRole("menuitem", { name: "shipping" }).click();
  await page.getByText("Nothing starts by itself here.").waitFor();
  equal(new URL(page.url()).searchParams.get("namespace"), "shipping", "the address");
  await page.goBack();
  await page.getByRole("link", { name: "every-five" }).waitFor();
  quiet(page);
  await page.context().close();
});

test("the first visit ticks off what the server sees", async ({ site, browser }) => {
  await site.ask("POST", "api/namespaces", { name: "fresh", retention_days: 30 });
  const page = await enter(browser, site);
  await page.goto("console/overview?namespace=fresh");
  await page.getByRole("heading", { level: 1, name: "Nothing of yours has run yet" }).waitFor();
  await page.getByText("waiting for a start").waitFor();
  await site.start("order", "order-1", { sku: "TEA-1", amount: 90 }, {}, { namespace: "fresh" });
  await page.getByText("seen: one run", { exact: true }).waitFor({ timeout: 20000 });
  await page.getByRole("button", { name: "Go to the overview" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  quiet(page);
  await page.context().close();
});

test("a chart is a table, too", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "overview");
  await page.getByRole("img", { name: /^Closed/ }).waitFor();
  // A pointer over one chart is a readout of that moment in all of them.
  const box = await page.getByRole("img", { name: /^Closed:/ }).boundingBox();
  await page.mouse.move(box.x + box.width - 12, box.y + 60);
  const moments = page.locator(".chart .legend > .w");
  await page.waitForFunction(() => document.querySelectorAll(".chart .legend > .w").length === document.querySelectorAll(".chart").length);
  equal(new Set(await moments.allInnerTexts()).size, 1, "moments that charts show");
  equal(await page.locator(".chart .legend b").first().getAttribute("title"), "completed", "what the first number is of");
  await page.mouse.move(0, 0);
  await page.waitForFunction(() => document.querySelectorAll(".chart .legend > .w").length === 0);
  await page.getByRole("button", { name: "Closed: as a table", exact: true }).click();
  const table = page.getByRole("region", { name: "Closed, as a table", exact: true });
  equal(await table.getByRole("columnheader").allInnerTexts(), ["At", "completed", "cancelled", "failed", "Builds"], "its columns");
  ok((await table.getByRole("row").count()) > 10, "it has a row for each step");
  quiet(page);
  await page.context().close();
});

test("the overview says how long runs took, how types do, and what waits in which queue", async ({ site, browser }) => {
  const { types } = await site.ask("GET", `console/api/metrics/durations?from=${new Date(Date.now() - 86400000).toISOString()}`);
  const orders = types.find((one) => one.workflow_type === "order");
  const page = await enter(browser, site);
  await follow(page, "overview?range=24h");
  await settled(page, "Overview");
  const cells = page.getByRole("table", { name: "Types" }).getByRole("row").filter({ has: page.getByRole("link", { name: "order", exact: true }) }).getByRole("cell");
  await until(async () => (await cells.count()) === 7 && Number((await cells.nth(2).innerText()).replace(",", "")) >= orders.closed, 15, "the orders that closed");
  ok(/ ?(ms|s)$/.test((await cells.nth(4).innerText()).replace("\u00a0", " ")), "their median has a unit");
  await page.getByText("closed, success and times of the last 24 h").waitFor();
  await page.getByRole("img", { name: /^Run time, .*that closed in the last 24 h; the slowest step had a p99 of/ }).waitFor();
  await page.getByRole("button", { name: "Run time: as a table", exact: true }).click();
  const table = page.getByRole("region", { name: "Run time, as a table", exact: true });
  equal(await table.getByRole("columnheader").allInnerTexts(), ["At", "p50", "p95", "p99", "Builds"], "its columns");
  await table.getByRole("cell", { name: "none" }).first().waitFor(); // a step in which nothing closed has no time
  const backlog = page.getByRole("region", { name: "Backlog" });
  await backlog.getByRole("img", { name: "1 turns" }).waitFor();
  await backlog.getByText(/^1 waits, oldest .*, no worker$/).waitFor();
  quiet(page);
  await page.context().close();
});

test("the charts of the overview are compared with last week, and name the builds that came", async ({ site: { build }, browser, shots }) => {
  const site = new Site(build);
  try {
    await site.serve();
    await site.work();
    await site.start("order", "o-1", { sku: "TEA-1", amount: 10 });
    await site.ask("POST", "api/worker/register", { worker_id: "marked-1", task_queue: "marked", runtime: "python", build_id: "2026.05.1" });
    await site.ask("POST", "api/task-queues/marked/build-ids/promote", { build_id: "2026.05.1" });
    const page = await enter(browser, site);
    await follow(page, "overview?range=15m&compare=week");
    await settled(page, "Overview");
    await page.getByText("Nothing is known of the same time last week.").waitFor();
    const minute = Math.floor(Date.now() / 60000) * 60000000 - 7 * 86400000000;
    const rows = Array.from({ length: 12 }, (_, i) => `(1, 60000000, ${minute - (i + 1) * 60000000}, ${9 - (i % 4)}, 5, 1, 1, 0, 0, 2, 12, ${3 - (i % 3)}, 90)`);
    await site.stop(); // nobody else may write to a store that is open
    execFileSync("sqlite3", [site.store, `INSERT INTO metric_point SELECT n.key, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, v.column9, v.column10, v.column11, v.column12, v.column13 FROM namespace n, (VALUES ${rows}) v WHERE n.name = 'default'`]);
    await site.serve();
    await page.reload();
    await settled(page, "Overview");
    const chart = (name) => page.getByRole("img", { name: new RegExp("^" + name) });
    await page.locator(".plot .was .line").first().waitFor({ state: "attached" });
    equal(await page.locator(".plot .was .line").count(), 6, "faint lines: one of the stack, two and three of the others");
    await chart("Closed: .*; 2026\\.05\\.1 first seen at [^;]* \\(marked\\); 2026\\.05\\.1 promoted at").waitFor();
    await page.getByText(/^Builds: .*2026\.05\.1 first seen at [^;]* \(marked\); 2026\.05\.1 promoted at /).waitFor();
    ok((await page.locator(".plot .deploy text").filter({ hasText: "2026.05.1" }).count()) >= 3, "the mark has its name");
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: `${shots}/overview-compared-${theme}.png`, fullPage: true });
      equal(await barriers(page, theme === "dark" ? ["color-contrast"] : undefined), [], "axe in " + theme);
    }
    await page.getByRole("button", { name: "Started and closed: as a table" }).click();
    const table = page.getByRole("region", { name: "Started and closed, as a table", exact: true });
    equal(await table.getByRole("columnheader").allInnerTexts(), ["At", "started", "started, last week", "closed", "closed, last week", "Builds"], "its columns");
    ok((await table.getByRole("cell", { name: /2026\.05\.1 promoted/ }).count()) === 1, "the step in which it was promoted names it");
    await page.getByRole("link", { name: "1 h", exact: true }).click();
    ok(/compare=week/.test(page.url()), "another range is compared as well: " + page.url());
    await page.getByRole("link", { name: "Alone", exact: true }).click();
    await page.locator(".plot .was").first().waitFor({ state: "detached" });
    ok(!/compare/.test(page.url()), "the comparison is in the address");
    await page.setViewportSize({ width: 390, height: 844 });
    ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways at 390 px");
    await page.screenshot({ path: `${shots}/overview-compared-390.png`, fullPage: true });
    quiet(page);
    await page.context().close();
  } finally {
    await site.stop();
  }
});

test("workers say where they run and how many slots they have", async ({ site, browser }) => {
  await site.ask("POST", "api/worker/register", { worker_id: "crafts-1", task_queue: "crafts", runtime: "python", max_concurrent_workflow_tasks: 4, max_concurrent_activity_tasks: 6 });
  const page = await enter(browser, site);
  await follow(page, "workers");
  await settled(page, "Workers and builds");
  const { workers } = await site.ask("GET", "console/api/workers");
  const one = workers.find((worker) => worker.task_queue === "office");
  const row = (id) => page.getByRole("table", { name: "Fleet" }).getByRole("row").filter({ hasText: id });
  await row(one.worker_id).getByText(`${hostname()}, process ${site.officer.pid}`).waitFor();
  await row("crafts-1").getByRole("img", { name: "0 of 10 slots in use" }).waitFor();
  await site.ask("DELETE", "api/worker/registrations/crafts-1");
  quiet(page);
  await page.context().close();
});

test("the page recovers when the server is killed and started again", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await page.goto("console/attention");
  await page.getByRole("button", { name: "live" }).waitFor();
  await site.killServer();
  await page.getByRole("button", { name: /reconnecting/ }).waitFor({ timeout: 30000 });
  await site.serve();
  await page.getByRole("button", { name: "live", exact: true }).waitFor({ timeout: 30000 });
  await page.getByRole("heading", { level: 1, name: "Attention" }).waitFor();
  equal(await page.getByLabel("Token").count(), 0, "whoever was logged in is not asked again: fields for a token");
  quiet(page);
  await page.context().close();
});
