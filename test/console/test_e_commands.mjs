// Everything that can be done to a run, through its form, and what its history says afterwards: asked on the command line.
import { becomes, choose, enter, follow, openRun, quiet, refusals, send, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

const office = { task_queue: "office" };

/** The newest event of a type, when it is there. */
async function event(site, id, type) {
  return until(async () => (await site.history(id)).findLast((one) => one.type === type), 30, `${id} has a ${type}`);
}

/** The newest command of a type of a run: who sent it, and why. */
async function command(site, id, type) {
  const { commands } = await site.ask("GET", `console/api/runs/${id}/commands`);
  return commands.findLast((one) => one.type === type);
}

const signed = (one, reason) => {
  ok(one, "the command is recorded");
  equal(one.reason, reason, `why (${one.type})`);
  ok(one.context.principal?.id, `who sent ${one.type}`);
};

test("a run is started with the form of its contract, and the signal that it waits for moves it", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "runs");
  await settled(page, "Runs");
  await page.getByRole("button", { name: "Start…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "order", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Start order" });
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await dialog.getByText("This is needed.").first().waitFor();
  await dialog.getByLabel("amount", { exact: true }).fill("much");
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await dialog.getByText("This is a number.").waitFor();
  await send(page, "Start", { sku: "TEA-4", amount: "640", "Workflow id": "acts-start", "Business key": "A-77" });
  await settled(page, "acts-start");
  const head = await site.ask("GET", "console/api/runs/acts-start");
  equal([head.business_key, JSON.parse(head.arguments.text)], ["A-77", { sku: "TEA-4", amount: 640 }], "its business key and its input");
  equal((await event(site, "acts-start", "WorkflowStarted")).payload.business_key, "A-77", "the business key in history");

  await becomes(page, "waiting");
  await page.locator("main .acts").getByRole("button", { name: "Signal approved-by…" }).click();
  await send(page, "Signal approved-by", {});
  await page.getByRole("dialog").getByText("This is needed.").waitFor();
  await send(page, "Signal approved-by", { approver: "mia", note: "twice looked at" });
  await becomes(page, "completed");
  const received = await event(site, "acts-start", "SignalReceived");
  equal([received.payload.signal_name, (await site.cli("result", "acts-start")).includes("T-1")], ["approved-by", true], "what history has");
  await openRun(page, "acts-start", "?tab=commands");
  await page.getByRole("button", { name: "signal approved-by" }).click();
  await page.getByText('"twice looked at"').waitFor();
  quiet(page);
  await page.context().close();
});

test("an update is applied and answered, what its contract refuses stands at its field, and a query answers", async ({ site, browser }) => {
  await site.start("order.process", "acts-update", { amount: 12, units: 400 }, office);
  const page = await enter(browser, site);
  await openRun(page, "acts-update");
  await choose(page, "Update", "address");
  const dialog = page.getByRole("dialog", { name: "Update address" });
  await dialog.getByLabel("street", { exact: true }).fill("?");
  await dialog.getByText("JSON", { exact: true }).click();
  await dialog.getByLabel("Arguments, as JSON").fill('{"street": 5, "city": "Ulm"}');
  await dialog.getByRole("button", { name: "Update address" }).click();
  await dialog.getByText(/^city: /).waitFor();
  await dialog.getByText(/^street: /).waitFor();
  await dialog.getByLabel("Arguments, as JSON").fill("{}");
  await dialog.getByText("Form", { exact: true }).click();
  await send(page, "Update address", { street: "Kornstraße 12", Reason: "moved house" });
  await dialog.getByText(/^completed/).waitFor({ timeout: 30000 });
  await dialog.getByRole("button", { name: "Close" }).click();
  for (const type of ["UpdateAccepted", "UpdateApplied", "UpdateCompleted"]) equal((await event(site, "acts-update", type)).payload.update_name, "address", type);
  signed(await command(site, "acts-update", "update"), "moved house");

  await site.start("order", "acts-query", { sku: "TEA-1", amount: 600 });
  await openRun(page, "acts-query");
  await becomes(page, "waiting");
  const before = (await site.history("acts-query")).length;
  await choose(page, "Query", "status");
  await page.getByRole("dialog").getByRole("button", { name: "Ask" }).click();
  await page.getByRole("dialog").getByRole("status").getByText("held").waitFor();
  await page.keyboard.press("Escape");
  equal((await site.history("acts-query")).length, before, "events after a query");

  await openRun(page, "acts-update", "?tab=commands");
  await page.getByRole("row").filter({ hasText: "moved house" }).getByText("completed").waitFor();
  await page.getByRole("row").filter({ hasText: "rejected: " }).getByRole("button").click();
  await page.getByText(/^city /).waitFor();
  refusals(page, 422);
  quiet(page);
  await page.context().close();
});

