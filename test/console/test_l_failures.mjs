// Failures: from the list to one group, its newest runs with what was tried in each, and on to the runs it hit.
import { join } from "node:path";
import { barriers, enter, follow, quiet, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";

test("a group of failures has a page with samples, traces and the runs it hit", async ({ site, browser, shots }) => {
  const { groups } = await site.ask("GET", "console/api/failures?limit=100");
  const group = groups.find((one) => one.failure_type === "card_declined" && one.name === "charge");
  ok(group, "cards were declined");
  const page = await enter(browser, site);
  await follow(page, "failures?since=all&group=" + group.fingerprint);
  await settled(page, "Failures");
  await page.getByRole("link", { name: "Samples, traces and builds" }).click();
  await settled(page, "card_declined");
  const table = page.getByRole("table", { name: "Samples" });
  const rows = table.locator(":scope > tbody > tr:not(.more)");
  const { samples } = await site.ask("GET", "console/api/failures/" + group.fingerprint);
  equal(await rows.count(), samples.length, "samples");
  await table.getByRole("table", { name: "Attempts" }).waitFor(); // of the newest, which is open
  await rows.nth(1).getByRole("cell").last().click();
  await page.waitForFunction((id) => new URL(location.href).searchParams.get("sample")?.startsWith(id), samples[1].run_id);
  await table.getByLabel("the input").getByText(/amount/).first().waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, "on a phone it scrolls sideways by");
  await page.screenshot({ path: join(shots, "failure-phone-light.png"), fullPage: true });
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.screenshot({ path: join(shots, `failure-${theme}.png`) });
    equal(await barriers(page), [], theme);
  }
  const side = page.getByRole("complementary", { name: "The group" });
  await side.getByText(group.fingerprint).first().waitFor();
  await side.getByRole("button", { name: "Resolve…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resolve", exact: true }).click();
  await side.getByRole("button", { name: "Reopen…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reopen", exact: true }).click();
  await side.getByRole("button", { name: "Ignore…" }).waitFor();
  await side.getByRole("link", { name: /^Open / }).click();
  await settled(page, "Runs");
  equal(new URL(page.url()).searchParams.get("q"), "failure:" + group.fingerprint, "the query");
  for (const id of new Set(samples.map((one) => one.workflow_id))) await page.getByRole("link", { name: id, exact: true }).first().waitFor();
  await follow(page, "failures/00ff");
  await page.getByText("This group could not be read.").waitFor();
  page.complaints = page.complaints.filter((one) => !one.includes("status of 404"));
  quiet(page);
  await page.context().close();
});
