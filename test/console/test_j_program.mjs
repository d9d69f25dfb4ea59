// A user's own program: it has the console, too, and its payloads may be of any size.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { becomes, enter, follow, home, openPage, openRun, quiet, refusals, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { Site, until } from "./site.mjs";

test("a program of one's own serves the console for development, and prints a link to it", async ({ build, browser }) => {
  const site = new Site(build, "test/site_office");
  try {
    const link = await site.dev();
    const page = await openPage(browser, site);
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "Nothing of yours has run yet" }).waitFor();
    execFileSync(site.program, ["start", "sums", "left:=0", "--id", "mine"], { cwd: site.folder, env: { ...process.env, HOME: site.folder }, stdio: "pipe" });
    await page.getByText("seen: one run", { exact: true }).waitFor({ timeout: 30000 });
    await openRun(page, "mine");
    await becomes(page, "waiting");
    await page.locator("main .acts").getByRole("button", { name: "Signal go…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Signal go" }).click();
    await becomes(page, "completed");
    quiet(page);
    await page.context().close();
  } finally {
    await site.stop();
  }
});

test("the demo leaves the console open at an order that was interrupted, and the crash is drawn", async ({ build, browser, shots }) => {
  const site = new Site(build);
  const line = `${join(home, "tools/demo.py")} --build ${build} --orders 8`;
  const demo = site.spawn("script", ["-qefc", line, "/dev/null"], {}, "pipe"); // script: it is on a terminal there
  try {
    const link = (await until(() => site.said.match(/(http\S+#\/runs\S*)/), 120, "the link was printed"))[1];
    site.url = new URL(link).origin + "/";
    const page = await openPage(browser, site);
    await page.goto(link);
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (link.includes("/runs/")) {
      const id = link.split("/").at(-1);
      await settled(page, id);
      const canvas = page.getByRole("img", { name: /^Timeline of/ });
      await canvas.waitFor();
      const drawn = () => canvas.evaluate((one) => one.width > 0 && one.getContext("2d").getImageData(one.width >> 1, 0, 1, one.height).data.some((value) => value > 0));
      await until(drawn, 10, "the bars are drawn");
      await page.screenshot({ path: shots + "/demo-light.png" });
      await openRun(page, id, "?tab=steps");
      await page.getByRole("table").first().waitFor();
      const { spans } = await page.evaluate(async (of) => (await fetch(`/console/api/runs/${of}/spans`)).json(), id);
      ok(spans.bars.some((bar) => bar.segments.some((one) => one.kind === "lost")), "the time in which nobody worked is told");
    }
    quiet(page);
    await page.context().close();
    demo.stdin.write("\r");
    await demo.ended;
    equal(demo.exitCode, 0, site.said.slice(-1000));
    // Its history is told when an order was hit in the middle of an activity.
    if (link.includes("/runs/")) ok(/TimerScheduled +\d+ ms/.test(site.said), "how long a timer of half a second takes: " + site.said.match(/.*TimerScheduled.*/g));
  } finally {
    demo.kill("SIGTERM");
  }
});

test("the largest payload there is: its size is told, its beginning is shown, and answers stay small", async ({ site, browser }) => {
  await site.start("bulk", "bulk-1", { bytes: 1900000 }, { task_queue: "office" });
  await until(async () => (await site.ask("GET", "console/api/runs/bulk-1")).status === "completed", 60, "it is done");
  const page = await enter(browser, site);
  let most = 0;
  page.on("response", async (answer) => (most = Math.max(most, (await answer.body().catch(() => "")).length)));
  await openRun(page, "bulk-1");
  await becomes(page, "completed");
  const result = page.getByRole("complementary", { name: "Inspector" });
  await result.getByText('"the beginning"').waitFor();
  await result.getByText(/16\sKB of 1\.81\sMB shown/).waitFor();
  for (const rest of ["?step=1", "?tab=steps&view=events&event=5", "?tab=state", "?tab=json", "?tab=code"]) {
    await openRun(page, "bulk-1", rest);
    equal(await page.getByRole("alert").count(), 0, "faults of " + rest);
  }
  await follow(page, "runs");
  await settled(page, "Runs");
  ok(most < 1000000, `the largest answer has ${most} bytes`);
  quiet(page);
  await page.context().close();
});

test("10 MB in a form are refused with a sentence, and the page goes on", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "types/review");
  await settled(page, "review");
  await page.getByRole("button", { name: "Start…" }).click();
  const field = page.getByRole("dialog").getByLabel("Arguments, as JSON");
  await field.evaluate((one) => {
    one.value = JSON.stringify({ text: "x".repeat(10000000) });
    one.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click({ timeout: 60000 }); // it reads all of it
  await page.getByRole("dialog").getByRole("alert").getByText(/./).first().waitFor({ timeout: 60000 });
  const said = await page.getByRole("dialog").getByRole("alert").first().innerText();
  ok(/too large|too big|at most|2\s?MiB|[Ll]imit/.test(said), `it says: ${said}`);
  await field.fill('{"item": "crane"}');
  await page.getByLabel(/^Workflow id/).fill("small-1");
  await page.getByLabel(/^Queue/).fill("office");
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click({ timeout: 60000 }); // it reads all of it
  await settled(page, "small-1");
  equal(JSON.parse((await site.ask("GET", "console/api/runs/small-1")).arguments.text), { item: "crane" }, "its input");
  refusals(page, 413);
  quiet(page);
  await page.context().close();
});

test("a run of thousands of steps is drawn and scrolled, from its first step to its last", async ({ site, browser, shots }) => {
  await site.start("rounds", "rounds-1", { steps: 2400 }, { task_queue: "office" });
  await until(async () => (await site.ask("GET", "console/api/runs/rounds-1")).wait_kind === "signal", 120, "all steps are done");
  const page = await enter(browser, site);
  await openRun(page, "rounds-1");
  const older = page.getByRole("status").getByText(/^The newest 2,000 of 2,401 steps are shown\.$/);
  await older.waitFor();
  const names = page.getByRole("group", { name: "Rows of the timeline" });
  const wheel = async (by) => {
    await page.locator(".gantt").hover();
    await page.mouse.wheel(0, by);
  };
  await wheel(1e6);
  await names.getByRole("button", { name: /^go\s*signal$/ }).waitFor(); // the wait behind all of them
  await page.getByRole("button", { name: "Show all" }).click();
  await older.waitFor({ state: "detached" });
  await page.getByRole("img", { name: /^Timeline of 24\d\d rows/ }).waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll("main *").length);
  ok(nodes < 3000, `only what is in view is in the page: ${nodes} elements`);
  await wheel(-1e6);
  await page.screenshot({ path: shots + "/rounds-light.png" });

  await openRun(page, "rounds-1", "?tab=steps");
  await older.waitFor();
  const steps = page.getByRole("table", { name: "Activities" });
  await page.getByRole("button", { name: "Show all" }).click();
  await older.waitFor({ state: "detached" });
  equal(await steps.locator("tbody tr td:first-child").first().innerText(), "1", "the first step");
  equal(await steps.locator("tbody tr").count(), 200, "rows that are there at once");
  await openRun(page, "rounds-1", "?tab=steps&most=10000&sort=-Step");
  await page.waitForFunction(() => document.querySelector("table[aria-label=Activities] tbody td")?.innerText === "2400"); // the last one
  await page.getByRole("button", { name: "Show 1,000 more" }).click();
  await page.waitForFunction(() => document.querySelectorAll("table[aria-label=Activities] tbody tr").length === 1200);
  await openRun(page, "rounds-1", "?tab=waits");
  await page.getByRole("status").getByText(/^The newest 2,000 of 2,401 waits are shown\.$/).waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByText("200 of 2,401 are shown").waitFor();
  await openRun(page, "rounds-1", "?tab=steps&view=events");
  await page.getByText(/of 7,\d+/).first().waitFor();
  quiet(page);
  await page.context().close();
});
