/* test_noun.c: verbs on things beside runs, and copies of runs: the same words to a real server and
   to a store that nobody serves, with the same answers and exit codes. */
#include <poll.h>

#include "cli/exit.h"
#include "holdfast/host.h"
#include "lib/check_store.h"
#include "holdfast/worker.h"
#include "lib/site.h"

#include "base/value.h"

#include "cli/program.h" /* last: its names are short */

static hf_value waits(hf_ctx *w, hf_value in)
{
    hf_value first = hf_receive(w, "go");

    (void)in;
    (void)hf_receive(w, "go");
    return first;
}

static hf_value fails(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "broken", "order 17 is gone");
}

static const hf_workflow_def workflows[] = {
    {.type = "fails", .run = fails},
    {.type = "waits", .run = waits, .signals = (const hf_signal_def[]){{"go", "n:int?"}, {0}}},
    {0}};
static const hf_app app = {.name = "nouns", .workflows = workflows};

static hf_site site;
static bool served;
static char line[128];
static const char *const *env;

/* Where the verbs go: a server on that engine, or with NONE a store in the folder. */
static void place_begin(hf_engine_kind kind, bool server)
{
    static const char *lines[4];

    begin();
    served = server;
    lines[1] = "HF_TOKEN=tok-admin";
    if (server) {
        hf_site_open(&site, kind, &app, (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
        hf_site_tokens(&site);
        (void)snprintf(line, sizeof(line), "HF_URL=http://127.0.0.1:%d",
                       hf_server_port(site.server));
    } else {
        ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
        (void)snprintf(line, sizeof(line), "HF_URL=a.db");
    }
    lines[0] = line;
    env = lines;
}

static void place_end(void)
{
    if (served)
        hf_site_close(&site);
    else
        ck_assert_int_eq(RUN("verify", "a.db"), 0);
    end();
}

#define DO(...) RUN_IN(env, __VA_ARGS__)
#define GIVES(code, ...)                                                                           \
    ck_assert_msg(DO(__VA_ARGS__) == (code), "%s%s", hf_buf_text(&last.out), hf_buf_text(&last.err))

/* A schedule from its making to its end. */
static void schedule_lives(void)
{
    GIVES(HF_CLI_EXIT_OK, "schedule", "create", "s", "waits", "cron=0 2 * * *", "paused:=true",
          "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "s\n");
    GIVES(HF_CLI_EXIT_REJECTED, "schedule", "create", "s", "waits", "cron=0 2 * * *");
    GIVES(HF_CLI_EXIT_USAGE, "schedule", "create", "t", "waits", "cron=nonsense");
    GIVES(HF_CLI_EXIT_USAGE, "schedule", "create", "t");
    GIVES(HF_CLI_EXIT_OK, "schedule", "edit", "s", "every=30m", "note=half an hour", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "spec.intervals.0.every", ""), "PT1800S");
    GIVES(HF_CLI_EXIT_OK, "schedule", "ls", "-o", "csv");
    ck_assert(says(&last.out, "schedule_id,status,workflow_type,"));
    ck_assert(says(&last.out, "\ns,paused,waits,"));
    GIVES(HF_CLI_EXIT_OK, "schedule", "resume", "s");
    GIVES(HF_CLI_EXIT_OK, "schedule", "show", "s", "-o", "jsonl");
    ck_assert_str_eq(hf_str(json(&last.out), "status", ""), "active");
    GIVES(HF_CLI_EXIT_OK, "schedule", "times", "s", "--from", "2026-01-01T00:00:00Z", "--to",
          "2026-01-01T01:00:00Z", "-o", "name");
    ck_assert(says(&last.out, "2026-01-01T00:30:00.000000Z\n"));
    GIVES(HF_CLI_EXIT_OK, "schedule", "pause", "s", "--reason", "audit", "-o", "none");
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_OK, "schedule", "resume", "s");
    GIVES(HF_CLI_EXIT_USAGE, "schedule", "backfill", "s", "--from", "2026-01-01T00:00:00Z", "--to",
          "2026-01-01T00:00:00Z"); /* nobody can be asked */
    ck_assert(says(&last.err, "--yes"));
    GIVES(HF_CLI_EXIT_OK, "schedule", "backfill", "s", "--from", "2026-01-01T00:00:00Z", "--to",
          "2026-01-01T00:00:00Z", "--dry-run", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "2026-01-01T00:00:00.000000Z\n");
    GIVES(HF_CLI_EXIT_OK, "schedule", "backfill", "s", "--from", "2026-01-01T00:00:00Z", "--to",
          "2026-01-01T00:00:00Z", "--yes", "-o", "jsonl");
    ck_assert_str_eq(hf_str(json(&last.out), "outcome", ""), "triggered");
    GIVES(HF_CLI_EXIT_OK, "schedule", "trigger", "s", "overlap_policy=allow_all", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "outcome", ""), "triggered");
    GIVES(HF_CLI_EXIT_OK, "schedule", "history", "s", "--limit", "1", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "events.0.event_type", ""), "ScheduleCreated");
    GIVES(HF_CLI_EXIT_USAGE, "schedule", "delete", "s");
    GIVES(HF_CLI_EXIT_OK, "schedule", "delete", "s", "--yes");
    GIVES(HF_CLI_EXIT_NOTFOUND, "schedule", "show", "s");
}

