// The numbers of the console in a real browser: `make bench BENCH=console`, or
//
//     node test/console/bench.mjs BUILD       HF_BENCH_RUNS=20000 lists fewer runs
//
// Prints a table and appends the same as JSON lines to the file that HF_BENCH_OUT names (build/bench.jsonl). A number beyond its
// goal ends it with exit code 1.
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { enter, follow, home, openBrowser, openRun, packages, settled } from "./browser.mjs";
import { endAll, Site, until } from "./site.mjs";

const build = resolve(process.argv[2] ?? join(home, "build"));
const RUNS = Number(process.env.HF_BENCH_RUNS ?? 100000);
const STEPS = 6660; // three events each
const TURNS = 5;
let beyond = 0;

function report(name, value, unit, goal) {
  const met = goal === undefined || value <= goal;
  if (!met) beyond++;
  console.log(`${name.padEnd(40)} ${value.toFixed(1).padStart(10)} ${unit.padEnd(6)} ${goal === undefined ? "" : `${met ? "within" : "BEYOND"} ${goal}`}`);
  appendFileSync(process.env.HF_BENCH_OUT ?? join(home, "build/bench.jsonl"), JSON.stringify({ group: "console", name, store: "sqlite", value: Math.round(value * 100) / 100, unit, ...(goal === undefined ? {} : { goal: `<= ${goal}` }) }) + "\n");
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Collects the tasks that kept the page from answering. */
const watch = (page) =>
  page.evaluate(() => {
    window.long = [];
    new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration))).observe({ type: "longtask" });
  });
const longest = async (page) => Math.max(0, ...(await page.evaluate(() => window.long)));

/** That they are told of at all. */
async function prove(page) {
  await page.evaluate(
    () =>
      new Promise((done) =>
        setTimeout(() => {
          for (const end = performance.now() + 150; performance.now() < end; );
          setTimeout(done, 200);
        }, 0),
      ),
  );
  if ((await longest(page)) < 100) throw new Error("the browser does not tell of long tasks");
}

/** Whether the bars of a timeline are there: the one of the run itself goes through the middle. */
function drawn() {
  const canvas = document.querySelector(".gc canvas");
  return !!canvas && canvas.width > 0 && document.querySelector(".gl .gname") !== null && canvas.getContext("2d").getImageData(canvas.width >> 1, 0, 1, canvas.height).data.some((value) => value > 0);
}

async function paints(site, page) {
  await page.addInitScript(`window.drawn = ${drawn}`);
  const { history_event_count: events } = await site.ask("GET", "console/api/runs/rounds-1");
  console.log(`a run of ${events} events in ${STEPS} steps`);
  const loads = [];
  const moves = [];
  for (let i = 0; i < TURNS; i++) {
    await page.goto("console/runs/rounds-1"); // the page from nothing
    loads.push(
      await page.evaluate(
        () =>
          new Promise((done) => {
            const look = () => (window.drawn() ? done(performance.now()) : requestAnimationFrame(look));
            look();
          }),
      ),
    );
    await follow(page, "settings");
    await settled(page, "Settings");
    // within the page, from the click to the frame with the first rows
    moves.push(
      await page.evaluate(
        (to) =>
          new Promise((done) => {
            const began = performance.now();
            const link = Object.assign(document.createElement("a"), { href: to });
            document.body.append(link);
            link.click();
            link.remove();
            const look = () => (window.drawn() ? done(performance.now() - began) : requestAnimationFrame(look));
            look();
          }),
        new URL("console/runs/rounds-1", site.url).href,
      ),
    );
  }
  report("20,000 events: first paint, page loaded", median(loads), "ms", 1000);
  report("20,000 events: first paint, by a link", median(moves), "ms", 1000);
}

