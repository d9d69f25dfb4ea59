// Getting in: by link once, by token, and what a reader cannot do.
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