test("pause and resume, cancel, terminate and archive, each with its reason", async ({ site, browser }) => {
  for (const id of ["acts-cancel", "acts-terminate"]) await site.start("region", id, { name: "north" });
  const page = await enter(browser, site);
  await openRun(page, "acts-cancel");
  await becomes(page, "waiting");
  await choose(page, "More", "Pause…");
  await send(page, "Pause", { Reason: "stock is counted" });
  await becomes(page, "paused");
  signed(await command(site, "acts-cancel", "pause"), "stock is counted");
  await choose(page, "More", "Resume…");
  await send(page, "Resume", { Reason: "counted" });
  await becomes(page, "waiting");
  signed(await command(site, "acts-cancel", "resume"), "counted");

  await choose(page, "More", "Cancel…");
  await send(page, "Cancel");
  await page.getByRole("dialog").getByText("Say why: it is recorded with the command.").waitFor();
  equal((await site.history("acts-cancel")).some((one) => one.type === "CancelRequested"), false, "cancelled without a reason");
  await send(page, "Cancel", { Reason: "ordered twice" });
  await becomes(page, "cancelled");
  await event(site, "acts-cancel", "CancelRequested");
  await event(site, "acts-cancel", "WorkflowCancelled");
  signed(await command(site, "acts-cancel", "cancel"), "ordered twice");
  await choose(page, "More", "Archive…");
  await send(page, "Archive", { Reason: "done with it" });
  await event(site, "acts-cancel", "WorkflowArchived");
  signed(await command(site, "acts-cancel", "archive"), "done with it");

  await openRun(page, "acts-terminate");
  await choose(page, "More", "Terminate…");
  await send(page, "Terminate", { Reason: "it hangs" });
  await becomes(page, "terminated");
  await event(site, "acts-terminate", "TerminateRequested");
  await event(site, "acts-terminate", "WorkflowTerminated");
  signed(await command(site, "acts-terminate", "terminate"), "it hangs");
  quiet(page);
  await page.context().close();
});

test("what is not allowed now is there and says the server's reason", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await site.start("region", "acts-closed", { name: "north" });
  await site.ask("POST", "api/workflows/acts-closed/terminate", { reason: "test" });
  await openRun(page, "acts-closed");
  await page.getByRole("button", { name: "More", exact: true }).click();
  const head = await site.ask("GET", "console/api/runs/acts-closed");
  for (const [verb, action] of [["Pause", "pause"], ["Resume", "resume"], ["Repair", "repair"], ["Cancel", "cancel"], ["Terminate", "terminate"]]) {
    const item = page.getByRole("menuitem", { name: verb + "…" });
    equal([await item.getAttribute("aria-disabled"), (await item.innerText()).includes(head.actions[action].text)], ["true", true], verb);
    await item.click({ force: true });
    equal(await page.getByRole("dialog").count(), 0, "dialogs after " + verb);
  }
  quiet(page);
  await page.context().close();
});

test("a fork and a reset go on from the step that is given", async ({ site, browser }) => {
  await site.start("order", "acts-fork", { sku: "TEA-8", amount: 800 });
  const page = await enter(browser, site);
  await openRun(page, "acts-fork");
  await becomes(page, "waiting");
  await choose(page, "More", "Fork…");
  await send(page, "Fork", { step: "1", new_workflow_id: "acts-forked", Reason: "look at it again" });
  await settled(page, "acts-forked");
  await becomes(page, "waiting");
  equal((await event(site, "acts-forked", "WorkflowStarted")).payload.workflow_instance_id, "acts-forked", "the fork");
  const scheduled = async (id) => (await site.history(id)).filter((one) => one.type === "ActivityScheduled").map((one) => one.payload.activity_type);
  equal(await scheduled("acts-forked"), ["reserve", "charge"], "steps of the fork");
  equal((await site.history("acts-fork")).some((one) => /Terminated|Reset/.test(one.type)), false, "the one that was forked is untouched");

  await openRun(page, "acts-fork");
  await choose(page, "More", "Reset…");
  await send(page, "Reset", { step: "2", Reason: "charged the wrong card" });
  await page.getByRole("link", { name: "#2 current" }).waitFor();
  await becomes(page, "waiting");
  const runs = (await site.ask("GET", "api/workflows/acts-fork/runs")).runs;
  equal(runs.map((one) => one.run_number), [2, 1], "its runs");
  quiet(page);
  await page.context().close();
});

