// Who may do what, and what is too big or broken: every button that is not for somebody says why, and a page that cannot show a
// thing says so and goes on.
import { execFileSync } from "node:child_process";
import { becomes, enter, follow, openRun, quiet, refusals, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { Site, until } from "./site.mjs";

test("a reader's token changes nothing: each button says why, and the server refuses", async ({ site, browser }) => {
  const { secret } = await site.token("read", "wall");
  await site.start("order", "bounds-read", { sku: "TEA-1", amount: 650 });
  const page = await enter(browser, site, { token: secret });
  const WHY = "The role read cannot change anything; it takes operator.";
  await openRun(page, "bounds-read");
  await becomes(page, "waiting");
  equal(await page.locator("main .acts").getByRole("button", { name: /^Signal approved-by/ }).getAttribute("aria-description"), WHY, "the first action");
  for (const [menu, but] of [["Signal"], ["Update"], ["More", /^(Export|Copy|Compare)/]]) {
    await page.getByRole("button", { name: menu, exact: true }).click();
    for (const item of await page.getByRole("menuitem").all()) {
      const text = await item.innerText();
      if (but?.test(text)) continue;
      equal(await item.getAttribute("aria-disabled"), "true", text);
      ok(text.length > text.split("\n")[0].length + 5, `${text} says why`);
      await item.click({ force: true });
      equal(await page.getByRole("dialog").count(), 0, "dialogs after " + text);
    }
    await page.keyboard.press("Escape");
  }
  // Asking is for everybody.
  await page.getByRole("button", { name: "Query", exact: true }).click();
  await page.getByRole("menuitem", { name: "status" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Ask" }).click();
  await page.getByRole("dialog").getByRole("status").getByText("held").waitFor();
  await page.keyboard.press("Escape");

  const buttons = [
    ["runs", "Runs", ["Start…", "Save view…"]],
    ["types/order", "order", ["Start…"]],
    ["schedules", "Schedules", []],
    ["queues", "Queues", ["Pause default"]],
    ["approvals", "Approvals", ["Send answer", "Make a link…"]],
  ];
  for (const [where, title, names] of buttons) {
    await follow(page, where);
    await settled(page, title);
    for (const name of names) {
      const button = page.getByRole("button", { name }).first();
      equal(await button.getAttribute("aria-disabled"), "true", `${name} of ${where}`);
      await button.click({ force: true });
      equal(await page.getByRole("dialog").count(), 0, `dialogs after ${name} of ${where}`);
    }
  }
  quiet(page);

  // Every write that the server publishes, asked as the page would ask it.
  const { paths } = await (await fetch(site.url + "api/openapi.json")).json();
  const READS = /\/query\/|\/replay$|^\/console\/api\/(login|logout|login-links|me\/|bundles)|^\/answer\/|^\/api\/system\/metrics$|^\/webhooks\//;
  const writes = Object.entries(paths).flatMap(([path, of]) => Object.keys(of).filter((method) => method !== "get" && !READS.test(path)).map((method) => [method.toUpperCase(), path]));
  ok(writes.length > 50, `there are ${writes.length} writes`);
  const answers = await page.evaluate(
    ([list, root]) =>
      Promise.all(
        list.map(async ([method, path]) => {
          const headers = { "Content-Type": "application/json", "X-Holdfast-Console": "1", "X-Durable-Workflow-Control-Plane-Version": "2", "X-Durable-Workflow-Protocol-Version": "1.13" };
          const answer = await fetch(new URL(path.slice(1).replace(/\{[^}]*\}/g, "bounds-read"), root), { method, headers, body: method === "DELETE" ? undefined : "{}" });
          return [method, path, answer.status];
        }),
      ),
    [writes, site.url],
  );
  equal(answers.filter(([, , status]) => status !== 403 && status !== 401), [], "writes that were not refused");
  equal((await site.ask("GET", "console/api/runs/bounds-read")).status, "waiting", "the run");
  await page.context().close();
});

test("two namespaces do not see each other, in no place", async ({ site, browser }) => {
  await site.start("order", "bounds-here", { sku: "TEA-1", amount: 650 });
  await site.start("order", "bounds-there", { sku: "TEA-1", amount: 650 }, { business_key: "THERE" }, { namespace: "shipping" });
  const { token } = await site.ask("POST", "api/tokens", { role: "operator", label: "shipping", namespaces: "shipping" });
  const page = await enter(browser, site, { token });
  await settled(page, "Overview");
  equal(new URL(page.url()).searchParams.get("namespace"), "shipping", "where somebody begins who sees one namespace");
  await page.getByRole("button", { name: /^Namespace/ }).click();
  equal(await page.getByRole("menuitem").allInnerTexts(), ["shipping"], "namespaces of the switch");
  await page.keyboard.press("Escape");
  await page.goto("console/runs?namespace=shipping");
  await page.getByRole("link", { name: "bounds-there" }).waitFor();
  equal(await page.getByRole("link", { name: "bounds-here" }).count(), 0, "runs of the other one in the list");
  await page.goto("console/runs/bounds-here?namespace=shipping");
  await page.getByText("There is no run bounds-here in this namespace.").waitFor();
  await page.goto("console/runs/bounds-here?namespace=default");
  await page.getByRole("alert").or(page.getByText("There is no run bounds-here in this namespace.")).first().waitFor();
  equal(await page.getByText("TEA-1").count(), 0, "what the run of the other namespace has");
  refusals(page, 404);
  quiet(page);
  await page.context().close();

  const both = await enter(browser, site);
  for (const [space, own, other] of [["default", "bounds-here", "bounds-there"], ["shipping", "bounds-there", "bounds-here"]]) {
    await both.goto(`console/runs?namespace=${space}&q=bounds-`);
    await both.getByRole("link", { name: own }).waitFor();
    equal(await both.getByRole("link", { name: other }).count(), 0, `${other} in ${space}`);
    await both.keyboard.press("/");
    await both.keyboard.type(other);
    await both.getByRole("option", { name: "show all runs that match" }).waitFor();
    await both.waitForTimeout(300);
    equal(await both.getByRole("option", { name: new RegExp(other + " order") }).count(), 0, `${other} found from ${space}`);
  }
  quiet(both);
  await both.context().close();
});

test("a history that cannot be read: the page says so, and the others go on", async ({ site, browser }) => {
  const own = new Site(site.build);
  try {
    await own.serve();
    await own.work();
    for (const id of ["broken", "whole"]) await own.start("order", id, { sku: "TEA-1", amount: 650 });
    await until(async () => (await own.ask("GET", "console/api/runs?q=is:waiting")).items.filter((one) => one.why.code === "waiting_for_signal").length === 2, 30, "both wait for the signal");
    await own.stop();
    const key = "(SELECT run.key FROM run JOIN instance ON instance.key = run.instance WHERE instance.id = 'broken')";
    execFileSync("sqlite3", [own.store, `DELETE FROM run_projection WHERE run = ${key}; UPDATE history SET run = run + 1000000 WHERE run = ${key};`]);
    await own.serve();
    const page = await enter(browser, own);
    await page.goto("console/runs/broken");
    await page.getByRole("alert").getByText(/history_unreadable/).waitFor();
    await page.goto("console/runs");
    await page.getByRole("link", { name: "whole" }).waitFor();
    await page.getByRole("row").filter({ hasText: "broken" }).getByText("Its history cannot be read.").waitFor();
    await page.goto("console/attention");
    await page.getByText("Its history cannot be read.").waitFor();
    await page.goto("console/runs");
    await page.getByRole("link", { name: "whole" }).click();
    await becomes(page, "waiting");
    refusals(page, 500);
    quiet(page);
    await page.context().close();
  } finally {
    await own.stop();
  }
});
