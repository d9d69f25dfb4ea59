/* test_look.c: looking at one run in every format, at one of its steps, at an earlier moment, and
   at the tree of what it started; from a server and from its store. */
#include <poll.h>
#include <stdatomic.h>

#include "cli/exit.h"
#include "lib/check_store.h"
#include "lib/site.h"

#include "cli/program.h" /* last: its names are short */

static _Atomic bool go_on;

/* Tells of its progress, then waits until the case lets it go. */
static hf_value import(hf_act *a, hf_value in)
{
    (void)in;
    while (!atomic_load(&go_on)) {
        if (!hf_heartbeat(a, .current = 5, .total = 10, .unit = "rows"))
            return hf_stopped(a);
        (void)poll(&(struct pollfd){.fd = -1}, 1, 20);
    }
    return hf_json(a, "'imported'");
}

static hf_value region(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "import", in, .heartbeat = hf_seconds(60));
}

static hf_value nightly(hf_ctx *w, hf_value in)
{
    hf_value done = hf_child(w, "region", in, .id = "region-1");

    (void)hf_receive(w, "go");
    return done;
}

static const hf_app app = {
    .name = "look",
    .workflows = (const hf_workflow_def[]){{.type = "nightly",
                                            .run = nightly,
                                            .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
                                           {.type = "region", .run = region},
                                           {0}},
    .activities = (const hf_activity_def[]){{hf_fn(import)}, {0}},
};

static hf_site site;
static const char *const *env;
static const char *store;

static void site_begin(hf_engine_kind kind)
{
    static char line[64];
    static const char *lines[4];

    begin();
    atomic_store(&go_on, false);
    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    (void)snprintf(line, sizeof(line), "HF_URL=http://127.0.0.1:%d", hf_server_port(site.server));
    lines[0] = line;
    lines[1] = "HF_TOKEN=tok-admin";
    env = lines;
    store = hf_test_place_address(site.place);
}

static void site_end(void)
{
    atomic_store(&go_on, true);
    hf_site_close(&site);
    end();
}

#define DO(...) RUN_IN(env, __VA_ARGS__)
#define GIVES(code, ...)                                                                           \
    ck_assert_msg(DO(__VA_ARGS__) == (code), "%s%s", hf_buf_text(&last.out), hf_buf_text(&last.err))

/* Until the command prints the text; bounded by patience alone. */
#define UNTIL(text, ...)                                                                           \
    for (int tries_ = 0;; tries_++) {                                                              \
        (void)DO(__VA_ARGS__);                                                                     \
        if (says(&last.out, text))                                                                 \
            break;                                                                                 \
        ck_assert_msg(tries_ < 600, "no %s: %s%s", text, hf_buf_text(&last.out),                   \
                      hf_buf_text(&last.err));                                                     \
        (void)poll(&(struct pollfd){.fd = -1}, 1, 50);                                             \
    }

/* The children are below the step that started them, with a bar for what is under way. */
HF_BOTH_ENGINES(a_tree_shows_children)
{
    site_begin(kind);
    GIVES(HF_CLI_EXIT_OK, "start", "nightly", "--id", "night-1", "-o", "none");
    UNTIL("5/10 rows", "watch", "night-1", "--tree", "--timeout", "200ms");
    ck_assert(says(&last.out, "child region-1"));
    ck_assert(says(&last.out, "▇▇▇▇▇▇▇▇▇▇▁"));
    ck_assert(says(&last.out, "   └─ ● 1  activity import"));
    UNTIL("5/10 rows", "watch", "night-1", "--tree", "--timeout", "200ms", "--store", store);
    atomic_store(&go_on, true);
    GIVES(HF_CLI_EXIT_OK, "result", "region-1", "--timeout", "60s");
    GIVES(HF_CLI_EXIT_OK, "signal", "night-1", "go", "-o", "none");
    GIVES(HF_CLI_EXIT_OK, "watch", "night-1", "--timeout", "60s", "-o", "jsonl");
    ck_assert(says(&last.out, "\"status\":\"completed\""));
    site_end();
}

/* One step with its activity and events, and the run as it was; both places say the same. */
HF_BOTH_ENGINES(steps_and_moments)
{
    const char *const places[][2] = {{"--namespace", "default"}, {"--store", NULL}};

    site_begin(kind);
    atomic_store(&go_on, true);
    GIVES(HF_CLI_EXIT_OK, "start", "region", "--id", "r-1", "--wait");
    for (size_t i = 0; i < 2; i++) {
        const char *flag = places[i][0];
        const char *value = places[i][1] ? places[i][1] : store;

        GIVES(HF_CLI_EXIT_OK, "show", "r-1", "--step", "1", "-o", "json", flag, value);
        ck_assert_str_eq(hf_str(json(&last.out), "wait.kind", ""), "activity");
        ck_assert_str_eq(hf_str(json(&last.out), "activity.type", ""), "import");
        ck_assert_uint_ge(hf_len(hf_get(json(&last.out), "events")), 3);
        GIVES(HF_CLI_EXIT_NOTFOUND, "show", "r-1", "--step", "7", flag, value);
        GIVES(HF_CLI_EXIT_USAGE, "show", "r-1", "--step", "first", flag, value);
        GIVES(HF_CLI_EXIT_OK, "show", "r-1", "--at", "2", "-o", "json", flag, value);
        ck_assert_str_ne(hf_str(json(&last.out), "status", ""), "completed");
        GIVES(HF_CLI_EXIT_USAGE, "show", "r-1", "--at", "zero", flag, value);
    }
    site_end();
}

/* Every read has every format, and none prints talk where data goes. */
HF_BOTH_ENGINES(reads_have_every_format)
{
    static const char *const formats[] = {"table", "wide", "json", "jsonl", "csv", "name", "none"};
    static const char *const reads[][3] = {{"show", "r-1", NULL},           {"why", "r-1", NULL},
                                           {"history", "r-1", NULL},        {"ls", NULL, NULL},
                                           {"namespace", "ls", NULL},       {"token", "ls", NULL},
                                           {"schedule", "ls", NULL},        {"workers", "ls", NULL},
                                           {"queue", "ls", NULL},           {"build", "ls", NULL},
                                           {"namespace", "show", "default"}};

    site_begin(kind);
    atomic_store(&go_on, true);
    GIVES(HF_CLI_EXIT_OK, "start", "region", "--id", "r-1", "--wait");
    for (size_t r = 0; r < sizeof(reads) / sizeof(reads[0]); r++)
        for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
            const char *words[WORDS_MAX] = {PROGRAM, reads[r][0]};
            size_t count = 2;

            for (size_t w = 1; w < 3 && reads[r][w]; w++)
                words[count++] = reads[r][w];
            words[count++] = "-o";
            words[count] = formats[f];
            ck_assert_msg(run(env, words) == HF_CLI_EXIT_OK, "%s -o %s: %s", reads[r][0],
                          formats[f], hf_buf_text(&last.err));
            ck_assert_uint_eq(last.err.len, 0);
            if (strcmp(formats[f], "json") == 0)
                (void)json(&last.out);
            if (strcmp(formats[f], "none") == 0)
                ck_assert_uint_eq(last.out.len, 0);
        }
    GIVES(HF_CLI_EXIT_OK, "show", "r-1", "-o", "name");
    ck_assert_str_eq(hf_buf_text(&last.out), "r-1\n");
    GIVES(HF_CLI_EXIT_OK, "why", "r-1", "-o", "csv");
    ck_assert(says(&last.out, "instance_id,severity,code,text\nr-1,ok,"));
    GIVES(HF_CLI_EXIT_OK, "top", "-o", "json");
    ck_assert(hf_get(json(&last.out), "runs"));
    site_end();
}

