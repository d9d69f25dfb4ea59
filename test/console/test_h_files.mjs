// Exported files: opened, looked at, kept, refused with what is wrong with them; and two runs side by side, of the store or of files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, choose, enter, follow, openRun, quiet, refusals, settled } from "./browser.mjs";
import { equal, test } from "./cases.mjs";

/** Gives the page of the bundles a file, as its button does. */
async function open(page, name, text) {
  await page.getByLabel("Open an exported file").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
}

/** An order that waits for its approval. */
async function order(site, page, id, amount) {
  await site.start("order", id, { sku: "TEA-1", amount });
  await openRun(page, id);
  await becomes(page, "waiting");
}

test("a run is exported, opened with all of its tabs, and kept in the store", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await order(site, page, "files-1", 600);
  const saved = page.waitForEvent("download");
  await choose(page, "More", "Export as a bundle");
  const text = readFileSync(await (await saved).path(), "utf8");
  await follow(page, "bundles");
  await settled(page, "Bundles");
  await page.getByText("No file is open.").waitFor();
  await open(page, "orders.json", text);
  await settled(page, "files-1");
  await page.getByText(/From a file orders\.json, exported .*\. checksum ok, not signed, the run was open\. Nothing can be done to it\./).waitFor();
  for (const [tab, shows] of [["Timeline", "charge"], ["Steps", "charge"], ["Waits", "approved-by"], ["Commands", "start"], ["Lineage", "files-1"], ["State", "Ask the code"], ["JSON", /workflow_class/]]) {
    await page.getByRole("link", { name: new RegExp("^" + tab) }).last().click();
    await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
    await page.locator("main").getByText(shows).first().waitFor();
  }
  await page.getByRole("button", { name: "Keep in the store…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
  await page.getByText(/^files-1 is kept, \d+\sevents$/).waitFor();
  equal((await site.ask("GET", "console/api/imports")).imports.map((one) => one.workflow_id ?? one.instance_id), ["files-1"], "imports");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await settled(page, "Bundles");
  await page.getByText("No file is open.").waitFor();
  quiet(page);
  await page.context().close();
});

test("a bundle with a warning says which, and a bad, cut or big one is refused with what is wrong", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await order(site, page, "files-2", 600);
  await site.shell("holdfast bundle export files-2 --store orders.db --key nobody-knows --out files-2.json");
  const text = readFileSync(join(site.folder, "files-2.json"), "utf8");
  await follow(page, "bundles");
  await settled(page, "Bundles");
  await open(page, "signed.json", text);
  await settled(page, "files-2");
  await page.getByText(/signature not verified/).waitFor();
  await page.getByText(/^warning: .{20,} integrity\.signature_key_unavailable$/).waitFor();

  await follow(page, "bundles");
  await settled(page, "Bundles");
  await page.getByRole("row").filter({ hasText: "signed.json" }).getByText(/^1\swarning$/).waitFor();
  const refused = async (name, bad, says) => {
    await open(page, name, bad);
    const alert = page.getByRole("alert").filter({ hasText: name + " was not opened." });
    await alert.getByText(says).waitFor();
  };
  await refused("changed.json", text.replace('"TEA-1"', '"TEA-2"').replace('"sequence":2,', '"sequence":3,'), "bundle_damaged");
  await refused("cut.json", text.slice(0, text.length / 2), "bundle_unreadable");
  await refused("newer.json", text.replace('"schema_version":1', '"schema_version":2'), "bundle_newer");

  // What has no room is not sent at all.
  const sent = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await page.locator(".drop").evaluate((place) => {
    const files = new DataTransfer();
    files.items.add(new File([new ArrayBuffer(135 << 20)], "huge.json"));
    place.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
  });
  await page.getByRole("alert").filter({ hasText: "huge.json was not opened." }).getByText(/It has .*; one bundle is at most 32.*, all that are open together 128/).waitFor();
  equal(sent, [], "what was sent");
  await page.getByRole("button", { name: "Close files-2" }).click();
  await page.getByText("No file is open.").waitFor();
  refusals(page, 422);
  quiet(page);
  await page.context().close();
});

test("two runs side by side: where they part, what differs there, and a file that is the same", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await order(site, page, "files-left", 600);
  await order(site, page, "files-right", 700);
  await choose(page, "More", "Compare with another run…");
  await settled(page, "Two runs");
  await page.getByLabel("Right a workflow id").fill("files-left");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("They part at step 1.").waitFor();
  await page.getByText(/^2\ssteps of 3 differ; input different, result same\.$/).waitFor();
  const steps = page.getByRole("table", { name: "Steps" });
  const states = async () => (await steps.getByRole("button").allInnerTexts()).map((one) => one.split(",")[0].trim());
  equal(await states(), ["other input", "other input", "same"], "steps");
  await steps.getByRole("button", { name: /step 2$/ }).click();
  await page.getByText(/"amount": 700/).first().waitFor();
  await page.getByText(/"amount": 600/).first().waitFor();
  await page.getByRole("link", { name: "the step at the left" }).waitFor();
  await page.getByRole("checkbox", { name: "only what differs" }).check();
  await page.waitForFunction(() => document.querySelectorAll("table[aria-label=Steps] tbody tr button").length === 2);
  await page.getByRole("button", { name: "Swap" }).click();
  await page.locator("main h2").getByRole("link", { name: "files-left" }).first().waitFor();

  const bundle = await site.ask("GET", `api/workflows/files-left/runs/${(await site.ask("GET", "console/api/runs/files-left")).run_id}/history/export`);
  await follow(page, "bundles");
  await settled(page, "Bundles");
  await open(page, "left.json", JSON.stringify(bundle));
  await settled(page, "files-left");
  await page.getByRole("link", { name: "Compare…" }).click();
  await settled(page, "Two runs");
  await page.getByLabel("Right a workflow id").fill("files-left");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("They did the same.").waitFor();
  await page.getByText("left, from a file").waitFor();
  await follow(page, "bundles");
  await page.getByRole("button", { name: "Close files-left" }).click();
  await page.getByText("No file is open.").waitFor();
  quiet(page);
  await page.context().close();
});
