/* command_fork.c: fork and reset: a run that begins with the first events of another. The copied
   run's history is read whole; the cut and what follows from it are decide's. */
#include "commit/shard.h"
#include "decide/copy.h"
#include "engine/command_impl.h"
#include "engine/command_repeat.h"
#include "engine/open_work.h"
#include "model/event_codec.h"
#include "model/name.h"
#include "model/words.h"
#include "store/payload.h"

/* What a handler of this file works with. */
typedef struct forking {
    hf_handling *h;
    const hf_copy_more *more;
    hf_copy copy;
    int64_t number; /* of the copied run */
    hf_decide_run old;
    hf_effect *effects;
    bool taken;
    hf_instance_row made; /* what has the id of the fork already */
} forking;

enum { ID_BYTES = 13 };

/* All events of the run, in the unit's arena. */
static hf_status events_read(forking *f, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(f->h->unit);
    const hf_run_base *base = &f->h->target.base;
    const hf_db_value params[] = {hf_db_int(base->run), hf_db_int(1), hf_db_int(INT64_MAX)};
    hf_event *all = hf_mem_array(mem, (size_t)base->last_seq, sizeof(*all));
    size_t total = 0;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st =
        all ? hf_db_query(f->h->call->in.db, HF_STMT_HISTORY_READ, params, 3, &cursor, err)
            : hf_err_nomem(err, "a history");

    while (!st && row) {
        hf_event *events = NULL;
        size_t count = 0;
        hf_slice body;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        body = hf_db_column_bytes(cursor, 3);
        body = hf_slice_from(hf_mem_text(mem, body), body.len);
        st = body.ptr ? hf_event_chunk_decode(mem, body, &events, &count, err)
                      : hf_err_nomem(err, "a history");
        for (size_t i = 0; !st && i < count && total < (size_t)base->last_seq; i++)
            all[total++] = events[i];
    }
    hf_db_end(cursor);
    f->copy.events = all;
    f->copy.count = total;
    return st;
}

static hf_status payload_get(void *ctx, const hf_payload_value *reference, hf_slice *out_bytes,
                             hf_err *err)
{
    forking *f = ctx;

    return hf_payload_get(f->h->call->in.db, hf_unit_mem(f->h->unit), f->h->call->in.stager->sha,
                          f->h->target.base.run, reference, out_bytes, err);
}

/* The same time from now on as the copied run had from its beginning. */
static int64_t deadline_again(const forking *f, hf_db_cursor *row, size_t column)
{
    return hf_db_column_null(row, column)
               ? HF_NONE
               : f->copy.now_us + hf_db_column_int(row, column) - f->copy.origin_us;
}