/* What a shell is offered: ids, types, names that the run declares; nothing when nobody answers. */
HF_BOTH_ENGINES(words_for_a_shell)
{
    site_begin(kind);
    GIVES(HF_CLI_EXIT_OK, "start", "nightly", "--id", "night-1", "-o", "none");
    UNTIL("night-1\n", "completion", "words", "--", "show", "nig");
    UNTIL("nightly\n", "completion", "words", "--", "start", "nig");
    UNTIL("go\n", "completion", "words", "--", "signal", "night-1", "");
    UNTIL("night-1\n", "completion", "words", "--", "cancel", "--reason", "x", "--store", store,
          "n");
    GIVES(HF_CLI_EXIT_OK, "completion", "words", "--", "show", "other");
    ck_assert_uint_eq(last.out.len, 0);
    GIVES(HF_CLI_EXIT_OK, "completion", "words", "--", "nonsense", "x");
    ck_assert_uint_eq(last.out.len, 0);
    ck_assert_int_eq(
        RUN_IN(ENV("HF_URL=http://127.0.0.1:1"), "completion", "words", "--", "show", ""),
        HF_CLI_EXIT_OK);
    ck_assert_uint_eq(last.out.len + last.err.len, 0);
    site_end();
}

HF_PG_SUITE_MAIN("cli/look", HF_BOTH(a_tree_shows_children), HF_BOTH(steps_and_moments),
                 HF_BOTH(reads_have_every_format), HF_BOTH(words_for_a_shell))
