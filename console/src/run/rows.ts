// The rows of the timeline: the run itself, its steps below their barriers, children opened in their place.
import type { Bar, Barrier, Spans } from "./place";
import { barName } from "./place";

export interface GanttRow {
  key: string;
  depth: number;
  kind: "run" | "barrier" | "bar";
  name: string;
  note: string;
  run: string; // the instance that the row belongs to
  own: boolean; // of the run of the page
  bar?: Bar;
  barrier?: Barrier;
  spans: Spans;
  folds: boolean; // it can be folded, or opened
  shut: boolean;
  tall: boolean; // a lost worker has a line of its own
  y: number;
  height: number;
}

export const ROW = 30;
export const TALL = 48;

const NOTES: Record<string, string> = { activity: "", child_workflow: "child", "child workflow": "child", timer: "timer", signal_wait: "signal", "signal wait": "signal", condition_wait: "condition", "condition wait": "condition" };

function noteOf(bar: Bar): string {
  return bar.summary ?? (bar.name === null ? "" : (NOTES[bar.kind] ?? bar.kind));
}

function addRun(out: GanttRow[], id: string, spans: Spans, depth: number, shut: ReadonlySet<string>, opened: ReadonlyMap<string, Spans>, opens: boolean, seen: string[]) {
  const barriers = new Map(spans.barriers.map((each) => [each.id, each]));
  const shown = new Set<string>();
  for (const bar of spans.bars) {
    const path = (bar.group ?? []).map((entry) => barriers.get(entry.parallel_group_id)).filter((each): each is Barrier => !!each);
    let hidden = false;
    path.forEach((barrier, i) => {
      if (hidden) return;
      const key = `${id} ${barrier.id}`;
      if (!shown.has(key)) {
        shown.add(key);
        out.push({ key, depth: depth + i, kind: "barrier", name: `${barrier.kind === "mixed" || !barrier.kind ? "all" : "all"} [${barrier.size}]`, note: "", run: id, own: depth === 1, barrier, spans, folds: true, shut: shut.has(key), tall: false, y: 0, height: ROW });
      }
      hidden = shut.has(key);
    });
    if (hidden) continue;
    const child = bar.child_instance_id && !seen.includes(bar.child_instance_id) ? bar.child_instance_id : null;
    const inner = child ? opened.get(child) : undefined;
    const tall = bar.segments.some((segment) => segment.kind === "lost");
    out.push({
      key: `${id} ${bar.step}`,
      depth: depth + path.length,
      kind: "bar",
      name: child ?? barName(bar),
      note: child ? (bar.name ?? "child") : noteOf(bar),
      run: id,
      own: depth === 1,
      bar,
      spans,
      folds: !!child && opens,
      shut: !inner,
      tall,
      y: 0,
      height: tall ? TALL : ROW,
    });
    if (inner) addRun(out, child!, inner, depth + path.length + 1, shut, opened, opens, [...seen, child!]);
  }
}

export function makeRows(id: string, type: string, spans: Spans, shut: ReadonlySet<string>, opened: ReadonlyMap<string, Spans>, opens: boolean): GanttRow[] {
  const out: GanttRow[] = [{ key: id, depth: 0, kind: "run", name: type, note: "", run: id, own: true, spans, folds: false, shut: false, tall: false, y: 0, height: ROW }];
  addRun(out, id, spans, 1, shut, opened, opens, [id]);
  let y = 0;
  for (const row of out) {
    row.y = y;
    y += row.height;
  }
  return out;
}
