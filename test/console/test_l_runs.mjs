// The list of runs: its order, what is left out, what it is narrowed by.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { barriers, enter, follow, quiet, settled } from "./browser.mjs";
import { equal, test } from "./cases.mjs";
import { until } from "./site.mjs";

const asked = (page, name) => new URL(page.url()).searchParams.get(name);
const ids = async (page) => (await page.getByRole("table", { name: "Runs", exact: true }).locator("tbody tr .called a").allInnerTexts()).map((id) => id.trim());
const comes = (page, name, value) => page.waitForFunction(([key, want]) => new URL(location.href).searchParams.get(key) === want, [name, value]);

/** Runs of one label, in the order in which they start. */
async function labelled(site, label, names, type = "region") {
  for (const name of names) await site.start(type, name, type === "region" ? { name: "north" } : { sku: "TEA-1", amount: 5 }, { labels: { set: label } });
}

test("the list begins with the newest or with the oldest, page after page, and says so in the address and in the shell", async ({ site, browser }) => {
  const names = Array.from({ length: 52 }, (_, i) => `turn-${String(i).padStart(2, "0")}`);
  await labelled(site, "turn", names);
  const page = await enter(browser, site);
  await follow(page, "runs?q=label.set%3Aturn");
  await page.getByText("52 match").waitFor();
  const age = page.getByRole("columnheader", { name: /^Age/ });
  equal(await age.getAttribute("aria-sort"), "ascending", "the newest first");
  equal((await ids(page)).slice(0, 2), ["turn-51", "turn-50"], "the newest");
  await age.getByRole("button").click();
  await comes(page, "order", "oldest");
  await page.waitForFunction(() => document.querySelector("table tbody tr .called a")?.textContent === "turn-00");
  equal(await age.getAttribute("aria-sort"), "descending", "the oldest first");
  await page.getByRole("button", { name: "Newer", exact: true }).click();
  await page.getByRole("link", { name: "turn-51" }).waitFor();
  equal(await ids(page), ["turn-50", "turn-51"], "the second page");
  const line = await page.getByText(/^In the shell:/).locator(".mono").innerText();
  equal(line, "holdfast ls label=set=turn --order oldest", "the line");
  equal((await site.shell(line + " -o name --limit 2")).trim().split("\n"), ["turn-00", "turn-01"], "what it prints");
  await page.getByRole("button", { name: "Oldest", exact: true }).click();
  await page.getByRole("link", { name: "turn-00" }).waitFor();
  await page.getByRole("link", { name: /^All/ }).click(); // an order is how lists are shown, and not what is in them
  equal(asked(page, "order"), "oldest", "the order in another list");
  await page.getByRole("columnheader", { name: /^Age/ }).getByRole("button").press("Enter");
  await comes(page, "order", null);
  quiet(page);
  await page.context().close();
});

test("values are left out by Alt, by a button and by a minus, and come back", async ({ site, browser }) => {
  await labelled(site, "out", ["out-1", "out-2"]);
  await labelled(site, "out", ["out-3"], "order");
  const page = await enter(browser, site);
  await follow(page, "runs?q=label.set%3Aout");
  await page.getByText("3 match").waitFor();
  const types = page.getByRole("group", { name: "Type", exact: true });
  await types.getByRole("link", { name: /^region/ }).click({ modifiers: ["Alt"] });
  await comes(page, "q", "label.set:out -type:region");
  await page.getByText("1 match").waitFor();
  equal(await ids(page), ["out-3"], "what is left");
  equal(await barriers(page), [], "barriers");
  equal(await page.getByRole("button", { name: "Change -type:region" }).innerText(), "-type:region", "its word");
  const line = await page.getByText(/^In the shell:/).locator(".mono").innerText();
  equal(line, "holdfast ls 'q=label.set:out -type:region'", "the line");
  equal((await site.shell(line + " -o name")).trim(), "out-3", "what it prints");
  await types.getByRole("button", { name: /^region\s?left out$/ }).click();
  await page.getByText("3 match").waitFor();
  // Without a mouse: the minus beside a value is a button.
  const minus = types.getByRole("button", { name: "Leave out type:order" });
  await minus.focus();
  await minus.press("Enter");
  await comes(page, "q", "label.set:out -type:order");
  await page.getByText("2 match").waitFor();
  // As a word, completed by the server; two of one field are both left out.
  const field = page.getByRole("combobox", { name: "Query", exact: true });
  await field.fill("-ty");
  await page.getByRole("option", { name: /^-type:/ }).click();
  await page.getByRole("option", { name: /^-type:region/ }).click();
  await comes(page, "q", "label.set:out -type:order -type:region");
  await page.getByText("No run matches this.").waitFor();
  await field.press("Escape");
  await page.getByRole("button", { name: "without -type:region", exact: true }).click();
  await page.getByText("2 match").waitFor();
  // What cannot be left out says why, and the rest is asked.
  await field.fill("-started<1h");
  await field.press("Enter");
  await page.getByText("A minus leaves out states, fields and labels").waitFor();
  await page.getByText("2 match").waitFor();
  equal(await ids(page), ["out-2", "out-1"], "the rest is asked");
  // What is written is not lost on the way to something else, and does not bring back what is taken away there.
  await field.fill("type:region");
  await page.getByRole("button", { name: "Take away -type:order" }).click();
  await comes(page, "q", "label.set:out -started<1h type:region");
  quiet(page);
  await page.context().close();
});