/* Batches over ids and over filters; what is not meant is not touched. */
static void batch_lives(void)
{
    char id[64];

    GIVES(HF_CLI_EXIT_OK, "start", "waits", "--id", "b-1", "-o", "none");
    GIVES(HF_CLI_EXIT_OK, "start", "waits", "--id", "b-2", "-o", "none");
    GIVES(HF_CLI_EXIT_USAGE, "batch", "start", "cancel");
    GIVES(HF_CLI_EXIT_USAGE, "batch", "start", "cancel", "b-1");
    GIVES(HF_CLI_EXIT_OK, "batch", "start", "cancel", "b-1", "--dry-run", "-o", "name");
    GIVES(HF_CLI_EXIT_OK, "ls", "id=b-1", "status=running", "-o", "name");
    GIVES(HF_CLI_EXIT_OK, "batch", "start", "cancel", "--query", "id=b-2", "--yes", "--reason",
          "recall", "-o", "name");
    (void)snprintf(id, sizeof(id), "%.*s", (int)last.out.len - 1, hf_buf_text(&last.out));
    for (int i = 0; i < 600; i++) {
        GIVES(HF_CLI_EXIT_OK, "batch", "show", id, "--json");
        if (strcmp(hf_str(json(&last.out), "status", ""), "completed") == 0)
            break;
        (void)poll(&(struct pollfd){.fd = -1}, 1, 50);
    }
    ck_assert_int_eq(hf_int(json(&last.out), "accepted", 0), 1);
    GIVES(HF_CLI_EXIT_OK, "batch", "ls", "--json");
    ck_assert_uint_eq(hf_len(hf_get(json(&last.out), "batches")), 2);
    ck_assert_str_eq(hf_str(json(&last.out), "batches.0.batch_id", ""), id); /* the newest */
    ck_assert_str_eq(hf_str(json(&last.out), "batches.0.status", ""), "completed");
    ck_assert(hf_bool(json(&last.out), "batches.1.dry_run", false));
    GIVES(HF_CLI_EXIT_OK, "batch", "ls", "--limit", "1", "-o", "name");
    ck_assert_uint_eq(last.out.len, strlen(id) + 1);
    GIVES(HF_CLI_EXIT_NOTFOUND, "batch", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

/* Rehearsed orders, delays, and copies of runs. */
static void copies_live(void)
{
    GIVES(HF_CLI_EXIT_OK, "start", "waits", "--id", "late", "--delay", "1h", "-o", "none");
    GIVES(HF_CLI_EXIT_OK, "show", "late", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "status", ""), "pending");
    GIVES(HF_CLI_EXIT_OK, "start", "waits", "--id", "c-1", "-o", "none");
    GIVES(HF_CLI_EXIT_OK, "cancel", "c-1", "late", "--dry-run", "-o", "csv");
    ck_assert(says(&last.out, "c-1,would_cancel,"));
    GIVES(HF_CLI_EXIT_OK, "ls", "id=c-1", "status=running", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "c-1\n");
    if (served) /* a store that nobody serves has no code, nor what it declares */
        GIVES(HF_CLI_EXIT_OK, "signal", "c-1", "go", "n:=1", "--reason", "by hand", "-o", "none");
    for (int i = 0; served && i < 600; i++) {
        GIVES(HF_CLI_EXIT_OK, "history", "c-1", "--kinds", "SignalApplied", "-o", "jsonl");
        if (last.out.len)
            break;
        (void)poll(&(struct pollfd){.fd = -1}, 1, 50);
    }
    if (served) {
        GIVES(HF_CLI_EXIT_OK, "fork", "c-1", "--step", "1", "--id", "c-2", "--reason", "again",
              "--json");
        GIVES(HF_CLI_EXIT_OK, "show", "c-2", "-o", "none");
        GIVES(HF_CLI_EXIT_OK, "reset", "c-1", "--step", "1", "--reason", "again");
        GIVES(HF_CLI_EXIT_OK, "show", "c-1#2", "-o", "none");
        GIVES(HF_CLI_EXIT_OK, "fork", "c-2", "--step", "1", "--id", "c-3", "--signals", "go,other");
        GIVES(HF_CLI_EXIT_OK, "reset", "c-3", "--step", "1", "--signals", "*");
    }
    GIVES(HF_CLI_EXIT_NOTFOUND, "fork", "nobody", "--step", "1");
    GIVES(HF_CLI_EXIT_USAGE, "fork", "c-1", "--step", "zero");
}

/* A worker of the build says that it is there. */
static void worker_comes(const char *build)
{
    hf_engine *d = served ? site.engine : NULL;

    if (!served)
        ck_assert_int_eq(hf_open("a.db", &app, &d), HF_OK);
    ck_assert_msg(!hf_workers_beat(d, "w-1", "q", build), "%s", hf_errmsg(d));
    if (!served)
        hf_close(d);
}

/* Who works; and a worker that is played by hand. */
static void fleet_lives(void)
{
    GIVES(HF_CLI_EXIT_OK, "workers", "ls", "-o", "name");
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_OK, "queue", "ls");
    GIVES(HF_CLI_EXIT_OK, "build", "drain", "v1", "--queue", "q", "--json");
    GIVES(HF_CLI_EXIT_OK, "build", "ls", "--queue", "q", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "v1\n");
    GIVES(HF_CLI_EXIT_OK, "build", "show", "v1", "--queue", "q", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "drain_intent", ""), "draining");
    GIVES(HF_CLI_EXIT_OK, "build", "resume", "v1", "--queue", "q");
    GIVES(HF_CLI_EXIT_NOTFOUND, "build", "promote", "v1", "--queue", "q");
    worker_comes("v1");
    GIVES(HF_CLI_EXIT_OK, "build", "promote", "v1", "--queue", "q", "--json");
    ck_assert(hf_bool(json(&last.out), "new_start_selected", false));
    GIVES(HF_CLI_EXIT_OK, "build", "promote", "", "--queue", "q");
    GIVES(HF_CLI_EXIT_OK, "build", "show", "v1", "--queue", "q", "--json");
    ck_assert(!hf_bool(json(&last.out), "new_start_selected", true));
    GIVES(HF_CLI_EXIT_USAGE, "build", "promote", "v1", "v2");
    GIVES(HF_CLI_EXIT_NOTFOUND, "build", "show", "v2", "--queue", "q");
    GIVES(HF_CLI_EXIT_NOTFOUND, "workers", "show", "nobody");
    GIVES(HF_CLI_EXIT_USAGE, "workers", "ls", "more");
    GIVES(HF_CLI_EXIT_OK, "build", "can-stop", "v1", "--json");
    ck_assert(hf_bool(json(&last.out), "can_stop", false));
    GIVES(HF_CLI_EXIT_USAGE, "queue", "pause");
    GIVES(HF_CLI_EXIT_USAGE, "queue", "pause", "default", "now");
    GIVES(HF_CLI_EXIT_OK, "queue", "pause", "default", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "drain_intent", ""), "draining");
    GIVES(HF_CLI_EXIT_OK, "queue", "show", "default", "--json");
    ck_assert_int_eq(hf_value_kind_of(hf_get(json(&last.out), "paused_at")), HF_VALUE_STRING);
    GIVES(HF_CLI_EXIT_OK, "build", "ls", "-o", "name"); /* no build is called * */
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_OK, "queue", "resume", "default");
    GIVES(HF_CLI_EXIT_OK, "queue", "show", "default", "--json");
    ck_assert_int_eq(hf_value_kind_of(hf_get(json(&last.out), "paused_at")), HF_VALUE_NULL);
    if (!served)
        return; /* a worker is known for as long as its server lives */
    GIVES(HF_CLI_EXIT_OK, "task", "register", "worker_id=me", "task_queue=default", "runtime=shell",
          "sdk_version=1", "supported_workflow_types:=[]", "supported_activity_types:=[\"a\"]");
    GIVES(HF_CLI_EXIT_OK, "workers", "ls", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "me\n");
    GIVES(HF_CLI_EXIT_OK, "queue", "pause", "default"); /* whatever build a worker is of */
    GIVES(HF_CLI_EXIT_OK, "workers", "show", "me", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "status", ""), "draining");
    GIVES(HF_CLI_EXIT_OK, "queue", "resume", "default");
    GIVES(HF_CLI_EXIT_OK, "workers", "show", "me", "--json");
    ck_assert_str_eq(hf_str(json(&last.out), "status", ""), "active");
    GIVES(HF_CLI_EXIT_OK, "task", "poll", "worker_id=me", "task_queue=default",
          "timeout_seconds:=0", "--json");
    ck_assert_int_eq(hf_value_kind_of(hf_get(json(&last.out), "task")), HF_VALUE_NULL);
    GIVES(HF_CLI_EXIT_OK, "workers", "remove", "me", "-o", "none");
}

