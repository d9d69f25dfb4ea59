/* test_definition.c: definitions that may and may not be used, what a run records of one, and
   contracts found again in what was recorded. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lib/lost_memory.h"
#include "lib/suite.h"
#include "model/definition.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static hf_value run_it(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

static hf_value apply_it(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)state;
    return args;
}

static hf_value read_it(hf_mem *m, const void *state, hf_value args)
{
    (void)m;
    (void)state;
    return args;
}

static hf_value act_it(hf_act *a, hf_value in)
{
    (void)a;
    return in;
}

static hf_outcome step_it(hf_step *s)
{
    (void)s;
    return (hf_outcome){0};
}

static const hf_signal_def signals[] = {
    {"nudge", NULL}, {"approved-by", "approver:string, note:string?"}, {0}};
static const hf_signal_def signals_turned[] = {
    {"approved-by", "approver : string, note:string?=null"}, {"nudge", NULL}, {0}};
static const hf_update_def updates[] = {{"documents", "ready:bool=true", apply_it, NULL}, {0}};
static const hf_query_def queries[] = {{"status", "", read_it}, {0}};

static const hf_workflow_def approval = {
    .type = "approval",
    .run = run_it,
    .aliases = "approve, old.approval",
    .params = "manager:string, director:string, limit:int=100",
    .doc = "Ask until somebody says yes.",
    .signals = signals,
    .updates = updates,
    .queries = queries,
};

static const hf_step_def steps[] = {{"start", step_it}, {"pay", step_it}, {0}};
static const hf_signal_def machine_signals[] = {{"payment_confirmed", "amount:number"}, {0}};
static const hf_machine_def checkout = {
    .type = "checkout",
    .initial = "start",
    .params = "order:int",
    .steps = steps,
    .signals = machine_signals,
};

static hf_mem *mem_new(void)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_ptr_nonnull(mem);
    return mem;
}

static hf_definition_snapshot snapped(hf_mem *mem, const hf_workflow_def *def)
{
    hf_definition_snapshot snapshot;
    hf_err err = {0};

    ck_assert_msg(hf_definition_snap(def, mem, &snapshot, &err) == HF_OK, "%s", err.text);
    return snapshot;
}

/* Every part of a snapshot, byte for byte: it is in the history of every run. */
START_TEST(snapshots_are_golden)
{
    hf_mem *mem = mem_new();
    hf_definition_snapshot snapshot = snapped(mem, &approval);

    ck_assert_str_eq(snapshot.signals.names.ptr, "[\"nudge\",\"approved-by\"]");
    ck_assert_str_eq(snapshot.signals.contracts.ptr,
                     "[{\"name\":\"approved-by\",\"parameters\":["
                     "{\"allows_null\":false,\"default\":null,\"default_available\":false,"
                     "\"name\":\"approver\",\"position\":0,\"required\":true,\"type\":\"string\","
                     "\"variadic\":false},"
                     "{\"allows_null\":true,\"default\":null,\"default_available\":true,"
                     "\"name\":\"note\",\"position\":1,\"required\":false,\"type\":\"string\","
                     "\"variadic\":false}]}]");
    ck_assert_str_eq(snapshot.updates.names.ptr, "[\"documents\"]");
    ck_assert_str_eq(snapshot.updates.contracts.ptr,
                     "[{\"name\":\"documents\",\"parameters\":["
                     "{\"allows_null\":false,\"default\":true,\"default_available\":true,"
                     "\"name\":\"ready\",\"position\":0,\"required\":false,\"type\":\"bool\","
                     "\"variadic\":false}]}]");
    ck_assert_str_eq(snapshot.queries.names.ptr, "[\"status\"]");
    ck_assert_str_eq(snapshot.queries.contracts.ptr, "[{\"name\":\"status\",\"parameters\":[]}]");
    ck_assert_uint_eq(snapshot.signals.contracts.len, strlen(snapshot.signals.contracts.ptr));
    snapshot = snapped(mem, &(hf_workflow_def){.type = "bare", .run = run_it});
    ck_assert_str_eq(snapshot.params.ptr, "null");
    ck_assert_str_eq(snapshot.signals.names.ptr, "[]");
    ck_assert_str_eq(snapshot.queries.contracts.ptr, "[]");
    hf_mem_free(mem);
}
END_TEST

