// The parts that pages are put together from: what is asked of the server in its three states, cards with a heading, sections of
// the panel at the side, and pairs of a name and what it is.
import type { ComponentChildren } from "preact";
import type { Data } from "../lib/live";
import { Bones, Fault } from "./basic";

/** What was asked: bones while it is on its way, the fault where it failed, and old data beside the fault when there is some. */
export function Asked<T>({ of, what, bones, children }: { of: Pick<Data<T>, "data" | "fault" | "slow" | "again">; what?: string; bones?: number; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.fault && <Fault of={of.fault} again={of.again} what={of.data && what ? what + " What is below was there before." : what} />}
      {of.data ? children(of.data) : !of.fault && <Bones slow={of.slow} rows={bones} />}
    </>
  );
}

/** A card. `end` stands at the right of its heading. */
export function Card({ label, title, say, end, scroll, children }: { label?: string; title?: ComponentChildren; say?: ComponentChildren; end?: ComponentChildren; scroll?: boolean; children?: ComponentChildren }) {
  return (
    <section class={scroll ? "card scroll" : "card"} aria-label={label ?? (typeof title === "string" ? title : undefined)}>
      {title !== undefined && <CardHead title={title} say={say} end={end} />}
      {children}
    </section>
  );
}

export function CardHead({ title, say, end }: { title: ComponentChildren; say?: ComponentChildren; end?: ComponentChildren }) {
  return (
    <div class="ch">
      <h2>{title}</h2>
      {say && <span class="d sm">{say}</span>}
      {end && (
        <>
          <span class="grow" />
          {end}
        </>
      )}
    </div>
  );
}

/** A part of the panel at the side. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Pairs of a name and what it is; those that are not known are left out. */
export function Facts({ of, left }: { of: [ComponentChildren, ComponentChildren][]; left?: boolean }) {
  const shown = of.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  if (!shown.length) return null;
  return (
    <dl class={left ? "kv left" : "kv"}>
      {shown.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
