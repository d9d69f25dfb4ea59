// Who is being waited for, over all runs: answered here, or by a link that is given away.
import { useSignal } from "@preact/signals";
import { at as url, get, post, refusalOf, remove, type Refusal } from "../lib/api";
import { duration, many, moment, now } from "../lib/format";
import { useData } from "../lib/live";
import { href, param, set } from "../lib/router";
import { readOnly } from "../lib/session";
import { inputWords, shell } from "../lib/shell";
import { Bones, Button, Copy, Empty, Fault, Glyph, Icon, Mono, PageHead, RunLink, Shell, Time } from "../ui/basic";
import { askFor, ContractForm, useForm } from "../ui/form";
import { useReveal, useRows } from "../ui/rows";
import { toast } from "../ui/toasts";

const SOON_MS = 3600000;
const RUNS = 50; // of a page; each has one wait, as a rule
const RUNS_SEARCHED = 200; // that the server looks at for a page of what is sought

function left(until: string | null): string {
  const at = moment(until);
  if (at === null) return "no deadline";
  return at < now.value ? "its time is up" : duration(at - now.value) + " left";
}

function Answer({ of, sent }: { of: any; sent: () => void }) {
  const form = useForm(of.parameters ?? null);
  const busy = useSignal(false);
  const fault = useSignal<Refusal | null>(null);
  const why = readOnly.value;
  const send = async () => {
    if (busy.value || why) return;
    const value = form.read();
    if (value === undefined) return;
    busy.value = true;
    fault.value = null;
    try {
      await post(url`/api/workflows/${of.workflow_id}/runs/${of.run_id}/signal/${of.name}`, { input: value, step: of.step });
      toast(`Answered ${of.name} of ${of.workflow_id}`);
      sent();
    } catch (error) {
      fault.value = refusalOf(error);
      form.faults.value = fault.value.fields;
    } finally {
      busy.value = false;
    }
  };
  return (
    <section class="card" aria-label={`Answer ${of.name}`}>
      <div class="ch">
        <h2>
          Answer <Mono>{of.name}</Mono>
        </h2>
      </div>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="d sm">
          <RunLink id={of.workflow_id} run={of.run_id} /> of <Mono>{of.workflow_type}</Mono>
          {of.source_line && (
            <>
              {" "}
              waits at <Mono>{of.source_line}</Mono>
            </>
          )}
          . The answer is a signal to it, kept with your name.
        </p>
        <ContractForm form={form} />
        {fault.value && !Object.keys(fault.value.fields).length && <Fault of={fault.value} what="It was not sent." />}
        <div class="row">
          <Button type="submit" kind="primary" why={why}>
            {busy.value ? "Sending" : "Send answer"}
          </Button>
          {why && <span class="d sm">{why}</span>}
        </div>
        <Shell text={shell("signal", [of.workflow_id, of.name, ...inputWords(form.read(true))], { run: of.run_id })} />
      </form>
    </section>
  );
}

function Links({ of, again }: { of: any; again: () => void }) {
  const made = useSignal<{ url: string; label: string } | null>(null);
  const links: any[] = of.links ?? [];
  const make = () =>
    askFor({
      title: `A link that answers ${of.name}`,
      say: "It answers exactly this wait, once, without an account, at most seven days from now and not after the deadline. The server keeps only a hash of it, so it is shown once.",
      parameters: [{ name: "label", type: "string", required: true, doc: "Who it is for: it is recorded with the answer." }],
      go: "Make link",
      send: async (value) => {
        const { label } = value as { label: string };
        const said = await post(url`approvals/${of.id}/link`, { label });
        made.value = { url: said.url, label };
        again();
        return "The link was made: it is shown once";
      },
    });
  const revoke = () =>
    askFor({
      title: "Revoke the links of this wait",
      say: `${many(links.length, "link")} that ${links.length === 1 ? "was" : "were"} not used will answer nothing any more.`,
      go: "Revoke",
      keep: "Keep them",
      danger: true,
      send: async () => {
        const said = await remove(url`approvals/${of.id}/link`);
        made.value = null;
        again();
        return `${many(said.revoked, "link")} revoked`;
      },
    });
  return (
    <section class="card" aria-label="One-time link">
      <div class="ch">
        <h2>One-time link</h2>
        <span class="grow" />
        {links.length > 0 && <span class="tag">{many(links.length, "link")} not used yet</span>}
      </div>
      <div class="pad stack">
        <p class="d">Answers exactly this wait, once{of.until ? ", before its deadline" : ""}, without an account. The store keeps only a hash of it.</p>
        {made.value && (
          <div class="code">
            <Icon name="link" />
            <span class="brk">{made.value.url}</span>
            <Copy text={made.value.url} label="Copy link" />
          </div>
        )}
        {links.map((link) => (
          <div class="d sm" key={link.id}>
            for <b class="b">{link.label}</b>, made by {link.created_by} at <Time at={link.created_at} />, good until <Time at={link.expires_at} />
          </div>
        ))}
        <div class="row">
          <Button size="small" why={readOnly.value} onClick={make}>
            Make a link…
          </Button>
          {links.length > 0 && (
            <Button size="small" why={readOnly.value} onClick={revoke}>
              Revoke…
            </Button>
          )}
        </div>
      </div>
    </section>
  );
}