/* Fingerprints computed from the documented layout by another program. */
START_TEST(fingerprints_are_golden)
{
    hf_mem *mem = mem_new();
    hf_workflow_def revised = approval;
    hf_definition_snapshot snapshot;

    ck_assert_str_eq(snapped(mem, &(hf_workflow_def){.type = "bare", .run = run_it}).fingerprint,
                     "sha256:df6dc08f721db9840d65b129d06754b982f1571798528143be94c35259e3fe4c");
    ck_assert_str_eq(snapped(mem, &approval).fingerprint,
                     "sha256:41914be1f9c3e3413e6d31b34e5f7cb3427d534a20bbc1c0e8e62633b9a3dae5");
    revised.revision = "2026-b";
    ck_assert_str_eq(snapped(mem, &revised).fingerprint,
                     "sha256:6489738cd7808191c6ae7d6b1799342f0b2befb4967eba12e68c9ca279379b2c");
    ck_assert_int_eq(hf_definition_snap_machine(&checkout, mem, &snapshot, NULL), HF_OK);
    ck_assert_str_eq(snapshot.fingerprint,
                     "sha256:e443402fee4d0eb48fa5943bbef18de22f977fab45bda24a110a4c89b6abba41");
    ck_assert_str_eq(snapshot.signals.names.ptr, "[\"payment_confirmed\"]");
    hf_mem_free(mem);
}
END_TEST

/* What means nothing to a recorded run leaves the fingerprint alone; what does changes it. */
START_TEST(fingerprints_follow_the_meaning)
{
    hf_mem *mem = mem_new();
    hf_workflow_def same = approval;
    hf_workflow_def changed[] = {approval, approval, approval, approval, approval};
    hf_definition_snapshot first = snapped(mem, &approval);

    same.signals = signals_turned;
    same.revision = "";
    same.aliases = NULL;
    same.doc = NULL;
    same.state_size = 100;
    same.stack = 128 * 1024;
    same.run_timeout = 5;
    same.params = " manager : string,director:string , limit:int=100.0";
    ck_assert_str_eq(snapped(mem, &same).fingerprint, first.fingerprint);
    changed[0].type = "approval2";
    changed[1].params = NULL;
    changed[2].params = "director:string, manager:string, limit:int=100";
    changed[3].signals = NULL;
    changed[4].revision = "1";
    for (size_t i = 0; i < COUNT(changed); i++) {
        hf_definition_snapshot other = snapped(mem, &changed[i]);

        ck_assert_str_ne(other.fingerprint, first.fingerprint);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(other.fingerprint, snapped(mem, &changed[j]).fingerprint);
    }
    hf_mem_free(mem);
}
END_TEST

/* A declared name leads to its contract, one without parameters to "anything goes", and any other
   to nothing. */
START_TEST(contracts_are_found_by_name)
{
    hf_mem *mem = mem_new();
    hf_definition_snapshot snapshot = snapped(mem, &approval);
    const hf_contract *contract = NULL;

    ck_assert_int_eq(
        hf_definition_find(snapshot.signals, HF_SLICE("approved-by"), mem, &contract, NULL), HF_OK);
    ck_assert_ptr_nonnull(contract);
    ck_assert_int_eq(contract->form, HF_CONTRACT_NAMED);
    ck_assert_uint_eq(contract->count, 2);
    ck_assert(hf_slice_equal(contract->params[1].name, HF_SLICE("note")));
    ck_assert_int_eq(hf_definition_find(snapshot.signals, HF_SLICE("nudge"), mem, &contract, NULL),
                     HF_OK);
    ck_assert_ptr_nonnull(contract);
    ck_assert_int_eq(contract->form, HF_CONTRACT_UNDECLARED);
    ck_assert_int_eq(hf_definition_find(snapshot.queries, HF_SLICE("status"), mem, &contract, NULL),
                     HF_OK);
    ck_assert_ptr_nonnull(contract);
    ck_assert_int_eq(contract->form, HF_CONTRACT_NAMED);
    ck_assert_uint_eq(contract->count, 0);
    ck_assert_int_eq(hf_definition_find(snapshot.updates, HF_SLICE("status"), mem, &contract, NULL),
                     HF_OK);
    ck_assert_ptr_null(contract);
    ck_assert_int_eq(
        hf_definition_find((hf_definition_targets){0}, HF_SLICE("status"), mem, &contract, NULL),
        HF_OK);
    ck_assert_ptr_null(contract);
    hf_mem_free(mem);
}
END_TEST

