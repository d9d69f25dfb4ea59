// Who is waited for, when there are many: searched, page after page.
import { barriers, enter, follow, quiet, settled } from "./browser.mjs";
import { equal, test } from "./cases.mjs";
import { until } from "./site.mjs";

const MANY = 52; // a page has 50

test("open waits are searched and turned over, and the address says where one is", async ({ site, browser }) => {
  const name = (i) => `desk-${String(i).padStart(2, "0")}`;
  const all = Array.from({ length: MANY }, (_, i) => name(i));
  for (const id of all) await site.start("order", id, { sku: "TEA-1", amount: 600 }, { business_key: id === "desk-03" ? "the odd one" : undefined });
  await until(async () => (await site.ask("GET", "console/api/approvals?limit=200&q=desk-")).approvals.length === MANY, 60, "all are waited for");
  const page = await enter(browser, site);
  await follow(page, "approvals");
  await settled(page, "Approvals");
  const list = page.getByRole("region", { name: "Open waits" });
  const shown = async () => (await list.locator("a.ask1 .m > span:first-child .mono:first-child").allInnerTexts()).length;
  await page.getByText(/^50\sopen waits on this page that a person may answer$/).waitFor();
  equal(await shown(), 50, "of the first page");
  await list.getByText(name(MANY - 1)).waitFor();
  await list.getByRole("button", { name: "Older" }).click();
  await list.getByText(name(0)).waitFor();
  equal([new URL(page.url()).searchParams.has("cursor"), await list.getByText(name(MANY - 1)).count()], [true, 0], "the second page");
  await page.reload();
  await list.getByText(name(1)).click();
  await page.getByRole("region", { name: "Answer approved-by" }).getByRole("link", { name: name(1) }).waitFor();
  equal(new URL(page.url()).searchParams.has("cursor"), true, "a choice stays on its page");
  await follow(page, "approvals?wait=" + new URL(page.url()).searchParams.get("wait"));
  await page.getByText("The wait that the address names is not on this page").waitFor();
  await page.goBack();
  await list.getByRole("button", { name: "Newest" }).click();
  await list.getByText(name(MANY - 1)).waitFor();

  const field = page.getByRole("searchbox", { name: "Search open waits" });
  await field.fill("odd one");
  await page.getByText(/^1\sopen wait that a person may answer$/).waitFor();
  equal(await shown(), 1, "found by its key");
  equal(new URL(page.url()).searchParams.get("q"), "odd one", "the address");
  equal(await barriers(page), [], "barriers");
  await page.getByLabel("approver", { exact: true }).fill("mia");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByText('No open wait has "odd one".').waitFor();
  await page.getByRole("button", { name: "All waits" }).click();
  await page.getByText(/^50\sopen waits on this page/).waitFor();
  equal(await field.inputValue(), "", "the field");
  quiet(page);
  await page.context().close();
  await site.ask("POST", "api/batches", { command: "terminate", workflow_ids: all, request: { reason: "the desk is closed" } });
});
