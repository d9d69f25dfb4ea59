// Forms made from contracts: one input for each parameter, the same value as JSON one key away, and the dialog around them
// that says what will happen, asks for the reason, and shows the shell line that does the same.
import { signal, useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { at, get, refusalOf, type Fields, type Refusal } from "../lib/api";
import { parse, stringify, type Json } from "../lib/json";
import { away, me, readOnly } from "../lib/session";
import { Age, Button, Glyph, LINE_MAX, Radios, Shell } from "./basic";
import { closeDialog, Dialog, openDialog } from "./dialog";
import { toast } from "./toasts";

export interface Parameter {
  name: string;
  type?: string;
  required?: boolean;
  allows_null?: boolean;
  default?: Json;
  default_available?: boolean;
  enum?: string[];
  variadic?: boolean;
  doc?: string;
}

/** One input: its text, and whether the value is left to the default or is none. */
interface Cell {
  text: string;
  state: "value" | "default" | "none";
}

const UNITS: [string, number][] = [
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
  ["s", 1000],
  ["ms", 1],
];

function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms % size === 0 && (ms !== 0 || unit === "ms")) return `${ms / size} ${unit}`;
  return `${ms} ms`;
}

function cellOf(parameter: Parameter, value: Json | undefined): Cell {
  if (value === undefined) {
    if (parameter.default_available) return { text: "", state: "default" };
    return { text: parameter.type === "bool" ? "false" : parameter.enum ? (parameter.enum[0] ?? "") : "", state: "value" };
  }
  if (value === null) return { text: "", state: "none" };
  switch (parameter.type) {
    case "string":
    case "enum":
    case "time":
      return { text: typeof value === "string" ? value : stringify(value), state: "value" };
    case "duration":
      return { text: typeof value === "number" ? durationText(value) : stringify(value), state: "value" };
    case "bool":
    case "int":
    case "number":
      return { text: stringify(value), state: "value" };
    default:
      return { text: stringify(value, 2), state: "value" };
  }
}

class Wrong extends Error {}

/** What an input says, as a value; the sentence for the person when it says nothing that fits. */
function valueOf(parameter: Parameter, text: string): Json {
  const trimmed = text.trim();
  switch (parameter.type) {
    case "string":
    case "enum":
      return text;
    case "int":
      if (!/^-?\d+$/.test(trimmed)) throw new Wrong("This is a whole number.");
      return Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : BigInt(trimmed);
    case "number":
      if (trimmed === "" || !Number.isFinite(Number(trimmed))) throw new Wrong("This is a number.");
      return Number(trimmed);
    case "bool":
      return trimmed === "true";
    case "time":
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.test(trimmed)) throw new Wrong("This is a moment like 2026-04-12T09:02:11Z.");
      return /(Z|[+-]\d\d:\d\d)$/.test(trimmed) ? trimmed : (trimmed.length === 16 ? trimmed + ":00" : trimmed) + "Z";
    case "duration": {
      const found = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?$/.exec(trimmed);
      const unit = found?.[2] === "m" ? "min" : (found?.[2] ?? "ms");
      const ms = found ? Number(found[1]) * UNITS.find(([name]) => name === unit)![1] : NaN;
      if (!Number.isSafeInteger(ms)) throw new Wrong("This is a length of time like 90 s, 5 min, 2 h or 7 d.");
      return ms;
    }
    default: {
      let value: Json;
      try {
        value = parse(trimmed);
      } catch (fault) {
        throw new Wrong(`This is JSON. ${(fault as Error).message}`);
      }
      if (parameter.type === "array" && !Array.isArray(value)) throw new Wrong("This is a list: [ … ].");
      if (parameter.type === "object" && (typeof value !== "object" || value === null || Array.isArray(value))) throw new Wrong("This is an object: { … }.");
      return value;
    }
  }
}

/** The state of a generated form. `free`: there is no contract, the value is JSON. */
export class FormState {
  readonly cells: Signal<Record<string, Cell>>;
  readonly json: Signal<string>;
  readonly mode: Signal<"form" | "json">;
  readonly faults: Signal<Fields>;
  readonly parameters: Parameter[] | null;
  /** The contract is one value of any kind, which has no name: it is JSON as a whole. */
  readonly any: boolean;

  constructor(contract: Parameter[] | null, first?: Json) {
    this.any = contract?.length === 1 && contract[0]!.name === "";
    const parameters = this.any ? null : contract;
    this.parameters = parameters;
    const given = (first && typeof first === "object" && !Array.isArray(first) ? first : {}) as Record<string, Json>;
    this.cells = signal(Object.fromEntries((parameters ?? []).map((each) => [each.name, cellOf(each, given[each.name])])));
    this.json = signal(first === undefined ? "{}" : stringify(first, 2));
    this.mode = signal<"form" | "json">(parameters ? "form" : "json");
    this.faults = signal<Fields>({});
  }