test("the time strip shows when runs started, and narrows the list by a drag, a click and its table", async ({ site, browser }) => {
  await labelled(site, "strip", ["strip-1", "strip-2"]);
  await new Promise((on) => setTimeout(on, 3000)); // another bar
  await labelled(site, "strip", ["strip-3"]);
  await site.start("order", "strip-4", { sku: "TEA-1", amount: -1 }, { labels: { set: "strip" } }); // it fails
  await until(async () => (await site.ask("GET", "console/api/runs/strip-4")).status === "failed", 30, "it failed");
  const page = await enter(browser, site);
  await follow(page, "runs?q=label.set%3Astrip");
  await page.getByText("4 match").waitFor();
  const picture = page.getByRole("img", { name: /^Started: over .*, open .*, failed 1 in all$/ });
  await picture.waitFor();
  equal(await barriers(page), [], "barriers");
  const narrow = async () => {
    await page.waitForFunction(() => / started>=\S+Z started<\S+Z$/.test(new URL(location.href).searchParams.get("q")));
    await page.getByText("2 match").waitFor();
  };
  // Over the left half of the bars: the first two. The step is seconds here.
  const box = await picture.boundingBox();
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 30);
  equal(await picture.locator("rect.brush").count(), 1, "what is chosen is drawn");
  await page.mouse.up();
  await narrow();
  equal(await ids(page), ["strip-2", "strip-1"], "what is left");
  await page.getByRole("button", { name: "any time" }).click();
  await page.getByText("4 match").waitFor();
  // The same without a mouse.
  const twin = page.getByRole("button", { name: "Started: as a table" });
  await twin.focus();
  await twin.press("Enter");
  const table = page.getByRole("region", { name: "Started, as a table" });
  equal(await table.getByRole("columnheader").allInnerTexts(), ["At", "over", "open", "failed", "Narrow"], "its columns");
  const last = table.getByRole("row").filter({ has: page.getByRole("cell", { name: "1", exact: true }) }).first();
  await last.getByRole("button", { name: /^Only / }).press("Enter");
  await page.waitForFunction(() => / started>=\S+Z started<\S+Z$/.test(new URL(location.href).searchParams.get("q")));
  await page.getByRole("link", { name: "strip-1" }).waitFor({ state: "detached" }); // the first are not of the last bar
  quiet(page);
  await page.context().close();
});

test("chosen runs, and all that match, become one file of bundles, which is sound and opens again", async ({ site, browser }) => {
  await labelled(site, "file", ["file-1", "file-2", "file-3"]);
  const page = await enter(browser, site);
  await follow(page, "runs?q=label.set%3Afile");
  await page.getByText("3 match").waitFor();
  for (const id of ["file-1", "file-3"]) await page.getByRole("checkbox", { name: "Select " + id }).click();
  await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Export…" }).click();
  const dialog = page.getByRole("dialog", { name: /^Export 2\srun/ });
  equal(await barriers(page), [], "barriers");
  const line = await dialog.locator(".code").innerText();
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: /^Export 2\sruns$/ }).click();
  const file = await saved;
  await dialog.getByText(/^2\sruns in runs-\S+\.jsonl, /).waitFor();
  const text = readFileSync(await file.path(), "utf8");
  const bundled = (of) => of.trim().split("\n").map((one) => JSON.parse(one).workflow.instance_id);
  equal(bundled(text), ["file-3", "file-1"], "the runs in it");
  // The shell makes the same, and finds nothing wrong with what the page made.
  await site.shell(line.trim().replace("STORE", "orders.db"));
  equal(bundled(readFileSync(join(site.folder, file.suggestedFilename()), "utf8")), ["file-3", "file-1"], "what the shell writes");
  await file.saveAs(join(site.folder, "page.jsonl"));
  equal((await site.shell("holdfast bundle verify page.jsonl")).trim().split("\n").length, 2, "reports");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: /^select all 3 that match/ }).click();
  await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Export…" }).click();
  await page.getByRole("button", { name: /^Export 3\sruns$/ }).waitFor();
  await page.getByRole("button", { name: "Do not export" }).click();
  await follow(page, "bundles");
  await settled(page, "Bundles");
  await page.getByLabel("Open an exported file").setInputFiles({ name: "page.jsonl", mimeType: "application/json", buffer: Buffer.from(text) });
  await page.getByRole("link", { name: "file-3" }).waitFor();
  await page.getByRole("link", { name: "file-1" }).waitFor();
  quiet(page);
  await page.context().close();

  // What leaves the store is for admins: others are told before they press.
  const { secret } = await site.token("operator", "no auditor");
  const other = await enter(browser, site, { token: secret });
  await follow(other, "runs?q=label.set%3Afile");
  await other.getByRole("checkbox", { name: "Select file-1" }).click();
  await other.getByRole("button", { name: "Export…" }).click({ force: true });
  equal([await other.getByRole("button", { name: "Export…" }).getAttribute("title"), await other.getByRole("dialog").count()], ["It takes the role admin.", 0], "an operator");
  quiet(other);
  await other.context().close();
});
