// The console: starts, finds out who is here, and shows the page that the address names.
import { render } from "preact";
import "./css/tokens.css";
import "./css/base.css";
import "./css/more.css";
import "./css/run.css";
import "./css/pages.css";
import "./css/forced.css";
import { Frame, PAGES } from "./frame";
import { loggedOut, Refusal, refusalOf } from "./lib/api";
import "./lib/prefs";
import { go, href, path, start } from "./lib/router";
import { has, known, me, whoAmI } from "./lib/session";
import { Approvals } from "./screens/approvals";
import { Attention } from "./screens/attention";
import { Batches } from "./screens/batches";
import { Bundles } from "./screens/bundles";
import { DiffPage } from "./screens/diff";
import { Explore } from "./screens/explore";
import { Failures } from "./screens/failures";
import { First } from "./screens/first";
import { Login } from "./screens/login";
import { Overview } from "./screens/overview";
import { Queues } from "./screens/queues";
import { Schedules } from "./screens/schedules";
import { Settings } from "./screens/settings";
import { Types } from "./screens/types";
import { Workers } from "./screens/workers";
import { RunPages } from "./screens/run";
import { Button, Empty, Fault, PageHead } from "./ui/basic";
import { Dialogs } from "./ui/dialog";
import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";

/** The screens by the first part of the address. A screen reads the rest of it itself. */
const SCREENS: Record<string, ComponentType> = {
  overview: Overview,
  first: First,
  attention: Attention,
  approvals: Approvals,
  failures: Failures,
  schedules: Schedules,
  workers: Workers,
  queues: Queues,
  types: Types,
  batches: Batches,
  bundles: Bundles,
  diff: DiffPage,
  explore: Explore,
  settings: Settings,
  runs: RunPages,
};

function Missing({ name }: { name: string }) {
  return (
    <>
      <PageHead title="No such page" />
      <section class="card">
        <Empty title={`There is no page ${name}.`}>
          <Button onClick={() => go(href(["overview"]))}>Go to the overview</Button>
        </Empty>
      </section>
    </>
  );
}

/** A screen that broke leaves the frame as it is, says so, and can be tried again; another address is another try. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [broken, again] = useErrorBoundary((error) => console.error(error));
  if (!broken) return <>{children}</>;
  return <Fault of={new Refusal(0, "page", String(broken))} again={again} what="This page broke; the server is not concerned." />;
}

const fault = signal<string | null>(null);

function App() {
  if (fault.value !== null)
    return (
      <main class="solo plain" id="main">
        <div class="login card">
          <Empty title="The server cannot be reached.">
            <p class="d">{fault.value} It is tried again every few seconds.</p>
          </Empty>
        </div>
      </main>
    );
  if (!known.value) return null;
  if (!me.value || loggedOut.value !== null) return <Login />;
  const name = path.value[0] ?? "overview";
  const Screen = SCREENS[name];
  const page = PAGES.find((one) => one.name === name);
  return (
    <>
      <Frame>
        <Guarded key={path.value.join("/")}>{Screen && (!page?.needs || has(page.needs)) ? <Screen /> : <Missing name={name} />}</Guarded>
      </Frame>
      <Dialogs />
    </>
  );
}

async function begin() {
  try {
    await whoAmI();
    fault.value = null;
  } catch (error) {
    fault.value = refusalOf(error).message;
    setTimeout(begin, 3000);
  }
}

start();
render(<App />, document.getElementById("app")!);
void begin();
