// The console in a real browser, against the real server with a real worker.
//
//     node test/console/main.mjs BUILD        HF_TEST_ONLY="text|other" picks cases by name
//
// Every test_*.mjs of this folder registers its cases. All share one site and one browser; a case opens the pages it needs.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { home, openBrowser, packages } from "./browser.mjs";
import { runCases } from "./cases.mjs";
import { endAll, Site } from "./site.mjs";

const build = resolve(process.argv[2] ?? join(home, "build/test-gcc"));
execFileSync("cmake", ["-DFOLDER=" + packages, "-DKINDS=check,test", "-P", join(home, "cmake/fetch.cmake")], { stdio: ["ignore", "inherit", "inherit"] });
const shots = join(build, "console-shots");
mkdirSync(shots, { recursive: true });
for (const name of readdirSync(import.meta.dirname).sort()) if (/^test_.*\.mjs$/.test(name)) await import("./" + name);

const site = new Site(build);
let browser;
let failed = 1;
try {
  await site.serve();
  await site.work();
  await site.office();
  await site.seed();
  browser = await openBrowser();
  failed = await runCases({ site, browser, build, shots });
} catch (error) {
  console.log(`${error.stack ?? error}\n${site.said}`);
} finally {
  await browser?.close();
  await site.stop();
  endAll();
}
process.exit(failed ? 1 : 0);
