// What can be said without a browser. (How big the console may be, test/server/test_page.c says.)
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { home, packages } from "./browser.mjs";
import { test } from "./cases.mjs";

test("the type checker has nothing to say", () => {
  try {
    execFileSync(process.execPath, [join(packages, "node_modules/typescript/bin/tsc"), "-p", join(home, "console")], { stdio: "pipe" });
  } catch (error) {
    throw new Error(String(error.stdout));
  }
});
