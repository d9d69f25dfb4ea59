// Getting in: by link once, by token, and what a reader cannot do.
import { createServer, request } from "node:http";
import { barriers, openPage, quiet } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";

test("a login link works once, and says so when it is used again", async ({ site, browser }) => {
  const link = await site.loginLink();
  const page = await openPage(browser, site);
  await page.goto(link);
  await page.getByRole("navigation", { name: "Main", exact: true }).waitFor();
  const other = await openPage(browser, site);
  await other.goto(link);
  await other.getByText("This link was used already.").waitFor();
  ok(await other.getByLabel("Token").isVisible(), "the login page has its field");
  quiet(page);
  quiet(other);
  await page.context().close();
  await other.context().close();
});

test("a login link may say where to begin, within the console alone", async ({ site, browser }) => {
  for (const [behind, path] of [["#/schedules/every-five?namespace=default", "console/schedules/every-five"], ["#//example.com/x", "console//example.com/x"], ["#/../api/workflows", "console/"], ["#javascript:alert(1)", "console/"]]) {
    const page = await openPage(browser, site);
    await page.goto((await site.loginLink()) + behind);
    await page.getByRole("navigation", { name: "Main", exact: true }).waitFor();
    equal(new URL(page.url()).pathname, "/" + path, behind);
    quiet(page);
    await page.context().close();
  }
});

test("a link that nobody made is refused", async ({ site, browser }) => {
  const page = await openPage(browser, site);
  await page.goto("console/login?link=hfl_nonsense");
  await page.getByText(/not one of this server/).waitFor();
  quiet(page);
  await page.context().close();
});

test("a token logs in, a wrong one is told so, and logging out ends it", async ({ site, browser }) => {
  const page = await openPage(browser, site);
  await page.goto("console/");
  await page.getByLabel("Token").fill("hf_wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText(/./).first().waitFor();
  equal(await barriers(page), []);
  await page.getByLabel("Token").fill(site.admin);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: /, you$/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByLabel("Token").waitFor();
  equal((await page.context().cookies()).filter((cookie) => cookie.value !== "").length, 0, "cookies");
  quiet(page);
  await page.context().close();
});

/** What a reverse proxy does that serves a site below /ops/. */
function proxied(site) {
  const proxy = createServer((from, to) => {
    if (!from.url.startsWith("/ops/")) return to.writeHead(404).end();
    const on = request({ host: "127.0.0.1", port: site.port, path: from.url.slice(4), method: from.method, headers: from.headers }, (said) => {
      to.writeHead(said.statusCode, said.headers);
      said.pipe(to);
    });
    on.on("error", () => to.destroy());
    to.on("close", () => on.destroy());
    from.pipe(on);
  });
  return new Promise((done) => proxy.listen(0, "127.0.0.1", () => done(proxy)));
}

test("behind a proxy, below a path, it works the same", async ({ site, browser }) => {
  const proxy = await proxied(site);
  const url = `http://127.0.0.1:${proxy.address().port}/ops/`;
  const page = await openPage(browser, { url });
  try {
    await page.goto(url + (await site.loginLink()));
    await page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("link", { name: "every-five" }).click();
    await page.getByRole("heading", { level: 1, name: "every-five" }).waitFor();
    equal(page.url(), url + "console/schedules/every-five", "the address");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "every-five" }).waitFor();
    quiet(page);
  } finally {
    await page.context().close();
    proxy.closeAllConnections();
    proxy.close();
  }
});
