// What a person does on the pages, and what the server then says of it.
import { enter, follow, quiet, refusals, send, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

test("a schedule is paused and resumed, with a reason that stays", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "schedules/nightly");
  await page.getByRole("button", { name: "Pause…" }).click();
  await page.getByRole("textbox", { name: /Reason/ }).fill("stock is counted");
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume…" }).waitFor({ timeout: 15000 });
  await page.getByText("stock is counted").first().waitFor();
  equal((await site.ask("GET", "api/schedules/nightly")).paused, true, "paused");
  await page.getByRole("button", { name: "Resume…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause…" }).waitFor({ timeout: 15000 });
  equal((await site.ask("GET", "api/schedules/nightly")).paused, false, "paused");
  quiet(page);
  await page.context().close();
});

test("a queue is paused, keys walk through groups, and what is chosen goes along to another browser", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "queues");
  await page.getByRole("button", { name: "Pause emails" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume emails" }).waitFor({ timeout: 15000 });
  await page.getByRole("button", { name: "Resume emails" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause emails" }).waitFor({ timeout: 15000 });
  await follow(page, "failures");
  await settled(page, "Failures");
  await page.getByRole("table", { name: "Groups" }).getByRole("row").nth(1).waitFor();
  await page.keyboard.press("j");
  await page.waitForFunction(() => new URL(location.href).searchParams.has("group"));
  await follow(page, "settings");
  await page.getByText("Dark", { exact: true }).click();
  await page.getByText("Dense", { exact: true }).click();
  const kept = async () => (await site.ask("GET", "console/api/me/preferences/console")).value;
  await until(async () => (await kept())?.theme === "dark" && (await kept()).density === "dense", 10, "the server has it");
  const other = await enter(browser, site);
  await other.waitForFunction(() => document.documentElement.dataset.theme === "dark" && document.documentElement.dataset.density === "dense");
  await follow(other, "settings");
  await other.getByText("System", { exact: true }).click();
  await other.getByText("Comfortable", { exact: true }).click();
  await until(async () => (await kept()).theme === "system" && (await kept()).density === "comfortable", 10, "the server has that, too");
  await page.reload();
  await page.waitForFunction(() => !("theme" in document.documentElement.dataset)); // the server's goes before this browser's
  const { secret } = await site.token("read", "somebody else");
  equal((await site.ask("GET", "console/api/me/preferences/console", undefined, { token: secret })).value, null, "another one's choices");
  quiet(other);
  await other.context().close();
  quiet(page);
  await page.context().close();
});

test("an approval is answered in place, and its link is taken back", async ({ site, browser }) => {
  for (const id of ["acts-answer", "acts-link"]) await site.start("order", id, { sku: "TEA-1", amount: 600 });
  const wait = (id) => until(async () => (await site.ask("GET", "console/api/approvals?limit=200")).approvals.find((one) => one.workflow_id === id), 30, `${id} waits`);
  const page = await enter(browser, site);
  await follow(page, "approvals?wait=" + encodeURIComponent((await wait("acts-answer")).id));
  await settled(page, "Approvals");
  const answer = page.getByRole("region", { name: "Answer approved-by" });
  await answer.getByRole("button", { name: "Send answer" }).click();
  await answer.getByText("This is needed.").waitFor();
  await answer.getByLabel("approver", { exact: true }).fill("mia");
  await answer.getByRole("button", { name: "Send answer" }).click();
  await until(async () => (await site.ask("GET", "console/api/runs/acts-answer")).status === "completed", 30, "it went on");

  await follow(page, "approvals?wait=" + encodeURIComponent((await wait("acts-link")).id));
  await page.getByRole("button", { name: "Make a link…" }).click();
  await send(page, "Make link", { label: "Ada" });
  const link = await page.getByRole("region", { name: "One-time link" }).locator(".code .brk").innerText();
  equal((await fetch(link)).status, 200, "the link");
  await page.getByRole("button", { name: "Revoke…" }).click();
  await send(page, "Revoke");
  await page.getByText(/^1\slink revoked$/).waitFor();
  equal((await fetch(link)).status, 410, "the link afterwards");
  quiet(page);
  await page.context().close();
});

test("a schedule is triggered and backfilled, a build drained, promoted and resumed", async ({ site, browser }) => {
  await site.ask("POST", "api/schedules", { schedule_id: "acts-s", spec: { intervals: [{ every: "PT6H" }] }, overlap_policy: "allow_all", action: { workflow_type: "region", input: { name: "north" } } });
  const page = await enter(browser, site);
  await follow(page, "schedules/acts-s");
  await settled(page, "acts-s");
  const started = async () => (await site.ask("GET", "api/schedules/acts-s/history?limit=100")).events.filter((one) => one.event_type === "ScheduleTriggered").length;
  await page.getByRole("button", { name: "Trigger now…" }).click();
  await send(page, "Trigger");
  await page.getByText(/^Started /).waitFor();
  equal(await started(), 1, "runs that it started");
  await page.getByRole("button", { name: "Backfill…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Show the times" }).click();
  await page.getByRole("dialog").getByText(/^4\stimes: /).waitFor();
  equal(await started(), 1, "runs after a look");
  await send(page, "Backfill");
  await page.getByText(/^Backfilled: 4\stimes$/).waitFor();
  equal(await started(), 5, "runs that it started afterwards");

  await follow(page, "workers");
  await settled(page, "Workers and builds");
  const build = async () => (await site.ask("GET", "console/api/builds")).builds.find((one) => one.build_id === "1");
  const told = async (item, done) => {
    await page.getByRole("button", { name: "Do something with 1", exact: true }).click();
    await page.getByRole("menuitem", { name: item + "…" }).click();
    await send(page, item);
    await page.getByText(`1: ${done}`).waitFor();
  };
  await told("Drain", "drained");
  ok((await build()).drained_at, "it is drained");
  await told("Resume", "resumed");
  equal((await build()).drained_at, null, "drained");
  await told("Promote", "promoted");
  ok((await build()).promoted_at, "it is promoted");
  const mine = page.getByRole("button", { name: "Do something with 1", exact: true });
  const state = page.getByRole("table", { name: "Builds" }).getByRole("row").filter({ has: mine }).locator("td:nth-child(2)");
  await state.getByText("current").waitFor();
  for (const queue of (await build()).queues) await site.ask("POST", `api/task-queues/${queue}/build-ids/promote`, { build_id: "" });
  equal((await build()).promoted_at, null, "promoted");
  await follow(page, "overview");
  await follow(page, "workers");
  await state.getByText("active").waitFor();
  quiet(page);
  await page.context().close();
});

test("a namespace is made and changed, a token made and revoked, and a batch paused and aborted", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "settings?tab=namespaces");
  await page.getByRole("button", { name: "Make one…" }).click();
  await send(page, "Make", { name: "acts-space", description: "for a while", retention_days: "9" });
  await page.getByRole("button", { name: "Change acts-space" }).click();
  await send(page, "Change", { retention_days: "11" });
  await page.getByText("Namespace acts-space was changed").waitFor();
  const space = await site.ask("GET", "api/namespaces/acts-space");
  equal([space.description, space.retention_days], ["for a while", 11], "the namespace");

  await follow(page, "settings?tab=tokens");
  await page.getByRole("button", { name: "Make one…" }).click();
  await page.getByRole("dialog").getByLabel("role", { exact: true }).selectOption("read");
  await send(page, "Make token", { label: "acts" });
  const secret = await page.getByRole("dialog").getByRole("status").locator(".code > span").first().innerText();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  equal((await site.ask("GET", "console/api/me", undefined, { token: secret })).principal.role, "read", "the role of the token");
  await page.getByRole("button", { name: "Revoke acts" }).click();
  await send(page, "Revoke");
  await page.getByText("The token of acts was revoked").waitFor();
  await site.ask("GET", "console/api/me", undefined, { token: secret, status: 401 });

  const ids = Array.from({ length: 40 }, (_, i) => `nobody-${i}`);
  const { batch_id: id } = await site.ask("POST", "api/batches", { command: "cancel", workflow_ids: ids, rate: 1 });
  await follow(page, "batches/" + id);
  for (const [button, name, status] of [["Pause…", "Pause", "paused"], ["Resume…", "Resume", "running"], ["Abort…", "Abort", "aborted"]]) {
    await page.getByRole("button", { name: button }).click();
    await send(page, name);
    await page.locator("main").getByText(status, { exact: true }).waitFor();
    equal((await site.ask("GET", "api/batches/" + id)).status, status, "the batch");
  }
  quiet(page);
  await page.context().close();
});

