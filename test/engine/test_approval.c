/* test_approval.c: open waits that a person may answer, and links that answer one of them: each
   once, whatever comes between and whenever the process dies, and no other wait. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/host.h"
#include "lib/kit.h"

static hf_value ask_run(hf_ctx *w, hf_value in)
{
    hf_value first = hf_receive(w, "approve", .timeout = hf_days(2));

    (void)in;
    return hf_bool(first, "again", false) ? hf_receive(w, "approve") : first;
}

static const char *const votes[] = {"yes", "no", NULL};

static hf_outcome park(hf_step *s)
{
    return hf_park_any(s, votes, HF_NO_TIMEOUT, "count", NULL);
}

static hf_outcome count(hf_step *s)
{
    return hf_done(s, hf_get(hf_at(hf_step_awaited(s), 0), "name"));
}

static const hf_signal_def signals[] = {{"approve", "by:string, amount:int?=1, again:bool=false"},
                                        {0}};
static const hf_app app = {
    .name = "approvals",
    .workflows =
        (const hf_workflow_def[]){{.type = "ask", .run = ask_run, .signals = signals}, {0}},
    .machines = (const hf_machine_def[]){
        {.type = "vote",
         .initial = "park",
         .steps = (const hf_step_def[]){{"park", park}, {"count", count}, {0}},
         .signals = (const hf_signal_def[]){{"yes", NULL}, {"no", NULL}, {0}}},
        {0}}};

static hf_mem *mem;

static hf_engine *begin(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    mem = hf_mem_of_engine(d);
    hf_kit_begin(d, "ask", "a-1", NULL);
    return d;
}

static hf_value listed(hf_engine *d)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_approvals(d, NULL, mem, &out));
    return hf_get(out, "approvals");
}

static const char *link_make(hf_engine *d, const char *approval)
{
    hf_value out = NULL;

    hf_kit_ok(d,
              hf_answer_link_create(
                  d, hf_json(d, "{'approval': %s, 'label': 'Ada', 'created_by': 'mia'}", approval),
                  mem, &out));
    return hf_str(out, "token", NULL);
}

static const char *state_of(hf_engine *d, const char *token)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_answer_link_look(d, token, mem, &out));
    return hf_str(out, "state", "");
}

static hf_status use(hf_engine *d, const char *token, const char *by)
{
    hf_command_result result;
    hf_status st =
        hf_answer_link_use(d, token, hf_json(d, "{'by': %s}", by), NULL, "192.0.2.7", mem, &result);

    return st || result.accepted ? st : HF_REJECTED;
}

/* What is asked, with what the signal takes and until when; it is gone when the answer has come. */
HF_BOTH_ENGINES(what_waits_is_listed)
{
    hf_engine *d = begin(kind);
    hf_value one = hf_at(listed(d), 0);

    ck_assert_uint_eq(hf_len(listed(d)), 1);
    ck_assert_str_eq(hf_str(one, "name", ""), "approve");
    ck_assert_str_eq(hf_str(one, "workflow_id", ""), "a-1");
    ck_assert_str_eq(hf_str(one, "workflow_type", ""), "ask");
    ck_assert_str_eq(hf_str(one, "parameters.0.name", ""), "by");
    ck_assert_str_eq(hf_str(one, "parameters.1.type", ""), "int");
    ck_assert_str_ne(hf_str(one, "since", ""), "");
    ck_assert_str_ne(hf_str(one, "until", ""), "");
    ck_assert_uint_eq(hf_len(hf_get(one, "links")), 0);
    hf_kit_ok(d, hf_signal(d, "a-1", "approve", hf_json(d, "{'by': 'eve'}")));
    ck_assert_uint_eq(hf_len(listed(d)), 0); /* no code has taken it yet */
    hf_kit_close(d);
}

