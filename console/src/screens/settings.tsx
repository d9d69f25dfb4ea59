// How the console looks for this person, and what the server lets see of itself: namespaces, tokens, about.
import { at as url, get, post, put, remove } from "../lib/api";
import { many } from "../lib/format";
import type { Json } from "../lib/json";
import { useData } from "../lib/live";
import { density, keys, theme, zone } from "../lib/prefs";
import { base, href, param } from "../lib/router";
import { can, has, me, notAdmin } from "../lib/session";
import { inputWords, shell } from "../lib/shell";
import { Age, Button, Choice, Copy, Empty, Mono, PageHead, Radios, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Asked, Card, Facts } from "../ui/part";
import { Table } from "../ui/table";
import { showKeys } from "../frame";
import { Numbers } from "./numbers";

declare const BUILT_VERSION: string;

function Row({ title, say, children }: { title: string; say: string; children: preact.ComponentChildren }) {
  return (
    <div class="setting">
      <div>
        <h3>{title}</h3>
        <p class="d sm">{say}</p>
      </div>
      <div>{children}</div>
    </div>
  );
}

function Look() {
  return (
    <section class="card" aria-label="Look">
      <Row title="Theme" say="As the system says, unless you choose.">
        <Radios label="Theme" items={[["system", "System"], ["light", "Light"], ["dark", "Dark"]]} value={theme.value} set={(value) => (theme.value = value)} />
      </Row>
      <Row title="Rows" say="How close the rows of tables are.">
        <Radios label="Rows" items={[["comfortable", "Comfortable"], ["dense", "Dense"]]} value={density.value} set={(value) => (density.value = value)} />
      </Row>
      <Row title="Times" say="The other forms are shown when you point at one; copying gives ISO.">
        <Radios label="Times" items={[["utc", "UTC"], ["local", "Local"], ["relative", "Relative"]]} value={zone.value} set={(value) => (zone.value = value)} />
      </Row>
      <Row title="Keys" say="Single letters, never while a field has the focus.">
        <div class="row">
          <Radios label="Keys" items={[["on", "On"], ["off", "Off"]]} value={keys.value} set={(value) => (keys.value = value)} />
          <Button kind="ghost" onClick={showKeys}>
            Show them
          </Button>
        </div>
      </Row>
      <p class="pad d sm">{has("preferences") ? "Kept on the server for your token, and the same in every browser." : "Kept in this browser."}</p>
    </section>
  );
}

function namespaceDialog(one: any | null) {
  askFor({
    title: one ? `Change namespace ${one.name}` : "Make a namespace",
    parameters: [
      ...(one ? [] : [{ name: "name", type: "string", required: true }]),
      { name: "description", type: "string" },
      { name: "retention_days", type: "int", required: true, doc: "How long closed runs are kept." },
    ],
    first: one ? { description: one.description, retention_days: one.retention_days } : { description: "", retention_days: 30 },
    go: one ? "Change" : "Make",
    shell: (value) => {
      const { name, ...rest } = (value ?? {}) as Record<string, Json>;
      return shell("namespace " + (one ? "set" : "create"), [one ? one.name : (name ?? "NAME"), ...inputWords(rest)]);
    },
    send: async (value) => {
      if (one) await put(url`/api/namespaces/${one.name}`, value);
      else await post("/api/namespaces", value);
      dispatchEvent(new Event("focus"));
      changed();
      return one ? `Namespace ${one.name} was changed` : "The namespace was made";
    },
  });
}

let changed = () => {};

