// The pictures of docs/operate/console.md, of real runs:
//
//     node test/console/pictures.mjs BUILD
//
// Writes docs/operate/img/*.webp. Look at each before it is committed.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { becomes, enter, follow, home, openBrowser, openPage, openRun, packages, settled } from "./browser.mjs";
import { endAll, Site, until } from "./site.mjs";

const build = resolve(process.argv[2] ?? join(home, "build/test-gcc"));
const folder = join(home, "docs/operate/img");
const MOST = 150 * 1024;

/** What is on the page, as WebP: the browser itself makes it out of the screenshot. */
async function picture(browser, page, name) {
  const png = (await page.screenshot()).toString("base64");
  const desk = await browser.newPage();
  const url = await desk.evaluate(async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.9);
  }, png);
  await desk.close();
  const bytes = Buffer.from(url.split(",")[1], "base64");
  if (bytes.length > MOST) throw new Error(`${name} has ${bytes.length} bytes`);
  writeFileSync(join(folder, name + ".webp"), bytes);
  console.log(`${name}.webp: ${bytes.length} bytes`);
}

async function orders(site) {
  const office = { task_queue: "office" };
  await site.seed();
  await site.start("order.process", "order-1017", { amount: 129.9, units: 60, region: "eu" }, { ...office, business_key: "A-20419", labels: { region: "eu" } });
  await site.start("review", "review-31", { item: "crane" }, { ...office, business_key: "A-20420" });
  await site.start("stuck", "payout-7", {}, office);
  await site.start("sums", "totals", { left: 2 }, office);
  const child = await until(async () => (await site.ask("GET", "console/api/runs/order-1017/lineage")).nodes.find((one) => one.workflow_type === "ship" && one.status === "waiting"), 60, "its child waits");
  await site.ask("POST", `api/workflows/${child.workflow_id}/signal/pickup`, { input: {} });
  await until(async () => (await site.ask("GET", "console/api/runs/order-1017")).wait_kind === "signal", 60, "it waits for its approval");
}

async function look(site, browser) {
  const page = await enter(browser, site, { width: 1280, height: 800 });
  await follow(page, "overview?range=15m");
  await settled(page, "Overview");
  await page.getByRole("img", { name: /^Started/ }).waitFor();
  await page.waitForTimeout(70000 - (Date.now() % 60000)); // charts have whole minutes
  await picture(browser, page, "overview");
  await follow(page, "runs");
  await settled(page, "Runs");
  await picture(browser, page, "runs");
  await openRun(page, "order-1017");
  await becomes(page, "waiting");
  await page.waitForTimeout(500);
  await picture(browser, page, "run");
  await page.emulateMedia({ colorScheme: "dark" });
  const { approvals } = await site.ask("GET", "console/api/approvals");
  await follow(page, "approvals?wait=" + encodeURIComponent(approvals.find((one) => one.workflow_id === "review-31").id));
  await settled(page, "Approvals");
  await picture(browser, page, "approvals-dark");
  await page.context().close();
}

/** An order of the demo, whose worker was killed in the middle of it. */
async function crash(browser) {
  const site = new Site(build);
  const demo = site.spawn("script", ["-qefc", `${join(home, "tools/demo.py")} --build ${build} --orders 8 --seed 3`, "/dev/null"], {}, "pipe");
  const link = (await until(() => site.said.match(/(http\S+#\/runs\/\S+)/), 120, "the link was printed"))[1];
  site.url = new URL(link).origin + "/";
  const page = await openPage(browser, site, { width: 1280, height: 560 });
  await page.goto(link);
  await settled(page, link.split("/").at(-1));
  await page.waitForTimeout(1500);
  await picture(browser, page, "crash");
  demo.stdin.write("\r");
  await demo.ended;
}

execFileSync("cmake", ["-DFOLDER=" + packages, "-DKINDS=check,test", "-P", join(home, "cmake/fetch.cmake")], { stdio: ["ignore", "inherit", "inherit"] });
mkdirSync(folder, { recursive: true });
const site = new Site(build);
let browser;
try {
  await site.serve();
  await site.work();
  await site.office();
  await orders(site);
  browser = await openBrowser();
  await look(site, browser);
  await crash(browser);
} finally {
  await browser?.close();
  await site.stop();
  endAll();
}
