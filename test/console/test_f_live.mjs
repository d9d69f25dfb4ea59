// What happens while a page is open: servers that die, tokens that are revoked, links that are used, clocks that are wrong.
import { becomes, choose, enter, follow, openPage, openRun, quiet, refusals, send, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

test("what changes between a question and its stream is not lost", async ({ site, browser }) => {
  await site.start("order", "live-gap", { sku: "TEA-1", amount: 600 });
  const run = async () => (await site.ask("GET", "console/api/runs/live-gap")).status;
  await until(async () => (await run()) === "waiting", 30, "it waits");
  const page = await enter(browser, site);
  let release;
  const held = new Promise((done) => (release = done));
  await page.route("**/console/api/stream**", async (route) => (await held, await route.continue()));
  await page.goto("console/runs/live-gap"); // all anew: no change is known
  await settled(page, "live-gap");
  await becomes(page, "waiting");
  await site.ask("POST", "api/workflows/live-gap/signal/approved-by", { input: { approver: "mia" } });
  await until(async () => (await run()) === "completed", 30, "it has ended");
  release();
  await becomes(page, "completed");
  quiet(page);
  await page.context().close();
});

test("a run that is open on a page goes on without a gap when the server is killed in the middle", async ({ site, browser }) => {
  await site.start("order.process", "live-1", { amount: 12, units: 60 }, { task_queue: "office" });
  const page = await enter(browser, site);
  await openRun(page, "live-1", "?tab=steps&view=events");
  await page.getByRole("button", { name: "ActivityStarted" }).first().waitFor();
  await page.getByRole("button", { name: "live", exact: true }).waitFor();
  await choose(page, "More", "Terminate…");
  const dialog = page.getByRole("dialog", { name: "Terminate live-1" });
  await dialog.getByLabel("Reason").fill("it hangs");
  equal(await dialog.getByRole("button", { name: "Terminate" }).getAttribute("aria-disabled"), null, "the button while the server is there");
  await site.killServer();
  await page.getByRole("button", { name: /^reconnecting/, includeHidden: true }).waitFor({ timeout: 30000 });

  // Nothing is sent to a server that is not there: what is offered says why not.
  const AWAY = "The server cannot be reached: what is shown may be old, and nothing is sent until it is back.";
  await dialog.getByText(AWAY).waitFor();
  equal(await dialog.getByRole("button", { name: "Terminate" }).getAttribute("aria-disabled"), "true", "the button of the dialog");
  await page.keyboard.press("Escape");
  for (const menu of ["Update", "Query", "More"]) {
    await page.getByRole("button", { name: menu, exact: true }).click();
    const items = (await page.getByRole("menuitem").all()).slice(0, menu === "More" ? 9 : 1);
    for (const item of items) equal([await item.getAttribute("aria-disabled"), (await item.innerText()).includes(AWAY)], ["true", true], await item.innerText());
    await page.keyboard.press("Escape");
  }
  ok(await page.getByRole("button", { name: "ActivityStarted" }).first().isVisible(), "what was there stays");
  await site.serve();
  await page.getByRole("button", { name: "live", exact: true }).waitFor({ timeout: 60000 });
  await settled(page, "live-1");
  equal(new URL(page.url()).searchParams.get("view"), "events", "the view that was open");
  await page.getByRole("button", { name: "live", exact: true }).waitFor({ timeout: 30000 });
  await page.getByRole("button", { name: "Query", exact: true }).click();
  equal(await page.getByRole("menuitem").first().getAttribute("aria-disabled"), null, "a query when the server is back");
  await page.keyboard.press("Escape");
  const events = await until(async () => {
    const seen = await site.history("live-1");
    return seen.some((event) => event.type === "ActivityCompleted" && event.payload.activity_type === "register-serials") && seen;
  }, 90, "what was under way is done");
  const shown = () => page.locator("main tbody tr td:first-child").allInnerTexts();
  await until(async () => (await shown()).length === events.length, 30, "the page has all events");
  equal(await shown(), events.map((event) => String(event.sequence)), "events on the page");
  quiet(page);
  await page.context().close();
});

test("an approval is answered by a link, once", async ({ site, browser }) => {
  await site.start("review", "live-review", { item: "crane" }, { task_queue: "office" });
  const page = await enter(browser, site);
  await until(async () => (await site.ask("GET", "console/api/approvals")).approvals.some((one) => one.workflow_id === "live-review"), 30, "somebody is waited for");
  const { approvals } = await site.ask("GET", "console/api/approvals");
  const wait = approvals.find((one) => one.workflow_id === "live-review");
  await follow(page, "approvals?wait=" + encodeURIComponent(wait.id));
  await settled(page, "Approvals");
  await page.getByRole("button", { name: "Make a link…" }).click();
  await send(page, "Make link", { label: "Ada of finance" });
  const link = await page.getByRole("region", { name: "One-time link" }).locator(".code .brk").innerText();
  await page.getByText("for Ada of finance").waitFor();

  const stranger = await openPage(browser, site); // no session, no token
  await stranger.goto(link);
  await stranger.getByLabel(/outcome/).selectOption("yes");
  await stranger.getByLabel(/note/).fill("<b>fine</b>");
  await stranger.getByRole("button").click();
  await stranger.getByRole("heading", { level: 1 }).waitFor();
  const result = await until(async () => (await site.ask("GET", "api/workflows/live-review/result?wait_timeout_seconds=20")).status === "completed", 30, "it went on");
  ok(result, "completed");
  const received = (await site.history("live-review")).filter((event) => event.type === "SignalReceived");
  equal(received.length, 1, "answers in history");
  await openRun(page, "live-review", "?tab=commands");
  await page.getByRole("row").filter({ hasText: "decide" }).getByText("Ada of finance").waitFor();
  await page.getByRole("button", { name: "signal decide" }).click();
  await page.getByLabel("the payload").getByText('"<b>fine</b>"').waitFor();

  await stranger.goto(link);
  await stranger.getByText("This link has been used.").waitFor();
  equal(await stranger.getByRole("button").count(), 0, "buttons of a used link");
  equal((await fetch(link, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: new URL(site.url).origin }, body: "outcome=no" })).status, 410, "a second answer");
  equal((await site.history("live-review")).filter((event) => event.type === "SignalReceived").length, 1, "answers in history afterwards");
  refusals(stranger, 410);
  for (const each of [page, stranger]) {
    quiet(each);
    await each.context().close();
  }
});