function Namespaces() {
  const asked = useData("namespaces", (stop) => get("/api/namespaces", {}, stop));
  changed = asked.again;
  const all: any[] = asked.data?.namespaces ?? [];
  return (
    <Card
      title="Namespaces"
      scroll
      end={
        <Button size="small" why={notAdmin.value} onClick={() => namespaceDialog(null)}>
          Make one…
        </Button>
      }
    >
      <Asked of={asked}>
        {() => (
          <Table
            label="Namespaces"
            rows={all}
            id={(one) => one.name}
            columns={[
              {
                head: "Name",
                look: "b",
                by: (one) => one.name,
                cell: (one) => (
                  <a class="q" href={href(["overview"], { namespace: one.name === "default" ? null : one.name })}>
                    {one.name}
                  </a>
                ),
              },
              { head: "What it is for", look: "d wide", cell: (one) => one.description },
              { head: "Closed runs are kept", look: "num", by: (one) => one.retention_days, cell: (one) => many(one.retention_days, "day") },
              { head: "Made", look: "num d", by: (one) => one.created_at, cell: (one) => <Time at={one.created_at} /> },
              {
                head: "What to do",
                quiet: true,
                look: "num",
                cell: (one) => (
                  <Button size="small" why={notAdmin.value} label={`Change ${one.name}`} onClick={() => namespaceDialog(one)}>
                    Change…
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Asked>
    </Card>
  );
}

const ROLES = ["read", "operator", "worker", "admin"];

function makeToken(again: () => void) {
  askFor({
    title: "Make a token",
    say: "read looks, operator changes runs, worker takes tasks, admin does everything. The secret is shown once; the store keeps its hash.",
    parameters: [
      { name: "role", type: "enum", enum: ROLES, required: true },
      { name: "label", type: "string", required: true, doc: "What or who it is for." },
      { name: "namespaces", type: "string", default: "*", default_available: true, doc: "Names with commas between them; * is all." },
    ],
    go: "Make token",
    keep: "Close",
    shell: (value) => {
      const asked = (value ?? {}) as Record<string, string>;
      return shell("token create", [], { role: asked.role ?? "read", label: asked.label ?? "NAME", namespaces: asked.namespaces });
    },
    send: async (value) => {
      const said = await post("/api/tokens", value);
      const secret = said.token ?? said.secret;
      again();
      return (
        <div class="code">
          <span>{secret}</span>
          <Copy text={secret} label="Copy token" />
        </div>
      );
    },
  });
}

function Tokens() {
  const asked = useData(can.value.administer ? "tokens" : null, (stop) => get("/api/tokens", {}, stop));
  const all: any[] = asked.data?.tokens ?? [];
  const revoke = (one: any) =>
    askFor({
      title: `Revoke the token of ${one.label}`,
      say: "Requests that carry it are refused from now on, and sessions that came from it end.",
      go: "Revoke",
      keep: "Keep it",
      danger: true,
      shell: () => shell("token revoke", [one.id]),
      send: async () => {
        await remove(url`/api/tokens/${one.id}`);
        asked.again();
        return `The token of ${one.label} was revoked`;
      },
    });
  return (
    <Card
      title="Tokens"
      scroll
      end={
        <Button size="small" why={notAdmin.value} onClick={() => makeToken(asked.again)}>
          Make one…
        </Button>
      }
    >
      {can.value.administer ? (
        <Asked of={asked}>
          {() => (
            <Table
              label="Tokens"
              rows={all}
              id={(one) => one.id}
              columns={[
                {
                  head: "Token",
                  look: "nw",
                  by: (one) => one.label,
                  cell: (one) => (
                    <>
                      <b class="b">{one.label}</b> <Mono class="w">{one.id}</Mono> {one.id === me.value?.principal.id && <span class="tag acc">you</span>}
                    </>
                  ),
                },
                { head: "Role", by: (one) => one.role, cell: (one) => one.role },
                { head: "Namespaces", look: "d", cell: (one) => (one.namespaces === "*" ? "all" : one.namespaces) },
                { head: "Made", look: "num d", by: (one) => one.created_at, cell: (one) => <Time at={one.created_at} /> },
                {
                  head: "Ends",
                  look: "num d",
                  by: (one) => one.revoked_at ?? one.expires_at,
                  cell: (one) =>
                    one.revoked_at ? (
                      <>
                        revoked <Age at={one.revoked_at} />
                      </>
                    ) : one.expires_at ? (
                      <Time at={one.expires_at} />
                    ) : (
                      "never"
                    ),
                },
                {
                  head: "What to do",
                  quiet: true,
                  look: "num",
                  cell: (one) =>
                    !one.revoked_at && (
                      <Button size="small" label={`Revoke ${one.label}`} onClick={() => revoke(one)}>
                        Revoke…
                      </Button>
                    ),
                },
              ]}
            />
          )}
        </Asked>
      ) : (
        <Empty title="Tokens are for the role admin.">
          <p class="d">You are here with the role {me.value?.principal.role}.</p>
        </Empty>
      )}
    </Card>
  );
}

function About() {
  const server = me.value?.server;
  return (
    <section class="card" aria-label="About">
      <div class="pad">
        <Facts
          left
          of={[
            ["Server", `holdfast ${server?.version}`],
            ["Console", BUILT_VERSION],
            [
              "Started",
              <>
                <Time at={server?.started_at} /> <span class="d">(<Age at={server?.started_at} />)</span>
              </>,
            ],
            ["Store", server?.store === "postgres" ? "PostgreSQL" : "SQLite"],
            ["Credentials", server?.auth],
            [
              "You",
              <>
                {me.value?.principal.label} <Mono class="w">{me.value?.principal.id}</Mono>, role {me.value?.principal.role}, by {me.value?.principal.method}
              </>,
            ],
            ["Streams", has("stream") ? "one for each tab" : "none: the page asks every ten seconds"],
            [
              "Licences",
              <a href={new URL("licences.txt", base).pathname} target="_blank">
                Preact and signals
              </a>,
            ],
          ]}
        />
      </div>
    </section>
  );
}

const TABS: [string, string, () => preact.JSX.Element][] = [
  ["look", "Look and keys", Look],
  ["namespaces", "Namespaces", Namespaces],
  ["tokens", "Tokens", Tokens],
  ["numbers", "Numbers", Numbers],
  ["about", "About", About],
];

export function Settings() {
  const tab = TABS.find(([name]) => name === param("tab")) ?? TABS[0]!;
  const Tab = tab[2];
  return (
    <>
      <PageHead title="Settings">
        <Choice label="Settings" items={TABS.map(([name, text]) => [name, text])} on={tab[0]} to={(name) => href(["settings"], { tab: name === "look" ? null : name })} />
      </PageHead>
      <Tab key={tab[0]} />
    </>
  );
}