/* Pages follow each other, and a request that cannot be is refused. */
HF_BOTH_ENGINES(lists_have_pages)
{
    hf_engine *d = begin(kind);
    hf_value out = NULL;
    const char *cursor;

    hf_kit_begin(d, "ask", "a-2", NULL);
    hf_kit_ok(d, hf_approvals(d, hf_json(d, "{'limit': 1}"), mem, &out));
    ck_assert_str_eq(hf_str(out, "approvals.0.workflow_id", ""), "a-2");
    cursor = hf_str(out, "cursor", NULL);
    hf_kit_ok(d, hf_approvals(d, hf_json(d, "{'limit': 1, 'cursor': %s}", cursor), mem, &out));
    ck_assert_str_eq(hf_str(out, "approvals.0.workflow_id", ""), "a-1");
    ck_assert_ptr_null(hf_str(out, "cursor", NULL));
    ck_assert_int_eq(hf_approvals(d, hf_json(d, "{'limit': 0}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_approvals(d, hf_json(d, "{'cursor': 'x'}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_approvals(d, hf_json(d, "{'page': 1}"), mem, &out), HF_INVALID);
    hf_kit_close(d);
}

/* The answer is the signal; the second one is refused, also when the process died before the link's
   row said that it was used, and nobody's answer is lost or given twice. */
HF_BOTH_ENGINES(a_link_answers_once)
{
    hf_engine *d = begin(kind);
    const char *token = link_make(d, hf_str(hf_at(listed(d), 0), "id", ""));

    ck_assert_str_eq(state_of(d, token), "open");
    ck_assert_str_eq(hf_str(hf_at(listed(d), 0), "links.0.label", ""), "Ada");
    hf_kit_ok(d, use(d, token, "Ada"));
    ck_assert_str_eq(state_of(d, token), "used");
    ck_assert_int_eq(use(d, token, "Eve"), HF_CONFLICT);
    hf_kit_sql(d, "UPDATE answer_link SET used_us = NULL, used_from = NULL");
    hf_test_crash(d);
    mem = hf_mem_of_engine(d);
    ck_assert_int_eq(use(d, token, "Eve"), HF_CONFLICT);
    ck_assert_str_eq(state_of(d, token), "used");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "a-1", "SignalReceived"), 1);
    ck_assert_str_eq(
        hf_str(hf_parse_(mem, hf_kit_result(d, "a-1"), strlen(hf_kit_result(d, "a-1"))), "by", ""),
        "Ada");
    hf_kit_close(d);
}

/* Somebody is asked, answers, and tries again because no thanks came; another one tries, too. */
static hf_status answered(hf_engine *d, void *arg)
{
    hf_value out = NULL;
    const char *token;
    hf_status st;

    (void)arg;
    mem = hf_mem_new();
    (void)hf_start(d, "ask", NULL, .id = "a-1");
    st = hf_test_drain(d);
    if (!st)
        st = hf_approvals(d, NULL, mem, &out);
    if (!st)
        st = hf_answer_link_create(
            d, hf_json(d, "{'approval': %s, 'label': 'Ada'}", hf_str(out, "approvals.0.id", "")),
            mem, &out);
    token = st ? "" : hf_str(out, "token", "");
    (void)use(d, token, "Ada");
    (void)hf_test_drain(d);
    (void)use(d, token, "Ada");
    (void)use(d, token, "Eve");
    st = st ? st : hf_test_drain(d);
    hf_mem_free(mem);
    return st;
}

/* Whatever commit is the last before a crash, the answer is given, and once. */
START_TEST(a_crash_anywhere_loses_no_answer)
{
    char why[512];

    ck_assert_msg(hf_test_crash_everywhere(&app, answered, NULL, why, sizeof(why)) == HF_OK, "%s",
                  why);
}
END_TEST

/* What its contract refuses uses nothing up, also when the row does not know of the refusal. */
HF_BOTH_ENGINES(a_refused_answer_leaves_the_link)
{
    hf_engine *d = begin(kind);
    const char *token = link_make(d, hf_str(hf_at(listed(d), 0), "id", ""));
    hf_command_result result;

    for (int i = 0; i < 2; i++) {
        hf_kit_ok(d, hf_answer_link_use(d, token, hf_json(d, "{'amount': 'many'}"), NULL, "", mem,
                                        &result));
        ck_assert(!result.accepted);
        ck_assert_str_eq(result.outcome, "rejected_invalid_arguments");
        ck_assert_str_eq(state_of(d, token), "open");
    }
    hf_kit_sql(d, "UPDATE answer_link SET turn = 0");
    hf_kit_ok(d, use(d, token, "Ada"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a-1"), "completed");
    hf_kit_close(d);
}

static void signal_between(void *ctx)
{
    hf_engine *d = ctx;

    hf_kit_ok(d, hf_signal(d, "a-1", "approve", hf_json(d, "{'by': 'eve', 'again': true}")));
}

/* A signal that another node commits between the look and the commit has answered: the link's
   answer does not go to the wait that follows. */
START_TEST(an_answer_is_for_its_own_wait)
{
    hf_engine *d = begin(HF_ENGINE_POSTGRES);
    hf_engine *other = hf_kit_join(d, &app);
    const char *token = link_make(d, hf_str(hf_at(listed(d), 0), "id", ""));

    hf_kit_meddle(d, 1, signal_between, other);
    ck_assert_int_eq(use(d, token, "Ada"), HF_CONFLICT);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "a-1", "SignalReceived"), 1);
    ck_assert_str_eq(state_of(d, token), "over");
    ck_assert_uint_eq(hf_len(listed(d)), 0);
    hf_kit_leave(other);
    hf_kit_close(d);
}
END_TEST

