// A real server on a store of its own in a temporary folder, with a real worker beside it. Both are ours to kill.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const running = new Set();
const folders = new Set();

/** Ends what is left, however the program ends. */
export function endAll() {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
process.on("exit", endAll);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

export async function until(what, seconds = 15, name = what.toString()) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await what();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not happen within ${seconds} s: ${name}`);
    await new Promise((on) => setTimeout(on, 50));
  }
}

/** Ends a child in good order, which a worker needs to give back what it holds; and at once if it does not come to an end. */
async function end(child) {
  if (!child || !running.has(child)) return;
  child.kill("SIGTERM");
  await Promise.race([child.ended, new Promise((on) => setTimeout(on, 15000).unref())]);
  child.kill("SIGKILL");
  await child.ended;
}

export class Site {
  /** `program`: what serves; a program that embeds the engine works besides. */
  constructor(build, program = "holdfast") {
    this.build = build;
    this.program = join(build, program);
    this.folder = mkdtempSync(join(tmpdir(), "holdfast-console-"));
    folders.add(this.folder);
    this.store = join(this.folder, "orders.db");
    this.said = "";
  }

  spawn(command, words, env = {}, stdin = "ignore") {
    const child = spawn(command, words, { cwd: this.folder, env: { ...process.env, ...env }, stdio: [stdin, "pipe", "pipe"] });
    running.add(child);
    child.ended = new Promise((done) => child.on("close", () => (running.delete(child), done())));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.said += text));
    return child;
  }

  async serve(...flags) {
    this.port ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}/`;
    this.server = this.spawn(this.program, ["serve", this.store, "--listen", `127.0.0.1:${this.port}`, "--environment", "production:violet", ...flags]);
    await until(() => fetch(this.url + "api/ready").then((answer) => answer.ok, () => false), 20, "the server is ready:\n" + this.said);
    this.admin ??= (await until(() => this.said.match(/admin token[^\n]*: (hf_[\w-]+)\n/), 10, "the token was printed"))[1];
  }

  /** As a person develops: the server with the program as its worker. The link that it prints. */
  async dev() {
    this.port ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}/`;
    this.server = this.spawn(this.program, ["dev", "--listen", `127.0.0.1:${this.port}`]);
    return (await until(() => this.said.match(/^console, [^\n]*: (http\S+)$/m), 30, "the link was printed"))[1];
  }

  async killServer() {
    this.server.kill("SIGKILL");
    await this.server.ended;
  }

  async work() {
    const { secret } = await this.token("worker");
    this.worker = this.spawn(join(this.build, "test/site_worker"), ["worker", "--store", this.url], { HF_TOKEN: secret });
    await until(async () => (await this.ask("GET", "api/workers")).workers.length > 0, 20, "the worker is there");
  }

  /** The worker of the queue "office", of a build; the one that was there before is gone then. */
  async office(build = "1") {
    const { secret } = await this.token("worker", "office");
    const listed = async () => (await this.ask("GET", "api/workers?task_queue=office")).workers;
    await end(this.officer);
    const before = (await listed()).map((one) => one.worker_id);
    this.officer = this.spawn(join(this.build, "test/site_office"), ["worker", "--store", this.url], { HF_TOKEN: secret, SITE_QUEUE: "office", SITE_BUILD: build });
    const there = (one) => one.status === "active" && !before.includes(one.worker_id);
    await until(async () => (await listed()).some(there), 30, "the office is there");
  }

  async stop() {
    for (const child of [this.worker, this.officer, this.server]) await end(child);
  }

  /** What a verb prints, typed in a shell of the admin. */
  async cli(...words) {
    const env = { ...process.env, HOME: this.folder, HF_TOKEN: this.admin };
    return (await promisify(execFile)(join(this.build, "holdfast"), [...words, "--url", this.url], { cwd: this.folder, env, maxBuffer: 1 << 28 })).stdout;
  }

  /** What a line prints that the console shows for the shell, typed as it is by the admin of this server. */
  async shell(line) {
    const env = { ...process.env, HOME: this.folder, HF_TOKEN: this.admin, HF_URL: this.url, PATH: `${this.build}:${process.env.PATH}` };
    return (await promisify(execFile)("sh", ["-ec", line], { cwd: this.folder, env, maxBuffer: 1 << 28 })).stdout;
  }

  /** The events of a run, as the command line has them. */
  async history(id, ...flags) {
    return (await this.cli("history", id, "-o", "jsonl", ...flags)).trim().split("\n").map((line) => JSON.parse(line));
  }

  /** The body of an answer; with `status` of one that must have it. */
  async ask(method, path, body, { token = this.admin, namespace = "default", status } = {}) {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: "Bearer " + token,
        "X-Namespace": namespace,
        ...(path.startsWith("api/worker/") ? { "X-Durable-Workflow-Protocol-Version": "1.13" } : { "X-Durable-Workflow-Control-Plane-Version": "2" }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (status ? answer.status !== status : !answer.ok) throw new Error(`${method} /${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async token(role, label = role) {
    const made = await this.ask("POST", "api/tokens", { role, label });
    return { ...made, secret: made.token ?? made.secret };
  }

  start(type, id, input, more = {}, options = {}) {
    return this.ask("POST", "api/workflows", { workflow_type: type, workflow_id: id, ...(input ? { input } : {}), ...more }, options);
  }

  async loginLink(token = this.admin) {
    return (await this.ask("POST", "console/api/login-links", {}, { token })).link;
  }

  /** A store with something of everything in it. */
  async seed() {
    await this.ask("POST", "api/namespaces", { name: "shipping", description: "the other one", retention_days: 30 });
    for (let i = 1; i <= 6; i++) await this.start("order", `order-${i}`, { sku: "TEA-1", amount: 90 + i });
    await this.start("order", "order-42", { sku: "TEA-9", amount: 700 }, { business_key: "A-20419", labels: { region: "eu" } });
    await this.start("order", "order-43", { sku: "TEA-9", amount: 900 }, { labels: { region: "us" } });
    await this.start("order", "order-51", { sku: "TEA-2", amount: 5000 });
    await this.start("order", "order-52", { sku: "TEA-2", amount: 7000 });
    await this.start("order", "order-60", { sku: "TEA-3", amount: -1 });
    await this.start("import", "import-1");
    await this.start("invoice", "inv-204", undefined, { task_queue: "emails" });
    await this.start("order", "ship-1", { sku: "TEA-1", amount: 10 }, {}, { namespace: "shipping" });
    await this.ask("POST", "api/schedules", { schedule_id: "nightly", spec: { cron_expressions: ["0 9 * * 1-5"], timezone: "Europe/Berlin" }, action: { workflow_type: "order", input: { sku: "TEA-1", amount: 5 } }, note: "stock of the day" });
    await this.ask("POST", "api/schedules", { schedule_id: "every-five", spec: { intervals: [{ every: "PT5M" }] }, action: { workflow_type: "region", input: { name: "north" } } });
    for (let i = 0; i < 3; i++) await this.ask("POST", "api/schedules/every-five/trigger", {});
    await this.ask("POST", "api/schedules", { schedule_id: "monthly", spec: { cron_expressions: ["0 0 1 * *"] }, action: { workflow_type: "import" }, paused: true, note: "until the new year" });
    for (let i = 1; i <= 3; i++) await this.start("region", `region-${i}`, { name: "south" });
    this.batch = (await this.ask("POST", "api/batches", { command: "cancel", workflow_ids: ["region-1", "region-2", "nobody"], rate: 50 })).batch_id;
    const closed = async () => (await this.ask("GET", "api/workflows?status=completed")).workflows?.length >= 6;
    await until(closed, 20, "six orders are shipped");
  }
}
