/* Rows of open work and of projections are lost or damaged right before any commit of a life, while
   the engine that made them goes on: the watchdog, or a person's repair, puts back what history
   says, the life ends as it would have, and nothing that was done is done again. Losses that meet
   with a restart are in test_repair.c and test_watchdog.c. */
#include <stdio.h>
#include <string.h>

#include "engine/command.h"
#include "engine/engine_impl.h"
#include "lib/campaign.h"
#include "lib/kit.h"

enum { COMMITS = 12 /* of a life, at least */, COMMITS_MAX = 40, TOUCHES = 3 };

static int touches; /* by activities of the life at hand */

/* The first attempt fails. */
static hf_value touch(hf_act *a, hf_value in)
{
    touches++;
    return hf_attempt(a) == 1 && hf_bool(in, "", false) ? hf_retry(a, "busy", "not now") : in;
}

static hf_value kid(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(10));
    return in;
}

/* Something of everything: a retry, a timer, a wait with a timeout, a child. */
static hf_value life(hf_ctx *w, hf_value in)
{
    static const hf_ms pause = 20000;

    (void)in;
    (void)hf_activity(w, "touch", hf_json(w, "true"), .max_attempts = 5, .backoff = &pause,
                      .backoff_n = 1);
    hf_sleep(w, hf_seconds(30));
    (void)hf_receive(w, "go", .timeout = hf_seconds(30));
    (void)hf_child(w, "kid", NULL);
    return hf_activity(w, "touch", hf_json(w, "false"));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "life", .run = life, .signals = signals}, {.type = "kid", .run = kid}, {0}};
static const hf_activity_def activities[] = {{hf_fn(touch)}, {0}};
static const hf_app app = {.name = "row_loss", .workflows = workflows, .activities = activities};

#define OPEN " WHERE run IN (SELECT key FROM run WHERE closed_us IS NULL)"

/* What happens to rows of runs that are open, and whether a person is needed to put it right. */
static const struct {
    const char *sql;
    bool repair;
} losses[] = {
    {"DELETE FROM task" OPEN, false},
    {"DELETE FROM timer" OPEN, false},
    {"DELETE FROM activity" OPEN, false},
    {"DELETE FROM inbox" OPEN, false},
    {"UPDATE task SET status = 4" OPEN, true},
    {"UPDATE task SET available_us = available_us + 1000000000000" OPEN, true},
    {"UPDATE timer SET status = 3, closed_us = 1" OPEN, true},
    {"UPDATE activity SET status = 4, closed_us = 1" OPEN, true},
    {"DELETE FROM run_summary" OPEN, true},
    {"UPDATE run_summary SET status = 1" OPEN, true},
    {"DELETE FROM run_projection" OPEN, true},
    {"UPDATE run_projection SET version = 99" OPEN, true},
    {"DELETE FROM run_label" OPEN, true},
    {"DELETE FROM search_attribute" OPEN, true},
    {"DELETE FROM failure" OPEN, true},
};

enum { LOSSES = sizeof(losses) / sizeof(losses[0]) };

typedef struct scene {
    hf_engine *d;
    size_t loss;
    bool came;
} scene;

static void meddle(void *ctx)
{
    scene *s = ctx;

    s->came = true;
    hf_kit_sql(s->d, losses[s->loss].sql);
}

static void repair(hf_engine *d, const char *id)
{
    const hf_request request = {
        .type = HF_COMMAND_TYPE_REPAIR, .id = hf_slice_of(id), .reason = HF_SLICE("rows are lost")};
    hf_reply reply;
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "repair");
    hf_kit_ok(d, hf_test_drain(d));
}

/* The loss right before the nth commit of a life. False: it has not so many. */
static bool loss_check(hf_engine *d, size_t loss, int nth)
{
    scene s = {.d = d, .loss = loss};
    bool repaired = !losses[loss].repair;
    char id[32];

    (void)snprintf(id, sizeof(id), "life-%zu-%d", loss, nth);
    touches = 0;
    hf_kit_meddle(d, nth, meddle, &s);
    hf_kit_ok(d, hf_start(d, "life", NULL, .id = id, .labels = "{\"a\": \"b\"}",
                          .search_attributes = "{\"n\": 7}"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 12; i++) {
        if (!repaired && s.came && strcmp(hf_test_status(d, id), "completed") != 0) {
            repair(d, id);
            repaired = true;
        }
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(20)));
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(20)));
    hf_kit_meddle(d, INT32_MAX, NULL, NULL);
    ck_assert_msg(strcmp(hf_test_status(d, id), "completed") == 0, "%s before commit %d: %s: %s",
                  losses[loss].sql, nth, hf_test_status(d, id), hf_kit_history(d, id));
    ck_assert_msg(touches == TOUCHES, "%s before commit %d: %d touches", losses[loss].sql, nth,
                  touches);
    ck_assert_int_eq(hf_test_count(d, id, "ActivityCompleted"), 2);
    ck_assert_int_eq(hf_test_count(d, id, "ChildRunCompleted"), 1);
    ck_assert_int_eq(hf_test_count(d, id, "WorkflowCompleted"), 1);
    return s.came;
}

HF_BOTH_ENGINES(a_row_is_lost_before_any_commit)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int stride = hf_campaign_stride(41, 13);
    int turn = 0;

    for (size_t loss = 0; loss < LOSSES; loss++) {
        bool more = true;
        int nth;

        for (nth = 1; more && nth < COMMITS_MAX; nth++)
            more = turn++ % stride ? nth < COMMITS : loss_check(d, loss, nth);
        ck_assert_int_gt(nth, COMMITS);
    }
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/row_loss", HF_BOTH_SLOW(a_row_is_lost_before_any_commit, 900))
