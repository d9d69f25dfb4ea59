// The line that says which runs are meant: how it goes on, and the lists that are kept of it.
import { enter, follow, quiet, refusals, settled } from "./browser.mjs";
import { equal, ok, test } from "./cases.mjs";

test("a query line goes on with words and with values that are there, counted", async ({ site, browser }) => {
  await site.start("region", "views-1", { name: "north" }, { labels: { region: "eu" } });
  const page = await enter(browser, site);
  await follow(page, "runs");
  await settled(page, "Runs");
  const field = page.getByRole("combobox", { name: "Query", exact: true });
  await field.fill("is:op");
  await page.getByRole("option", { name: /^is:open\s?Runs that are not over\.\s?[\d,]+$/ }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("q") === "is:open");
  await field.fill("label.reg");
  await field.fill("label.region:");
  await page.getByRole("option", { name: /^label\.region:eu/ }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("q") === "is:open label.region:eu");
  await page.getByRole("link", { name: "views-1" }).waitFor();
  quiet(page);
  await page.context().close();
});

/** Keeps the list that is shown under a name. */
async function keep(page, name, shared) {
  await page.getByRole("button", { name: "Save view…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save this list" });
  await dialog.getByLabel("name", { exact: true }).fill(name);
  await dialog.getByText(shared ? "yes" : "no", { exact: true }).click();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
}

test("a name that one keeps for oneself is nobody else's business, and a shared one is there once", async ({ site, browser }) => {
  const pages = [];
  for (const [label, line] of [["ada", "is:open"], ["bea", "is:closed"]]) {
    const page = await enter(browser, site, { token: (await site.token("operator", label)).secret });
    await follow(page, "runs?q=" + encodeURIComponent(line));
    await settled(page, "Runs");
    await keep(page, "my desk", false);
    await page.getByText("Saved my desk").waitFor();
    pages.push(page);
  }
  const [ada, bea] = pages;
  const views = (page) => page.getByRole("navigation", { name: "Views" });
  for (const page of pages) await views(page).getByRole("link", { name: /^my desk \(for you alone\)/ }).waitFor(); // one's own alone
  await follow(ada, "runs?q=is%3Aopen");
  await keep(ada, "our desk", true);
  await ada.getByText("Saved our desk").waitFor();
  await follow(bea, "runs?q=is%3Aclosed");
  await keep(bea, "our desk", true);
  await bea.getByRole("dialog").getByText(/there is a view "our desk" already/).waitFor();
  refusals(bea, 409);
  await bea.getByRole("button", { name: "Do not save" }).click();
  for (const [page, name] of [[ada, /^my desk/], [ada, /^our desk/], [bea, /^my desk/]]) {
    await views(page).getByRole("link", { name }).click();
    await page.getByRole("button", { name: "Forget this view" }).click();
    await views(page).getByRole("link", { name }).waitFor({ state: "detached" });
  }
  for (const page of pages) {
    quiet(page);
    await page.context().close();
  }
});

test("a list is kept for oneself as it is written, found again, and forgotten", async ({ site, browser }) => {
  await site.start("region", "views-2", { name: "north" });
  const { secret } = await site.token("operator", "keeper");
  const page = await enter(browser, site, { token: secret });
  await follow(page, "runs?q=" + encodeURIComponent("type:order started<1h"));
  await settled(page, "Runs");
  const save = async (name, shared) => {
    await keep(page, name, shared);
    await page.getByText("Saved " + name).waitFor();
  };
  await save("fresh orders", false);
  const mine = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: /^fresh orders \(for you alone\)/ });
  await mine.waitFor();
  ok(new URL(page.url()).searchParams.get("view"), "the address names the view");
  await page.getByRole("link", { name: "order-6", exact: true }).waitFor(); // closed runs as well
  const kept = (await site.ask("GET", "console/api/views", undefined, { token: secret })).views.find((one) => one.name === "fresh orders");
  equal([kept.q, kept.filters, kept.shared, kept.bucket], ["type:order started<1h", { q: "type:order started<1h" }, false, null], "what is kept");
  equal((await site.ask("GET", "console/api/views")).views.some((one) => one.name === "fresh orders"), false, "others see it");
  await follow(page, "runs");
  await mine.click();
  await page.getByRole("link", { name: "order-6", exact: true }).waitFor();
  await page.getByRole("button", { name: "Forget this view" }).click();
  await mine.waitFor({ state: "detached" });

  // A shared one belongs to who saved it: others see it, and why it is not theirs to forget.
  await follow(page, "runs?q=type%3Aregion");
  await settled(page, "Runs");
  await save("regions", true);
  const { secret: another } = await site.token("operator", "another");
  const other = await enter(browser, site, { token: another });
  await follow(other, "runs");
  await other.getByRole("navigation", { name: "Views" }).getByRole("link", { name: /^regions/ }).click();
  await other.getByRole("link", { name: "views-2" }).waitFor();
  equal(await other.getByRole("button", { name: "Forget this view" }).getAttribute("aria-disabled"), "true", "forgetting what is another's");
  await follow(other, "runs"); // who looks at what is forgotten is told that it is not there
  await settled(other, "Runs");
  await page.getByRole("button", { name: "Forget this view" }).click();
  await page.getByRole("link", { name: /^regions/ }).waitFor({ state: "detached" });
  for (const each of [page, other]) {
    quiet(each);
    await each.context().close();
  }
});
