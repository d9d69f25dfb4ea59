/* remote_runner.c: workflow tasks of a server. A task brings what is new in the history of its run,
   which is all of it when the server does not think that this program knows the run. The code goes
   on in the room of the run, and what it decided is sent back. When the room does not have the run
   where the task begins, a runner asks for the whole history and has it replayed. */
#include <string.h>

#include "base/value.h"
#include "engine/ask.h"
#include "engine/remote_room.h"
#include "engine/task_fault.h"
#include "model/decision_codec.h"
#include "model/envelope.h"

/* One task while it is done. */
typedef struct task {
    remote_visit visit;
    remote_hand *hand;
    hf_value said;
    remote_room *room;
    const char *run_id;
    const hf_registry_workflow *workflow;
    hf_value_list *pages; /* of history, in order */
    int64_t after;        /* they begin behind this event */
    int64_t upto;         /* and end with this one */
    hf_err err;
    hf_status status; /* of the visit */
    bool missed;      /* the room does not have the run as it was at `after` */
    hf_value blocked; /* where code and history disagree; NULL: nowhere */
    /* workflow tasks */
    uint64_t turn;
    bool measured;
    hf_value decisions;
    /* questions */
    hf_value answer;    /* of a query */
    const char *reason; /* why an update is refused; NULL: it is not */
} task;

/* ---- what the definitions of this program say, and the server does not know */

static void activity_fill(const hf_remote *remote, hf_decision_row *row)
{
    const hf_registry_activity *found = hf_registry_find_activity(remote->registry, row->name);
    const hf_activity_def *def = found ? found->definition : NULL;

    if (!def)
        return;
    if (!row->activity.retry.max_attempts)
        row->activity.retry.max_attempts = def->max_attempts;
    if (!row->activity.start_to_close_us)
        row->activity.start_to_close_us = def->start_to_close * 1000;
    if (!row->activity.heartbeat_us)
        row->activity.heartbeat_us = def->heartbeat * 1000;
    if (!row->activity.retry.no_retry_on.ptr)
        row->activity.retry.no_retry_on = hf_slice_of(def->no_retry_on);
    if (!row->activity.queue.ptr)
        row->activity.queue = hf_slice_of(remote->app->queue);
}

void hf_remote_child_fill(const hf_remote *remote, hf_slice *type, hf_decision_child *child)
{
    const hf_registry_workflow *found = hf_registry_find_workflow(remote->registry, *type);

    if (!found)
        return;
    *type = hf_slice_of(found->definition->type); /* it may be an alias */
    if (!child->execution_timeout_us)
        child->execution_timeout_us = found->definition->execution_timeout * 1000;
    if (!child->run_timeout_us)
        child->run_timeout_us = found->definition->run_timeout * 1000;
}

static hf_status decisions_make(const task *t, remote_live *live, hf_value *out_list, hf_err *err)
{
    const hf_remote *remote = t->hand->remote;
    size_t count = 0;
    const hf_decision_row *decided = hf_replay_decisions(live->replay, &count);
    hf_decision_row *rows = hf_mem_array(t->hand->mem, count + 1, sizeof(*rows));

    if (!rows)
        return hf_err_nomem(err, "decisions");
    live->decided = count;
    for (size_t i = 0; i < count; i++) {
        rows[i] = decided[i];
        if (rows[i].kind == HF_DECISION_SCHEDULE_ACTIVITY)
            activity_fill(remote, &rows[i]);
        else if (rows[i].kind == HF_DECISION_START_CHILD_WORKFLOW)
            hf_remote_child_fill(remote, &rows[i].name, &rows[i].child);
    }
    return hf_decisions_write(t->hand->mem, rows, count, out_list, err);
}

/* ---- in the room */