/* Kept lists, types, and failures in groups. */
static void survey_lives(void)
{
    char id[64];

    GIVES(HF_CLI_EXIT_OK, "start", "waits", "--id", "v-1", "-o", "none");
    GIVES(HF_CLI_EXIT_OK, "ls", "id=v-1", "queue=default", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "v-1\n");
    GIVES(HF_CLI_EXIT_OK, "ls", "id=v-1", "queue=other", "-o", "name");
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_OK, "ls", "id=v-1", "status=completed", "-o", "name");
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_USAGE, "ls", "nonsense=1");
    GIVES(HF_CLI_EXIT_OK, "view", "save", "some", "id=v-1", "-o", "name");
    (void)snprintf(id, sizeof(id), "%.*s", (int)last.out.len - 1, hf_buf_text(&last.out));
    GIVES(HF_CLI_EXIT_REJECTED, "view", "save", "some", "id=v-1");
    GIVES(HF_CLI_EXIT_OK, "view", "ls", "-o", "name");
    ck_assert(says(&last.out, id));
    GIVES(HF_CLI_EXIT_OK, "ls", "--view", id, "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "v-1\n");
    GIVES(HF_CLI_EXIT_OK, "view", "delete", id);
    GIVES(HF_CLI_EXIT_NOTFOUND, "view", "delete", id);
    GIVES(HF_CLI_EXIT_NOTFOUND, "ls", "--view", id);
    GIVES(HF_CLI_EXIT_OK, "type", "show", "waits", "--json");
    ck_assert_int_ge(hf_int(json(&last.out), "runs", 0), 1);
    GIVES(HF_CLI_EXIT_OK, "type", "ls", "-o", "name");
    ck_assert(says(&last.out, "waits\n"));
    GIVES(HF_CLI_EXIT_NOTFOUND, "type", "show", "nobody");
    if (served) {
        GIVES(HF_CLI_EXIT_RUN_FAILED, "start", "fails", "--id", "f-1", "--wait");
        for (int i = 0; i < 600 && !says(&last.out, "order 17 is gone"); i++) {
            GIVES(HF_CLI_EXIT_OK, "failure", "ls");
            (void)poll(&(struct pollfd){.fd = -1}, 1, 50);
        }
        GIVES(HF_CLI_EXIT_OK, "failure", "ls", "--limit", "1", "-o", "name");
        (void)snprintf(id, sizeof(id), "%.*s", (int)last.out.len - 1, hf_buf_text(&last.out));
        GIVES(HF_CLI_EXIT_OK, "failure", "show", id, "--json");
        ck_assert_str_eq(hf_str(json(&last.out), "failure_type", ""), "broken");
    }
    GIVES(HF_CLI_EXIT_NOTFOUND, "failure", "show", "nothing");
}