/* A recorded text that is damaged is an error, never a contract that lets everything in. */
START_TEST(damaged_snapshots_are_refused)
{
    static const struct {
        const char *names, *contracts, *message;
    } rows[] = {
        {"[", "[]", "read the declared names: byte "},
        {"{}", "[]", "read the declared names: it is not a list"},
        {"[\"x\"]", "[", "read the declared contracts: byte "},
        {"[\"x\"]", "null", "read the declared contracts: it is not a list"},
        {"[\"x\"]", "[{\"name\":\"x\"}]", "the recorded contract of x has no list of parameters"},
        {"[\"x\"]", "[{\"name\":\"x\",\"parameters\":null}]",
         "the recorded contract of x has no list of parameters"},
        {"[\"x\"]", "[{\"name\":\"x\",\"parameters\":[7]}]",
         "the recorded contract of x: parameter 0 of a contract: it is not an object"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_mem *mem = mem_new();
        hf_definition_targets targets = {hf_slice_of(rows[i].names),
                                         hf_slice_of(rows[i].contracts)};
        const hf_contract *contract = NULL;
        hf_err err = {0};

        ck_assert_int_eq(hf_definition_find(targets, HF_SLICE("x"), mem, &contract, &err),
                         HF_INVALID);
        ck_assert_ptr_null(contract);
        ck_assert_msg(strncmp(err.text, rows[i].message, strlen(rows[i].message)) == 0, "%s",
                      err.text);
        hf_mem_free(mem);
    }
}
END_TEST

/* Definitions as they should be pass. */
START_TEST(good_definitions_pass)
{
    hf_workflow_def def = approval;
    hf_err err = {0};

    ck_assert_msg(hf_definition_check(&def, &err) == HF_OK, "%s", err.text);
    def.stack = HF_DEFINITION_STACK_MIN;
    def.aliases = "";
    def.state_size = HF_DEFINITION_STATE_MAX;
    ck_assert_msg(hf_definition_check(&def, &err) == HF_OK, "%s", err.text);
    def.stack = HF_DEFINITION_STACK_MAX;
    ck_assert_msg(hf_definition_check(&def, &err) == HF_OK, "%s", err.text);
    ck_assert_msg(hf_definition_check_machine(&checkout, &err) == HF_OK, "%s", err.text);
}
END_TEST

/* One good definition with one mistake. */
typedef struct mistake_row {
    hf_workflow_def def;
    const char *message;
} mistake_row;

#define GOOD .type = "order", .run = run_it
#define SIGNALS(...)                                                                               \
    .signals = (const hf_signal_def[])                                                             \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define UPDATES(...)                                                                               \
    .updates = (const hf_update_def[])                                                             \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define QUERIES(...)                                                                               \
    .queries = (const hf_query_def[])                                                              \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Each mistake is refused with the definition, the part and the reason. */
START_TEST(bad_definitions_are_refused)
{
    char revision[HF_DEFINITION_REVISION_MAX + 2];
    const mistake_row rows[] = {
        {{.run = run_it}, "workflow (no name): the type is empty"},
        {{.type = "", .run = run_it}, "workflow : the type is empty"},
        {{.type = "order"}, "workflow order: it has no function"},
        {{.type = "a\nb", .run = run_it}, "workflow a\nb: the type has the character U+000A"},
        {{GOOD, .params = "sku"},
         "workflow order: params: position 4: expected ':' and a type behind the name"},
        {{GOOD, .doc = "\xFF"}, "workflow order: doc is not well-formed UTF-8"},
        {{GOOD, .revision = "\xFF"}, "workflow order: revision is not well-formed UTF-8"},
        {{GOOD, .revision = revision}, "workflow order: revision is longer than 255 bytes"},
        {{GOOD, .aliases = "old,,older"}, "workflow order: aliases: the type is empty"},
        {{GOOD, .aliases = "old,"}, "workflow order: aliases: the type is empty"},
        {{GOOD, .aliases = " "}, "workflow order: aliases: the type is empty"},
        {{GOOD, .aliases = "old, order"},
         "workflow order: aliases: order is the definition's own type"},
        {{GOOD, .aliases = "old,older , old"}, "workflow order: aliases: old is listed twice"},
        {{GOOD, .stack = 1}, "workflow order: stack is 1 bytes; allowed are 16384 to 67108864"},
        {{GOOD, .stack = HF_DEFINITION_STACK_MAX + 1}, "workflow order: stack is 67108865 bytes"},
        {{GOOD, .state_size = (size_t)-1}, "workflow order: state_size is "},
        {{GOOD, .run_timeout = -1}, "workflow order: run_timeout is negative"},
        {{GOOD, .execution_timeout = -1}, "workflow order: execution_timeout is negative"},
        {{GOOD, SIGNALS({"", NULL})}, "workflow order: signal : the signal name is empty"},
        {{GOOD, SIGNALS({"go", "a:text"})},
         "workflow order: signal go: params: position 3: expected a type"},
        {{GOOD, SIGNALS({"go", NULL}, {"stop", NULL}, {"go", ""})},
         "workflow order: signal go: it is declared twice"},
        {{GOOD, UPDATES({"set", "", NULL, NULL})},
         "workflow order: update set: it has no function"},
        {{GOOD, UPDATES({"set", "x:", apply_it, NULL})},
         "workflow order: update set: params: position 3"},
        {{GOOD, UPDATES({"set", "", apply_it, NULL}, {"set", "", apply_it, NULL})},
         "workflow order: update set: it is declared twice"},
        {{GOOD, QUERIES({"see", "", NULL})}, "workflow order: query see: it has no function"},
        {{GOOD, QUERIES({"see ", "", read_it})},
         "workflow order: query see : the query name has the character U+0020 at position 4"},
        {{GOOD, QUERIES({"see", "", read_it}, {"see", "", read_it})},
         "workflow order: query see: it is declared twice"},
    };

    memset(revision, 'r', sizeof(revision) - 1);
    revision[sizeof(revision) - 1] = '\0';
    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_definition_snapshot snapshot;
        hf_mem *mem = mem_new();
        hf_err err = {0};

        ck_assert_msg(hf_definition_check(&rows[i].def, &err) == HF_INVALID, "%s", rows[i].message);
        ck_assert_msg(strncmp(err.text, rows[i].message, strlen(rows[i].message)) == 0,
                      "%s instead of %s", err.text, rows[i].message);
        ck_assert_int_eq(hf_definition_snap(&rows[i].def, mem, &snapshot, NULL), HF_INVALID);
        ck_assert_str_eq(snapshot.fingerprint, "");
        ck_assert_ptr_null(snapshot.params.ptr);
        hf_mem_free(mem);
    }
}
END_TEST

