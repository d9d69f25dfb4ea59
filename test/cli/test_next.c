/* test_next.c: what verbs answer when something is not as it should be: the exit code, why, and the
   command that helps, each of them written down here as a person sees it. */
#include <poll.h>
#include <signal.h>

#include "cli/exit.h"
#include "lib/site.h"
#include "server/registry.h"

#include "cli/program.h" /* last: its names are short */

static bool is_set(const void *state)
{
    return *(const int *)state != 0;
}

static hf_value set(hf_ctx *w, void *state, hf_value args)
{
    *(int *)state = (int)hf_int(args, "to", 0);
    return hf_json(w, "null");
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)hf_wait(w, "set", is_set);
    (void)hf_receive(w, "go");
    return in;
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "waits", in, .id = "child-1");
}

static const hf_workflow_def workflows[] = {
    {"waits", waits, sizeof(int), .params = "sku:string, amount:int=1, note:string?",
     .signals = (const hf_signal_def[]){{"go", "by:string, how:enum(fast|slow)=fast"}, {0}},
     .updates =
         (const hf_update_def[]){{"set", "to:int", set, NULL}, {"none", "", set, NULL}, {0}}},
    {.type = "parent", .run = parent, .params = "sku:string"},
    {0}};
static const hf_app app = {.name = "next", .build_id = "v7", .workflows = workflows};

static hf_site site;
static char url_line[64];
static const char *env[] = {url_line, "HF_TOKEN=tok-admin", NULL};

static void site_begin(void)
{
    begin();
    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    (void)snprintf(url_line, sizeof(url_line), "HF_URL=http://127.0.0.1:%d",
                   hf_server_port(site.server));
}

static void site_end(void)
{
    hf_site_close(&site);
    end();
}

typedef struct mistake {
    const char *words; /* separated by spaces */
    int code;
    const char *why;
    const char *next; /* a whole line; NULL: not looked at */
} mistake;

static int do_words(const char *text)
{
    const char *words[WORDS_MAX] = {PROGRAM};
    char copy[256];
    char *rest = NULL;
    size_t count = 1;

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return run(env, words);
}

static void mistakes_check(const mistake *mistakes, size_t count)
{
    char line[160];

    for (size_t i = 0; i < count; i++) {
        const mistake *m = &mistakes[i];
        int code = do_words(m->words);

        ck_assert_msg(code == m->code, "%s: exit code %d\n%s", m->words, code,
                      hf_buf_text(&last.err));
        ck_assert_msg(says(&last.err, m->why), "%s: %s", m->words, hf_buf_text(&last.err));
        (void)snprintf(line, sizeof(line), "next:  %s\n", m->next ? m->next : "");
        ck_assert_msg(!m->next || says(&last.err, line), "%s: %s", m->words,
                      hf_buf_text(&last.err));
    }
}

/* Arguments that do not fit are answered with the contract; what is not there with where to look
   for it; what takes too long with the verb that says why. */