/* Code and history, as far as both go. */
static hf_status live_turn(task *t, remote_room *room, remote_live *live, hf_turn *out_turn,
                           hf_err *err)
{
    hf_value pages = hf_value_finish(t->pages);
    hf_status st = pages ? HF_OK : hf_err_nomem(err, "a history");

    for (size_t i = 0; !st && i < hf_len(pages); i++)
        st = hf_remote_live_feed(live, hf_at(pages, i), t->hand->mem, err);
    if (!st && live->fed != t->upto)
        st = hf_err_set(err, HF_CORRUPT, "the task came with %lld of its %lld events",
                        (long long)live->fed, (long long)t->upto);
    live->task = (remote_task){.hand = t->hand,
                               .id = hf_str(t->said, "task_id", ""),
                               .attempt = hf_int(t->said, "workflow_task_attempt", 0)};
    if (!st)
        st = hf_remote_live_turn(room, live, out_turn, err);
    live->task = (remote_task){0};
    if (!st && *out_turn == HF_TURN_BLOCKED) {
        t->blocked = hf_task_blocked_value(t->hand->mem, hf_replay_mismatch_get(live->replay));
        st = hf_err_set(err, HF_REPLAY_BLOCKED, "replay_blocked: %s",
                        hf_replay_mismatch_get(live->replay)->sentence);
    }
    return st;
}

/* One turn of a run that goes on. */
static void work_turn(remote_visit *visit, remote_room *room)
{
    task *t = visit->arg;
    remote_live *live = t->after ? hf_remote_live_find(room, t->run_id, t->after) : NULL;
    hf_turn turn = HF_TURN_PARKED;

    t->missed = t->after && !live;
    if (t->missed)
        return;
    if (!live) { /* what is kept of it stands elsewhere */
        (void)hf_remote_live_find(room, t->run_id, -1);
        t->status = hf_remote_live_new(room, t->said, t->workflow, &live, &t->err);
    }
    if (!t->status)
        t->status = live_turn(t, room, live, &turn, &t->err);
    if (!t->status)
        t->status = decisions_make(t, live, &t->decisions, &t->err);
    if (!t->status && turn == HF_TURN_PARKED && !hf_replay_spoiled(live->replay)) {
        t->measured = hf_replay_measured(live->replay);
        t->turn = hf_remote_live_keep(room, live);
        return;
    }
    t->measured = !t->status && hf_replay_measured(live->replay);
    t->missed = t->after && t->status == HF_CONFLICT; /* facts came in between */
    hf_remote_live_drop(room, live);
}

/* ---- reports */

static const char *fault_type(hf_status st)
{
    return st == HF_REPLAY_BLOCKED ? "replay_blocked"
           : st == HF_NOTFOUND     ? "unknown_type"
                                   : "workflow_task_failed";
}

void hf_remote_task_fail(remote_hand *hand, hf_value said, const char *type, const char *message,
                         hf_value blocked)
{
    hf_mem *mem = hand->mem;
    hf_client_reply reply;
    hf_err err = {0};

    (void)!hf_remote_report(
        hand,
        hf_client_path(mem, "/api/worker/workflow-tasks/%s/fail", hf_str(said, "task_id", "")),
        hf_json_(mem,
                 "{'lease_owner': %s, 'workflow_task_attempt': %lld, 'failure': {'type': %s, "
                 "'message': %s, 'replay_blocked': %p}}",
                 hand->remote->worker, (long long)hf_int(said, "workflow_task_attempt", 0), type,
                 message, (const void *)(blocked ? blocked : hf_value_null())),
        &reply, &err);
}

static hf_value decided_value(const task *t)
{
    return hf_json_(
        t->hand->mem, "{'task_id': %s, 'attempt': %lld, 'measured': %p, 'decisions': %p}",
        hf_str(t->said, "task_id", ""), (long long)hf_int(t->said, "workflow_task_attempt", 0),
        (const void *)hf_value_bool(t->measured), (const void *)t->decisions);
}

/* How the report on a turn was answered. HF_OK also when somebody else has the task, or it moved
   on: nothing is lost. */
static hf_status decided_end(hf_status st, const hf_client_reply *reply,
                             remote_standing *out_standing, hf_err *err)
{
    *out_standing = !st && reply->status == 200 ? REMOTE_SETTLED : REMOTE_LOST;
    if (st == HF_UNREACHABLE || (!st && (reply->status == 404 || reply->status == 409)))
        return HF_OK;
    return st ? st : hf_client_outcome(reply, err);
}

static hf_status task_decide(task *t, remote_standing *out_standing, hf_err *err)
{
    hf_client_reply reply;
    hf_status st = hf_remote_tell(t->hand, decided_value(t), &reply, err);

    return decided_end(st, &reply, out_standing, err);
}

