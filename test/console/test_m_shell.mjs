// The lines for a shell that pages show: each is typed as it stands, and does what the page would have done.
import { becomes, choose, enter, follow, openRun, quiet, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

/** What the open dialog shows for the shell, once its inputs are filled; it is left without sending. */
async function shown(page, inputs = {}) {
  const dialog = page.getByRole("dialog");
  for (const [label, text] of Object.entries(inputs)) await dialog.getByLabel(label, { exact: true }).fill(text);
  const line = await dialog.locator(".code > span").innerText();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return line;
}

const head = (site, id, options) => site.ask("GET", "console/api/runs/" + id, undefined, options);
const commands = (site, id, options) => site.ask("GET", `console/api/runs/${id}/commands`, undefined, options).then((said) => said.commands);

test("a run is started and told things by the lines that its page shows", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "types/order");
  await settled(page, "order");
  await page.getByRole("button", { name: "Start…" }).click();
  const start = { sku: "it's tea", amount: "700", "Workflow id made up when it is empty": "shell-1", "Business key optional": "B 7", "Queue default": "default" };
  await site.shell(await shown(page, start));
  const begun = await head(site, "shell-1");
  equal([begun.business_key, begun.queue, JSON.parse(begun.arguments.text)], ["B 7", "default", { sku: "it's tea", amount: 700 }], "what was started");

  await openRun(page, "shell-1");
  await becomes(page, "waiting");
  await choose(page, "Query", "status");
  equal(JSON.parse(await site.shell(await shown(page))), { held: 0 }, "what was asked");
  await choose(page, "Update", "hold");
  equal(JSON.parse(await site.shell(await shown(page, { "Reason if you like, kept with your name": "not yet" }))), { held: 1 }, "what the update answers");
  await choose(page, "More", "Fork…");
  const fork = await shown(page, { step: "2", new_workflow_id: "shell-fork", signals: "*" , "Reason needed, kept with your name": "try it" });
  await choose(page, "Signal", "approved-by");
  await site.shell(await shown(page, { approver: "mia", note: "it's fine; $HOME \"ok\"" }));
  await becomes(page, "completed");
  const { signals } = await site.ask("GET", "console/api/runs/shell-1/commands");
  equal(JSON.parse(signals[0].arguments.text), { approver: "mia", note: "it's fine; $HOME \"ok\"" }, "the signal");

  // The approval came behind step 2, and comes again.
  await site.shell(fork);
  await until(async () => (await head(site, "shell-fork")).status === "completed", 30, "the fork was approved by what was carried over");
  equal((await commands(site, "shell-fork")).some((one) => one.type === "signal"), true, "the signal of the fork");
  quiet(page);
  await page.context().close();
});

test("orders go to the run and the namespace that the page shows", async ({ site, browser }) => {
  const there = { namespace: "shipping" };
  await site.start("order", "-shell-2", { sku: "x", amount: 1 }, {}, there);
  const page = await enter(browser, site);
  const order = async (verb, reason) => {
    await choose(page, "More", verb + "…");
    await site.shell(await shown(page, reason ? { "Reason needed, kept with your name": reason } : {}));
  };
  await page.goto("console/runs/-shell-2?namespace=shipping");
  await settled(page, "-shell-2");
  const comes = async (glyph, is = true) => {
    await until(async () => ((await head(site, "-shell-2", there)).glyph === glyph) === is, 30, `it is ${is ? "" : "not "}${glyph}`);
    await page.reload(); // what is tried here are the lines, not the stream
    await settled(page, "-shell-2");
  };
  await order("Pause");
  await comes("paused");
  await order("Resume");
  await comes("paused", false);
  await order("Terminate", "over, and 'done'");
  await comes("terminated");
  await order("Archive");
  const all = await commands(site, "-shell-2", there);
  equal(all.map((one) => [one.type, one.reason]), [["start", null], ["pause", null], ["resume", null], ["terminate", "over, and 'done'"], ["archive", null]], "its commands");

  // A run that is not the newest of its workflow is named.
  await site.start("order", "shell-3", { sku: "TEA-8", amount: 800 });
  await openRun(page, "shell-3", "?namespace=default");
  await becomes(page, "waiting");
  await choose(page, "More", "Reset…");
  await site.shell(await shown(page, { step: "2", "Reason needed, kept with your name": "again" }));
  await page.getByRole("link", { name: "#2 current" }).waitFor();
  const { runs } = await site.ask("GET", "api/workflows/shell-3/runs");
  const first = runs.find((one) => one.run_number === 1).run_id;
  await openRun(page, "shell-3", `?namespace=default&run_id=${first}`);
  await becomes(page, "terminated").catch(() => undefined);
  await order("Archive");
  ok((await head(site, "shell-3?run_id=" + first)).archived_at, "the older run is archived");
  equal((await head(site, "shell-3")).archived_at, null, "the newest one is");
  quiet(page);
  await page.context().close();
});