  /** The value, or undefined when something is wrong, which then stands at its field. */
  read(quiet = false): Json | undefined {
    const faults: Fields = {};
    let value: Json | undefined;
    if (this.mode.value === "json") {
      try {
        value = this.json.value.trim() === "" ? {} : parse(this.json.value);
      } catch (fault) {
        faults[""] = [`This is not JSON: ${(fault as Error).message}`];
      }
    } else {
      const object: Record<string, Json> = {};
      for (const parameter of this.parameters!) {
        const cell = this.cells.value[parameter.name]!;
        if (cell.state === "default") continue;
        try {
          if (cell.state === "none") object[parameter.name] = null;
          else if (parameter.required && parameter.type !== "string" && cell.text.trim() === "") throw new Wrong("This is needed.");
          else if (parameter.required && parameter.type === "string" && cell.text === "") throw new Wrong("This is needed.");
          else object[parameter.name] = valueOf(parameter, cell.text);
        } catch (fault) {
          faults[parameter.name] = [(fault as Error).message];
        }
      }
      value = object;
    }
    if (!quiet) this.faults.value = faults;
    return Object.keys(faults).length ? undefined : value;
  }

  /** To the other view of the same value; it stays where it is while the value is wrong. */
  turn(mode: "form" | "json") {
    if (mode === this.mode.value || !this.parameters) return;
    const value = this.read();
    if (value === undefined) return;
    if (mode === "json") this.json.value = stringify(value, 2);
    else {
      const object = value as Record<string, Json>;
      const known = new Set(this.parameters.map((each) => each.name));
      const odd = value === null || typeof value !== "object" || Array.isArray(value) ? "" : Object.keys(object).find((name) => !known.has(name));
      if (odd !== undefined) {
        this.faults.value = { "": [odd ? `There is no field ${odd}.` : "The form shows an object of named values."] };
        return;
      }
      this.cells.value = Object.fromEntries(this.parameters.map((each) => [each.name, cellOf(each, object[each.name])]));
    }
    this.mode.value = mode;
  }

  /** Takes over a value that was sent before. */
  fill(value: Json) {
    this.faults.value = {};
    this.json.value = stringify(value, 2);
    const object = value && typeof value === "object" && !Array.isArray(value) ? value : null;
    if (!this.parameters || !object) this.mode.value = "json";
    else this.cells.value = Object.fromEntries(this.parameters.map((each) => [each.name, cellOf(each, object[each.name])]));
  }

  set(name: string, cell: Partial<Cell>) {
    this.cells.value = { ...this.cells.value, [name]: { ...this.cells.value[name]!, ...cell } };
    if (this.faults.value[name]) this.faults.value = { ...this.faults.value, [name]: [] };
  }
}

export function useForm(parameters: Parameter[] | null, first?: Json): FormState {
  const kept = useSignal<FormState | null>(null);
  if (!kept.value) kept.value = new FormState(parameters, first);
  return kept.value;
}

export function FieldFault({ id, of }: { id: string; of: string[] | undefined }) {
  return (
    <span class="err" id={id} role="alert">
      {of && of.length > 0 && (
        <>
          <Glyph name="failed" small />
          {of.join(" ")}
        </>
      )}
    </span>
  );
}