/** The newest first, page after page. */
function Pages({ cursor, further }: { cursor: string; further: string | null | undefined }) {
  if (!cursor && !further) return null;
  return (
    <div class="selbar">
      {cursor && <Button onClick={() => set({ cursor: null, wait: null })}>Newest</Button>}
      <span class="grow" />
      {further && <Button onClick={() => set({ cursor: further, wait: null })}>Older</Button>}
    </div>
  );
}

export function Approvals() {
  const sought = param("q").trim();
  const cursor = param("cursor");
  const { data, fault, slow, stale, again } = useData(`approvals ${JSON.stringify([sought, cursor])}`, (stop) => get("approvals", { q: sought, cursor, limit: RUNS }, stop), ["list"]);
  const all: any[] = data?.approvals ?? [];
  const chosen = all.find((one) => one.id === param("wait")) ?? all[0];
  const box = useReveal(param("wait"));
  const rows = useRows(all.map((one) => one.id), chosen?.id, "wait");
  const sent = () => {
    set({ wait: null }, true);
    again();
  };
  const further = data?.cursor as string | null | undefined;
  const say = all.length ? `${many(all.length, "open wait")}${cursor || further ? " on this page" : ""} that a person may answer` : sought || cursor || further ? "" : "nobody is waited for";
  return (
    <>
      <PageHead title="Approvals" say={data && say}>
        <input
          class="in filter"
          type="search"
          aria-label="Search open waits"
          placeholder="id, type, key or signal"
          value={param("q")}
          onInput={(event) => set({ q: event.currentTarget.value, cursor: null, wait: null }, true)}
        />
      </PageHead>
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && !stale && all.length === 0 && (
        <section class="card">
          {further ? (
            <Empty title={sought ? `None of the ${RUNS_SEARCHED} newest runs that wait here has "${sought}".` : "Nothing waits on this page any more."}>
              <p class="d">There are more, further on.</p>
            </Empty>
          ) : sought || cursor ? (
            <Empty title={sought ? `No open wait ${cursor ? "further on " : ""}has "${sought}".` : "There are no further waits."}>
              <div class="row">
                {sought && (
                  <Button size="small" onClick={() => set({ q: null, cursor: null })}>
                    All waits
                  </Button>
                )}
              </div>
            </Empty>
          ) : (
            <Empty title="No run waits for a person.">
              <p class="d">Runs that wait for a signal come here: they can be answered in place, or by somebody without an account through a link that works once.</p>
            </Empty>
          )}
          <Pages cursor={cursor} further={further} />
        </section>
      )}
      {chosen && !stale && param("wait") && chosen.id !== param("wait") && (
        <div class="note quiet" role="status">
          <Glyph name="waiting" />
          <div>The wait that the address names is not on this page: it is over, or it stands on another one.</div>
        </div>
      )}
      {chosen && (
        <div class="appr">
          <section class="card" aria-label="Open waits">
            {all.map((one) => {
              const until = moment(one.until);
              return (
                <a key={one.id} class={one === chosen ? "ask1 on" : "ask1"} href={href(["approvals"], { q: param("q"), cursor, wait: one.id })} aria-current={one === chosen ? "true" : undefined} {...rows(one.id)}>
                  <span class="row nowrap">
                    <span class="q1 grow">{one.summary}</span>
                    {until !== null && until - now.value < SOON_MS && <span class="tag warn">due soon</span>}
                  </span>
                  <span class="m">
                    <span>
                      <Mono>{one.workflow_id}</Mono> asks <Mono>{one.name}</Mono>
                    </span>
                    {one.business_key && <span>{one.business_key}</span>}
                    <span>
                      since <Time at={one.since} />
                    </span>
                    <span>{left(one.until)}</span>
                    {one.links?.length > 0 && <span>{many(one.links.length, "link")} given away</span>}
                  </span>
                </a>
              );
            })}
            <Pages cursor={cursor} further={further} />
          </section>
          <div class="stack" key={chosen.id} ref={box}>
            <Answer of={chosen} sent={sent} />
            <Links of={chosen} again={again} />
          </div>
        </div>
      )}
    </>
  );
}
