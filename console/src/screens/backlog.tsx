// What waits for workers now, queue by queue: how much of what kind, and how old the oldest of it is.
import { get } from "../lib/api";
import { duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { Card, Facts } from "../ui/part";

const MOST = 6;
const WIDE = 100;

/** Kinds of work in the order in which a bar has them: what waits, then what is in hand. */
const PARTS: [string, string, (queue: any) => number][] = [
  ["turns", "c1", (queue) => queue.ready?.workflow ?? 0],
  ["activities", "c3", (queue) => queue.ready?.activity ?? 0],
  ["questions", "c2", (queue) => (queue.ready?.query ?? 0) + (queue.ready?.update_validation ?? 0)],
  ["in hand", "c5", (queue) => queue.in_flight ?? 0],
];

function Bar({ of, most }: { of: any; most: number }) {
  let x = 0;
  const said = PARTS.map(([word, , n]) => [n(of), word] as const).filter(([n]) => n > 0);
  return (
    <svg class="hbar" viewBox={`0 0 ${WIDE} 8`} preserveAspectRatio="none" role="img" aria-label={said.map(([n, word]) => `${number(n)} ${word}`).join(", ") || "nothing waits"}>
      <rect class="ground" width={WIDE} height="8" />
      {PARTS.map(([word, token, n]) => {
        const width = (n(of) / most) * WIDE;
        x += width;
        return width > 0 && <rect key={word} class={"t-" + token} x={x - width} width={Math.max(width, 0.8)} height="8" />;
      })}
    </svg>
  );
}

export function Backlog() {
  const { data, fault } = useData<{ queues: any[] }>("queues", (stop) => get("queues", {}, stop), ["metrics", "workers"]);
  if (fault || !data) return null; // the page of queues says what is wrong
  const queues = [...data.queues].sort((a, b) => b.demand - a.demand || (b.oldest_age_ms ?? 0) - (a.oldest_age_ms ?? 0));
  const most = Math.max(1, ...queues.map((queue) => PARTS.reduce((sum, [, , n]) => sum + n(queue), 0)));
  const alone = (queue: any) => queue.backlog > 0 && !queue.workers && !queue.pollers;
  return (
    <Card
      title="Backlog"
      say="now, by queue"
      end={
        <span class="legend">
          {PARTS.map(([word, token]) => (
            <span key={word}>
              <i class={"t-" + token} />
              {word}
            </span>
          ))}
        </span>
      }
    >
      <div class="pad">
        {queues.length === 0 && <p class="d">No queue has had work or workers.</p>}
        <Facts
          of={queues.slice(0, MOST).map((queue) => [
            <a class="mono q" href={href(["queues"])}>
              {queue.name}
            </a>,
            <span class="backlog">
              <Bar of={queue} most={most} />
              <span class={alone(queue) ? "c-failed nw" : "d nw"}>
                {number(queue.backlog)} {queue.backlog === 1 ? "waits" : "wait"}
                {queue.oldest_age_ms ? `, oldest ${duration(queue.oldest_age_ms)}` : ""}
                {alone(queue) && ", no worker"}
              </span>
            </span>,
          ])}
        />
        {queues.length > MOST && (
          <p class="sm">
            <a href={href(["queues"])}>{many(queues.length - MOST, "more queue")}</a>
          </p>
        )}
      </div>
    </Card>
  );
}