/* The step of a signal is one that waits for it; without a run it names nothing. */
HF_BOTH_ENGINES(a_signal_may_be_for_one_step)
{
    hf_engine *d = begin(kind);
    hf_value one = hf_at(listed(d), 0);
    hf_command_result result;

    result = hf_kit_ask(d, "signal",
                        hf_json(d,
                                "{'workflow_id': 'a-1', 'run_id': %s, 'name': 'approve', 'step': "
                                "9, 'arguments': {'by': 'x'}}",
                                hf_str(one, "run_id", "")));
    ck_assert_str_eq(result.outcome, "rejected_wait_not_open");
    ck_assert_str_eq(result.reason, "wait_not_open");
    ck_assert_int_eq(hf_command(d, "signal",
                                hf_json(d, "{'workflow_id': 'a-1', 'name': 'approve', 'step': 1, "
                                           "'arguments': {'by': 'x'}}"),
                                mem, &result),
                     HF_INVALID);
    result = hf_kit_ask(d, "signal",
                        hf_json(d,
                                "{'workflow_id': 'a-1', 'run_id': %s, 'name': 'approve', 'step': "
                                "%lld, 'arguments': {'by': 'x'}}",
                                hf_str(one, "run_id", ""), (long long)hf_int(one, "step", 0)));
    ck_assert(result.accepted);
    hf_kit_close(d);
}

/* A machine that waits for one of several signals is asked about each; one answer ends the others.
 */
HF_BOTH_ENGINES(machines_are_asked_about_each_name)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *yes;
    const char *no;

    mem = hf_mem_of_engine(d);
    hf_kit_begin(d, "vote", "v-1", NULL);
    ck_assert_uint_eq(hf_len(listed(d)), 2);
    ck_assert_str_eq(hf_str(hf_at(listed(d), 0), "name", ""), "yes");
    ck_assert_str_eq(hf_str(hf_at(listed(d), 1), "name", ""), "no");
    yes = link_make(d, hf_str(hf_at(listed(d), 0), "id", ""));
    no = link_make(d, hf_str(hf_at(listed(d), 1), "id", ""));
    hf_kit_ok(d, use(d, no, "Ada"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(state_of(d, yes), "over");
    ck_assert_int_eq(use(d, yes, "Eve"), HF_CONFLICT);
    ck_assert_str_eq(hf_kit_result(d, "v-1"), "\"no\"");
    hf_kit_close(d);
}

/* Links end with their time, with their wait, and when they are revoked; there are not many of one
   wait, and what is asked for is bounded. */
HF_BOTH_ENGINES(links_end)
{
    hf_engine *d = begin(kind);
    const char *id = hf_str(hf_at(listed(d), 0), "id", "");
    const char *first = link_make(d, id);
    hf_value out = NULL;
    int64_t count = 0;

    for (int i = 1; i < 10; i++)
        (void)link_make(d, id);
    ck_assert_int_eq(
        hf_answer_link_create(d, hf_json(d, "{'approval': %s, 'label': 'Bob'}", id), mem, &out),
        HF_EXISTS);
    hf_kit_ok(d, hf_answer_link_revoke(d, id, &count));
    ck_assert_int_eq(count, 10);
    ck_assert_str_eq(state_of(d, first), "revoked");
    ck_assert_int_eq(use(d, first, "Ada"), HF_CONFLICT);
    ck_assert_int_eq(hf_answer_link_revoke(d, "nothing", &count), HF_NOTFOUND);
    ck_assert_int_eq(hf_answer_link_create(d,
                                           hf_json(d,
                                                   "{'approval': %s, 'label': 'B', "
                                                   "'lifespan_seconds': 59}",
                                                   id),
                                           mem, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_answer_link_create(d, hf_json(d, "{'approval': %s}", id), mem, &out),
                     HF_INVALID);
    ck_assert_int_eq(
        hf_answer_link_create(d, hf_json(d, "{'approval': %s, 'label': 'B', 'role': 'x'}", id), mem,
                              &out),
        HF_INVALID);
    ck_assert_int_eq(hf_answer_link_look(d, "hfa-made-up", mem, &out), HF_NOTFOUND);
    hf_kit_ok(d, hf_answer_link_create(
                     d, hf_json(d, "{'approval': %s, 'label': 'B', 'lifespan_seconds': 60}", id),
                     mem, &out));
    first = hf_str(out, "token", NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(state_of(d, first), "expired");
    first = link_make(d, id); /* good for a week, but for the deadline of the wait */
    hf_kit_ok(d, hf_test_advance(d, hf_days(2)));
    ck_assert_str_eq(state_of(d, first), "expired");
    ck_assert_uint_eq(hf_len(listed(d)), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/approval", HF_BOTH(what_waits_is_listed), HF_BOTH(lists_have_pages),
                 HF_BOTH(a_link_answers_once), {a_crash_anywhere_loses_no_answer, 0},
                 HF_BOTH(a_refused_answer_leaves_the_link), {an_answer_is_for_its_own_wait, 0},
                 HF_BOTH(a_signal_may_be_for_one_step), HF_BOTH(machines_are_asked_about_each_name),
                 HF_BOTH(links_end))