/* ---- tasks */

/* What there is between the events that came and those that the task is about. */
static hf_status pages_fetch(task *t, int64_t have, hf_err *err)
{
    hf_mem *mem = t->hand->mem;
    const char *path = hf_client_path(mem, "/api/worker/workflow-tasks/%s/history",
                                      hf_str(t->said, "task_id", ""));
    hf_status st = HF_OK;

    while (!st && have < t->upto) {
        int64_t left = t->upto - have;
        int64_t before = have;
        hf_client_reply reply;

        st = hf_remote_report(
            t->hand, path,
            hf_json_(mem,
                     "{'lease_owner': %s, 'workflow_task_attempt': %lld, 'history_format': "
                     "'native', 'next_history_page_token': '%lld', 'page_size': %lld}",
                     t->hand->remote->worker,
                     (long long)hf_int(t->said, "workflow_task_attempt", 0), (long long)have,
                     (long long)(left < REMOTE_PAGE_EVENTS ? left : REMOTE_PAGE_EVENTS)),
            &reply, err);
        if (!st)
            st = hf_client_outcome(&reply, err);
        if (st)
            break;
        hf_value_append(t->pages, reply.body);
        have = hf_int(reply.body, "last_sequence", have);
        if (have <= before)
            st = hf_err_set(err, HF_CORRUPT, "the history ends at %lld of %lld events",
                            (long long)have, (long long)t->upto);
    }
    return st;
}

/* The task as it came, or from the beginning of its history. */
static void task_visit(task *t, bool whole)
{
    hf_value came = hf_get(t->said, "history");
    int64_t have = 0;

    t->missed = false;
    t->status = HF_OK;
    t->after = whole ? 0 : hf_int(came, "after", 0);
    t->pages = hf_value_array(t->hand->mem);
    if (!whole) {
        hf_value_append(t->pages, came);
        have = hf_int(came, "last_sequence", t->upto);
    }
    t->status = pages_fetch(t, have, &t->err);
    if (!t->status)
        hf_remote_visit(t->room, &t->visit);
}

static bool task_begin(task *t, hf_remote *remote, remote_hand *hand, hf_value said,
                       void (*work)(remote_visit *visit, remote_room *room))
{
    const char *type = hf_str(said, "workflow_type", "");

    *t = (task){
        .visit = {.work = work, .arg = t},
        .hand = hand,
        .said = said,
        .run_id = hf_str(said, "run_id", ""),
        .upto = hf_int(said, "last_history_sequence", hf_int(said, "history.last_sequence", 0))};
    t->room = hf_remote_room_of(remote, t->run_id);
    t->workflow = hf_registry_find_workflow(remote->registry, hf_slice_of(type));
    if (!t->workflow)
        t->status =
            hf_err_set(&t->err, HF_NOTFOUND, "this program has no workflow of the type %s", type);
    return t->workflow != NULL;
}

static void task_run(remote_hand *hand, hf_value said)
{
    remote_standing standing = REMOTE_LOST;
    task t;

    if (hand->fault) {
        hf_remote_task_fail(hand, said, fault_type(hand->fault_status), hand->fault->text, NULL);
        return;
    }
    if (task_begin(&t, hand->remote, hand, said, work_turn)) {
        hf_remote_await(t.room, t.run_id);
        task_visit(&t, false);
        if (t.missed)
            task_visit(&t, true);
        for (int i = 0; t.status == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) {
            hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
            task_visit(&t, true);
        }
    }
    if (!t.status)
        t.status = task_decide(&t, &standing, &t.err);
    for (int i = 0; t.status == HF_NOMEM && t.decisions && i < REMOTE_MEMORY_TRIES; i++) {
        hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
        t.status = task_decide(&t, &standing, &t.err);
    }
    hf_remote_settle(t.room, t.run_id, t.turn, standing);
    if (t.status)
        hf_remote_task_fail(hand, said, fault_type(t.status), t.err.text, t.blocked);
}

/* ---- tasks that no thread waits for: they come with all of their history, the room does them and
   goes on, and the link tells how the report was answered. What is not as it should be is done
   again by a runner. */