/* One name may be a signal, an update and a query at once: they are asked for apart. */
START_TEST(kinds_have_names_of_their_own)
{
    const hf_workflow_def def = {GOOD, SIGNALS({"x", NULL}), UPDATES({"x", NULL, apply_it, NULL}),
                                 QUERIES({"x", NULL, read_it})};

    ck_assert_int_eq(hf_definition_check(&def, NULL), HF_OK);
}
END_TEST

/* A table that is too long, or has no end, is refused before it can flood histories. */
START_TEST(targets_are_bounded)
{
    static hf_signal_def many[HF_DEFINITION_TARGETS_MAX + 2];
    static char names[HF_DEFINITION_TARGETS_MAX + 1][8];
    static char params[2000];
    hf_workflow_def def = {GOOD, .signals = many};
    hf_definition_snapshot snapshot;
    hf_mem *mem = mem_new();
    size_t len = 0;
    hf_err err = {0};

    for (size_t i = 0; i < HF_DEFINITION_TARGETS_MAX; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "s%zu", i);
        many[i].name = names[i];
    }
    snapshot = snapped(mem, &def);
    ck_assert_int_eq(snapshot.signals.names.ptr[0], '[');
    memcpy(names[HF_DEFINITION_TARGETS_MAX], "last", 5);
    many[HF_DEFINITION_TARGETS_MAX].name = names[HF_DEFINITION_TARGETS_MAX];
    ck_assert_int_eq(hf_definition_check(&def, &err), HF_INVALID);
    ck_assert_str_eq(err.text, "workflow order: more than 256 of kind signal, or no { 0 } behind "
                               "the last");
    many[HF_DEFINITION_TARGETS_MAX].name = NULL;
    for (int i = 0; i < HF_CONTRACT_PARAMS_MAX; i++)
        len += (size_t)snprintf(params + len, sizeof(params) - len, "%sp%d:int=1", i ? "," : "", i);
    for (size_t i = 0; i < HF_DEFINITION_TARGETS_MAX; i++)
        many[i].params = params;
    ck_assert_int_eq(hf_definition_check(&def, &err), HF_OK);
    ck_assert_int_eq(hf_definition_snap(&def, mem, &snapshot, &err), HF_TOOBIG);
    ck_assert_msg(strncmp(err.text, "snap workflow order: its declarations take ", 43) == 0, "%s",
                  err.text);
    ck_assert_ptr_null(snapshot.signals.names.ptr);
    hf_mem_free(mem);
}
END_TEST

