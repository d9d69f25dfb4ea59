// What the found runs have in common, with counts: a click asks for one value, another takes it back.
import { useSignal } from "@preact/signals";
import { count } from "../lib/format";
import { href } from "../lib/router";
import { token, toggled, words, type Facet } from "../run/query";
import { Status } from "../ui/basic";

const FACETS: [string, string, string][] = [
  ["status", "Status", "status"],
  ["wait_kind", "Waiting for", "waiting"],
  ["workflow_type", "Type", "type"],
  ["compatibility", "Build", "build"],
  ["queue", "Queue", "queue"],
  ["failure", "Failure", "failure"],
];
export const FACET_NAMES = FACETS.map(([name]) => name).join(",");

const SHOWN = 8;

function One({ title, field, facet, query }: { title: string; field: string; facet: Facet; query: string }) {
  const all = useSignal(false);
  const here = words(query);
  const values = facet.values.filter((each) => each.value);
  const shown = all.value ? values : values.slice(0, SHOWN);
  return (
    <div class="facet" role="group" aria-label={title}>
      <h2>{title}</h2>
      {shown.map(({ value, n }) => {
        const word = token(field, value);
        const on = here.includes(word);
        return (
          <a
            key={value}
            class={on ? "on" : ""}
            href={href(["runs"], { q: toggled(query, word), view: null })}
            aria-current={on ? "true" : undefined}
            title={word}
          >
            <span class="fv">{field === "status" ? <Status of={value} /> : value}</span>
            <span>{count({ n, exact: facet.exact })}</span>
          </a>
        );
      })}
      {values.length > SHOWN && (
        <button type="button" class="linkbtn more" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? "fewer" : `${values.length - SHOWN} more`}
        </button>
      )}
    </div>
  );
}

export function Facets({ facets, query }: { facets: Record<string, Facet>; query: string }) {
  const labels = Object.keys(facets).filter((name) => name.startsWith("label:"));
  const rows = [...FACETS, ...labels.map((name) => [name, name.slice(6), "label." + name.slice(6)] as [string, string, string])];
  return (
    <aside class="card facets" aria-label="Facets">
      {rows.map(([name, title, field]) => {
        const facet = facets[name];
        if (!facet || !facet.values.some((each) => each.value)) return null;
        return <One key={name} title={title} field={field} facet={facet} query={query} />;
      })}
    </aside>
  );
}