test("a run that the code does not fit says where, and goes on when the build fits again", async ({ site, browser, shots }) => {
  await site.office("1");
  await site.start("drift", "acts-drift", {}, office);
  const page = await enter(browser, site);
  await openRun(page, "acts-drift");
  await becomes(page, "waiting");
  await site.office("2");
  await site.ask("POST", "api/workflows/acts-drift/signal/go", { input: {} });
  await becomes(page, "blocked");
  await openRun(page, "acts-drift", "?tab=timeline");
  await page.getByText(/fraud-check/).first().waitFor(); // what the code asks for, in the sentence above all
  await page.screenshot({ path: shots + "/run-blocked-light.png" });
  await site.office("1");
  await choose(page, "More", "Repair…");
  await send(page, "Repair");
  await becomes(page, "completed");
  await event(site, "acts-drift", "RepairRequested");
  signed(await command(site, "acts-drift", "repair"), null);
  quiet(page);
  await page.context().close();
});

test("one command is sent to many, and each of them has it in its history", async ({ site, browser }) => {
  const ids = ["acts-many-1", "acts-many-2", "acts-many-3"];
  for (const id of ids) await site.start("region", id, { name: "north" });
  const page = await enter(browser, site);
  await follow(page, "runs?q=acts-many");
  await page.getByRole("link", { name: "acts-many-1" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
  await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Terminate…" }).click();
  await page.getByRole("dialog").getByText("3 would take it").waitFor();
  equal((await site.history("acts-many-1")).some((one) => one.type === "TerminateRequested"), false, "the preview changed something");
  await send(page, "Terminate 3 runs");
  await page.getByRole("dialog").getByText("Say why: it is recorded with every command.").waitFor();
  await send(page, "Terminate 3 runs", { Reason: "region was merged" });
  await page.getByRole("dialog").getByText("3 took it").waitFor({ timeout: 30000 });
  for (const id of ids) {
    await event(site, id, "WorkflowTerminated");
    signed(await command(site, id, "terminate"), "region was merged");
  }
  quiet(page);
  await page.context().close();
});

test("a run is started like another, answered from its waits, replayed, forked from an earlier moment, and its child cancelled", async ({ site, browser }) => {
  await site.start("order", "acts-like", { sku: "TEA-2", amount: 600 });
  await site.start("import", "acts-import");
  const page = await enter(browser, site);
  await openRun(page, "acts-like");
  await becomes(page, "waiting");
  await choose(page, "More", "Start like this one…");
  await page.getByRole("dialog", { name: "Start order" }).waitFor();
  equal(await page.getByRole("dialog").getByLabel("sku", { exact: true }).inputValue(), "TEA-2", "what it begins with");
  await send(page, "Start", { amount: "700", "Workflow id": "acts-like-2" });
  await settled(page, "acts-like-2");
  equal(JSON.parse((await site.ask("GET", "console/api/runs/acts-like-2")).arguments.text), { sku: "TEA-2", amount: 700 }, "its input");

  await openRun(page, "acts-like-2", "?tab=waits");
  await becomes(page, "waiting");
  await page.getByRole("button", { name: "Send approved-by" }).click();
  await send(page, "Signal approved-by", { approver: "mia" });
  await becomes(page, "completed");
  await openRun(page, "acts-like-2", "?tab=code");
  await page.getByText("Replays cleanly").waitFor();
  const replays = page.waitForResponse((answer) => answer.url().includes("/replay"));
  await page.getByRole("button", { name: "Replay again" }).click();
  equal((await (await replays).json()).verdict, "ok", "the replay");

  const reserved = (await site.history("acts-like")).find((one) => one.type === "ActivityCompleted");
  await openRun(page, "acts-like", "?at=" + reserved.sequence);
  await page.getByText(`As of event ${reserved.sequence}, not now.`).waitFor();
  await page.getByText(/^ActivityCompleted, /).waitFor();
  await page.getByRole("button", { name: "Fork from here…" }).click();
  equal(await page.getByRole("dialog").getByLabel("step", { exact: true }).inputValue(), "1", "the step of that moment");
  await send(page, "Fork", { new_workflow_id: "acts-like-3", Reason: "charge it again" });
  await settled(page, "acts-like-3");
  await becomes(page, "waiting");

  await openRun(page, "acts-import", "?tab=lineage");
  await page.getByRole("button", { name: "Cancel the open child…" }).click();
  await page.getByRole("dialog").getByText("1 would take it").waitFor();
  await send(page, /^Cancel 1\srun$/, { Reason: "region is gone" });
  await page.getByRole("dialog").getByText("1 took it").waitFor({ timeout: 30000 });
  const { nodes } = await site.ask("GET", "console/api/runs/acts-import/lineage");
  equal(nodes.find((one) => one.relation === "child").status, "cancelled", "the child");
  quiet(page);
  await page.context().close();
});
