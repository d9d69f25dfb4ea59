/* test_daily.c: the daily verbs as a script uses them: against a real server, and on a real store
   while that server works on it. Each exit code by its name. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "cli/exit.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/nap.h"
#include "lib/site.h"
#include "server/registry.h"

#include "cli/program.h" /* last: its names are short */

typedef struct counter {
    int64_t sum;
} counter;

static hf_value greets(hf_ctx *w, hf_value in)
{
    return hf_json(w, "{'hello': %s}", hf_str(in, "name", "?"));
}

static hf_value fails(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "broken", "on purpose");
}

static hf_value adds(hf_ctx *w, void *state, hf_value args)
{
    counter *c = state;

    c->sum += hf_int(args, "by", 0);
    if (c->sum > 100)
        hf_fail(w, "too_much", "more than a hundred");
    return hf_json(w, "%lld", (long long)c->sum);
}

static hf_value sum(hf_mem *m, const void *state, hf_value args)
{
    (void)args;
    return hf_json_(m, "%lld", (long long)((const counter *)state)->sum);
}

static const hf_workflow_def workflows[] = {
    {"greets", greets, .params = "name:string"},
    {.type = "fails", .run = fails},
    {"waits", hf_wait_go, sizeof(counter),
     .signals = (const hf_signal_def[]){{"go", "by:string?"}, {0}},
     .updates = (const hf_update_def[]){{"add", "by:int", adds, NULL}, {0}},
     .queries = (const hf_query_def[]){{"sum", "", sum}, {0}}},
    {0}};
static const hf_app app = {.name = "daily", .workflows = workflows};

static hf_site site;
static char url_line[64];
static const char *const *env;

/* A server with the workflows in it, and an environment in which verbs find it. */
static void site_begin(hf_engine_kind kind)
{
    static const char *lines[4];

    begin();
    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    (void)snprintf(url_line, sizeof(url_line), "HF_URL=http://127.0.0.1:%d",
                   hf_server_port(site.server));
    lines[0] = url_line;
    lines[1] = "HF_TOKEN=tok-admin";
    env = lines;
}

static void site_end(void)
{
    hf_site_close(&site);
    end();
}

#define DO(...) RUN_IN(env, __VA_ARGS__)

