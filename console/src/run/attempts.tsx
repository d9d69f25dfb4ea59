// The attempts of a step: who tried, how long, and how each ended.
import { number } from "../lib/format";
import { Age, Glyph, Mono, Status, Time, Took } from "../ui/basic";
import { Table } from "../ui/table";
import type { Attempt } from "./place";

/** How an attempt ended, in its own word. */
export function AttemptState({ of }: { of: Attempt }) {
  if (of.status === "expired")
    return (
      <span class="st c-cancelled">
        <Glyph name="lost" />
        worker lost
      </span>
    );
  if (of.status === "failed" || of.status === "timed_out") return <Status of={of.status} word={of.failure_type ?? (of.timeout_kind ? `timed out: ${of.timeout_kind.replace(/_/g, " ")}` : of.status.replace(/_/g, " "))} />;
  if (of.status === "completed" || of.status === "cancelled") return <Status of={of.status} />;
  return <Status of="running" word={of.closed_at || of.started_at ? of.status.replace(/_/g, " ") : "queued"} />;
}

export function AttemptTable({ of }: { of: Attempt[] }) {
  return (
    <Table
      label="Attempts"
      dense
      rows={of}
      id={(each) => each.number}
      columns={[
        { head: "Attempt", look: "num w", cell: (each) => each.number },
        { head: "How it ended", look: "state", cell: (each) => <AttemptState of={each} /> },
        { head: "What it said", look: "wide brk d", cell: (each) => each.message },
        { head: "Worker", look: "nw d", cell: (each) => each.worker && <Mono>{each.worker}</Mono> },
        { head: "Began", look: "num d", cell: (each) => each.started_at && <Time at={each.started_at} fine /> },
        { head: "Heartbeats", look: "num d", cell: (each) => each.heartbeats.length > 0 && <span title={each.last_heartbeat_at ?? undefined}>{number(each.heartbeats.length)}, last <Age at={each.last_heartbeat_at} /></span> },
        { head: "Took", look: "num", cell: (each) => <Took from={each.started_at} to={each.closed_at} /> },
      ]}
    />
  );
}

/** The same in a narrow panel. */
export function AttemptList({ of }: { of: Attempt[] }) {
  return (
    <Table
      bare
      dense
      narrow
      most={50}
      rows={of}
      id={(each) => each.number}
      columns={[
        { head: "Attempt", look: "w", cell: (each) => each.number },
        {
          head: "How it ended",
          look: "wrap",
          cell: (each) => (
            <>
              <AttemptState of={each} />
              {each.worker && <span class="d sm"> on {each.worker}</span>}
              {each.message && <div class="d sm">{each.message}</div>}
            </>
          ),
        },
        { head: "Took", look: "num d", cell: (each) => <Took from={each.started_at} to={each.closed_at} /> },
      ]}
    />
  );
}