function Input({ form, parameter }: { form: FormState; parameter: Parameter }) {
  const id = useId();
  const cell = form.cells.value[parameter.name]!;
  const faults = form.faults.value[parameter.name];
  const bad = !!faults?.length;
  const set = (text: string) => form.set(parameter.name, { text, state: "value" });
  const common = {
    id,
    "aria-invalid": bad || undefined,
    "aria-describedby": `${id}-e ${id}-h`,
    "aria-required": parameter.required || undefined,
    class: `in${bad ? " bad" : ""}`,
  };
  const placeholder =
    cell.state === "none" ? "none" : cell.state === "default" && parameter.default !== undefined ? (parameter.default === null ? "none" : `${stringify(parameter.default)}, unless something else is said`) : "";
  const text = { ...common, placeholder, spellcheck: false, autocomplete: "off", value: cell.text };
  const words = { int: "whole number", bool: "yes or no", time: "moment, UTC", duration: "length of time, like 90 s or 2 h", array: "list, as JSON", object: "object, as JSON", any: "any JSON" } as Record<string, string>;
  let input: ComponentChildren;
  if (parameter.type === "bool")
    input = (
      <Radios
        label={parameter.name}
        items={[
          ["true", "yes"],
          ["false", "no"],
        ]}
        value={cell.state === "default" ? String(parameter.default) : cell.text}
        set={set}
      />
    );
  else if (parameter.enum)
    input = (
      <select {...common} value={cell.state === "default" ? String(parameter.default) : cell.text} onChange={(event) => set(event.currentTarget.value)}>
        {cell.state === "none" && <option value="">none</option>}
        {parameter.enum.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  else if (parameter.type === "array" || parameter.type === "object" || parameter.type === "any" || parameter.variadic)
    input = <textarea {...text} class={common.class + " mono"} rows={Math.min(10, cell.text.split("\n").length + 1)} onInput={(event) => set(event.currentTarget.value)} />;
  else if (parameter.type === "time")
    input = <input {...text} type="text" placeholder={placeholder || "2026-04-12T09:02:11Z"} onInput={(event) => set(event.currentTarget.value)} />;
  else input = <input {...text} type="text" inputMode={parameter.type === "int" || parameter.type === "number" ? "decimal" : "text"} onInput={(event) => set(event.currentTarget.value)} />;
  return (
    <div class="field">
      <div class="row nowrap">
        {parameter.type === "bool" ? <span class="lab">{parameter.name}</span> : <label for={id}>{parameter.name}</label>}
        <span class="w sm" id={`${id}-h`}>
          {[words[parameter.type ?? ""] ?? parameter.type, parameter.required ? "needed" : ""].filter(Boolean).join(", ")}
        </span>
        <span class="grow" />
        {parameter.allows_null && (
          <label class="check sm">
            <input type="checkbox" checked={cell.state === "none" || (cell.state === "default" && parameter.default === null)} onChange={(event) => form.set(parameter.name, { state: event.currentTarget.checked ? "none" : "value", text: "" })} />
            none
          </label>
        )}
      </div>
      {input}
      {parameter.doc && <span class="hint">{parameter.doc}</span>}
      <FieldFault id={`${id}-e`} of={faults} />
    </div>
  );
}

interface Sent {
  workflow_id: string;
  at: string;
  by: string | null;
  value: { text: string | null; cut: boolean };
}

/** What was sent for the same before, to begin with. Asked when somebody wants it. */
function Recent({ form, type, target }: { form: FormState; type: string; target: string }) {
  const found = useSignal<Sent[] | null>(null);
  const said = useSignal<string | null>(null);
  const look = async () => {
    try {
      const all: Sent[] = (await get(at`types/${type}/payloads`, { target, limit: 5 })).payloads;
      found.value = all.filter((one) => one.value.text !== null && !one.value.cut);
      said.value = found.value.length ? null : "Nothing that fits here was sent before.";
    } catch (fault) {
      said.value = refusalOf(fault).message;
    }
  };
  return (
    <div class="recent">
      <button type="button" class="linkbtn sm" onClick={() => void look()}>
        Begin with what was sent before
      </button>
      {said.value && <span class="d sm"> {said.value}</span>}
      {found.value?.map((one, i) => (
        <button key={i} type="button" class="chip" title={one.value.text!} onClick={() => form.fill(parse(one.value.text!))}>
          {one.by ?? one.workflow_id}, <Age at={one.at} /> <span class="mono cut1">{one.value.text}</span>
        </button>
      ))}
    </div>
  );
}

/** The inputs of a contract, or JSON; both show the same value. */
export function ContractForm({ form, none }: { form: FormState; none?: string }) {
  const id = useId();
  const known = new Set((form.parameters ?? []).map((each) => each.name));
  const rest = Object.entries(form.faults.value).filter(([name, of]) => of.length && !(form.mode.value === "form" && known.has(name)));
  return (
    <div class="stack cform">
      {form.parameters && form.parameters.length > 0 && (
        <Radios
          label="Show as"
          items={[
            ["form", "Form"],
            ["json", "JSON"],
          ]}
          value={form.mode.value}
          set={(mode) => form.turn(mode)}
        />
      )}
      {!form.parameters && <p class="d sm">{form.any ? "It takes any JSON." : (none ?? "There is no contract for this, so nothing is checked before it is sent.")}</p>}
      {form.mode.value === "form" ? (
        form.parameters!.map((parameter) => <Input key={parameter.name} form={form} parameter={parameter} />)
      ) : (
        <div class="field">
          <label for={id}>Arguments, as JSON</label>
          <textarea
            id={id}
            class={rest.length ? "in mono bad" : "in mono"}
            spellcheck={false}
            rows={8}
            aria-invalid={rest.length ? true : undefined}
            value={form.json.value}
            onInput={(event) => (form.json.value = event.currentTarget.value)}
          />
        </div>
      )}
      {rest.map(([name, of]) => (
        <FieldFault key={name} id={`${id}-${name}`} of={[(name && name !== "" && form.mode.value === "json" ? name + ": " : "") + of.join(" ")]} />
      ))}
    </div>
  );
}

/** Something that is asked of the server, with everything a person should know before. */
export interface Ask {
  title: string;
  glyph?: string;
  /** What exactly will happen. */
  say?: ComponentChildren;
  /** The contract of the arguments; null: there is none, JSON is asked for; undefined: there are no arguments. */
  parameters?: Parameter[] | null;
  first?: Json;
  /** The type of the run, and what it is that is sent: of these, what was sent before is offered. */
  recent?: [type: string, target: string];
  /** More inputs, above the reason. */
  more?: ComponentChildren;
  reason?: "needed" | "wanted";
  go: string;
  keep?: string;
  danger?: boolean;
  why?: () => string | null;
  /** What reads does not need more than the right to read. */
  reads?: boolean;
  shell?: (value: Json | undefined, reason: string | null) => string;
  /** What it says in a toast when it was done; or what is shown in the dialog, which then stays. */
  send: (value: Json | undefined, reason: string) => Promise<string | ComponentChildren>;
}

function AskDialog({ of }: { of: Ask }) {
  const form = useForm(of.parameters ?? null, of.first);
  const reason = useSignal("");
  const busy = useSignal(false);
  const fault = useSignal<Refusal | null>(null);
  const missing = useSignal(false);
  const result = useSignal<ComponentChildren>(null);
  const id = useId();
  const asks = of.parameters !== undefined;
  const why = of.why?.() ?? ((of.reads ? away.value : readOnly.value) ?? null);
  const send = async () => {
    if (busy.value || why) return;
    const value = asks ? form.read() : undefined;
    missing.value = of.reason === "needed" && reason.value.trim() === "";
    if ((asks && value === undefined) || missing.value) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>("dialog[open] [aria-invalid]")?.focus());
      return;
    }
    busy.value = true;
    fault.value = null;
    try {
      const said = await of.send(value, reason.value.trim());
      if (typeof said === "string") {
        closeDialog();
        toast(said);
      } else result.value = said;
    } catch (error) {
      fault.value = refusalOf(error);
      form.faults.value = fault.value.fields;
      requestAnimationFrame(() => document.querySelector<HTMLElement>("dialog[open] [aria-invalid]")?.focus());
    } finally {
      busy.value = false;
    }
  };
  const long = asks && form.mode.value === "json" && form.json.value.length > LINE_MAX; // is not read again for every key
  const shell = long ? null : of.shell?.(asks ? form.read(true) : undefined, reason.value.trim() || (of.reason === "needed" ? "WHY" : null));
  return (
    <Dialog
      title={of.title}
      glyph={
        of.glyph && (
          <span class={"c-" + of.glyph}>
            <Glyph name={of.glyph} />
          </span>
        )
      }
      onSubmit={() => void send()}
      foot={
        <>
          <span class="d sm">
            as {me.value?.principal.label || me.value?.principal.id || "you"}, role {me.value?.principal.role}
          </span>
          <span class="grow" />
          <Button onClick={closeDialog}>{result.value !== null ? "Close" : (of.keep ?? "Cancel")}</Button>
          <Button type="submit" kind={of.danger ? "danger" : "primary"} why={why}>
            {busy.value ? "Sending" : of.go}
          </Button>
        </>
      }
    >
      {of.say && <div class="d">{of.say}</div>}
      {fault.value && !Object.values(fault.value.fields).some((one) => one.length) && (
        <div class="note failed" role="alert">
          <Glyph name="failed" />
          <div>
            {fault.value.message} {fault.value.remediation && <span class="d">{fault.value.remediation}</span>} <span class="w sm">{fault.value.reason}</span>
          </div>
        </div>
      )}
      {asks && (of.parameters === null || of.parameters!.length > 0) && <ContractForm form={form} />}
      {asks && of.recent && <Recent form={form} type={of.recent[0]} target={of.recent[1]} />}
      {of.more}
      {of.reason && (
        <div class="field">
          <label for={id}>
            Reason <span class="req">{of.reason === "needed" ? "needed" : "if you like"}, kept with your name</span>
          </label>
          <input id={id} class={missing.value ? "in bad" : "in"} type="text" value={reason.value} aria-invalid={missing.value || undefined} aria-describedby={`${id}-e`} onInput={(event) => ((reason.value = event.currentTarget.value), (missing.value = false))} />
          <FieldFault id={`${id}-e`} of={missing.value ? ["Say why: it is recorded with the command."] : undefined} />
        </div>
      )}
      {result.value !== null && (
        <div class="field" role="status">
          <span class="lab">What came back</span>
          {result.value}
        </div>
      )}
      {of.shell && shell !== undefined && (
        <div class="field">
          <span class="lab">The same from the shell</span>
          <Shell text={shell} />
        </div>
      )}
      {why && <p class="d sm">{why}</p>}
    </Dialog>
  );
}

/** Opens the dialog of something that changes the server, or asks it. */
export function askFor(of: Ask) {
  openDialog(() => <AskDialog of={of} />);
}