static hf_status run_read(forking *f, hf_err *err)
{
    const hf_db_value key = hf_db_int(f->h->target.base.run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(f->h->call->in.db, HF_STMT_RUN_GET, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        f->number = hf_db_column_int(cursor, 1);
        f->copy.run = (hf_run_row){.number = 1,
                                   .created_us = f->copy.now_us,
                                   .execution_deadline_us = deadline_again(f, cursor, 16),
                                   .run_deadline_us = deadline_again(f, cursor, 17),
                                   .queue = f->h->target.queue,
                                   .definition = f->h->target.definition};
    }
    hf_db_end(cursor);
    return !st && !found ? hf_err_set(err, HF_CONFLICT, "the run is gone") : st;
}

static hf_status calls_read(forking *f, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(f->h->unit);
    const hf_db_value key = hf_db_int(f->h->target.base.run);
    hf_db_cursor *cursor = NULL;
    hf_copy_call *calls = NULL;
    size_t count = 0;
    size_t room = 0;
    bool row = true;
    hf_status st = hf_db_query(f->h->call->in.db, HF_STMT_LINK_CALLS, &key, 1, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (count == room) {
            hf_copy_call *grown = hf_mem_array(mem, room ? room * 2 : 8, sizeof(*grown));

            for (size_t i = 0; grown && i < count; i++)
                grown[i] = calls[i];
            calls = grown;
            room = room ? room * 2 : 8;
            if (!calls) {
                st = hf_err_nomem(err, "the children of a run");
                break;
            }
        }
        calls[count++] =
            (hf_copy_call){.child = {.step = hf_column_or_none(cursor, 0),
                                     .policy = (hf_parent_close_policy)hf_db_column_int(cursor, 1),
                                     .call = hf_db_column_int(cursor, 2),
                                     .call_us = hf_db_column_int(cursor, 3),
                                     .instance = hf_db_column_int(cursor, 4),
                                     .run = hf_db_column_int(cursor, 5)},
                           .closed = !hf_db_column_null(cursor, 6),
                           .attempt = hf_db_column_int(cursor, 7),
                           .max_attempts = hf_db_column_int(cursor, 8)};
    }
    hf_db_end(cursor);
    f->copy.calls = calls;
    f->copy.call_count = st ? 0 : count;
    return st;
}

/* What closes with the run that is reset: everything open but the children that the next run
   takes over. */
static hf_status old_read(forking *f, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(f->h->unit);
    hf_db *db = f->h->call->in.db;
    int64_t key = f->h->target.base.run;
    hf_open_work *open = NULL;
    hf_open_child *children = NULL;
    hf_open_message *updates = NULL;
    size_t kept = 0;
    int64_t parent = 0;
    hf_status st = hf_open_work_read(db, mem, key, &open, &f->old.open_count, &parent, err);

    if (!st)
        st = hf_open_children_read(db, mem, key, &children, &f->old.child_count, err);
    if (!st)
        st = hf_open_updates_read(db, mem, key, &updates, &f->old.message_count, err);
    if (!st)
        st = hf_open_parent_read(db, mem, key, &f->old, err);
    for (size_t i = 0; !st && i < f->old.child_count; i++) {
        const hf_copy_call call = {.child = children[i]};

        if (!hf_copy_takes(&f->copy, &call))
            children[kept++] = children[i];
    }
    f->old.child_count = kept;
    f->old.open = open;
    f->old.children = children;
    f->old.messages = updates;
    return st;
}

/* ---- what is made */

static void fork_plan(forking *f, hf_slice id, int64_t first)
{
    const hf_intake_target *target = &f->h->target;

    f->copy.how = HF_UNIT_INSTANCE_NEW;
    f->copy.instance = target->instance;
    f->copy.instance.key = first;
    f->copy.instance.id = id;
    f->copy.instance.shard = hf_shard_of(target->instance.namespace_key, id);
    f->copy.instance.current_run = first + 1;
    f->copy.instance.run_count = 1;
    f->copy.instance.created_us = f->copy.now_us;
    f->copy.base = (hf_run_base){.run = first + 1,
                                 .instance = first,
                                 .shard = f->copy.instance.shard,
                                 .status = HF_RUN_STATUS_WAITING,
                                 .closed_reason = HF_NONE,
                                 .closed_us = HF_NONE};
}

static void reset_plan(forking *f, int64_t first)
{
    const hf_intake_target *target = &f->h->target;

    f->copy.how =
        target->base.closed_us == HF_NONE ? HF_UNIT_INSTANCE_CONTINUE : HF_UNIT_INSTANCE_NEXT;
    f->copy.instance = target->instance;
    f->copy.instance.current_run = first + 1;
    f->copy.instance.run_count = f->number + 1;
    f->copy.run.number = f->number + 1;
    f->copy.base = (hf_run_base){.run = first + 1,
                                 .instance = target->instance.key,
                                 .shard = target->base.shard,
                                 .message_seq = target->base.message_seq,
                                 .message_cursor = target->base.message_cursor,
                                 .status = HF_RUN_STATUS_WAITING,
                                 .closed_reason = HF_NONE,
                                 .closed_us = HF_NONE};
}

/* The command belongs to the run that it closes, else to the one that it makes. */
static void command_plan(forking *f, int64_t first)
{
    f->copy.recorded = f->copy.how == HF_UNIT_INSTANCE_CONTINUE;
    f->copy.command = hf_handling_row(f->h);
    f->copy.command.key = first + 2;
    f->copy.command.instance = f->copy.instance.key;
    if (!f->copy.recorded)
        f->copy.command.run = f->copy.base.run;
    f->copy.command.outcome = f->copy.reset ? HF_CMD_OUTCOME_RESET : HF_CMD_OUTCOME_FORKED;
    f->copy.command.applied_us = f->copy.command.closed_us = f->copy.now_us;
}

/* The run that is reset closes first, in the same unit. */
static hf_status old_close(forking *f, hf_err *err)
{
    hf_decide decide = {.unit = f->h->unit,
                        .stager = f->h->call->in.stager,
                        .keys = f->h->call->in.keys,
                        .run = &f->old,
                        .now_us = f->copy.now_us};
    const char *reason =
        hf_mem_format(hf_unit_mem(f->h->unit), "reset to step %lld%s%.*s", (long long)f->copy.step,
                      f->copy.reason.len ? ": " : "", (int)f->copy.reason.len,
                      f->copy.reason.ptr ? f->copy.reason.ptr : "");

    if (!reason)
        return hf_err_nomem(err, "a reset");
    hf_unit_append(f->h->unit, &f->h->target.base, HF_NONE, HF_REBASE_NEVER);
    hf_unit_row(f->h->unit, 0, hf_row_command_new(hf_unit_mem(f->h->unit), &f->copy.command));
    hf_decide_replace(&decide, f->copy.command.key, hf_words_message(hf_slice_of(reason)),
                      f->copy.base.run);
    f->effects = decide.effects;
    f->h->closes = true;
    return decide.failure.status ? hf_err_set(err, decide.failure.status, "%s", decide.failure.text)
                                 : HF_OK;
}

/* Children that were taken over look at whom they belong to. */
static hf_status children_hint(forking *f, hf_err *err)
{
    for (size_t i = 0; i < f->copy.call_count; i++) {
        hf_effect *effect;

        if (f->copy.calls[i].closed || !hf_copy_takes(&f->copy, &f->copy.calls[i]))
            continue;
        effect = hf_mem_alloc(hf_unit_mem(f->h->unit), sizeof(*effect));
        if (!effect)
            return hf_err_nomem(err, "a hint");
        effect->kind = HF_EFFECT_RUN;
        effect->run = f->copy.calls[i].child.run;
        effect->next = f->effects;
        f->effects = effect;
    }
    f->h->effects = f->effects;
    return HF_OK;
}

static hf_status reply_fill(forking *f, hf_err *err)
{
    hf_reply *reply = f->h->reply;
    hf_ulid id = hf_ulid_form(f->copy.now_us, f->copy.base.run, 0);
    hf_ulid origin = hf_ulid_form(f->copy.origin_us, f->copy.origin, 0);
    char origin_text[HF_ULID_TEXT_SIZE];

    hf_handling_accept(f->h, f->copy.command.key, f->copy.command.outcome);
    hf_ulid_print(&origin, origin_text);
    hf_ulid_print(&id, reply->run_id);
    reply->run = f->copy.base.run;
    reply->instance = f->copy.instance.key;
    reply->instance_id = hf_mem_text(f->h->mem, f->copy.instance.id);
    reply->detail = hf_json_(f->h->mem,
                             "{'origin_run_id': %s, 'origin_sequence': %lld, 'step': %lld, "
                             "'run_number': %lld}",
                             origin_text, (long long)f->copy.kept, (long long)f->copy.step,
                             (long long)f->copy.run.number);
    return reply->instance_id && reply->detail ? HF_OK : hf_err_nomem(err, "an answer");
}

/* An id that follows from the request, so that a repeated one finds what the first made. */
static hf_status id_make(forking *f, int64_t first, hf_slice *out_id, hf_err *err)
{
    hf_sha256 *sha = f->h->call->in.stager->sha;
    hf_slice request = f->h->request->request_id;
    hf_ulid made = hf_ulid_form(f->copy.now_us, first, 0);
    uint8_t digest[HF_SHA256_BYTES];
    char text[HF_SHA256_TEXT_SIZE];
    hf_status st = HF_OK;

    if (request.ptr) {
        hf_sha256_begin(sha);
        hf_sha256_add(sha, f->h->target.instance.id);
        hf_sha256_add(sha, HF_SLICE("\n"));
        hf_sha256_add(sha, request);
        st = hf_sha256_end(sha, digest, err);
        hf_hex_print(hf_slice_from(digest, ID_BYTES), text);
    } else {
        hf_ulid_print(&made, text);
    }
    *out_id = hf_slice_of(hf_mem_text(hf_unit_mem(f->h->unit), hf_slice_of(text)));
    return st || out_id->ptr ? st : hf_err_nomem(err, "an id");
}

/* The id of the fork: the caller's, or one that is made. *out_taken: it is not free; f->made is
   what has it. */
static hf_status id_choose(forking *f, int64_t first, hf_slice *out_id, bool *out_taken,
                           hf_err *err)
{
    hf_status st = HF_OK;

    *out_taken = false;
    *out_id = f->more ? f->more->id : (hf_slice){0};
    if (!out_id->len)
        st = id_make(f, first, out_id, err);
    if (!st)
        st = hf_name_check(HF_NAME_INSTANCE, *out_id, err);
    if (!st)
        st = hf_instance_get(f->h->call->in.db, hf_unit_mem(f->h->unit),
                             f->h->target.instance.namespace_key, *out_id, &f->made, err);
    *out_taken = st == HF_OK;
    return st == HF_NOTFOUND ? HF_OK : st;
}

static hf_status refuse(forking *f, hf_rejection_reason reason)
{
    return hf_handling_reject(f->h, HF_CMD_OUTCOME_REJECTED_NO_STEP_BOUNDARY, reason,
                              reason == HF_REJECTION_CHILD_OPEN
                                  ? "a child of a step that would be copied is open"
                                  : "the run has no such step, or it lies within a barrier");
}

static hf_status fork_draft(forking *f, hf_err *err)
{
    hf_rejection_reason refused = (hf_rejection_reason)0;
    int64_t first = 0; /* instance, run, command */
    bool taken = false;
    hf_slice id = {0};
    hf_status st = events_read(f, err);

    if (!st)
        st = run_read(f, err);
    if (!st)
        st = calls_read(f, err);
    if (!st)
        st = hf_copy_fold(&f->copy, &refused, err);
    if (!st && refused)
        return refuse(f, refused);
    if (!st)
        st = hf_keys_take(f->h->call->in.keys, 3, &first, err);
    if (!st && !f->copy.reset)
        st = id_choose(f, first, &id, &taken, err);
    if (st)
        return st;
    f->taken = taken;
    if (taken)
        return hf_handling_reject(f->h, HF_CMD_OUTCOME_REJECTED_DUPLICATE,
                                  HF_REJECTION_INSTANCE_ALREADY_STARTED,
                                  "an instance of the new id exists already");
    if (f->copy.reset)
        reset_plan(f, first);
    else
        fork_plan(f, id, first);
    command_plan(f, first);
    if (f->copy.how == HF_UNIT_INSTANCE_CONTINUE) {
        st = old_read(f, err);
        if (!st)
            st = old_close(f, err);
    }
    if (!st)
        st = hf_copy_draft(&f->copy, err);
    if (!st && f->copy.reset)
        st = children_hint(f, err);
    return st ? st : reply_fill(f, err);
}

hf_status hf_command_fork(hf_handling *h, hf_err *err)
{
    const hf_intake_target *target = &h->target;
    const hf_copy_more *more = h->request->more;
    forking f = {.h = h, .more = more, .old = {.base = &target->base, .parent_run = HF_NONE}};
    hf_status st;

    f.copy = (hf_copy){.unit = h->unit,
                       .stager = h->call->in.stager,
                       .keys = h->call->in.keys,
                       .now_us = h->call->in.now_us,
                       .reset = h->request->type == HF_COMMAND_TYPE_RESET,
                       .step = more ? more->step : 0,
                       .carry = more ? more->signals : (hf_slice){0},
                       .reason = h->request->reason,
                       .origin = target->base.run,
                       .origin_us = target->created_us,
                       .payload = payload_get,
                       .payload_ctx = &f};
    if (target->base.run == HF_NONE)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_STARTED,
                                  HF_REJECTION_INSTANCE_NOT_STARTED,
                                  "the instance was never started");
    if (f.copy.reset && target->base.run != target->instance.current_run)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_CURRENT,
                                  HF_REJECTION_SELECTED_RUN_NOT_CURRENT,
                                  "the chosen run is not the newest one");
    f.old.instance_id = target->instance.id;
    f.old.type = target->instance.type;
    f.old.queue = target->queue;
    f.old.namespace_key = target->instance.namespace_key;
    f.old.created_us = target->created_us;
    hf_call_read_begin(h->call);
    st = fork_draft(&f, err);
    hf_call_read_end(h->call);
    if (!st && f.taken && h->request->request_id.ptr) { /* perhaps by the same request */
        hf_instance_row origin = h->target.instance;

        h->target.instance = f.made;
        st = hf_command_repeat(h, &h->answered, err);
        h->target.instance = origin;
        if (!st && h->answered) {
            h->reply->instance_id = hf_mem_text(h->mem, f.made.id);
            st = h->reply->instance_id ? HF_OK : hf_err_nomem(err, "an answer");
        }
        h->records = h->records && !h->answered;
    } else if (!st && !h->records && !f.copy.reset) {
        h->target.instance = f.copy.instance; /* a request id is remembered with what was made */
    }
    return st;
}
