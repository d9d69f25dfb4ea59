// What needs a person, what mends itself, and when.
import { get } from "../lib/api";
import { many } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { Age, Bones, Empty, Fault, Glyph, PageHead, RunLink } from "../ui/basic";

const GLYPHS: [RegExp, string][] = [
  [/^replay_blocked|unknown_type|no_compatible/, "blocked"],
  [/no_worker|lease|quarantined|closed_failed/, "failed"],
  [/retry|task_missing|repair/, "retrying"],
  [/timeout|deadline/, "timedout"],
  [/paused/, "paused"],
];

export function attentionGlyph(code: string): string {
  return GLYPHS.find(([pattern]) => pattern.test(code))?.[1] ?? "waiting";
}

export function Attention() {
  const { data, fault, slow, again } = useData("attention", (stop) => get("attention", { limit: 100 }, stop), ["attention", "list"]);
  const groups: any[] = data?.groups ?? [];
  return (
    <>
      <PageHead title="Attention" say={data && (groups.length ? `${many(groups.length, "group")}, worst first` : "nothing needs a person")} />
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && groups.length === 0 && (
        <section class="card">
          <Empty title="No open run needs a person.">
            <p class="d">Runs that stop at a difference in their code, lose their task, wait for a worker that is not there or spend their history come here.</p>
          </Empty>
        </section>
      )}
      {groups.length > 0 && (
        <section class="card">
          {groups.map((group) => (
            <div class="att" key={group.signature}>
              <span class={"c-" + attentionGlyph(group.code)}>
                <Glyph name={attentionGlyph(group.code)} />
              </span>
              <div>
                <h2 class="b">{group.text}</h2>
                <div class="d">
                  {many(group.count, "run")}
                  {group.workflow_type && ` of ${group.workflow_type}`}
                  {group.queue && `, queue ${group.queue}`}
                </div>
                <div class="samples">
                  {(group.runs ?? []).slice(0, 3).map((run: any) => (
                    <RunLink key={run.run_id} id={run.workflow_id ?? run.instance_id} class="chip" />
                  ))}
                  {group.count > 3 && (
                    <a class="chip" href={href(["runs"], { q: group.workflow_type ? `is:attention type:${group.workflow_type}` : "is:attention" })}>
                      {group.count - Math.min(3, group.runs?.length ?? 0)} more
                    </a>
                  )}
                </div>
              </div>
              <div class="self">
                since <Age at={group.since} />
              </div>
              <div class="acts" />
            </div>
          ))}
        </section>
      )}
    </>
  );
}