test("a schedule is made, changed and deleted", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "schedules");
  await settled(page, "Schedules");
  await page.getByRole("button", { name: "Make a schedule…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("schedule_id").fill("weekly");
  await dialog.getByLabel("workflow_type").fill("region");
  await dialog.getByLabel("cron").fill("61 9 * * 1");
  await dialog.getByLabel("timezone").fill("Europe/Berlin");
  await dialog.getByRole("button", { name: "Make", exact: true }).click();
  const refused = await site.ask("POST", "api/schedules", { schedule_id: "weekly", spec: { cron_expressions: ["61 9 * * 1"], timezone: "Europe/Berlin" }, action: { workflow_type: "region" } }, { status: 422 });
  await dialog.getByText(Object.values(refused.validation_errors ?? {})[0]?.[0] ?? refused.message).first().waitFor(); // the server's words
  await dialog.getByLabel("cron").fill("30 9 * * 1");
  await dialog.getByLabel("overlap_policy").selectOption("buffer_one");
  await dialog.getByText("holdfast schedule create weekly region 'cron=30 9 * * 1' timezone=Europe/Berlin").waitFor();
  await dialog.getByRole("button", { name: "Make", exact: true }).click();
  await settled(page, "weekly");
  await page.getByText("Mondays at 09:30 Europe/Berlin").waitFor();
  await page.getByRole("button", { name: "Change…" }).click();
  await dialog.getByLabel("note").fill("after the count");
  await dialog.getByLabel("jitter_seconds").fill("30");
  await dialog.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("Changed: jitter seconds, note").first().waitFor();
  const one = await site.ask("GET", "api/schedules/weekly");
  equal([one.note, one.jitter_seconds, one.overlap_policy, one.spec.cron_expressions], ["after the count", 30, "buffer_one", ["30 9 * * 1"]], "the schedule");
  await page.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await settled(page, "Schedules");
  await page.getByRole("link", { name: "nightly" }).waitFor();
  equal(await page.getByRole("link", { name: "weekly" }).count(), 0, "links to what is deleted");
  refusals(page, 422);
  quiet(page);
  await page.context().close();
});
