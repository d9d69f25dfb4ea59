// A step machine on the pages: its steps by their names, what it waits for, its inbox and its children.
import { becomes, enter, openRun, quiet, send } from "./browser.mjs";
import { equal, test } from "./cases.mjs";

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
