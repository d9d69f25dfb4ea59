/* remote_runner.c: workflow tasks of a server. A task brings the history of its run; the code is
   replayed over it from the beginning, on this thread, and what it decided beyond the record is
   sent back. Nothing is kept from task to task but stacks. */
#include <string.h>

#include "base/base64.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/value.h"
#include "engine/remote_impl.h"
#include "model/decision_codec.h"
#include "model/envelope.h"
#include "model/event_codec.h"
#include "model/limit.h"
#include "replay/replay.h"

enum { STACKS = 4 };

/* One task while it is done. */
typedef struct task {
    remote_hand *hand;
    hf_value said;
    const hf_registry_workflow *workflow;
    hf_replay *replay;
    int64_t fed;
} task;

/* A big value, which came beside its event. */
static hf_status payload_find(void *ctx, hf_mem *mem, const hf_payload_value *reference,
                              hf_slice *out_bytes, hf_err *err)
{
    const task *t = ctx;
    hf_value payloads = hf_get(t->said, "history.payloads");
    char wanted[2 * HF_SHA256_BYTES + 1];
    hf_buf bytes = {0};
    hf_status st = HF_NOTFOUND;

    hf_hex_print(hf_slice_from(reference->digest, HF_SHA256_BYTES), wanted);
    for (size_t i = 0; st == HF_NOTFOUND && i < hf_len(payloads); i++)
        if (strcmp(hf_str(hf_at(payloads, i), "0", ""), wanted) == 0)
            st = hf_base64_decode(&bytes, hf_value_slice(hf_at(hf_at(payloads, i), 1)), err);
    if (st == HF_NOTFOUND)
        return hf_err_set(err, HF_CORRUPT, "the task came without the value %s", wanted);
    *out_bytes = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&bytes)), bytes.len);
    hf_buf_fini(&bytes);
    return st ? st : out_bytes->ptr ? HF_OK : hf_err_nomem(err, "a value");
}

/* Messages of streams stay with the server. */
static hf_status messages_refuse(void *ctx, hf_mem *mem, hf_slice stream, int64_t after, size_t max,
                                 hf_value *out_messages, hf_err *err)
{
    (void)ctx;
    (void)mem;
    (void)after;
    (void)max;
    *out_messages = NULL;
    return hf_err_set(err, HF_UNSUPPORTED,
                      "hf_messages_receive: the stream %.*s cannot be read through a server",
                      (int)stream.len, stream.ptr);
}

static int64_t run_key(const char *run_id)
{
    int64_t time_ms = 0;
    uint64_t key = 0;
    uint32_t counter = 0;
    hf_ulid id;

    if (hf_ulid_parse(hf_slice_of(run_id), &id))
        hf_ulid_parts(&id, &time_ms, &key, &counter);
    return (int64_t)key;
}

static hf_status replay_begin(task *t, hf_err *err)
{
    const hf_remote *remote = t->hand->remote;
    const char *run_id = hf_str(t->said, "run_id", "");
    hf_replay_info *info = hf_mem_alloc(t->hand->mem, sizeof(*info));

    if (!info)
        return hf_err_nomem(err, "a task");
    *info = (hf_replay_info){
        .definition = t->workflow->definition,
        .instance_id = hf_slice_of(hf_str(t->said, "workflow_id", "")),
        .run_id = hf_slice_of(run_id),
        .random_seed = hf_replay_seed(run_key(run_id)),
        .fingerprint = hf_slice_of(t->workflow->snapshot.fingerprint),
        .compatibility = hf_slice_of(remote->app->build_id),
        .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
        .events_max = hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard,
        .continue_events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
        .continue_bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard,
        .payload = payload_find,
        .payload_ctx = t,
        .messages = messages_refuse,
        .stacks = t->hand->stacks};
    return hf_replay_new(info, &t->replay, err);
}

static hf_status chunk_feed(task *t, hf_slice text, hf_err *err)
{
    hf_buf body = {0};
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st = hf_base64_decode(&body, text, err);

    if (!st)
        st = hf_event_chunk_decode(t->hand->mem, hf_buf_slice(&body), &events, &count, err);
    if (!st)
        st = hf_replay_feed(t->replay, events, count, t->fed + 1, err);
    t->fed += (int64_t)count;
    hf_buf_fini(&body);
    return st;
}

static hf_status history_feed(task *t, hf_err *err)
{
    hf_value chunks = hf_get(t->said, "history.chunks");
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(chunks); i++)
        st = chunk_feed(t, hf_value_slice(hf_at(chunks, i)), err);
    if (!st && t->fed != hf_int(t->said, "last_history_sequence", t->fed))
        st = hf_err_set(err, HF_CORRUPT, "the task came with %lld of its %lld events",
                        (long long)t->fed, (long long)hf_int(t->said, "last_history_sequence", 0));
    return st;
}

