// Rows of which one is chosen: by a click, by j and k. Which one is in the address. And a few runs in short.
import { useEffect, useRef } from "preact/hooks";
import { useKey } from "../lib/keys";
import { set } from "../lib/router";
import { Age, RunLink, Status } from "./basic";
import { Table } from "./table";

/** Attributes of a row by its id. `name` is that of the parameter in the address. */
export function useRows(ids: string[], chosen: string | undefined, name: string) {
  const step = (by: number) => {
    const at = ids.indexOf(chosen ?? "");
    const to = ids[Math.min(ids.length - 1, Math.max(0, at + by))];
    if (to !== undefined) set({ [name]: to }, true);
  };
  useKey("j", () => step(1), ids.length > 0);
  useKey("k", () => step(-1), ids.length > 0);
  return (id: string) => ({
    onClick: (event: MouseEvent) => {
      if (!(event.target as Element).closest("a, button, input, label")) set({ [name]: id });
    },
  });
}

/** What is chosen stands below the list where there is little room: it is brought into view. For the element that shows it. */
export function useReveal(chosen: string) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen && matchMedia("(max-width: 1100px)").matches) box.current?.scrollIntoView({ block: "start" });
  }, [chosen]);
  return box;
}

/** A few runs, each with how it stands: beside what they have in common. */
export function RunRows({ of, why }: { of: any[]; why?: boolean }) {
  return (
    <Table
      bare
      rows={of}
      id={(run) => run.run_id}
      columns={[
        { head: "Run", look: "b nw", cell: (run) => <RunLink id={run.workflow_id} run={run.run_id} class="q" /> },
        { head: "Status", look: "state", cell: (run) => <Status of={run.glyph ?? run.status} /> },
        ...(why ? [{ head: "Why", look: "cut d", cell: (run: any) => run.why?.text ?? "" }] : []),
        { head: "Age", look: "num d", cell: (run) => <Age at={run.started_at} /> },
      ]}
    />
  );
}