async function scrolls(page) {
  await openRun(page, "rounds-1");
  await page.locator(".gl .gname").first().waitFor();
  await watch(page);
  await prove(page);
  await page.waitForTimeout(1500); // what the first paint leaves behind is not scrolling
  await page.evaluate(() => (window.long = []));
  const box = await page.locator(".gantt").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const frames = page.evaluate(
    () =>
      new Promise((done) => {
        const times = [];
        let last = performance.now();
        const end = last + 5000;
        const frame = (now) => {
          times.push(now - last);
          last = now;
          if (now < end) requestAnimationFrame(frame);
          else done(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]);
        };
        requestAnimationFrame(frame);
      }),
  );
  for (const end = Date.now() + 5000; Date.now() < end; ) {
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(16);
  }
  const slow = await frames;
  const scrolled = await page.locator(".gantt").evaluate((one) => one.scrollTop);
  if (scrolled < 10000) throw new Error(`it was scrolled by ${scrolled} px only`);
  report("20,000 events: longest task of scrolling", await longest(page), "ms", 100);
  report("20,000 events: p99 of a frame", slow, "ms");
  await page.evaluate(() => (window.long = []));
  for (let i = 0; i < 20; i++) await page.keyboard.press("j");
  report("20,000 events: longest task of 20 keys", await longest(page), "ms");
}

async function lists(site, browser) {
  let next = 0;
  const one = async (id) => {
    try {
      await site.start("listed", id);
    } catch (error) {
      if (!/: 429 /.test(error.message)) throw error;
      await new Promise((on) => setTimeout(on, 1000)); // as the server asks for
      await one(id);
    }
  };
  const some = async () => {
    for (let i; (i = next++) < RUNS; ) await one(`listed-${i}`);
  };
  const began = Date.now();
  await Promise.all(Array.from({ length: 12 }, some));
  console.log(`${RUNS} runs were started in ${((Date.now() - began) / 1000).toFixed(0)} s`);
  const page = await enter(browser, site);
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await page.evaluate(() => performance.memory.usedJSHeapSize)) / 1048576;
  };
  await follow(page, "runs");
  await page.getByRole("button", { name: "Older" }).waitFor({ timeout: 60000 });
  await watch(page);
  const first = await heap();
  const turns = [];
  for (let i = 0; i < 40; i++) {
    const began = await page.evaluate(() => performance.now());
    const top = await page.locator("main tbody a").first().innerText();
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForFunction((was) => document.querySelector("main tbody a").innerText !== was, top);
    turns.push((await page.evaluate(() => performance.now())) - began);
  }
  console.log(`${RUNS} runs in the list, 40 pages on`);
  report("the list: rows in the page", await page.locator("main tbody tr").count(), "rows", 50);
  report("the list: more memory after 40 pages", Math.max(0, (await heap()) - first), "MB", 5);
  report("the list: to the next page", median(turns), "ms");
  report("the list: longest task", await longest(page), "ms");
  await page.context().close();
}

execFileSync("cmake", ["-DFOLDER=" + packages, "-DKINDS=check,test", "-P", join(home, "cmake/fetch.cmake")], { stdio: ["ignore", "inherit", "inherit"] });
const site = new Site(build);
let browser;
try {
  const size = ["app.js", "app.css"].reduce((sum, name) => sum + gzipSync(readFileSync(join(build, "console", name)), { level: 9 }).length, 0);
  report("all of the console, compressed", size / 1024, "KB", 120);
  await site.serve();
  await site.office();
  await site.start("rounds", "rounds-1", { steps: STEPS }, { task_queue: "office" });
  await until(async () => (await site.ask("GET", "console/api/runs/rounds-1")).wait_kind === "signal", 600, "all steps are done");
  browser = await openBrowser();
  const page = await enter(browser, site);
  await paints(site, page);
  await scrolls(page);
  await page.context().close();
  await lists(site, browser);
} catch (error) {
  console.log(`${error.stack ?? error}\n${site.said}`);
  beyond++;
} finally {
  await browser?.close();
  await site.stop();
  endAll();
}
process.exit(beyond ? 1 : 0);
