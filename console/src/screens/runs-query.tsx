// The query line of the list: a pill for each word, completion by the server while one is written, and what was wrong below.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { get } from "../lib/api";
import { count } from "../lib/format";
import { useData } from "../lib/live";
import { parts, without, words } from "../run/query";
import { Glyph, Icon } from "../ui/basic";

interface Suggestion {
  text: string;
  n: number | null;
  exact: boolean | null;
  help: string | null;
}

export interface QueryError {
  text: string;
  message: string;
}

export function QueryLine({ query, errors, set, end }: { query: string; errors: QueryError[]; set: (query: string) => void; end?: ComponentChildren }) {
  const typed = useSignal("");
  const open = useSignal(false);
  const at = useSignal(-1);
  const field = useRef<HTMLInputElement>(null);
  const leaving = useRef(0);
  const newest = useRef(query); // also for what was begun while there was another
  newest.current = query;
  const all = words(query);
  const line = [...all, typed.value].join(" ");
  const asked = useData<{ suggestions: Suggestion[] }>(open.value ? "suggest " + line : null, (stop) => get("query/suggest", { q: line }, stop));
  const hints = open.value ? (asked.data?.suggestions ?? []).slice(0, 10) : [];
  const commit = (text: string) => {
    typed.value = "";
    at.value = -1;
    set([...words(newest.current), text.trim()].filter(Boolean).join(" "));
  };
  const take = (hint: Suggestion) => {
    if (/[:<>=.]$/.test(hint.text)) {
      typed.value = hint.text;
      at.value = -1;
      field.current?.focus();
    } else commit(hint.text);
  };
  const edit = (word: string) => {
    typed.value = word;
    set(without(query, word));
    open.value = true;
    field.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    const caret = field.current?.selectionStart === 0 && field.current.selectionEnd === 0;
    const quote = (typed.value.match(/"/g)?.length ?? 0) % 2 === 1;
    if (event.key === "ArrowDown" && hints.length) at.value = (at.value + 1) % hints.length;
    else if (event.key === "ArrowUp" && hints.length) at.value = (at.value + hints.length) % (hints.length + 1) - (at.value < 0 ? 1 : 0);
    else if (event.key === "Enter") {
      if (at.value >= 0 && hints[at.value]) take(hints[at.value]!);
      else commit(typed.value);
    } else if (event.key === "Tab" && at.value >= 0 && hints[at.value]) take(hints[at.value]!);
    else if (event.key === " " && !quote && typed.value.trim()) commit(typed.value);
    else if (event.key === "Backspace" && caret && typed.value === "" && all.length) edit(all.at(-1)!);
    else if (event.key === "Escape") {
      if (open.value && hints.length) open.value = false;
      else field.current?.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="query" role="search" aria-label="Query of runs" onClick={(event) => event.target === event.currentTarget && field.current?.focus()}>
        <Icon name="search" />
        {all.map((word, i) => {
          const wrong = errors.find((error) => error.text === word);
          const { field: name, value } = parts(word);
          return (
            <span key={i + word} class={wrong ? "tok bad" : "tok"} title={wrong?.message}>
              <button type="button" class="tokedit" aria-label={`Change ${word}`} onClick={() => edit(word)}>
                <em>{name}</em>
                {value}
              </button>
              <button type="button" class="copy" aria-label={`Take away ${word}`} onClick={() => set(without(query, word))}>
                <Icon name="close" small />
              </button>
            </span>
          );
        })}
        <span class="qfield grow">
          <input
            ref={field}
            type="text"
            role="combobox"
            aria-label="Query"
            aria-expanded={open.value && hints.length > 0}
            aria-controls="query-hints"
            aria-autocomplete="list"
            aria-activedescendant={at.value >= 0 ? "query-hint-" + at.value : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder={all.length ? "" : "is:open type:order.process label.region:eu, or part of an id"}
            value={typed.value}
            onFocus={() => {
              clearTimeout(leaving.current);
              open.value = true;
            }}
            onBlur={() => {
              leaving.current = window.setTimeout(() => {
                open.value = false;
                if (typed.value.trim()) commit(typed.value);
              }, 150);
            }}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
              at.value = -1;
              open.value = true;
            }}
            onKeyDown={keys}
          />
          {hints.length > 0 && (
            <ul class="menu omnilist" id="query-hints" role="listbox" aria-label="Completions">
              {hints.map((hint, i) => (
                <li key={hint.text} id={"query-hint-" + i} role="option" aria-selected={i === at.value} onMouseDown={(event) => (event.preventDefault(), take(hint))}>
                  <span class="mono">{hint.text}</span>
                  <span class="grow w sm">{hint.help}</span>
                  {hint.n !== null && <span class="w sm">{count({ n: hint.n, exact: hint.exact !== false })}</span>}
                </li>
              ))}
            </ul>
          )}
        </span>
        {end}
      </div>
      {errors.map((error) => (
        <p key={error.text} class="qerr" role="status">
          <Glyph name="failed" small />
          <span>
            <b class="b mono">{error.text}</b> was left out, the rest was asked. {error.message}
          </span>
        </p>
      ))}
    </>
  );
}
