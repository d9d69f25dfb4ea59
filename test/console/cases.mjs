// The cases of one program: named, in order, counted in the words that tools/run_programs.py reads.
const all = [];

export function test(name, run) {
  all.push({ name, run });
}

export function equal(got, wanted, what = "") {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${what} got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

export function ok(what, why) {
  if (!what) throw new Error(why);
}

/** Runs them with what they share; returns how many failed. */
export async function runCases(shared) {
  const only = process.env.HF_TEST_ONLY ?? "";
  const chosen = all.filter((one) => only.split("|").some((part) => one.name.includes(part)));
  let failed = 0;
  for (const { name, run } of chosen) {
    const began = Date.now();
    try {
      await run(shared);
      console.log(`  ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`  FAIL  ${name}\n${error.stack ?? error}`);
    }
  }
  console.log(`${chosen.length ? Math.floor((100 * (chosen.length - failed)) / chosen.length) : 100}%: Checks: ${chosen.length}, Failures: ${failed}, Errors: 0`);
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  return failed;
}
