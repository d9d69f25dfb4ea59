/* test_inquiry.c: questions to runs whose code is elsewhere: who answers, who may, and what becomes
   of a question that nobody takes. The worker is the test itself. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "holdfast/worker.h"
#include "lib/kit.h"

static const hf_app app = {.name = "test"};

/* What the worker does with the question that it gets. */
typedef struct answerer {
    hf_engine *engine;
    hf_poll *poll;
    hf_task_kind kind;
    const char *reason; /* it refuses; NULL: it answers */
    bool silent;        /* it says nothing */
    bool gone;
    bool starved; /* memory may run out under it */
    bool called;
    char name[64];
    char codec[16];
    hf_status late; /* of a second answer */
} answerer;

static bool take(void *arg, hf_value task)
{
    answerer *a = arg;
    bool query = a->kind == HF_TASK_QUERY;
    hf_task_claim claim = {
        .size_ = sizeof(claim),
        .task_id = hf_str(task, query ? "query_task_id" : "update_validation_task_id", ""),
        .worker = hf_str(task, "lease_owner", ""),
        .attempt = hf_int(task, query ? "query_task_attempt" : "update_validation_attempt", 0)};

    a->called = true;
    if (a->gone || !task)
        return false;
    (void)snprintf(a->name, sizeof(a->name), "%s",
                   hf_str(task, query ? "query_name" : "update_name", ""));
    (void)snprintf(a->codec, sizeof(a->codec), "%s",
                   hf_str(task, query ? "query_arguments.codec" : "update_arguments.codec", ""));
    if (a->silent)
        return true;
    if (a->starved) {
        a->late = hf_question_answer(a->engine, a->kind, &claim, hf_json(a->engine, "{'n': 7}"));
        return true;
    }
    claim.worker = "somebody else";
    ck_assert_int_eq(hf_question_answer(a->engine, a->kind, &claim, NULL), HF_REJECTED);
    claim.worker = hf_str(task, "lease_owner", "");
    if (a->reason)
        hf_kit_ok(a->engine, hf_question_refuse(a->engine, a->kind, &claim, a->reason, "not now",
                                                hf_json(a->engine, "{'n': ['too big']}")));
    else
        hf_kit_ok(a->engine, hf_question_answer(a->engine, a->kind, &claim,
                                                query ? hf_json(a->engine, "{'n': 7}") : NULL));
    a->late = hf_question_answer(a->engine, a->kind, &claim, NULL);
    return true;
}

static void wait_for(hf_engine *d, answerer *a)
{
    a->engine = d;
    a->poll = hf_kit_poll(d, a->kind, "w1", take, a);
}

static hf_engine *open_with_run(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_type(d, "t",
                                 hf_json(d, "{'queries': ['total'], 'updates': ['set', 'free'], "
                                            "'update_validators': ['set']}"),
                                 NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    return d;
}

/* A worker that waits for queries answers one; who holds the question no more is refused; a worker
   that is gone hands it on; a closed run is asked like any other. */
HF_BOTH_ENGINES(a_worker_answers_queries)
{
    hf_engine *d = open_with_run(kind);
    answerer gone = {.kind = HF_TASK_QUERY, .gone = true};
    answerer a = {.kind = HF_TASK_QUERY};
    answerer unknown = {.kind = HF_TASK_QUERY, .reason = "rejected_unknown_query"};
    hf_value out = NULL;

    wait_for(d, &gone);
    wait_for(d, &a);
    hf_kit_ok(d, hf_query(d, "a", "total", hf_json(d, "[1]"), &out));
    ck_assert_int_eq(hf_int(out, "n", 0), 7);
    ck_assert(gone.called && a.called);
    ck_assert_str_eq(a.name, "total");
    ck_assert_str_eq(a.codec, "avro");
    ck_assert_int_eq(a.late, HF_REJECTED);
    ck_assert(!hf_poll_end(gone.poll) && !hf_poll_end(a.poll));
    ck_assert_int_eq(hf_query(d, "a", "nothing", NULL, &out), HF_NOTFOUND); /* not declared */
    wait_for(d, &unknown);
    ck_assert_int_eq(hf_query(d, "a", "total", NULL, &out), HF_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "rejected_unknown_query"));
    ck_assert(!hf_poll_end(unknown.poll));
    hf_kit_ok(d, hf_terminate(d, "a", "over"));
    hf_kit_ok(d, hf_test_drain(d));
    a.called = false;
    wait_for(d, &a);
    hf_kit_ok(d, hf_query(d, "a", "total", NULL, &out));
    ck_assert(!hf_poll_end(a.poll));
    hf_kit_close(d);
}

