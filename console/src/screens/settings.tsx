// How the console looks for this person, and what the server lets see of itself: namespaces, tokens, about.
import { at as url, get, post, put, remove } from "../lib/api";
import { many } from "../lib/format";
import { useData } from "../lib/live";
import { density, keys, theme, zone } from "../lib/prefs";
import { base, href, param } from "../lib/router";
import { can, has, me } from "../lib/session";
import { Age, Bones, Button, Choice, Copy, Empty, Fault, Mono, PageHead, Radios, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { showKeys } from "../frame";

declare const BUILT_VERSION: string;

const notAdmin = () => (can.value.administer ? null : "It takes the role admin.");

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
  const { data, fault, slow, again } = useData("namespaces", (stop) => get("/api/namespaces", {}, stop));
  changed = again;
  const all: any[] = data?.namespaces ?? [];
  return (
    <section class="card scroll" aria-label="Namespaces">
      <div class="ch">
        <h2>Namespaces</h2>
        <span class="grow" />
        <Button size="small" why={notAdmin()} onClick={() => namespaceDialog(null)}>
          Make one…
        </Button>
      </div>
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">What it is for</th>
            <th scope="col" class="num">
              Closed runs are kept
            </th>
            <th scope="col" class="num">
              Made
            </th>
            <th scope="col">
              <span class="off">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((one) => (
            <tr key={one.name}>
              <td class="b">
                <a class="q" href={href(["overview"], { namespace: one.name === "default" ? null : one.name })}>
                  {one.name}
                </a>
              </td>
              <td class="d">{one.description}</td>
              <td class="num">{many(one.retention_days, "day")}</td>
              <td class="num d">
                <Time at={one.created_at} />
              </td>
              <td class="num">
                <Button size="small" why={notAdmin()} label={`Change ${one.name}`} onClick={() => namespaceDialog(one)}>
                  Change…
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
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
      return `holdfast token create --role ${asked.role ?? "read"} --label ${asked.label ?? "NAME"}`;
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
  const { data, fault, slow, again } = useData(can.value.administer ? "tokens" : null, (stop) => get("/api/tokens", {}, stop));
  const all: any[] = data?.tokens ?? [];
  const revoke = (one: any) =>
    askFor({
      title: `Revoke the token of ${one.label}`,
      say: "Requests that carry it are refused from now on, and sessions that came from it end.",
      go: "Revoke",
      keep: "Keep it",
      danger: true,
      shell: () => `holdfast token revoke ${one.id}`,
      send: async () => {
        await remove(url`/api/tokens/${one.id}`);
        again();
        return `The token of ${one.label} was revoked`;
      },
    });
  return (
    <section class="card scroll" aria-label="Tokens">
      <div class="ch">
        <h2>Tokens</h2>
        <span class="grow" />
        <Button size="small" why={notAdmin()} onClick={() => makeToken(again)}>
          Make one…
        </Button>
      </div>
      {!can.value.administer && (
        <Empty title="Tokens are for the role admin.">
          <p class="d">You are here with the role {me.value?.principal.role}.</p>
        </Empty>
      )}
      {fault && <Fault of={fault} again={again} />}
      {can.value.administer && !data && !fault && <Bones slow={slow} />}
      {all.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Token</th>
              <th scope="col">Role</th>
              <th scope="col">Namespaces</th>
              <th scope="col" class="num">
                Made
              </th>
              <th scope="col" class="num">
                Ends
              </th>
              <th scope="col">
                <span class="off">What to do</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <tr key={one.id}>
                <td class="nw">
                  <b class="b">{one.label}</b> <Mono class="w">{one.id}</Mono> {one.id === me.value?.principal.id && <span class="tag acc">you</span>}
                </td>
                <td>{one.role}</td>
                <td class="d">{one.namespaces === "*" ? "all" : one.namespaces}</td>
                <td class="num d">
                  <Time at={one.created_at} />
                </td>
                <td class="num d">{one.revoked_at ? <>revoked <Age at={one.revoked_at} /></> : one.expires_at ? <Time at={one.expires_at} /> : "never"}</td>
                <td class="num">
                  {!one.revoked_at && (
                    <Button size="small" label={`Revoke ${one.label}`} onClick={() => revoke(one)}>
                      Revoke…
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function About() {
  const server = me.value?.server;
  return (
    <section class="card" aria-label="About">
      <div class="pad">
        <dl class="kv left">
          <dt>Server</dt>
          <dd>holdfast {server?.version}</dd>
          <dt>Console</dt>
          <dd>{BUILT_VERSION}</dd>
          <dt>Started</dt>
          <dd>
            <Time at={server?.started_at} /> <span class="d">(<Age at={server?.started_at} />)</span>
          </dd>
          <dt>Store</dt>
          <dd>{server?.store === "postgres" ? "PostgreSQL" : "SQLite"}</dd>
          <dt>Credentials</dt>
          <dd>{server?.auth}</dd>
          <dt>You</dt>
          <dd>
            {me.value?.principal.label} <Mono class="w">{me.value?.principal.id}</Mono>, role {me.value?.principal.role}, by {me.value?.principal.method}
          </dd>
          <dt>Streams</dt>
          <dd>{has("stream") ? "one for each tab" : "none: the page asks every ten seconds"}</dd>
          <dt>Licences</dt>
          <dd>
            <a href={new URL("licences.txt", base).pathname} target="_blank">
              Preact, signals and uPlot
            </a>
          </dd>
        </dl>
      </div>
    </section>
  );
}

const TABS: [string, string, () => preact.JSX.Element][] = [
  ["look", "Look and keys", Look],
  ["namespaces", "Namespaces", Namespaces],
  ["tokens", "Tokens", Tokens],
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
