// The table of docs/operate/console.md that says where each field, list, number and form of Waterline is: every row is opened,
// and what it promises must be seen there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, choose, enter, follow, home, openRun, quiet, refusals, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

const RUNS = {
  Run: "water-order",
  "Run that failed": "water-failed",
  "Run that continued": "water-chain",
  "Run that is blocked": "water-drift",
  "Run that is archived": "water-archived",
  "Run that waits for a condition": "water-gate",
  "Run without a worker": "water-lost",
  "Run begun with a signal": "water-intake",
};
const TABS = ["Timeline", "Steps", "Waits", "Commands", "Lineage", "State", "Code", "JSON"];

/** Rows as {field, where, texts}. */
function rows() {
  const text = readFileSync(join(home, "docs/operate/console.md"), "utf8");
  const table = text.slice(text.indexOf("## What Waterline shows")).split("\n## ")[0];
  return [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)]
    .map(([, field, where, texts]) => ({ field, where, texts: [...texts.matchAll(/`([^`]+)`/g)].map((one) => one[1]) }))
    .filter((row) => row.texts.length);
}

async function seed(site) {
  const office = { task_queue: "office" };
  const head = (id) => site.ask("GET", "console/api/runs/" + id);
  await site.start("drift", "water-drift", {}, office);
  await site.start("order.process", "water-order", { amount: 129.9, units: 10, region: "eu" }, { ...office, business_key: "WL-1", labels: { region: "eu" }, memo: { cart: 7 }, execution_timeout_seconds: 86400 });
  await site.start("sums", "water-chain", { left: 2 }, office);
  await site.start("gate", "water-gate", {}, office);
  await site.start("order", "water-failed", { sku: "TEA-1", amount: 2000 });
  await site.start("region", "water-archived", { name: "north" });
  await site.start("order", "water-lost", { sku: "TEA-1", amount: 10 }, { task_queue: "nobody-there" });
  await site.ask("POST", "api/workflows/signal-with-start", { workflow_type: "review", workflow_id: "water-intake", task_queue: "office", input: {}, signal_name: "decide", signal_input: { outcome: "later" } });
  await site.ask("POST", "api/views", { name: "waterline orders", bucket: "running", filters: { workflow_type: "order.process" }, shared: true });
  await site.ask("POST", "api/workflows/water-archived/cancel", { reason: "for the table" });
  await until(async () => (await head("water-archived")).closed_at, 30, "it is cancelled");
  await site.ask("POST", "api/workflows/water-archived/archive", { reason: "for the table" });
  await site.ask("POST", "api/workflows/water-order/update/address", { input: { street: "Kornstraße 12" }, wait_for: "completed" });
  await site.ask("POST", "api/workflows/water-order/update/address", { input: { street: "Kornstraße 12", city: "Ulm" } }, { status: 422 });
  await until(async () => (await head("water-drift")).wait_kind === "signal", 30, "it waits");
  const child = await until(async () => (await site.ask("GET", "console/api/runs/water-order/lineage")).nodes.find((one) => one.workflow_type === "ship" && one.status === "waiting"), 60, "its child waits");
  await site.ask("POST", `api/workflows/${child.workflow_id}/signal/pickup`, { input: {} });
  await until(async () => (await head("water-order")).wait_kind === "signal", 60, "it waits for its approval");
  await until(async () => (await head("water-gate")).wait_kind === "condition", 30, "it waits for a condition");
  await until(async () => (await head("water-failed")).status === "failed", 30, "it has failed");
  await until(async () => (await head("water-intake")).status === "completed", 30, "it is answered");
  await site.office("2");
  await site.ask("POST", "api/workflows/water-drift/signal/go", { input: {} });
  await until(async () => (await head("water-drift")).glyph === "blocked", 60, "it is blocked");
  await site.office("1");
  return child.workflow_id;
}

/** The number of the step that has this bar. */
async function stepOf(site, id, fits) {
  const { spans } = await site.ask("GET", `console/api/runs/${id}/spans`);
  return spans.bars.find(fits).step;
}

async function part(site, page, id, name) {
  const step = async (fits) => openRun(page, id, "?step=" + (await stepOf(site, id, fits)));
  const row = async (tab, text, inner) => {
    await openRun(page, id, "?tab=" + tab);
    await page.getByRole("row").filter({ hasText: text }).getByRole("button", { name: inner }).first().click();
  };
  if (TABS.includes(name)) return openRun(page, id, "?tab=" + name.toLowerCase());
  switch (name) {
    case "Events":
      return openRun(page, id, "?tab=steps&view=events");
    case "an event":
      return openRun(page, id, "?tab=steps&view=events&event=2");
    case "the event of its wait": {
      const opened = (await site.history(id)).find((one) => one.type === "ConditionWaitOpened");
      return openRun(page, id, "?tab=steps&view=events&event=" + opened.sequence);
    }
    case "a step":
      return step((bar) => bar.name === "charge");
    case "a step with progress":
      return step((bar) => bar.name === "register-serials");
    case "a timer":
      return step((bar) => bar.kind === "timer");
    case "a wait":
      return row("waits", /open/, /approved-by|address-known/);
    case "a wait of a barrier":
      return row("waits", /register-serials|child/, /child|register-serials/);
    case "a command":
      return row("commands", /signal|start/, /signal|start/);
    case "a signal":
      return row("commands", /signal/, /signal/);
    case "an update":
      return row("commands", /update.*completed/s, /update/);
    case "a rejected update":
      return row("commands", /rejected/, /update/);
    case "More":
      return page.getByRole("button", { name: "More", exact: true }).click();
    case "All fields":
      for (const one of await page.locator("summary").filter({ hasText: "All fields" }).all()) await one.click();
      return undefined;
    default:
      throw new Error(`the table names a part that nobody knows: ${name}`);
  }
}

async function form(page, name) {
  const [, action, of] = /^(\w+)(?: (.+))?$/.exec(name);
  if (action === "Start") {
    await follow(page, "types/" + of);
    await settled(page, of);
    return page.getByRole("button", { name: "Start…" }).click();
  }
  await openRun(page, of === "of a blocked run" ? "water-drift" : of === "of a closed run" ? "water-failed" : "water-order");
  return /Signal|Update|Query/.test(action) ? choose(page, action, of) : choose(page, "More", action + "…");
}

async function open(site, page, where, child) {
  if (await page.getByRole("dialog").count()) await page.keyboard.press("Escape");
  const plain = { Overview: ["overview", "Overview"], Runs: ["runs", "Runs"], Failures: ["failures", "Failures"], "Settings, Numbers": ["settings?tab=numbers", "Settings"], "Type of the run": ["types/order.process", "order.process"] }[where];
  const query = /^Runs, `(.+)`$/.exec(where);
  if (plain ?? query) {
    await follow(page, plain?.[0] ?? "runs?q=" + encodeURIComponent(query[1]));
    return settled(page, plain?.[1] ?? "Runs");
  }
  if (where.startsWith("Form ")) return form(page, where.slice(5));
  const [subject, ...parts] = where.split(", ");
  const id = subject === "Child of the run" ? child : RUNS[subject];
  ok(id, `the table names a page that nobody knows: ${where}`);
  await openRun(page, id);
  for (const one of parts) await part(site, page, id, one);
  return undefined;
}

test("every row of the table of Waterline is there", async ({ site, browser }) => {
  const child = await seed(site);
  const pages = new Map();
  for (const row of rows()) pages.set(row.where, [...(pages.get(row.where) ?? []), row]);
  ok(pages.size > 30, `the table has ${pages.size} places`);
  const wrong = [];
  const todo = [...pages];
  const walk = async () => {
    const page = await enter(browser, site);
    for (let next; (next = todo.shift()); ) {
      const [where, of] = next;
      try {
        await open(site, page, where, child);
        const missing = async () => {
          const text = (await page.evaluate(() => document.body.innerText)).toLowerCase().replace(/\s+/g, " ");
          return of.flatMap((row) => row.texts.filter((one) => !text.includes(one.toLowerCase())).map((one) => `${where}: ${row.field}: there is no ${one}`));
        };
        await until(async () => (await missing()).length === 0, 10, "").catch(async () => wrong.push(...(await missing())));
      } catch (error) {
        wrong.push(`${where}: ${error.message.split("\n")[0]}`);
      }
    }
    quiet(page);
    await page.context().close();
  };
  await Promise.all([walk(), walk()]);
  equal(wrong, []);
});
