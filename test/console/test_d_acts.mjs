// What a person does on the pages, and what the server then says of it.
import { enter, follow, quiet, settled } from "./browser.mjs";
import { equal, test } from "./cases.mjs";
import { until } from "./site.mjs";

test("a schedule is paused and resumed, with a reason that stays", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "schedules/nightly");
  await page.getByRole("button", { name: "Pause…" }).click();
  await page.getByRole("textbox", { name: /Reason/ }).fill("stock is counted");
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume…" }).waitFor({ timeout: 15000 });
  await page.getByText("stock is counted").first().waitFor();
  equal((await site.ask("GET", "api/schedules/nightly")).paused, true, "paused");
  await page.getByRole("button", { name: "Resume…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause…" }).waitFor({ timeout: 15000 });
  equal((await site.ask("GET", "api/schedules/nightly")).paused, false, "paused");
  quiet(page);
  await page.context().close();
});

test("a queue is paused, keys walk through groups, and what is chosen goes along to another browser", async ({ site, browser }) => {
  const page = await enter(browser, site);
  await follow(page, "queues");
  await page.getByRole("button", { name: "Pause emails" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume emails" }).waitFor({ timeout: 15000 });
  await page.getByRole("button", { name: "Resume emails" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause emails" }).waitFor({ timeout: 15000 });
  await follow(page, "failures");
  await settled(page, "Failures");
  await page.getByRole("table", { name: "Groups" }).getByRole("row").nth(1).waitFor();
  await page.keyboard.press("j");
  await page.waitForFunction(() => new URL(location.href).searchParams.has("group"));
  await follow(page, "settings");
  await page.getByText("Dark", { exact: true }).click();
  await page.getByText("Dense", { exact: true }).click();
  const kept = async () => (await site.ask("GET", "console/api/me/preferences/console")).value;
  await until(async () => (await kept())?.theme === "dark" && (await kept()).density === "dense", 10, "the server has it");
  const other = await enter(browser, site);
  await other.waitForFunction(() => document.documentElement.dataset.theme === "dark" && document.documentElement.dataset.density === "dense");
  await follow(other, "settings");
  await other.getByText("System", { exact: true }).click();
  await other.getByText("Comfortable", { exact: true }).click();
  await until(async () => (await kept()).theme === "system" && (await kept()).density === "comfortable", 10, "the server has that, too");
  await page.reload();
  await page.waitForFunction(() => !("theme" in document.documentElement.dataset)); // the server's goes before this browser's
  const { secret } = await site.token("read", "somebody else");
  equal((await site.ask("GET", "console/api/me/preferences/console", undefined, { token: secret })).value, null, "another one's choices");
  quiet(other);
  await other.context().close();
  quiet(page);
  await page.context().close();
});
