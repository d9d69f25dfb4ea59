// A run of 100,000 events: a page that is open while they happen is no burden, and every tab of it stays of use afterwards.
import { enter, openRun, quiet } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";
import { Site, until } from "./site.mjs";

const STEPS = 33400; // three events each
const MOST_BYTES = 2e6; // of one answer, as it is sent
const MOST_MS = 1500; // without an answer to the hand; what is usual is a tenth of it, and machines are busy

/** Keeps how many bytes each answer has on the wire. */
async function weigh(page) {
  const session = await page.context().newCDPSession(page);
  const addresses = new Map();
  page.sent = [];
  await session.send("Network.enable");
  session.on("Network.responseReceived", (event) => addresses.set(event.requestId, event.response.url));
  session.on("Network.loadingFinished", (event) => page.sent.push([addresses.get(event.requestId), event.encodedDataLength]));
}

/** Keeps the texts of pictures, which are in no element, and the tasks that kept the page from answering. */
const watched = () => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (y === 12) (this.canvas.written ??= []).push(text);
    return write.apply(this, arguments);
  };
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function () {
    this.canvas.written = [];
    return clear.apply(this, arguments);
  };
  window.long = [];
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration))).observe({ type: "longtask" });
};

test("a run of 100,000 events: the page is no burden while they happen, and each of its tabs is of use", async ({ site, browser, shots }) => {
  const own = new Site(site.build);
  try {
    await own.serve("--set", "max_events_per_run=1000000");
    await own.office();
    const page = await enter(browser, own);
    await page.context().addInitScript(watched);
    await page.reload();
    await weigh(page);
    await own.start("rounds", "large", { steps: STEPS }, { task_queue: "office" });
    const began = Date.now();
    await openRun(page, "large");
    let asked = 0;
    page.on("requestfinished", (request) => /\/spans\?/.test(request.url()) && (asked += request.timing().responseEnd));
    const waits = async () => (await page.waitForTimeout(1000), (await own.ask("GET", "console/api/runs/large")).wait_kind === "signal");
    await until(waits, 240, "all steps are done");
    const share = asked / (Date.now() - began);
    ok(share < 0.3, `while it changes, ${Math.round(share * 100)} % of the time goes into asking for its bars`);
    const { history_event_count: events } = await own.ask("GET", "console/api/runs/large");
    ok(events > 100000, `it has ${events} events`);

    const inspector = page.getByRole("complementary", { name: "Inspector" });
    const of = events.toLocaleString("en-US");
    const tabs = [
      ["", page.getByText("The newest 2,000 of 33,401 steps are shown.")],
      ["?most=10000", page.getByText("The newest 10,000 of 33,401 steps are shown.")],
      ["?step=33000", inspector.getByText("blink").first()],
      ["?step=1", inspector.getByText("blink").first()],
      ["?at=50000", page.getByText(`event 50,000 of ${of}`)],
      ["?tab=steps", page.getByText("200 of 1,999 are shown")],
      ["?tab=steps&most=10000", page.getByText("200 of 9,999 are shown")],
      ["?tab=steps&view=events", page.getByText(new RegExp(`^100\\sevents of ${of}$`))],
      ["?tab=steps&view=events&order=desc&kinds=activity&find=blink", page.getByRole("button", { name: "Older" })],
      ["?tab=steps&view=events&event=99000", inspector.getByText("99000").first()],
      ["?tab=waits", page.getByText("200 of 2,000 are shown")],
      ["?tab=waits&most=10000&at=99000", page.getByText("200 of 10,000 are shown")],
      ["?tab=commands", page.getByRole("button", { name: /^start/ })],
      ["?tab=lineage", page.getByRole("table", { name: "Lineage" })],
      ["?tab=state", page.getByText(/nothing of itself/)],
      ["?tab=code", page.getByText("33,381 steps before, the same on both sides")],
      ["?tab=json", page.getByText('"rounds"').first()],
      ["?tab=json&of=history&after=90000", page.getByText(new RegExp(`^50\\sevents of ${of}$`))],
    ];
    const wrong = [];
    for (const [rest, shows] of tabs) {
      await openRun(page, "large", rest);
      await shows.first().waitFor({ timeout: 30000 });
      const [nodes, faults, long, wide] = await page.evaluate(() => [
        document.querySelectorAll("main *").length,
        document.querySelectorAll("main [role=alert]").length,
        Math.max(0, ...window.long.splice(0)),
        [...document.querySelectorAll("main .seq")].filter((one) => one.scrollWidth > one.clientWidth).length,
      ]);
      if (nodes > 8000 || faults || long > MOST_MS || wide) wrong.push(`${rest}: ${nodes} elements, ${faults} faults, ${Math.round(long)} ms without an answer, ${wide} numbers cut`);
    }
    const heavy = page.sent.filter(([, bytes]) => bytes > MOST_BYTES);
    equal([wrong, heavy], [[], []], "tabs that are slow or cut, and answers that are big");

    // The last seconds, drawn wide: no two times above them are the same.
    await openRun(page, "large");
    await page.getByRole("img", { name: /^Timeline of 2,?\d\d\d rows/ }).waitFor();
    const above = () => page.evaluate(() => (document.querySelector(".gc canvas")?.written ?? []).filter((text) => !/now/.test(text)));
    const times = await until(async () => ((await above()).length > 1 ? above() : null), 10, "times are above the picture");
    equal(times.filter((text, i) => text === times[i - 1]), [], `times that are twice in ${times.join(", ")}`);

    // And from one of its ends to the other by the bar below.
    await page.getByRole("button", { name: "First event" }).click();
    await page.getByText(`event 1 of ${of}`).waitFor();
    await page.getByText(/^As of event 1, not now/).waitFor();
    await page.getByRole("slider", { name: "Event" }).fill("70000");
    await page.getByText(`event 70,000 of ${of}`).waitFor();
    await page.getByText(/^The newest 2,000 of 23,\d\d\d steps are shown\.$/).waitFor();
    await page.screenshot({ path: shots + "/large-light.png" });
    quiet(page);
    await page.context().close();
  } finally {
    await own.stop();
  }
});