/* Machines need their steps, and the one they begin with. */
START_TEST(bad_machines_are_refused)
{
    const struct {
        hf_machine_def def;
        const char *message;
    } rows[] = {
        {{.type = "m", .initial = "start"},
         "machine m: the initial step start is not among its steps"},
        {{.type = "m", .steps = steps}, "machine m: the initial step (no name) is not among"},
        {{.type = "m", .initial = "gone", .steps = steps},
         "machine m: the initial step gone is not among its steps"},
        {{.type = "m", .initial = "a", .steps = (const hf_step_def[]){{"a", NULL}, {0}}},
         "machine m: step a: it has no function"},
        {{.type = "m",
          .initial = "a",
          .steps = (const hf_step_def[]){{"a", step_it}, {"a", step_it}, {0}}},
         "machine m: step a: it is declared twice"},
        {{.type = "m", .initial = "a b", .steps = (const hf_step_def[]){{"a b", step_it}, {0}}},
         "machine m: step a b: the step name has the character U+0020 at position 2"},
        {{.type = "m", .initial = "start", .steps = steps, .params = "?"},
         "machine m: params: position 1"},
        {{.type = "m",
          .initial = "start",
          .steps = steps,
          .signals = (const hf_signal_def[]){{"go", "x"}, {0}}},
         "machine m: signal go: params: position 2"},
        {{.initial = "start", .steps = steps}, "machine (no name): the type is empty"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_err err = {0};

        ck_assert_int_eq(hf_definition_check_machine(&rows[i].def, &err), HF_INVALID);
        ck_assert_msg(strncmp(err.text, rows[i].message, strlen(rows[i].message)) == 0,
                      "%s instead of %s", err.text, rows[i].message);
    }
}
END_TEST

/* Activities need a name, a function, and sensible limits. */
START_TEST(bad_activities_are_refused)
{
    static const struct {
        hf_activity_def def;
        const char *message;
    } rows[] = {
        {{.name = "pay"}, "activity pay: it has no function"},
        {{.run = act_it}, "activity (no name): the type is empty"},
        {{.name = " pay", .run = act_it}, "activity  pay: the type has the character U+0020"},
        {{.name = "pay", .run = act_it, .params = "a"}, "activity pay: params: position 2"},
        {{.name = "pay", .run = act_it, .doc = "\xC3"}, "activity pay: doc is not well-formed"},
        {{.name = "pay", .run = act_it, .heartbeat = -1}, "activity pay: heartbeat is negative"},
        {{.name = "pay", .run = act_it, .start_to_close = -1},
         "activity pay: start_to_close is negative"},
        {{.name = "pay", .run = act_it, .no_retry_on = "declined,,x"},
         "activity pay: no_retry_on: the type is empty"},
    };
    static const hf_activity_def good = {
        .name = "pay", .run = act_it, .params = "any", .no_retry_on = "declined, stolen"};

    ck_assert_int_eq(hf_definition_check_activity(&good, NULL), HF_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_err err = {0};

        ck_assert_int_eq(hf_definition_check_activity(&rows[i].def, &err), HF_INVALID);
        ck_assert_msg(strncmp(err.text, rows[i].message, strlen(rows[i].message)) == 0,
                      "%s instead of %s", err.text, rows[i].message);
    }
}
END_TEST

#define WORKFLOWS(...)                                                                             \
    .workflows = (const hf_workflow_def[])                                                         \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define MACHINES(...)                                                                              \
    .machines = (const hf_machine_def[])                                                           \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define ACTIVITIES(...)                                                                            \
    .activities = (const hf_activity_def[])                                                        \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* No two definitions of an application may claim one type, by name or by alias. */
START_TEST(applications_are_checked_as_a_whole)
{
    const hf_machine_def machine = {.type = "order", .initial = "start", .steps = steps};
    const hf_activity_def pay = {.name = "pay", .run = act_it};
    const struct {
        hf_app app;
        const char *message; /* NULL: it passes */
    } rows[] = {
        {{0}, NULL},
        {{.name = "shop",
          .build_id = "b1",
          .queue = "main",
          WORKFLOWS({GOOD}),
          ACTIVITIES({.name = "pay", .run = act_it}, {.name = "order", .run = act_it})},
         NULL},
        {{WORKFLOWS({GOOD, .aliases = "old"}, {.type = "older", .run = run_it})}, NULL},
        {{WORKFLOWS({GOOD}, {GOOD})},
         "the type order is claimed by workflow order and by workflow order"},
        {{WORKFLOWS({GOOD}, {.type = "new", .run = run_it, .aliases = "old, order"})},
         "the type order is claimed by workflow order and by workflow new"},
        {{WORKFLOWS({GOOD, .aliases = "new"}, {.type = "new", .run = run_it})},
         "the type new is claimed by workflow order and by workflow new"},
        {{WORKFLOWS({GOOD, .aliases = "old"}, {.type = "new", .run = run_it, .aliases = "old"})},
         "the type old is claimed by workflow order and by workflow new"},
        {{WORKFLOWS({GOOD}), .machines = (const hf_machine_def[]){machine, {0}}},
         "the type order is claimed by workflow order and by machine order"},
        {{MACHINES(machine, machine)},
         "the type order is claimed by machine order and by machine order"},
        {{ACTIVITIES(pay, pay)}, "the activity pay is defined twice"},
        {{WORKFLOWS({.type = "order"})}, "workflow order: it has no function"},
        {{MACHINES({.type = "m"})}, "machine m: the initial step"},
        {{ACTIVITIES({.name = "pay"})}, "activity pay: it has no function"},
        {{.name = "\xFF"}, "the application's name is not well-formed UTF-8"},
        {{.build_id = ""}, "the build id is empty"},
        {{.queue = "a\tb"}, "the queue name has the character U+0009 at position 2"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_err err = {0};
        hf_status st = hf_app_check(&rows[i].app, &err);

        ck_assert_msg(st == (rows[i].message ? HF_INVALID : HF_OK), "row %zu: %s", i, err.text);
        if (rows[i].message)
            ck_assert_msg(strncmp(err.text, rows[i].message, strlen(rows[i].message)) == 0,
                          "%s instead of %s", err.text, rows[i].message);
    }
}
END_TEST

static hf_status pass_snap(hf_mem *mem, hf_err *err)
{
    hf_definition_snapshot snapshot;
    hf_status st = hf_definition_snap(&approval, mem, &snapshot, err);

    ck_assert_int_eq(snapshot.fingerprint[0] == '\0', st != HF_OK);
    ck_assert_int_eq(snapshot.signals.names.ptr == NULL, st != HF_OK);
    return st;
}

static hf_status pass_snap_machine(hf_mem *mem, hf_err *err)
{
    hf_definition_snapshot snapshot;

    return hf_definition_snap_machine(&checkout, mem, &snapshot, err);
}

static hf_definition_targets kept_targets;

static hf_status pass_find(hf_mem *mem, hf_err *err)
{
    const hf_contract *contract = NULL;
    hf_status st = hf_definition_find(kept_targets, HF_SLICE("approved-by"), mem, &contract, err);

    ck_assert_int_eq(contract == NULL, st != HF_OK);
    return st;
}

static hf_status pass_app(hf_mem *mem, hf_err *err)
{
    const hf_app app = {.workflows = (const hf_workflow_def[]){approval, {0}},
                        .machines = (const hf_machine_def[]){checkout, {0}}};

    (void)mem;
    return hf_app_check(&app, err);
}

static hf_status pass_activity(hf_mem *mem, hf_err *err)
{
    (void)mem;
    return hf_definition_check_activity(
        &(hf_activity_def){.name = "pay", .run = act_it, .params = "a:string=x"}, err);
}

/* Memory that runs out is reported as that, and nothing half made is handed out. */
START_TEST(definitions_survive_lost_memory)
{
    hf_mem *mem = mem_new();

    kept_targets = snapped(mem, &approval).signals;
    hf_lost_memory_each(pass_snap);
    hf_lost_memory_each(pass_snap_machine);
    hf_lost_memory_each(pass_find);
    hf_lost_memory_each(pass_app);
    hf_lost_memory_each(pass_activity);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/definition", {snapshots_are_golden, 0}, {fingerprints_are_golden, 0},
              {fingerprints_follow_the_meaning, 0}, {contracts_are_found_by_name, 0},
              {damaged_snapshots_are_refused, 0}, {good_definitions_pass, 0},
              {bad_definitions_are_refused, 0}, {kinds_have_names_of_their_own, 0},
              {targets_are_bounded, 0}, {bad_machines_are_refused, 0},
              {bad_activities_are_refused, 0}, {applications_are_checked_as_a_whole, 0},
              {definitions_survive_lost_memory, 0})