test("lists, schedules, queues, batches and tokens have lines that run as they stand", async ({ site, browser }) => {
  for (const id of ["shell-many-1", "shell-many-2"]) await site.start("region", id, { name: "north" }, { labels: { sort: "a b" } });
  const page = await enter(browser, site);
  await follow(page, "runs?q=" + encodeURIComponent('is:open type:region label.sort:"a b" started<1h shell-many'));
  await settled(page, "Runs");
  await page.getByRole("link", { name: "shell-many-1" }).waitFor();
  const ls = (await page.locator("p.fine .mono").innerText()) + " -o name";
  equal((await site.shell(ls)).trim().split("\n").sort(), ["shell-many-1", "shell-many-2"], ls);

  await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
  const bar = page.getByRole("region", { name: "Selection" });
  await bar.getByRole("button", { name: "Terminate…" }).click();
  await page.getByRole("dialog").getByText("2 would take it").waitFor();
  await site.shell(await shown(page, { "Reason needed, kept with your name": "all of them" }));
  for (const id of ["shell-many-1", "shell-many-2"]) await until(async () => (await head(site, id)).status === "terminated", 30, id);

  await openRun(page, "shell-many-1", "?step=1");
  ok((await site.shell(await page.locator(".insp .code > span").last().innerText())).includes("timer"), "one step is shown");

  await site.ask("POST", "api/schedules", { schedule_id: "shell-s", spec: { intervals: [{ every: "PT50M" }] }, action: { workflow_type: "region", input: { name: "north" } } });
  await follow(page, "schedules/shell-s");
  await settled(page, "shell-s");
  const fired = async () => (await site.ask("GET", "api/schedules/shell-s/history?limit=100")).events.filter((one) => /Triggered|Skipped/.test(one.event_type)).length;
  for (const [button, holds] of [
    ["Pause…", async () => (await site.ask("GET", "api/schedules/shell-s")).paused],
    ["Resume…", async () => !(await site.ask("GET", "api/schedules/shell-s")).paused],
    ["Trigger now…", async () => (await fired()) === 1],
    ["Backfill…", async () => (await fired()) > 20], // every 50 minutes of a day
  ]) {
    await page.getByRole("button", { name: button }).click();
    await site.shell(await shown(page));
    await until(holds, 10, "the schedule after " + button);
    await page.reload();
    await settled(page, "shell-s");
  }
  await follow(page, "queues");
  await page.getByRole("button", { name: "Pause emails" }).click();
  await site.shell(await shown(page));
  await page.reload();
  await page.getByRole("button", { name: "Resume emails" }).click();
  await site.shell(await shown(page));
  equal((await site.ask("GET", "console/api/queues")).queues.find((one) => one.name === "emails").paused_at, null, "the queue");

  await follow(page, "settings?tab=tokens");
  await page.getByRole("button", { name: "Make one…" }).click();
  ok((await site.shell(await shown(page, { label: "night shift" }))).includes("hf_"), "a token is made");
  quiet(page);
  await page.context().close();
});