static void all_live(hf_engine_kind kind, bool server)
{
    place_begin(kind, server);
    schedule_lives();
    batch_lives();
    copies_live();
    fleet_lives();
    survey_lives();
    place_end();
}

HF_BOTH_ENGINES(nouns_of_a_server)
{
    all_live(kind, true);
}

START_TEST(nouns_of_a_store)
{
    all_live(HF_ENGINE_SQLITE, false);
}
END_TEST

/* A server is looked over as a store is: how it does, and which runs need a person. */
HF_BOTH_ENGINES(doctor_of_a_server)
{
    hf_value said;

    place_begin(kind, true);
    GIVES(HF_CLI_EXIT_OK, "doctor");
    ck_assert(says(&last.out, ": Holdfast " HF_VERSION_TEXT ", ready, clock +0 s; 0 of "));
    ck_assert(says(&last.out, " 0 need a person\n"));
    GIVES(HF_CLI_EXIT_OK, "start", "nobody-has-it", "--id", "lost");
    GIVES(HF_CLI_EXIT_FAILED, "doctor", line + strlen("HF_URL="), "--json");
    said = json(&last.out);
    ck_assert(hf_bool(said, "report.ready", false));
    ck_assert_str_eq(hf_str(said, "report.status", ""), "ready");
    ck_assert_int_eq(hf_int(said, "report.attention", 0), 1);
    ck_assert_uint_gt(hf_len(hf_get(said, "report.checks")), 10);
    ck_assert_str_eq(hf_str(said, "runs.0.instance_id", ""), "lost");
    ck_assert_str_eq(hf_str(said, "runs.0.code", ""), "unknown_type");
    GIVES(HF_CLI_EXIT_FAILED, "doctor");
    ck_assert(says(&last.out, "lost "));
    ck_assert(says(&last.out, " 1 need a person\n"));
    ck_assert_int_eq(RUN("doctor", "http://127.0.0.1:1"), HF_CLI_EXIT_UNREACHABLE);
    ck_assert_int_eq(RUN("doctor", line + strlen("HF_URL=")), HF_CLI_EXIT_DENIED);
    place_end();
}