test("a token that is revoked while its page is open ends the page with the reason", async ({ site, browser }) => {
  const { secret, id } = await site.token("operator", "on call");
  const page = await enter(browser, site, { token: secret });
  await follow(page, "attention");
  await settled(page, "Attention");
  await page.getByRole("button", { name: "live", exact: true }).waitFor();
  await site.ask("DELETE", "api/tokens/" + id);
  await page.getByLabel("Token").waitFor({ timeout: 30000 });
  await page.getByRole("alert").getByText(/revoked/).waitFor();
  quiet(page);
  await page.context().close();
});

test("a clock that is wrong by an hour changes no age", async ({ site, browser }) => {
  await site.start("region", "live-clock", { name: "north" });
  for (const hours of [-1, 1]) {
    const page = await openPage(browser, site);
    await page.clock.install({ time: Date.now() + hours * 3600000 });
    await page.clock.resume();
    await page.goto(await site.loginLink());
    await page.goto("console/runs/live-clock");
    await settled(page, "live-clock");
    const began = Date.parse((await site.ask("GET", "console/api/runs/live-clock")).started_at);
    const right = async (when) => {
      const facts = await page.locator("main .facts").innerText();
      const seconds = Math.ceil((Date.now() - began) / 1000);
      ok(/ [\d.]+\s(ms|s)$/.test(facts) || seconds > 55, `${when}, an age of ${seconds} s is shown as: ${facts}`);
    };
    await right("from the start");
    await page.clock.setSystemTime(Date.now()); // somebody sets it right
    await follow(page, "queues");
    await settled(page, "Queues");
    await openRun(page, "live-clock");
    await page.waitForTimeout(2100); // ages grow once a second
    await right("after it was set");
    await page.goto("console/overview?range=15m");
    await page.getByRole("img", { name: /^Started/ }).waitFor();
    const said = /(\d\d):(\d\d):/.exec(await page.locator("main .head .d").innerText());
    const minutes = (1440 + new Date().getUTCHours() * 60 + new Date().getUTCMinutes() - Number(said[1]) * 60 - Number(said[2])) % 1440;
    ok(minutes <= 3, `it says ${said[0]} of what was read ${minutes} min ago`);
    quiet(page);
    await page.context().close();
  }
});

test("a page whose server was replaced by another version says so, and goes on", async ({ site, browser }) => {
  const page = await openPage(browser, site);
  let other = true; // the real answer, but for its version
  await page.route("**/console/api/me", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    if (other && body.server) body.server.version = "99.1.0";
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(await site.loginLink());
  const note = page.getByRole("alert").getByText(/its server is 99\.1\.0/);
  await note.waitFor();
  await follow(page, "queues");
  await settled(page, "Queues");
  ok(await note.isVisible(), "it says so on every page");
  other = false;
  await page.getByRole("button", { name: "Load it again" }).click();
  await note.waitFor({ state: "detached" });
  await settled(page, "Queues");
  quiet(page);
  await page.context().close();
});
