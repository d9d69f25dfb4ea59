// Attention: what needs a person before what passes by itself, and one command for all of a group.
import { enter, follow, quiet, settled } from "./browser.mjs";
import { equal, test } from "./cases.mjs";
import { until } from "./site.mjs";

const IDS = ["att-drift-1", "att-drift-2", "att-drift-3", "att-drift-4"];

test("a group is repaired whole, after a look at what would become of each run", async ({ site, browser }) => {
  const head = (id) => site.ask("GET", "console/api/runs/" + id);
  for (const id of IDS) await site.start("drift", id, {}, { task_queue: "office" });
  for (const id of IDS) await until(async () => (await head(id)).wait_kind === "signal", 30, "it waits");
  await site.office("2");
  for (const id of IDS) await site.ask("POST", `api/workflows/${id}/signal/go`, { input: {} });
  for (const id of IDS) await until(async () => (await head(id)).glyph === "blocked", 60, "it is blocked");
  await site.office("1");

  const page = await enter(browser, site);
  await follow(page, "attention");
  await settled(page, "Attention");
  const group = page.getByRole("region", { name: "Needs a person" }).locator(".att").filter({ hasText: "of drift" });
  await group.getByRole("button", { name: "1 more" }).click();
  await group.getByRole("link", { name: IDS[3] }).waitFor();
  await group.getByRole("button", { name: "Repair 4…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("4 would take it").waitFor();
  await dialog.getByRole("button", { name: "Repair 4 runs" }).click();
  await dialog.getByText("Say why: it is recorded with every command.").waitFor();
  await dialog.getByLabel("Reason").fill("build 1 is back");
  await dialog.getByRole("button", { name: "Repair 4 runs" }).click();
  await dialog.getByText("4 took it").waitFor();
  await dialog.getByRole("link", { name: "What became of each" }).click();
  await page.getByRole("table", { name: "What became of each" }).getByRole("row").nth(IDS.length - 1).waitFor();
  for (const id of IDS) await until(async () => (await head(id)).glyph !== "blocked", 30, "it goes on");
  const { commands } = await site.ask("GET", `console/api/runs/${IDS[0]}/commands`);
  equal(commands.find((one) => one.type === "repair")?.reason, "build 1 is back", "the reason that is kept");
  quiet(page);
  await page.context().close();
});

test("what passes by itself is a notice, and does not count", async ({ site, browser }) => {
  await site.start("region", "att-paused", { name: "north" });
  await site.ask("POST", "api/workflows/att-paused/pause", { reason: "stock is counted" });
  const before = (await site.ask("GET", "console/api/overview")).counts.attention;
  const page = await enter(browser, site);
  await follow(page, "attention");
  await settled(page, "Attention");
  const notices = page.getByRole("region", { name: "Notice" });
  const group = notices.locator(".att").filter({ hasText: "att-paused" });
  await group.getByText("Somebody paused it, and somebody resumes it.").waitFor();
  const { groups } = await site.ask("GET", "console/api/attention?notices=true&limit=100");
  const severities = groups.filter((one) => !one.snoozed).map((one) => one.severity);
  equal(severities, [...severities].sort(), "attention stands before notices");
  equal(groups.filter((one) => one.severity === "attention" && !one.snoozed).length, before, "groups that count");
  await page.getByText("The engine by itself:").waitFor();
  await group.getByRole("button", { name: "Snooze…" }).click();
  await page.getByRole("dialog").getByLabel(/Reason/).fill("we know");
  await page.getByRole("dialog").getByRole("button", { name: "Snooze" }).click();
  await page.getByRole("region", { name: "Snoozed" }).getByText("we know").waitFor();
  await page.getByRole("button", { name: "Wake" }).first().click();
  await group.getByRole("button", { name: "Resume…" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("it is counted");
  await page.getByRole("dialog").getByRole("button", { name: "Resume 1 run" }).click();
  await page.getByRole("dialog").getByText("1 took it").waitFor();
  await until(async () => (await site.ask("GET", "console/api/runs/att-paused")).glyph !== "paused", 30, "it goes on");
  quiet(page);
  await page.context().close();
});
