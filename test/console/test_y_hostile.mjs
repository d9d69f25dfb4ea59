// Text that is no friend of pages, in every field that somebody outside can fill: it is shown as it is, and nothing of it runs.
// It comes late, so that what it leaves in the store is not in the pictures of the other cases.
import { enter, follow, openPage, openRun, quiet, refusals, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { until } from "./site.mjs";

const TEXTS = [
  `<img src=x onerror="window.ran=1;alert(1)"><script>window.ran=1</script>`,
  `"'></textarea></title></script><svg onload=alert(1)>\\"`,
  "&lt;b&gt;&amp;&#x41;&nbsp;<!--",
  "{{7*7}} ${7*7} %{7} #{7} `id` $(id) %s%n",
  "javascript:alert(1)//%3Cscript%3E%00%0d%0a/../../?a=b#c",
  "\u202eabc\u2066def\u2069 \u0645\u0631\u062d\u0628\u0627 \u2028 \ufeff end",
  "👩‍👩‍👧‍👦 e\u0301\u0327 Z\u0351\u036b\u0343\u0313 ﷽ \ud83c\uddea\ud83c\uddfa",
];
/** What may be in payloads alone: control characters, and one word without an end. */
const RAW = "\u001b[31mred\u001b[0m\u0007\b\t\r\nline " + "W".repeat(3000);

const seen = (text) => text.replace(/\s+/g, " ");

/** That all of them stand on the page; `json`: as JSON writes them. */
async function shows(page, where, { json = false, texts = TEXTS } = {}) {
  const wanted = texts.map((text) => seen(json ? JSON.stringify(text).slice(1, -1) : text).trim());
  const missing = async () => {
    const there = seen(await page.evaluate(() => document.body.textContent + [...document.querySelectorAll("input, textarea")].map((one) => one.value).join(" ")));
    return wanted.filter((text) => !there.includes(text));
  };
  await until(async () => (await missing()).length === 0, 15, "").catch(async () => {
    throw new Error(`${where} does not show ${JSON.stringify(await missing())}`);
  });
  await harmless(page, where);
}

async function harmless(page, where) {
  equal(await page.evaluate(() => [window.ran ?? 0, document.querySelectorAll("main script, main iframe, main [onerror], main [onload], main a[href^='javascript:']").length]), [0, 0], where);
}

async function seed(site) {
  const office = { task_queue: "office" };
  for (const [i, text] of TEXTS.entries()) {
    await site.start("hostile", `hostile-${i}`, { text }, { ...office, business_key: text, labels: { region: text }, memo: { note: text } });
    await site.start(text, `hostile-type-${i}`, { text }, { task_queue: text });
    await site.token("read", text);
    await site.ask("POST", "api/namespaces", { name: `hostile-${i}`, description: text, retention_days: 3 });
    await site.ask("POST", "api/schedules", { schedule_id: `hostile-${i}`, spec: { intervals: [{ every: "PT50M" }] }, action: { workflow_type: text, input: { text } }, paused: true, note: text });
  }
  await site.start("hostile", "hostile-raw", { text: RAW }, office);
  const { secret } = await site.token("worker", "hostile");
  for (const text of TEXTS)
    await site.ask("POST", "api/worker/register", { worker_id: text, task_queue: text, build_id: text, supported_workflow_types: [text], supported_activity_types: [text], runtime: "go", sdk_version: text.slice(0, 60) }, { token: secret });
  const waiting = async () => (await site.ask("GET", "console/api/approvals?limit=200")).approvals.filter((one) => one.workflow_type === "hostile").length;
  await until(async () => (await waiting()) === TEXTS.length + 1, 60, "all wait to go on");
}

test("hostile text is shown as it is on every screen, and nothing of it runs", async ({ site, browser }) => {
  await seed(site);
  const page = await enter(browser, site);
  let dialogs = 0;
  page.on("dialog", (dialog) => (dialogs++, void dialog.dismiss()));
  const screens = [
    ["runs?q=type%3Ahostile&columns=business_key", "Runs", {}],
    ["runs?q=hostile-type&columns=queue", "Runs", {}],
    ["types", "Types", {}],
    ["queues", "Queues", {}],
    ["workers", "Workers and builds", {}],
    ["schedules", "Schedules", {}],
    ["settings?tab=namespaces", "Settings", {}],
    ["settings?tab=tokens", "Settings", {}],
  ];
  for (const [where, title, how] of screens) {
    await follow(page, where);
    await settled(page, title);
    await shows(page, where, how);
  }
  for (const where of ["overview", "attention", "batches", "approvals"]) {
    await follow(page, where);
    await page.waitForFunction(() => document.querySelector("main h1") && !document.querySelector("main [aria-busy=true]"));
    await harmless(page, where);
  }
  for (const [i, text] of TEXTS.entries()) {
    const texts = [text];
    await openRun(page, `hostile-${i}`);
    await shows(page, "the head of a run", { texts });
    await shows(page, "the input of a run", { texts, json: true });
    await openRun(page, `hostile-${i}`, "?tab=steps&step=1");
    await shows(page, "the steps", { texts });
    await openRun(page, `hostile-${i}`, "?tab=state");
    await shows(page, "the notes", { texts });
    await openRun(page, `hostile-${i}`, "?tab=json");
    await shows(page, "the JSON", { texts, json: true });
    await openRun(page, `hostile-type-${i}`);
    await shows(page, "a type", { texts });
    await follow(page, "types/" + encodeURIComponent(text));
    await settled(page, seen(text).trim());
    await follow(page, `schedules/hostile-${i}`);
    await settled(page, `hostile-${i}`);
    await shows(page, "a schedule", { texts });
    await page.getByRole("searchbox").or(page.getByRole("combobox", { name: /Find a run/ })).first().fill(text.slice(0, 30));
    await harmless(page, "what is looked for");
  }
  await openRun(page, "hostile-raw");
  await page.getByText("\\u001b[31mred").first().waitFor();
  equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, "a word without an end makes the page wide");
  equal(dialogs, 0, "dialogs");
  refusals(page, 400); // types with a slash in them have no address: their page says so
  quiet(page);
  await page.context().close();
});