START_TEST(mistakes_have_a_next_command)
{
    static const mistake mistakes[] = {
        {"start waits", HF_CLI_EXIT_USAGE, "It takes sku:string, amount:int=1, note:string?.",
         "holdfast help start"},
        {"start waits sku=a colour=red", HF_CLI_EXIT_USAGE, "colour: Unknown argument [colour].",
         "holdfast help start"},
        {"signal w-1 go by:=1", HF_CLI_EXIT_USAGE, "It takes by:string, how:enum(fast|slow)=fast.",
         "holdfast show w-1"},
        {"update w-1 set", HF_CLI_EXIT_USAGE, "It takes to:int.", "holdfast show w-1"},
        {"update w-1 none to=1", HF_CLI_EXIT_USAGE, "It takes nothing.", "holdfast show w-1"},
        {"signal w-1 nothing by=me", HF_CLI_EXIT_REJECTED, "rejected_unknown_signal",
         "holdfast show w-1"},
        {"query w-1 nothing", HF_CLI_EXIT_NOTFOUND, "no query called nothing", "holdfast show w-1"},
        {"result w-1 --timeout 1ms", HF_CLI_EXIT_TIMEOUT, "w-1 is still waiting",
         "holdfast why w-1"},
        {"watch w-1 --timeout 1ms", HF_CLI_EXIT_TIMEOUT, "w-1 is still waiting",
         "holdfast why w-1"},
        {"start waits sku=a --id w-2 --wait --timeout 1ms", HF_CLI_EXIT_TIMEOUT, "w-2 is still",
         "holdfast why w-2"},
        {"show w-1 --step 99", HF_CLI_EXIT_NOTFOUND, "w-1 has no step 99", "holdfast help show"},
        {"show w-1#9", HF_CLI_EXIT_NOTFOUND, "there is no such run of w-1", "holdfast ls"},
        {"ls --namespace none", HF_CLI_EXIT_NOTFOUND, "no such namespace", "holdfast namespace ls"},
        {"show w-1 --namespace none", HF_CLI_EXIT_NOTFOUND, "no such namespace",
         "holdfast namespace ls"},
        {"cancel w-1 --namespace none", HF_CLI_EXIT_NOTFOUND, "no such namespace",
         "holdfast namespace ls"},
        {"ls --columns workflow_id,colour", HF_CLI_EXIT_USAGE, "there is no column colour",
         "holdfast help ls"},
        {"ls colour=red", HF_CLI_EXIT_USAGE, "there is no filter \"colour\"", "holdfast help ls"},
        {"ls --token-file none", HF_CLI_EXIT_NOTFOUND, "cannot open the token file none",
         "holdfast help ls"},
        {"start waits @none", HF_CLI_EXIT_NOTFOUND, "cannot open none", "holdfast help start"},
        {"namespace set default retention_day:=3", HF_CLI_EXIT_USAGE,
         "there is no field retention_day; there are:", "holdfast help namespace"},
        {"schedule create s waits every=1h overlap=skip", HF_CLI_EXIT_USAGE,
         "there is no field overlap", "holdfast help schedule"},
        {"token revoke none", HF_CLI_EXIT_NOTFOUND, "no such token", "holdfast help token"},
        {"show", HF_CLI_EXIT_USAGE, "show needs an ID", "holdfast help show"},
        {"history w-1 --after soon", HF_CLI_EXIT_USAGE, "--after takes the number of an event",
         "holdfast help history"},
        {"start waits sku=a --dup maybe", HF_CLI_EXIT_USAGE,
         "--dup is \"maybe\", but must be one of: reject existing", "holdfast help start"},
        {"terminate w-1", HF_CLI_EXIT_USAGE, "terminate needs a --reason",
         "holdfast help terminate"},
    };

    site_begin();
    ck_assert_int_eq(do_words("start waits sku=a --id w-1"), HF_CLI_EXIT_OK);
    mistakes_check(mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
    ck_assert_int_eq(do_words("start waits -o json"), HF_CLI_EXIT_USAGE);
    ck_assert_str_eq(hf_str(json(&last.err), "error.next", ""), "holdfast help start");
    site_end();
}
END_TEST

/* why and show name the command that would move a run on, with all that has to be typed. */
START_TEST(runs_have_a_next_command)
{
    site_begin();
    ck_assert_int_eq(do_words("start parent sku=a --id p-1"), HF_CLI_EXIT_OK);
    for (int i = 0; i < 600 && !says(&last.out, "child"); i++)
        ck_assert_int_eq(do_words("why p-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "  next   holdfast why child-1\n"));
    for (int i = 0; i < 600 && !says(&last.out, "condition"); i++)
        ck_assert_int_eq(do_words("why child-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "  next   holdfast update child-1 NAME\n"));
    ck_assert_int_eq(do_words("update child-1 set to:=1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("show child-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "  next      holdfast signal child-1 go\n"));
    ck_assert_int_eq(do_words("pause child-1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("why child-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "  next   holdfast resume child-1\n"));
    ck_assert_int_eq(do_words("terminate child-1 --reason stuck"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("show child-1"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "signal go  cancelled"));
    ck_assert(!says(&last.out, "failure"));
    ck_assert_int_eq(do_words("start waits sku=a --id late --delay 2h"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("why late"), HF_CLI_EXIT_OK);
    ck_assert(says(&last.out, "it begins in 1 h"));
    site_end();
}
END_TEST

/* A build can be stopped when no open run carries it. */
START_TEST(a_build_is_needed_by_its_runs)
{
    int code = HF_CLI_EXIT_OK;

    site_begin();
    ck_assert_int_eq(do_words("start waits sku=a --id w-1"), HF_CLI_EXIT_OK);
    for (int i = 0; i < 600 && code == HF_CLI_EXIT_OK; i++) /* lists are a moment behind */
        code = do_words("build can-stop v7 --json");
    ck_assert_int_eq(code, HF_CLI_EXIT_FAILED);
    ck_assert(!hf_bool(json(&last.out), "can_stop", true));
    ck_assert_int_eq(hf_int(json(&last.out), "open_runs", 0), 1);
    ck_assert_int_eq(do_words("build can-stop v8"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("cancel w-1"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("build can-stop v7 -o none"), HF_CLI_EXIT_OK);
    site_end();
}
END_TEST

/* Reads from the pipe until the text came; its bytes are kept behind those that came before. */
static void read_until(int fd, hf_buf *got, const char *text)
{
    while (!strstr(hf_buf_text(got), text)) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        char bytes[512];
        ssize_t len;

        ck_assert_msg(poll(&ready, 1, 60000) == 1, "no %s within a minute: %s", text,
                      hf_buf_text(got));
        len = read(fd, bytes, sizeof(bytes));
        ck_assert_int_gt(len, 0);
        hf_buf_add(got, bytes, (size_t)len);
    }
}

/* A list that is followed shows what comes to be and what changes, from the server's answer or from
   the store's file, and ends well with Ctrl-C while it waits. */
START_TEST(a_list_is_followed)
{
    static const char *const ids[] = {"w-1", "w-2"};
    static const char *const filters[] = {"id=w-1", "id=w-2"};
    hf_buf got = {0};

    site_begin();
    for (int i = 0; i < 2; i++) {
        const char *store = hf_test_place_address(site.place);
        const char *words[] = {PROGRAM, "ls", "-w", "-o", "jsonl", filters[i], i ? "--store" : NULL,
                               store,   NULL};
        char line[64];
        int ends[2];
        pid_t pid;

        hf_buf_clear(&got);
        ck_assert_int_eq(pipe(ends), 0);
        pid = start(env, words, ends[1], ends[1]);
        (void)close(ends[1]);
        (void)snprintf(line, sizeof(line), "start waits sku=a --id %s", ids[i]);
        ck_assert_int_eq(do_words(line), HF_CLI_EXIT_OK);
        (void)snprintf(line, sizeof(line), "\"workflow_id\":\"%s\"", ids[i]);
        read_until(ends[0], &got, line);
        (void)snprintf(line, sizeof(line), "cancel %s", ids[i]);
        ck_assert_int_eq(do_words(line), HF_CLI_EXIT_OK);
        read_until(ends[0], &got, "\"status\":\"cancelled\"");
        (void)poll(&(struct pollfd){.fd = -1}, 1, 300); /* it may wait by now, or may not */
        ck_assert_int_eq(kill(pid, SIGINT), 0);
        ck_assert_int_eq(finish(pid), HF_CLI_EXIT_OK);
        (void)close(ends[0]);
    }
    hf_buf_fini(&got);
    site_end();
}
END_TEST

/* A path that is mistyped becomes no store: only what makes something new makes one. */
START_TEST(no_store_is_made_by_mistake)
{
    static const char *const verbs_of_a_store[] = {
        "ls",          "show a",   "result a",  "signal a go",  "update a set", "query a sum",
        "cancel a",    "repair a", "history a", "namespace ls", "token ls",     "queue ls",
        "schedule ls", "why a",    "build ls",  "failure ls",   "pause a",      "batch show x",
        "archive a",   "top",      "fork a",    "reset a",      "view ls",      "type ls"};
    char words[128];

    begin();
    for (size_t i = 0; i < sizeof(verbs_of_a_store) / sizeof(verbs_of_a_store[0]); i++) {
        (void)snprintf(words, sizeof(words), "%s --store none.db", verbs_of_a_store[i]);
        ck_assert_msg(do_words(words) == HF_CLI_EXIT_NOTFOUND, "%s: %s", words,
                      hf_buf_text(&last.err));
        ck_assert_msg(says(&last.err, "there is no store at none.db"), "%s: %s", words,
                      hf_buf_text(&last.err));
        ck_assert_msg(says(&last.err, "next:  holdfast schema-migrate none.db\n"), "%s: %s", words,
                      hf_buf_text(&last.err));
        ck_assert_int_ne(access("none.db", F_OK), 0);
    }
    ck_assert_int_eq(do_words("start any --id a --store none.db"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(do_words("signal a go --store none.db --namespace b"), HF_CLI_EXIT_NOTFOUND);
    ck_assert(says(&last.err, "next:  holdfast namespace ls --store none.db\n"));
    ck_assert_int_eq(do_words("ls --store none.db --namespace b"), HF_CLI_EXIT_NOTFOUND);
    ck_assert(says(&last.err, "next:  holdfast namespace ls --store none.db\n"));
    ck_assert_int_eq(do_words("start any @none --store none.db"), HF_CLI_EXIT_NOTFOUND);
    ck_assert(says(&last.err, "next:  holdfast help start\n"));
    ck_assert_int_eq(do_words("token revoke none --store none.db"), HF_CLI_EXIT_NOTFOUND);
    ck_assert(!says(&last.err, "schema-migrate"));
    end();
}
END_TEST

/* What is missing is named, and the command that helps is about that: not the store, when it is
   there. */
START_TEST(what_is_missing_is_not_the_store)
{
    static const mistake mistakes[] = {
        {"bundle export z --store s.db", HF_CLI_EXIT_NOTFOUND, "no instance with the id z",
         "holdfast ls --store s.db"},
        {"bundle export a#9 --store s.db", HF_CLI_EXIT_NOTFOUND, "a has no run 9",
         "holdfast ls --store s.db"},
        {"bundle diff a z --store s.db", HF_CLI_EXIT_NOTFOUND, "no instance with the id z",
         "holdfast ls --store s.db"},
        {"bundle export a --store s.db --namespace n", HF_CLI_EXIT_NOTFOUND,
         "no namespace called n", "holdfast namespace ls --store s.db"},
        {"replay check --app /bin/true --store s.db --namespace n", HF_CLI_EXIT_NOTFOUND,
         "no namespace called n", "holdfast namespace ls --store s.db"},
        {"replay check --app ./none --store s.db", HF_CLI_EXIT_NOTFOUND, "cannot start ./none",
         "holdfast help replay"},
        {"bundle export a --store none.db", HF_CLI_EXIT_NOTFOUND, "no store at none.db",
         "holdfast schema-migrate none.db"},
        {"bundle export a --store s.db --out none/a.json", HF_CLI_EXIT_NOTFOUND,
         "cannot make none/a.json", "holdfast help bundle"},
        {"bundle export a --store s.db --sign none", HF_CLI_EXIT_NOTFOUND, "cannot open none",
         "holdfast help bundle"},
        {"backup s.db none/b.db", HF_CLI_EXIT_NOTFOUND, "cannot create none/b.db",
         "holdfast help backup"},
        {"backup none.db b.db", HF_CLI_EXIT_NOTFOUND, "no store at none.db",
         "holdfast schema-migrate none.db"},
        {"ls --store text.db", HF_CLI_EXIT_NOTASTORE, "not a Holdfast store", "holdfast config"},
        {"schema-migrate text.db", HF_CLI_EXIT_NOTASTORE, "not a Holdfast store",
         "holdfast config"},
    };

    begin();
    file_write("text.db", "no store\n");
    ck_assert_int_eq(do_words("start any --id a --store s.db"), HF_CLI_EXIT_OK);
    mistakes_check(mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
    end();
}
END_TEST

HF_SUITE_MAIN("cli/next", {mistakes_have_a_next_command, 0}, {runs_have_a_next_command, 0},
              {a_build_is_needed_by_its_runs, 0}, {a_list_is_followed, 120},
              {no_store_is_made_by_mistake, 0}, {what_is_missing_is_not_the_store, 0})
