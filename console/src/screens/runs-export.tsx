// Many runs as one file of bundles, one a line: fetched run by run and put together in the browser, with bounds on both.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { at, get, refusalOf } from "../lib/api";
import { save } from "../lib/file";
import { bytes, many, number } from "../lib/format";
import { stringify } from "../lib/json";
import { away, notAdmin } from "../lib/session";
import { shell } from "../lib/shell";
import { Button, Glyph, RunLink, Shell } from "../ui/basic";
import { closeDialog, Dialog, openDialog } from "../ui/dialog";

export const EXPORT_MAX = 200;
const BYTES_MAX = 128 << 20;

export interface Exported {
  workflow_id: string;
  run_id: string;
  is_current_run: boolean;
}

interface Progress {
  done: number;
  bytes: number;
  /** null: under way; else how it ended. */
  end: string | null;
  faults: [string, string][];
}

function ExportDialog({ runs, cut }: { runs: Exported[]; cut: boolean }) {
  const now = useSignal<Progress | null>(null);
  const stop = useSignal(false);
  useEffect(() => () => void (stop.value = true), []);
  const told = many(runs.length, "run");
  const name = `runs-${new Date().toISOString().slice(0, 16).replace(":", "")}.jsonl`;
  const write = async () => {
    const lines: string[] = [];
    const faults: [string, string][] = [];
    let size = 0;
    let end = "";
    stop.value = false;
    for (const [i, run] of runs.entries()) {
      now.value = { done: i, bytes: size, end: null, faults };
      try {
        const line = stringify(await get(at`/api/workflows/${run.workflow_id}/runs/${run.run_id}/history/export`)) + "\n";
        if (size + line.length > BYTES_MAX) {
          end = `The rest was left out: a file has at most ${bytes(BYTES_MAX)} here. The shell knows no such bound.`;
          break;
        }
        size += line.length;
        lines.push(line);
      } catch (fault) {
        faults.push([run.workflow_id, refusalOf(fault).message]);
        if (away.value) {
          end = "The server went away.";
          break;
        }
      }
      if (stop.value) return;
    }
    if (lines.length) save(name, lines, "application/jsonl");
    now.value = { done: lines.length, bytes: size, end, faults };
  };
  const busy = now.value !== null && now.value.end === null;
  return (
    <Dialog
      title={`Export ${told}`}
      onSubmit={() => void (now.value === null && !notAdmin.value && write())}
      foot={
        <>
          <span class="grow" />
          <Button onClick={closeDialog}>{now.value === null ? "Do not export" : busy ? "Abort" : "Close"}</Button>
          {now.value === null && (
            <Button type="submit" kind="primary" why={notAdmin.value}>
              Export {told}
            </Button>
          )}
        </>
      }
    >
      {now.value === null ? (
        <>
          <p class="d">
            One file with a history bundle a line, each with its checksum. Nothing in it is hidden. The page of the bundles opens it, and <span class="mono">holdfast bundle verify</span> checks it.{" "}
            {cut && `Only the first ${number(runs.length)} of the list are taken: that is as many as one file gets here.`}
          </p>
          <p class="sm samples row">
            {runs.slice(0, 10).map((run) => (
              <RunLink key={run.run_id} id={run.workflow_id} run={run.is_current_run ? null : run.run_id} />
            ))}
            {runs.length > 10 && <span class="w">and {number(runs.length - 10)} more</span>}
          </p>
        </>
      ) : (
        <div class="stack" role="status">
          <p>
            {busy ? `${number(now.value.done)} of ${told}` : now.value.done ? `${many(now.value.done, "run")} in ${name}, ${bytes(now.value.bytes)}` : "Nothing was exported."}
          </p>
          {busy && (
            <div class="meter run">
              <i style={{ "--v": `${(now.value.done / runs.length) * 100}%` }} />
            </div>
          )}
          {now.value.end && <p class="d">{now.value.end}</p>}
          {now.value.faults.length > 0 && (
            <ul class="bullets">
              {now.value.faults.slice(0, 10).map(([id, message]) => (
                <li key={id}>
                  <span class="c-failed">
                    <Glyph name="failed" small />
                  </span>
                  <span class="mono">{id}</span> {message}
                </li>
              ))}
              {now.value.faults.length > 10 && <li class="w">and {number(now.value.faults.length - 10)} more</li>}
            </ul>
          )}
        </div>
      )}
      <div class="field">
        <span class="lab">The same from the shell, beside the store</span>
        <Shell text={shell("bundle export", runs.map((run) => (run.is_current_run ? run.workflow_id : run.run_id)), { store: "STORE", out: name })} />
      </div>
    </Dialog>
  );
}

export function askExport(runs: Exported[], cut = false) {
  openDialog(() => <ExportDialog runs={runs} cut={cut} />);
}