/* What only reads a store works beside the engine that owns it; what changes it does not. */
START_TEST(lists_beside_an_owner)
{
    hf_engine *owner = NULL;
    char path[128];

    begin();
    (void)snprintf(path, sizeof(path), "%s/owned.db", scratch);
    ck_assert_int_eq(hf_open(path, &app, &owner), HF_OK);
    ck_assert_int_eq(hf_namespace_create(owner, "billing",
                                         &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}),
                     HF_OK);
    ck_assert_int_eq(RUN("token", "create", "--role", "read", "--store", path), HF_CLI_EXIT_OWNED);
    ck_assert_int_eq(RUN("namespace", "create", "other", "--store", path), HF_CLI_EXIT_OWNED);
    ck_assert_int_eq(RUN("namespace", "ls", "--store", path), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "billing"));
    ck_assert_int_eq(RUN("namespace", "show", "billing", "--store", path), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("namespace", "show", "none", "--store", path), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(RUN("token", "ls", "--store", path), HF_CLI_EXIT_OK);
    hf_close(owner);
    ck_assert_int_eq(RUN("token", "create", "--role", "read", "--store", path), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("token", "ls", "--store", path, "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "tok_"));
    ck_assert_int_eq(RUN("doctor", path, "--namespace", "billing"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(RUN("verify", path), HF_CLI_EXIT_OK);
    end();
}
END_TEST

HF_PG_SUITE_MAIN("cli/noun", HF_BOTH(nouns_of_a_server), {nouns_of_a_store, 120},
                 HF_BOTH(doctor_of_a_server), {lists_beside_an_owner, 0})