typedef struct quick {
    task t; /* first: a visit's task is the quick one */
    remote_report report;
    hf_remote *remote;
    hf_mem *mem; /* of this, and of what it came with */
} quick;

/* A sender's thread. */
static void quick_answered(remote_report *report)
{
    quick *q = report->ctx;
    remote_standing standing;
    hf_err err = report->err;
    hf_status st = decided_end(report->status, &report->reply, &standing, &err);

    hf_remote_settle(q->t.room, q->t.run_id, q->t.turn, standing);
    if (st)
        hf_remote_task_again(q->remote->link, q->mem, q->t.said, &err, st, false);
    else
        hf_mem_free(q->mem);
}

/* In the room. */
static void quick_work(remote_visit *visit, remote_room *room)
{
    quick *q = visit->arg;
    task *t = &q->t;

    t->hand = hf_remote_room_hand(room);
    t->hand->mem = q->mem;
    t->pages = hf_value_array(q->mem);
    hf_value_append(t->pages, hf_get(t->said, "history"));
    work_turn(visit, room);
    q->report.said = t->status || t->missed ? NULL : decided_value(t);
    t->hand->mem = NULL;
    if (q->report.said) {
        hf_remote_post(q->remote->link, NULL, &q->report);
        return;
    }
    hf_remote_settle(room, t->run_id, t->turn, REMOTE_LOST);
    hf_remote_task_again(q->remote->link, q->mem, t->said, NULL, HF_OK, true);
}

bool hf_remote_quick(hf_remote *remote, hf_mem *mem, hf_value said)
{
    const char *kind = hf_str(said, "kind", "");
    hf_value came = hf_get(said, "history");
    quick *q;

    if (strcmp(kind, "query") == 0 || strcmp(kind, "update_validation") == 0)
        return false;
    q = hf_mem_alloc(mem, sizeof(*q));
    if (!q || !task_begin(&q->t, remote, NULL, said, quick_work) ||
        hf_int(came, "last_sequence", q->t.upto) < q->t.upto)
        return false;
    q->t.after = hf_int(came, "after", 0);
    q->t.visit.run_id = q->t.run_id;
    q->remote = remote;
    q->mem = mem;
    q->report = (remote_report){
        .kind = REMOTE_WORKFLOWS, .slot = true, .mem = mem, .answered = quick_answered, .ctx = q};
    hf_remote_visit_later(q->t.room, &q->t.visit);
    return true;
}

/* ---- questions: queries, and updates that a validator is to judge. Somebody waits for the answer;
   nothing is decided and nothing recorded. */

static hf_status arguments_of(const task *t, const char *field, hf_value *out_args, hf_err *err)
{
    hf_decision_payload payload = {0};
    hf_value envelope = hf_get(t->said, field);
    hf_status st = HF_OK;

    *out_args = NULL;
    if (envelope && hf_value_kind_of(envelope) != HF_VALUE_NULL)
        st = hf_envelope_read(t->hand->mem, envelope, (hf_slice){0}, &payload, err);
    if (!st && payload.bytes.ptr)
        st = hf_envelope_value(t->hand->mem, &payload, out_args, err);
    return st;
}

/* A run of its own, which goes no further than its history and is thrown away. */
static remote_live *question_replay(task *t, remote_room *room)
{
    remote_live *live = NULL;
    hf_turn turn = HF_TURN_PARKED;

    t->status = hf_remote_live_new(room, t->said, t->workflow, &live, &t->err);
    if (!t->status) {
        hf_replay_freeze(live->replay);
        t->status = live_turn(t, room, live, &turn, &t->err);
    }
    return live;
}

/* Whether the question is if history replays; then it is answered. */
static bool replay_said(task *t)
{
    hf_mem *mem = t->hand->mem;

    if (strcmp(hf_str(t->said, "query_name", ""), HF_ASK_REPLAY) != 0 ||
        (t->status && t->status != HF_REPLAY_BLOCKED))
        return false;
    t->answer = hf_json_(mem, "{'verdict': %s, 'blocked': %p}", t->status ? "blocked" : "ok",
                         (const void *)(t->status && t->blocked ? t->blocked : hf_value_null()));
    t->status = t->answer ? HF_OK : hf_err_nomem(&t->err, "an answer");
    return true;
}

