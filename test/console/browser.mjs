// A browser for the tests: Debian's chromium, driven by playwright-core out of the folder of packages.
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const home = new URL("../..", import.meta.url).pathname;
export const packages = process.env.HF_CONSOLE_PACKAGES ?? join(home, "build/packages");
const require = createRequire(join(packages, "node_modules/"));

export const axeSource = readFileSync(join(packages, "node_modules/axe-core/axe.min.js"), "utf8");

export async function openBrowser() {
  const { chromium } = require("playwright-core");
  const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (!path) throw new Error("there is no chromium: apt-get install chromium");
  return chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