/* ---- what the definitions of this program say, and the server does not know */

static void activity_fill(const hf_remote *remote, hf_decision_row *row)
{
    const hf_registry_activity *found = hf_registry_find_activity(remote->registry, row->name);
    const hf_activity_def *def = found ? found->definition : NULL;

    if (!def)
        return;
    if (!row->activity.max_attempts)
        row->activity.max_attempts = def->max_attempts;
    if (!row->activity.start_to_close_us)
        row->activity.start_to_close_us = def->start_to_close * 1000;
    if (!row->activity.heartbeat_us)
        row->activity.heartbeat_us = def->heartbeat * 1000;
    if (!row->activity.no_retry_on.ptr)
        row->activity.no_retry_on = hf_slice_of(def->no_retry_on);
    if (!row->activity.queue.ptr)
        row->activity.queue = hf_slice_of(remote->app->queue);
}

static void child_fill(const hf_remote *remote, hf_decision_row *row)
{
    const hf_registry_workflow *found = hf_registry_find_workflow(remote->registry, row->name);

    if (!found)
        return;
    row->name = hf_slice_of(found->definition->type); /* it may be an alias */
    if (!row->child.execution_timeout_us)
        row->child.execution_timeout_us = found->definition->execution_timeout * 1000;
    if (!row->child.run_timeout_us)
        row->child.run_timeout_us = found->definition->run_timeout * 1000;
}

static hf_status decisions_make(const task *t, hf_value *out_list, hf_err *err)
{
    const hf_remote *remote = t->hand->remote;
    size_t count = 0;
    const hf_decision_row *decided = hf_replay_decisions(t->replay, &count);
    hf_decision_row *rows = hf_mem_array(t->hand->mem, count + 1, sizeof(*rows));

    if (!rows)
        return hf_err_nomem(err, "decisions");
    for (size_t i = 0; i < count; i++) {
        rows[i] = decided[i];
        if (rows[i].kind == HF_DECISION_SCHEDULE_ACTIVITY)
            activity_fill(remote, &rows[i]);
        else if (rows[i].kind == HF_DECISION_START_CHILD_WORKFLOW)
            child_fill(remote, &rows[i]);
    }
    return hf_decisions_write(t->hand->mem, rows, count, out_list, err);
}

/* ---- reports */

static void task_fail(task *t, const char *why)
{
    hf_mem *mem = t->hand->mem;
    hf_client_reply reply;
    hf_err err = {0};

    (void)!hf_remote_report(
        t->hand,
        hf_client_path(mem, "/api/worker/workflow-tasks/%s/fail", hf_str(t->said, "task_id", "")),
        hf_json_(
            mem, "{'lease_owner': %s, 'workflow_task_attempt': %lld, 'failure': {'message': %s}}",
            t->hand->remote->worker, (long long)hf_int(t->said, "workflow_task_attempt", 0), why),
        &reply, &err);
}

static hf_status task_decide(task *t, hf_err *err)
{
    hf_mem *mem = t->hand->mem;
    hf_value decisions = NULL;
    hf_client_reply reply;
    hf_status st = decisions_make(t, &decisions, err);

    if (st)
        return st;
    st = hf_remote_report(
        t->hand,
        hf_client_path(mem, "/api/worker/workflow-tasks/%s/decisions",
                       hf_str(t->said, "task_id", "")),
        hf_json_(mem,
                 "{'lease_owner': %s, 'workflow_task_attempt': %lld, 'measured': %p, "
                 "'decisions': %p}",
                 t->hand->remote->worker, (long long)hf_int(t->said, "workflow_task_attempt", 0),
                 (const void *)hf_value_bool(hf_replay_measured(t->replay)),
                 (const void *)decisions),
        &reply, err);
    if (st == HF_UNREACHABLE || (!st && (reply.status == 404 || reply.status == 409)))
        return HF_OK; /* somebody else has the task, or it moved on: nothing is lost */
    return st ? st : hf_client_outcome(&reply, err);
}

/* The code, over all of its history. */
static hf_status task_replay(task *t, bool frozen, hf_err *err)
{
    const char *type = hf_str(t->said, "workflow_type", "");
    hf_turn turn = HF_TURN_PARKED;
    hf_status st;

    t->workflow = hf_registry_find_workflow(t->hand->remote->registry, hf_slice_of(type));
    if (!t->workflow)
        return hf_err_set(err, HF_NOTFOUND, "this program has no workflow of the type %s", type);
    st = replay_begin(t, err);
    if (!st)
        st = history_feed(t, err);
    if (!st && frozen)
        hf_replay_freeze(t->replay);
    if (!st)
        st = hf_replay_turn(t->replay, &turn, err);
    if (!st && turn == HF_TURN_BLOCKED)
        st = hf_err_set(err, HF_REPLAY_BLOCKED, "replay_blocked: %s",
                        hf_replay_mismatch_get(t->replay)->sentence);
    return st;
}