static void work_query(remote_visit *visit, remote_room *room)
{
    task *t = visit->arg;
    remote_live *live = question_replay(t, room);
    hf_value args = NULL;

    if (replay_said(t)) {
        hf_remote_live_drop(room, live);
        return;
    }
    if (!t->status)
        t->status = arguments_of(t, "query_arguments", &args, &t->err);
    if (!t->status)
        t->status = hf_replay_query(live->replay, hf_slice_of(hf_str(t->said, "query_name", "")),
                                    args, t->hand->mem, &t->answer, &t->err);
    hf_remote_live_drop(room, live);
}

static void work_validation(remote_visit *visit, remote_room *room)
{
    task *t = visit->arg;
    remote_live *live = question_replay(t, room);
    const char *reason = NULL;
    hf_value args = NULL;

    if (!t->status)
        t->status = arguments_of(t, "update_arguments", &args, &t->err);
    if (!t->status)
        t->status = hf_replay_check_update(
            live->replay, hf_slice_of(hf_str(t->said, "update_name", "")), args, &reason, &t->err);
    if (reason)
        t->reason = hf_mem_text(t->hand->mem, hf_slice_of(reason));
    if (reason && !t->reason)
        t->status = hf_err_nomem(&t->err, "a reason");
    hf_remote_live_drop(room, live);
}

static void query_run(remote_hand *hand, hf_value said)
{
    hf_mem *mem = hand->mem;
    const char *id = hf_str(said, "query_task_id", "");
    long long attempt = (long long)hf_int(said, "query_task_attempt", 1);
    hf_client_reply reply;
    hf_value answer = NULL;
    const char *text;
    task t;

    if (task_begin(&t, hand->remote, hand, said, work_query))
        task_visit(&t, false);
    if (!t.status) {
        text = hf_text(mem, t.answer ? t.answer : hf_value_null());
        answer = text ? hf_remote_envelope(mem, hf_slice_of(text)) : NULL;
        if (!answer)
            t.status = hf_err_nomem(&t.err, "an answer");
    }
    if (t.status)
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/query-tasks/%s/fail", id),
            hf_json_(mem,
                     "{'lease_owner': %s, 'query_task_attempt': %lld, 'failure': {'message': %s}}",
                     hand->remote->worker, attempt, t.err.text),
            &reply, &t.err);
    else
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/query-tasks/%s/complete", id),
            hf_json_(mem, "{'lease_owner': %s, 'query_task_attempt': %lld, 'result_envelope': %p}",
                     hand->remote->worker, attempt, (const void *)answer),
            &reply, &t.err);
}

static void validation_run(remote_hand *hand, hf_value said)
{
    hf_mem *mem = hand->mem;
    const char *id = hf_str(said, "update_validation_task_id", "");
    long long attempt = (long long)hf_int(said, "update_validation_attempt", 1);
    hf_client_reply reply;
    task t;

    if (task_begin(&t, hand->remote, hand, said, work_validation))
        task_visit(&t, false);
    if (t.status || t.reason)
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/update-validation-tasks/%s/reject", id),
            hf_json_(mem,
                     "{'lease_owner': %s, 'update_validation_attempt': %lld, 'failure': "
                     "{'message': %s}}",
                     hand->remote->worker, attempt, t.reason ? t.reason : t.err.text),
            &reply, &t.err);
    else
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/update-validation-tasks/%s/approve", id),
            hf_json_(mem, "{'lease_owner': %s, 'update_validation_attempt': %lld}",
                     hand->remote->worker, attempt),
            &reply, &t.err);
}

void hf_remote_runner(void *ctx)
{
    remote_hand *hand = ctx;
    hf_remote *remote = hand->remote;

    while (hf_remote_ready(remote)) {
        hf_value said = hf_remote_task(hand);

        if (hf_value_kind_of(said) != HF_VALUE_OBJECT)
            continue;
        if (strcmp(hf_str(said, "kind", ""), "query") == 0)
            query_run(hand, said);
        else if (strcmp(hf_str(said, "kind", ""), "update_validation") == 0)
            validation_run(hand, said);
        else
            task_run(hand, said);
    }
}
