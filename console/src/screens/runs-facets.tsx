// What the found runs have in common, with counts: a click asks for one value, another takes it back. With Alt, or by the minus
// beside it, a value is left out.
import { useSignal } from "@preact/signals";
import { count } from "../lib/format";
import { href, param, set } from "../lib/router";
import { bare, leftOut, parts, token, toggled, words, type Facet } from "../run/query";
import { Icon, Status } from "../ui/basic";

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

/** What stays as it is where others are listed: how they are shown. */
export const look = () => ({ order: param("order"), columns: param("columns") });

/** `view` stays: a minus takes something away from what it shows. */
const leave = (query: string, word: string) => set({ q: leftOut(query, word), cursor: null });

function Value({ field, value }: { field: string; value: string }) {
  return <span class="fv">{field === "status" ? <Status of={value} /> : value}</span>;
}

function One({ title, field, facet, query }: { title: string; field: string; facet: Facet | undefined; query: string }) {
  const all = useSignal(false);
  const here = words(query);
  const gone = here.filter((word) => parts(word).field === `-${field}:`).map((word) => bare(parts(word).value));
  const values = (facet?.values ?? []).filter((each) => each.value);
  const shown = all.value ? values : values.slice(0, SHOWN);
  if (!values.length && !gone.length) return null;
  return (
    <div class="facet" role="group" aria-label={title}>
      <h2>{title}</h2>
      {shown.map(({ value, n }) => {
        const word = token(field, value);
        const on = here.includes(word);
        return (
          <div key={value} class="frow">
            <a
              class={on ? "on" : ""}
              href={href(["runs"], { ...look(), q: toggled(query, word) })}
              aria-current={on ? "true" : undefined}
              title={word}
              onClick={(event) => {
                if (!event.altKey) return;
                event.preventDefault();
                leave(query, word);
              }}
            >
              <Value field={field} value={value} />
              <span>{count({ n, exact: facet!.exact })}</span>
            </a>
            <button type="button" class="copy" aria-label={`Leave out ${word}`} title={`Leave out ${word} (Alt and a click)`} onClick={() => leave(query, word)}>
              <Icon name="minus" small />
            </button>
          </div>
        );
      })}
      {gone.map((value) => (
        <button key={value} type="button" class="fgone" title={`Ask for ${token(field, value)} again`} onClick={() => leave(query, token(field, value))}>
          <s class="fv">{value.replace(/_/g, " ")}</s>
          <span>left out</span>
        </button>
      ))}
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
      {rows.map(([name, title, field]) => (
        <One key={name} title={title} field={field} facet={facets[name]} query={query} />
      ))}
    </aside>
  );
}