/* Start and wait, list, show, result, history: the same from the server and from its store. */
HF_BOTH_ENGINES(starts_lists_and_shows)
{
    const char *store;

    site_begin(kind);
    store = hf_test_place_address(site.place);
    ck_assert_int_eq(DO("start", "greets", "name=Ada", "--id", "g-1", "--wait"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "{\"hello\":\"Ada\"}\n");
    ck_assert_int_eq(DO("start", "greets", "{\"name\": \"Bo\"}", "--id", "g-2", "-o", "name"),
                     HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "g-2\n");
    ck_assert_int_eq(DO("result", "g-2", "--timeout", "20s"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("ls", "type=greets", "status=completed", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "g-2\ng-1\n");
    ck_assert_int_eq(DO("ls", "--store", store, "type=greets", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "g-2\ng-1\n");
    ck_assert_int_eq(DO("show", "g-1", "--store", store), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "result    {\"hello\":\"Ada\"}"));
    ck_assert_int_eq(DO("show", "g-1#1", "-o", "json"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_str(json(&last.out), "workflow_id", ""), "g-1");
    ck_assert_int_eq(DO("result", "g-1", "--store", store), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("history", "g-1", "-o", "json"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_str(json(&last.out), "events.0.type", ""), "StartAccepted");
    ck_assert_int_eq(
        DO("history", "g-1", "--store", store, "-f", "--kinds", "WorkflowCompleted", "-o", "jsonl"),
        HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_str(json(&last.out), "type", ""), "WorkflowCompleted");
    ck_assert_int_eq(DO("history", "g-1", "--kinds", "WorkflowCompleted,TimerFires"),
                     HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "no event type TimerFires; there are TimerScheduled, TimerFired"));
    ck_assert_int_eq(DO("history", "g-1", "--kinds", "completed"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "Start..., Workflow..."));
    ck_assert_int_eq(DO("history", "g-1", "--store", store, "--kinds", ""), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("why", "g-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "Completed"));
    ck_assert_int_eq(DO("watch", "g-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "completed"));
    ck_assert_int_eq(DO("namespace", "ls", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "default\n");
    site_end();
}

/* Namespaces through a server. Making one lets the server read its store anew, so this one has a
   token there. */
START_TEST(makes_namespaces)
{
    hf_token_opts options = {.size_ = sizeof(options), .role = "admin"};
    hf_token token;
    char line[96];
    hf_err err = {0};

    site_begin(HF_ENGINE_SQLITE);
    ck_assert_int_eq(hf_token_create_with(site.engine, &options, &token), HF_OK);
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "refresh");
    (void)snprintf(line, sizeof(line), "HF_TOKEN=%s", token.secret);
    env = ENV(url_line, line);
    ck_assert_int_eq(DO("namespace", "create", "b", "description=Bills"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("namespace", "set", "b", "retention_days:=9", "--json"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(hf_int(json(&last.out), "retention_days", 0), 9);
    ck_assert_int_eq(DO("namespace", "show", "c"), HF_CLI_EXIT_NOTFOUND);
    site_end();
}
END_TEST

/* A start says its second name, which it can be found by and nobody else may have, and its place
   among those that wait. */
HF_BOTH_ENGINES(n30_starts_with_keys)
{
    site_begin(kind);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-1", "--correlation-key", "order-7",
                        "--correlation-scope", "done", "--priority", "3", "--concurrency-key",
                        "one"),
                     HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("start", "waits", "--correlation-key", "order-7"), HF_CLI_EXIT_REJECTED);
    ck_assert(says(&last.err, "taken by the instance w-1"));
    ck_assert_int_eq(DO("start", "waits", "--priority", "100"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "a priority is 1 to 99"));
    ck_assert_int_eq(DO("start", "waits", "--weight", "2"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "needs a rate limit"));
    ck_assert_int_eq(DO("start", "waits", "--rate-limit", "mail"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "no rate limit is declared for mail"));
    ck_assert_int_eq(DO("signal", "order-7", "go", "by=Ada"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("result", "w-1"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "{\"by\":\"Ada\"}\n");
    site_end();
}

/* What is told to a run that waits: signal, update, query. */
HF_BOTH_ENGINES(tells_runs_something)
{
    site_begin(kind);
    ck_assert_int_eq(
        DO("start", "waits", "--id", "w-1", "--label", "team=blue", "--business-key", "B-1"),
        HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("update", "w-1", "add", "by:=7"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "7\n");
    ck_assert_int_eq(DO("update", "w-1", "add", "by:=700"), HF_CLI_EXIT_FAILED);
    ck_assert(says(&last.err, "more than a hundred"));
    ck_assert_int_eq(DO("query", "w-1", "sum"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("update", "w-1", "add", "by=seven"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "by"));
    ck_assert_int_eq(DO("signal", "w-1", "gone"), HF_CLI_EXIT_REJECTED);
    ck_assert_int_eq(DO("repair", "w-1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("result", "w-1", "--timeout", "50ms"), HF_CLI_EXIT_TIMEOUT);
    ck_assert(says(&last.err, "holdfast why w-1"));
    ck_assert_int_eq(DO("signal", "w-1", "go", "by=Ada", "--dedup", "mail-7"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("signal", "w-1", "go", "by=Ada", "--dedup", "mail-7", "-o", "json"),
                     HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("result", "w-1"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "{\"by\":\"Ada\"}\n");
    ck_assert_int_eq(DO("archive", "w-1", "--reason", "done"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("signal", "w-1", "go"), HF_CLI_EXIT_REJECTED);
    ck_assert(says(&last.err, "next:  holdfast show w-1"));
    site_end();
}

/* How a run ended is the exit code of those who wait for it. */
HF_BOTH_ENGINES(tells_how_a_run_ended)
{
    site_begin(kind);
    ck_assert_int_eq(DO("start", "fails", "--id", "f-1", "--wait"), HF_CLI_EXIT_RUN_FAILED);
    ck_assert_str_eq(hf_buf_text(&last.err), "f-1 failed: broken: on purpose\n");
    ck_assert_int_eq(DO("result", "f-1", "--json"), HF_CLI_EXIT_RUN_FAILED);
    ck_assert_str_eq(hf_str(json(&last.out), "failure.type", ""), "broken");
    ck_assert_int_eq(DO("start", "waits", "--id", "w-1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-2"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-2"), HF_CLI_EXIT_REJECTED);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-2", "--dup", "existing"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-3", "--run-timeout", "1s", "--wait"),
                     HF_CLI_EXIT_RUN_STOPPED);
    ck_assert_int_eq(DO("cancel", "w-1", "nobody", "--reason", "over"), HF_CLI_EXIT_PARTLY);
    ck_assert_int_eq(DO("terminate", "w-2"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("terminate", "w-2", "--reason", "over", "--json"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_str(json(&last.out), "outcome", ""), "terminated");
    ck_assert_int_eq(DO("watch", "w-1"), HF_CLI_EXIT_RUN_STOPPED);
    ck_assert_int_eq(DO("result", "w-2"), HF_CLI_EXIT_RUN_STOPPED);
    ck_assert_int_eq(DO("cancel", "w-1"), HF_CLI_EXIT_REJECTED);
    ck_assert_int_eq(DO("cancel", "nobody"), HF_CLI_EXIT_NOTFOUND);
    site_end();
}

/* What ls prints for a filter, from the server and from its store (NULL: from the server); both are
   folded a moment after the commit. */
static void ls_finds(const char *store, const char *filter, const char *ids)
{
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(store ? DO("ls", "--store", store, filter, "-o", "name")
                               : DO("ls", filter, "-o", "name"),
                         HF_CLI_EXIT_OK);
        if (strcmp(hf_buf_text(&last.out), ids) == 0)
            return;
        hf_nap_ms(50);
    }
    ck_abort_msg("%s finds %s", filter, hf_buf_text(&last.out));
}

/* Filters by labels and search attributes, from a server and from its store; what is not understood
   lists nothing. */
HF_BOTH_ENGINES(n08_filters_are_understood_or_refused)
{
    static const struct {
        const char *filter, *found;
    } good[] = {{"label=team=blue", "b\n"},           {"label[team]=red", "a\n"},
                {"search_attribute=n>=2", "b\n"},     {"search_attribute=n=1", "a\n"},
                {"search_attribute[n][lt]=2", "a\n"}, {"label=team=none", ""},
                {"q=-label.team:blue", "a\n"},        {"q=-status:failed", "b\na\n"}};
    static const char *const bad[] = {"label=team",           "labels[team]=red",
                                      "label[team][gte]=red", "search_attribute=n",
                                      "attribute=n=1",        "q=-tpye:x"};
    const char *store;

    site_begin(kind);
    store = hf_test_place_address(site.place);
    for (const char *id = "ab"; *id; id++) {
        bool a = *id == 'a';
        const hf_start_opts o = {.size_ = sizeof(o),
                                 .id = a ? "a" : "b",
                                 .labels = a ? "{\"team\":\"red\"}" : "{\"team\":\"blue\"}",
                                 .search_attributes = a ? "{\"n\":1}" : "{\"n\":2}"};

        ck_assert_int_eq(hf_start_with(site.engine, "waits", &o), HF_OK);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ls_finds(NULL, good[i].filter, good[i].found);
        ls_finds(store, good[i].filter, good[i].found);
    }
    ck_assert_int_eq(DO("ls", "--order", "oldest", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "a\nb\n");
    ck_assert_int_eq(DO("ls", "--store", store, "--order", "oldest", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "a\nb\n");
    ck_assert_int_eq(DO("ls", "--order", "sideways"), HF_CLI_EXIT_USAGE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(DO("ls", bad[i], "-o", "name"), HF_CLI_EXIT_USAGE);
        ck_assert_int_eq(DO("ls", "--store", store, bad[i], "-o", "name"), HF_CLI_EXIT_USAGE);
        ck_assert_uint_eq(last.out.len, 0);
    }
    ck_assert_int_eq(DO("ls", "wait_kinds=x"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "wait_kind,"));
    ck_assert_int_eq(DO("ls", "--store", store, "wait_kinds=x"), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "wait_kind,"));
    ck_assert_int_eq(DO("ls", "status=running", "status=failed"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("ls", "label=team=red", "label=team=blue"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("ls", "search_attribute=n=1", "search_attribute=n>0"), HF_CLI_EXIT_USAGE);
    site_end();
}

/* Every format of a list. */
START_TEST(prints_every_format)
{
    site_begin(HF_ENGINE_SQLITE);
    ck_assert_int_eq(DO("start", "waits", "--id", "a", "--business-key", "x,\"y"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(DO("ls", "-o", "csv", "--columns", "workflow_id,business_key"),
                     HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "workflow_id,business_key\na,\"x,\"\"y\"\n"));
    ck_assert_int_eq(DO("ls", "-o", "wide"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "BUSINESS KEY"));
    ck_assert_int_eq(DO("ls", "--json"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(hf_int(json(&last.out), "workflow_count", 0), 1);
    ck_assert_int_eq(DO("ls", "-o", "jsonl"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_str(json(&last.out), "workflow_id", ""), "a");
    ck_assert_int_eq(DO("ls", "-o", "none"), HF_CLI_EXIT_OK);
    ck_assert_uint_eq(last.out.len, 0);
    ck_assert_int_eq(DO("ls", "wait_kinds=signal"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("ls", "--limit", "0"), HF_CLI_EXIT_USAGE);
    site_end();
}
END_TEST

/* Input from a file, and every mistake in it. */
START_TEST(takes_input_in_every_form)
{
    site_begin(HF_ENGINE_SQLITE);
    file_write("in.json", "{\"name\": \"Cy\"}\n");
    ck_assert_int_eq(DO("start", "greets", "@in.json", "--wait"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "{\"hello\":\"Cy\"}\n");
    ck_assert_int_eq(DO("start", "greets", "@nothing.json"), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(DO("start", "greets", "{\"name\""), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("start", "greets", "name"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("start", "greets", "name=a", "name=b"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("start", "greets", "name:={"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("start", "greets", "-"), HF_CLI_EXIT_USAGE); /* nothing comes in */
    ck_assert_int_eq(DO("start", "greets", "nome=a"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("start", "greets", "name=a", "--run-timeout", "soon"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("show", "#1"), HF_CLI_EXIT_USAGE);
    site_end();
}
END_TEST

/* Who may not, what is not there, and who else owns it. */
START_TEST(says_what_stands_against_it)
{
    const char *other[] = {url_line, "HF_TOKEN=wrong", NULL};
    const char *reads[] = {url_line, "HF_TOKEN=tok-read", NULL};
    const char *store;

    site_begin(HF_ENGINE_SQLITE);
    store = hf_test_place_address(site.place);
    ck_assert_int_eq(RUN_IN(other, "ls"), HF_CLI_EXIT_DENIED);
    ck_assert_int_eq(RUN_IN(reads, "ls"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN_IN(reads, "start", "greets", "name=x"), HF_CLI_EXIT_DENIED);
    file_write("token", "tok-admin\n");
    ck_assert_int_eq(RUN_IN(other, "ls", "--token-file", "token"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN_IN(other, "ls", "--token-file", "none"), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(RUN_IN(other, "ls", "--token-env", "NONE"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("show", "nobody"), HF_CLI_EXIT_NOTFOUND);
    ck_assert(says(&last.err, "next:  holdfast ls"));
    ck_assert_int_eq(DO("show", "nobody", "--store", store), HF_CLI_EXIT_NOTFOUND);
    ck_assert(says(&last.err, "holdfast ls --store "));
    ck_assert_int_eq(DO("ls", "--namespace", "nowhere"), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(DO("start", "greets", "name=x", "--store", store), HF_CLI_EXIT_OWNED);
    ck_assert_int_eq(DO("ls", "--store", "token"), HF_CLI_EXIT_NOTASTORE);
    ck_assert_int_eq(DO("ls", "--store", "x", "--url", "y"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(DO("ls", "--url", "http://127.0.0.1:1"), HF_CLI_EXIT_UNREACHABLE);
    ck_assert(says(&last.err, "next:  holdfast dev"));
    ck_assert_int_eq(DO("token", "create", "--role", "read", "--json"), HF_CLI_EXIT_OK);
    site_end();
}
END_TEST

/* Answers once with what it is told to, as a server of another kind would. */
static int answer_once(const char *answer, const char *word)
{
    char url[64];
    int port;
    int listener = hf_wire_listen(&port);
    pid_t pid;
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int fd;
    char bytes[4096];
    int code;

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    pid = start(NULL, (const char *const[]){PROGRAM, word, "--url", url, NULL}, out, out);
    fd = accept(listener, NULL, NULL);
    ck_assert_int_gt(read(fd, bytes, sizeof(bytes)), 0);
    ck_assert(hf_wire_send(fd, hf_slice_of(answer)));
    (void)close(fd);
    code = finish(pid);
    (void)close(listener);
    (void)close(out);
    return code;
}

/* A server that fails, one that speaks another version, and one that is none of ours. */
START_TEST(tells_servers_apart)
{
    begin();
    ck_assert_int_eq(answer_once("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}", "ls"),
                     HF_CLI_EXIT_SERVER);
    ck_assert_int_eq(answer_once("HTTP/1.1 400 No\r\nContent-Length: 47\r\n\r\n"
                                 "{\"reason\": \"unsupported_control_plane_version\"}",
                                 "ls"),
                     HF_CLI_EXIT_VERSION);
    ck_assert_int_eq(answer_once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "ls"),
                     HF_CLI_EXIT_SERVER);
    end();
}
END_TEST

/* Ctrl-C ends the watching, says so, and leaves the run alone. */
START_TEST(stops_watching_on_a_signal)
{
    int ends[2];
    char line[256] = "";
    pid_t pid;
    int err;

    site_begin(HF_ENGINE_SQLITE);
    ck_assert_int_eq(DO("start", "waits", "--id", "w-1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(pipe(ends), 0);
    err = open("err", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    pid = start(env, (const char *const[]){PROGRAM, "watch", "w-1", NULL}, ends[1], err);
    (void)close(ends[1]);
    ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
    ck_assert(strstr(line, "w-1  waits"));
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    ck_assert_int_eq(finish(pid), HF_CLI_EXIT_INTERRUPTED);
    (void)close(ends[0]);
    (void)close(err);
    file_read("err", &last.err);
    ck_assert(says(&last.err, "w-1 goes on"));
    ck_assert_int_eq(DO("ls", "status=running", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "w-1\n");
    site_end();
}
END_TEST

/* On a store nobody owns, commands work without a server, and an old run can be shown. */
HF_BOTH_ENGINES(works_on_a_store_alone)
{
    hf_test_place *place = hf_test_place_new(kind);
    const char *store = hf_test_place_address(place);

    begin();
    ck_assert_int_eq(RUN("start", "any", "a:=1", "--id", "x-1", "--store", store), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("show", "x-1", "--store", store, "--at", "1", "--json"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(hf_int(json(&last.out), "as_of_event", 0), 1);
    ck_assert_int_eq(RUN("pause", "x-1", "--store", store, "--reason", "audit"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("resume", "x-1", "--store", store), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("cancel", "x-1", "--store", store), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("result", "x-1", "--store", store), HF_CLI_EXIT_RUN_STOPPED);
    ck_assert_int_eq(RUN("start", "any", "--store", store, "--namespace", "b"),
                     HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(
        RUN("namespace", "create", "b", "retention_days:=7", "--store", store, "--json"),
        HF_CLI_EXIT_OK);
    ck_assert_int_eq(hf_int(json(&last.out), "retention_days", 0), 7);
    ck_assert_int_eq(RUN("start", "any", "--id", "y", "--store", store, "--namespace", "b"),
                     HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("ls", "--store", store, "--namespace", "b", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "y\n");
    end();
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("cli/daily", HF_BOTH(starts_lists_and_shows),
                 HF_BOTH(n08_filters_are_understood_or_refused), {makes_namespaces, 0},
                 HF_BOTH(n30_starts_with_keys), HF_BOTH(tells_runs_something),
                 HF_BOTH(tells_how_a_run_ended), {prints_every_format, 0},
                 {takes_input_in_every_form, 0}, {says_what_stands_against_it, 0},
                 {tells_servers_apart, 0}, {stops_watching_on_a_signal, 0},
                 HF_BOTH(works_on_a_store_alone))