static void task_run(remote_hand *hand, hf_value said)
{
    task t = {.hand = hand, .said = said};
    hf_err err = {0};
    hf_status st = task_replay(&t, false, &err);

    if (!st)
        st = task_decide(&t, &err);
    if (st)
        task_fail(&t, err.text);
    hf_replay_free(t.replay);
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

static void query_run(remote_hand *hand, hf_value said)
{
    hf_mem *mem = hand->mem;
    task t = {.hand = hand, .said = said};
    const char *id = hf_str(said, "query_task_id", "");
    long long attempt = (long long)hf_int(said, "query_task_attempt", 1);
    hf_client_reply reply;
    hf_value args = NULL;
    hf_value value = NULL;
    hf_err err = {0};
    hf_status st = task_replay(&t, true, &err);

    if (!st)
        st = arguments_of(&t, "query_arguments", &args, &err);
    if (!st)
        st = hf_replay_query(t.replay, hf_slice_of(hf_str(said, "query_name", "")), args, mem,
                             &value, &err);
    if (st)
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/query-tasks/%s/fail", id),
            hf_json_(mem,
                     "{'lease_owner': %s, 'query_task_attempt': %lld, 'failure': {'message': %s}}",
                     hand->remote->worker, attempt, err.text),
            &reply, &err);
    else
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/query-tasks/%s/complete", id),
            hf_json_(mem,
                     "{'lease_owner': %s, 'query_task_attempt': %lld, 'result_envelope': {'codec': "
                     "'json', 'blob': %s}}",
                     hand->remote->worker, attempt, hf_text(mem, value ? value : hf_value_null())),
            &reply, &err);
    hf_replay_free(t.replay);
}

static void validation_run(remote_hand *hand, hf_value said)
{
    hf_mem *mem = hand->mem;
    task t = {.hand = hand, .said = said};
    const char *id = hf_str(said, "update_validation_task_id", "");
    long long attempt = (long long)hf_int(said, "update_validation_attempt", 1);
    const char *reason = NULL;
    hf_client_reply reply;
    hf_value args = NULL;
    hf_err err = {0};
    hf_status st = task_replay(&t, true, &err);

    if (!st)
        st = arguments_of(&t, "update_arguments", &args, &err);
    if (!st)
        st = hf_replay_check_update(t.replay, hf_slice_of(hf_str(said, "update_name", "")), args,
                                    &reason, &err);
    if (st || reason)
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/update-validation-tasks/%s/reject", id),
            hf_json_(mem,
                     "{'lease_owner': %s, 'update_validation_attempt': %lld, 'failure': "
                     "{'message': %s}}",
                     hand->remote->worker, attempt, reason ? reason : err.text),
            &reply, &err);
    else
        (void)!hf_remote_report(
            hand, hf_client_path(mem, "/api/worker/update-validation-tasks/%s/approve", id),
            hf_json_(mem, "{'lease_owner': %s, 'update_validation_attempt': %lld}",
                     hand->remote->worker, attempt),
            &reply, &err);
    hf_replay_free(t.replay);
}

void hf_remote_runner(void *ctx)
{
    remote_hand *hand = ctx;
    hf_remote *remote = hand->remote;

    hand->stacks = hf_coro_cache_new(STACKS, 0); /* without one each replay makes its own */
    while (hf_remote_ready(remote)) {
        hf_value said;

        hf_mem_reset(hand->mem);
        said = hf_remote_poll(hand, "/api/worker/workflow-tasks/poll",
                              hf_json_(hand->mem,
                                       "{'worker_id': %s, 'task_queue': %s, 'timeout_seconds': %d, "
                                       "'history_format': 'native', 'task_kinds': ['workflow', "
                                       "'query', 'update_validation']}",
                                       remote->worker,
                                       remote->app->queue ? remote->app->queue : "default",
                                       REMOTE_POLL_S));
        if (hf_value_kind_of(said) != HF_VALUE_OBJECT)
            continue;
        if (strcmp(hf_str(said, "kind", ""), "query") == 0)
            query_run(hand, said);
        else if (strcmp(hf_str(said, "kind", ""), "update_validation") == 0)
            validation_run(hand, said);
        else
            task_run(hand, said);
    }
    hf_coro_cache_free(hand->stacks);
}