/* Nobody polls, nobody takes it, nobody answers: each has its own word, and nothing is left. */
HF_BOTH_ENGINES(unanswered_queries_say_why)
{
    hf_engine *d = open_with_run(kind);
    answerer a = {.kind = HF_TASK_QUERY, .silent = true};
    answerer other = {.kind = HF_TASK_VALIDATION};
    hf_value out = NULL;

    wait_for(d, &other); /* another kind of work does not count */
    ck_assert_int_eq(hf_query(d, "a", "total", NULL, &out), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "query_worker_unavailable"));
    ck_assert(hf_poll_end(other.poll));
    wait_for(d, &a);
    ck_assert(hf_poll_end(a.poll));
    ck_assert_int_eq(hf_query(d, "a", "total", NULL, &out), HF_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "query_task_not_claimed"));
    wait_for(d, &a);
    ck_assert_int_eq(hf_query(d, "a", "total", NULL, &out), HF_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "query_worker_timeout"));
    ck_assert(!hf_poll_end(a.poll));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_query(d, "a", "total", NULL, &out), HF_REJECTED);
    hf_kit_close(d);
}

static hf_status update(hf_engine *d, const char *name, hf_command_result *out)
{
    return hf_command(d, "update",
                      hf_json(d,
                              "{'workflow_id': 'a', 'name': %s, 'arguments': [3], 'wait_for': "
                              "'accepted'}",
                              name),
                      hf_mem_of_engine(d), out);
}

/* An update with a validator is accepted after the worker's approval and not before; its refusal is
   an outcome, and a validator that cannot be asked leaves nothing behind. */
HF_BOTH_ENGINES(validators_judge_before_acceptance)
{
    hf_engine *d = open_with_run(kind);
    answerer yes = {.kind = HF_TASK_VALIDATION};
    answerer no = {.kind = HF_TASK_VALIDATION, .reason = "update_validator_rejected"};
    answerer broken = {.kind = HF_TASK_VALIDATION, .reason = "update_validation_worker_failed"};
    hf_command_result result;

    hf_kit_ok(d, update(d, "free", &result)); /* it has none */
    ck_assert(result.accepted);
    ck_assert_int_eq(update(d, "set", &result), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "update_validator_worker_unavailable"));
    wait_for(d, &broken);
    ck_assert_int_eq(update(d, "set", &result), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "update_validation_worker_failed"));
    ck_assert(!hf_poll_end(broken.poll));
    ck_assert_int_eq(hf_test_count(d, "a", "UpdateAccepted"), 1);
    wait_for(d, &no);
    (void)!update(d, "set", &result);
    ck_assert(!result.accepted);
    ck_assert_str_eq(result.outcome, "rejected_invalid_arguments");
    ck_assert_str_eq(hf_str(result.detail, "refused_by", ""), "validator");
    ck_assert_str_eq(hf_str(result.detail, "validation_errors.n.0", ""), "too big");
    ck_assert(!hf_poll_end(no.poll));
    ck_assert_int_eq(hf_test_count(d, "a", "UpdateAccepted"), 1);
    wait_for(d, &yes);
    hf_kit_ok(d, update(d, "set", &result));
    ck_assert(result.accepted);
    ck_assert_str_eq(yes.name, "set");
    ck_assert(!hf_poll_end(yes.poll));
    ck_assert_int_eq(hf_test_count(d, "a", "UpdateAccepted"), 2);
    hf_kit_close(d);
}

/* One poll may wait for several kinds at several queues, and gets one task. */
HF_BOTH_ENGINES(one_poll_for_kinds_and_queues)
{
    hf_engine *d = open_with_run(kind);
    answerer a = {.engine = d, .kind = HF_TASK_QUERY};
    const char *const more[] = {"x", "default", NULL};
    hf_value out = NULL;
    hf_poll_opts opts = {.size_ = sizeof(opts),
                         .kind = HF_TASK_ACTIVITY,
                         .also = 1U << HF_TASK_QUERY,
                         .queue = "y",
                         .queues = more,
                         .worker = "w1",
                         .got = take,
                         .arg = &a};

    hf_kit_ok(d, hf_poll_begin(d, &opts, &a.poll));
    hf_kit_ok(d, hf_query(d, "a", "total", NULL, &out));
    ck_assert(!hf_poll_end(a.poll));
    hf_kit_ok(d, hf_poll_begin(d, &opts, &a.poll));
    ck_assert(hf_poll_end(a.poll));
    hf_kit_close(d);
}

/* When memory runs out at any place, the caller is told and the next question is answered. */
HF_BOTH_ENGINES(memory_runs_out)
{
    hf_engine *d = open_with_run(kind);
    answerer a = {.kind = HF_TASK_QUERY, .starved = true};
    hf_value out = NULL;
    hf_status st = HF_NOMEM;

    for (int64_t n = 1; st; n++) {
        a.called = false;
        wait_for(d, &a);
        hf_fault_arm(HF_FAULT_ALLOC, n, false);
        st = hf_query(d, "a", "total", NULL, &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        (void)hf_poll_end(a.poll);
        ck_assert_int_lt(n, 1000);
    }
    ck_assert_int_eq(hf_int(out, "n", 0), 7);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/inquiry", HF_BOTH(a_worker_answers_queries),
                 HF_BOTH(unanswered_queries_say_why), HF_BOTH(validators_judge_before_acceptance),
                 HF_BOTH(one_poll_for_kinds_and_queues), HF_BOTH(memory_runs_out))
