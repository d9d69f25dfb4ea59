// When the found runs started, and how they stand now. A drag over the bars narrows the list to that time.
import { set } from "../lib/router";
import { parts, words } from "../run/query";
import { Plot } from "../ui/chart";

export interface Hist {
  from: string;
  step_seconds: number;
  open: number[];
  over: number[];
  failed: number[];
  exact: boolean;
}

const isStart = (word: string) => /^started[<>]=?$/.test(parts(word).field);

const moment = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

/** The query with that time, and no other. */
function within(query: string, time: string[]) {
  set({ q: [...words(query).filter((word) => !isStart(word)), ...time].join(" "), cursor: null });
}

export function TimeStrip({ of, query }: { of: Hist; query: string }) {
  const from = Date.parse(of.from) / 1000;
  return (
    <Plot
      title="Started"
      unit={of.exact ? "" : "the newest 10,000 of them"}
      slim
      each={of.step_seconds}
      stacked
      at={of.open.map((_, i) => from + i * of.step_seconds)}
      series={[
        { name: "over", token: "c5", values: of.over },
        { name: "open", token: "c1", values: of.open },
        { name: "failed", token: "cfail", values: of.failed },
      ]}
      end={
        words(query).some(isStart) && (
          <button type="button" class="chip" onClick={() => within(query, [])}>
            any time
          </button>
        )
      }
      brush={(begin, end) => within(query, [`started>=${moment(begin)}`, `started<${moment(end)}`])}
    />
  );
}