test("hostile answers, reasons and failures are shown as they are, and nothing of them runs", async ({ site, browser }) => {
  const link = async (i) => {
    const { approvals } = await site.ask("GET", "console/api/approvals?limit=200");
    const wait = approvals.find((one) => one.workflow_id === `hostile-${i}`);
    return (await site.ask("POST", `console/api/approvals/${encodeURIComponent(wait.id)}/link`, { label: TEXTS[i] })).url;
  };
  const stranger = await openPage(browser, site);
  await stranger.goto(await link(0));
  await stranger.getByRole("button").first().waitFor();
  await harmless(stranger, "the page of a link");
  for (const [i, text] of TEXTS.entries()) {
    const signal = `api/workflows/hostile-${i}/signal/`;
    await site.ask("POST", signal + encodeURIComponent(text.replace(/[/\\]/g, "")), { input: {} }, { status: 404 });
    await site.ask("POST", signal + "go", { input: {}, reason: text });
  }
  await site.ask("POST", "api/workflows/hostile-raw/signal/go", { input: {} });
  await site.ask("POST", "api/workflows/hostile-type-0/terminate", { reason: TEXTS[0] });
  const failed = async () => (await site.ask("GET", "api/workflows?status=failed&workflow_type=hostile")).workflows.length;
  await until(async () => (await failed()) === TEXTS.length + 1, 60, "all have failed");
  const page = await enter(browser, site);
  let dialogs = 0;
  page.on("dialog", (dialog) => (dialogs++, void dialog.dismiss()));
  await follow(page, "failures");
  await settled(page, "Failures");
  await shows(page, "the failures");
  for (const [i, text] of TEXTS.entries()) {
    const texts = [text];
    await openRun(page, `hostile-${i}`);
    await shows(page, "the failure of a run", { texts });
    await openRun(page, `hostile-${i}`, "?tab=commands");
    await shows(page, "the reason of a command", { texts });
    await openRun(page, `hostile-${i}`, "?tab=steps&view=events&event=12");
    await harmless(page, "an event");
  }
  await openRun(page, "hostile-raw");
  await page.getByText("red").first().waitFor();
  await follow(page, "explore?sql=" + encodeURIComponent("select business_key, status from v_runs where business_key is not null limit 500"));
  await settled(page, "Explore");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await shows(page, "what SQL finds");
  equal(dialogs, 0, "dialogs");
  refusals(page, 404);
  for (const each of [page, stranger]) {
    quiet(each);
    await each.context().close();
  }
});
