/* row.c: row structs become cells. The order of cells is the order of parameters in the statement's
   .sql file. It only copies: no defaults, no decisions, no database. */
#include "store/row.h"

#include <string.h>

#include "base/assert.h"

/* A row under construction. A failed allocation leaves row NULL; later cells are then dropped. */
typedef struct row_builder {
    hf_mem *mem;
    hf_row *row;
    size_t used;
} row_builder;

static row_builder row_begin(hf_mem *mem, hf_op op)
{
    row_builder builder = {.mem = mem, .row = hf_mem_alloc(mem, sizeof(hf_row))};

    if (!builder.row)
        return builder;
    builder.row->op = op;
    builder.row->command_cell = -1;
    builder.row->message_cell = -1;
    builder.row->cells = hf_mem_array(mem, hf_op_infos[op].cells, sizeof(hf_db_value));
    if (!builder.row->cells)
        builder.row = NULL;
    return builder;
}

static hf_row *row_end(row_builder *builder)
{
    HF_ASSERT(!builder->row || builder->used == hf_op_infos[builder->row->op].cells);
    return builder->row;
}

static void cell_put(row_builder *builder, hf_db_value value)
{
    if (!builder->row)
        return;
    HF_ASSERT(builder->used < hf_op_infos[builder->row->op].cells);
    builder->row->cells[builder->used++] = value;
}

static void put_int(row_builder *builder, int64_t number)
{
    cell_put(builder, number == HF_NONE ? hf_db_null(HF_DB_INT) : hf_db_int(number));
}

static void put_bytes(row_builder *builder, hf_slice bytes, hf_db_type type)
{
    char *copy;

    if (!bytes.ptr) {
        cell_put(builder, hf_db_null(type));
        return;
    }
    copy = hf_mem_text(builder->mem, bytes);
    if (!copy)
        builder->row = NULL;
    cell_put(builder, (hf_db_value){.type = type, .bytes = hf_slice_from(copy, bytes.len)});
}

static void put_text(row_builder *builder, hf_slice text)
{
    put_bytes(builder, text, HF_DB_TEXT);
}

static void put_blob(row_builder *builder, hf_slice bytes)
{
    put_bytes(builder, bytes, HF_DB_BLOB);
}

static void put_instance(row_builder *builder, const hf_instance_row *row)
{
    put_int(builder, row->key);
    put_int(builder, row->namespace_key);
    put_text(builder, row->id);
    put_int(builder, row->shard);
    put_text(builder, row->type);
    put_text(builder, row->business_key);
    put_int(builder, row->current_run);
    put_int(builder, row->run_count);
    put_int(builder, row->created_us);
}

static hf_row *instance_row(hf_mem *mem, hf_op op, const hf_instance_row *row)
{
    row_builder b = row_begin(mem, op);

    put_instance(&b, row);
    return row_end(&b);
}

hf_row *hf_row_instance_new(hf_mem *mem, const hf_instance_row *row, int64_t epoch)
{
    row_builder b = row_begin(mem, HF_OP_INSTANCE_NEW);

    put_instance(&b, row);
    put_int(&b, epoch);
    return row_end(&b);
}

hf_row *hf_row_instance_child(hf_mem *mem, const hf_instance_row *row)
{
    return instance_row(mem, HF_OP_INSTANCE_CHILD, row);
}

hf_row *hf_row_instance_reserve(hf_mem *mem, const hf_instance_row *row)
{
    return instance_row(mem, HF_OP_INSTANCE_RESERVE, row);
}

hf_row *hf_row_instance_advance(hf_mem *mem, const hf_instance_row *row, int64_t expected_count)
{
    row_builder b = row_begin(mem, HF_OP_INSTANCE_ADVANCE);

    put_int(&b, row->key);
    put_int(&b, expected_count);
    put_int(&b, row->run_count);
    put_int(&b, row->current_run);
    put_text(&b, row->type);
    put_text(&b, row->business_key);
    return row_end(&b);
}

hf_row *hf_row_instance_continue(hf_mem *mem, int64_t key, int64_t run_count, int64_t current_run)
{
    row_builder b = row_begin(mem, HF_OP_INSTANCE_CONTINUE);

    put_int(&b, key);
    put_int(&b, run_count);
    put_int(&b, current_run);
    return row_end(&b);
}

hf_row *hf_row_run_new(hf_mem *mem, const hf_run_base *base, const hf_run_row *row)
{
    row_builder b = row_begin(mem, HF_OP_RUN_NEW);

    put_int(&b, base->run);
    put_int(&b, base->instance);
    put_int(&b, row->number);
    put_int(&b, base->status);
    put_int(&b, base->last_seq);
    put_blob(&b, hf_slice_from(base->head, sizeof(base->head)));
    put_int(&b, base->last_us);
    put_int(&b, base->history_bytes);
    put_int(&b, base->command_seq);
    put_int(&b, base->message_seq);
    put_int(&b, base->message_cursor);
    put_int(&b, row->created_us);
    put_int(&b, row->execution_deadline_us);
    put_int(&b, row->run_deadline_us);
    put_text(&b, row->queue);
    put_int(&b, row->definition);
    put_int(&b, base->open_signals);
    put_int(&b, base->open_updates);
    put_int(&b, base->closed_us == HF_NONE ? (int64_t)HF_NONE : base->closed_reason);
    put_int(&b, base->closed_us);
    return row_end(&b);
}

hf_row *hf_row_run_advance(hf_mem *mem, const hf_run_base *expected, const hf_run_base *base,
                           int64_t epoch)
{
    row_builder b = row_begin(mem, HF_OP_RUN_ADVANCE);

    put_int(&b, base->run);
    put_int(&b, expected->last_seq);
    put_int(&b, base->last_seq);
    put_blob(&b, hf_slice_from(base->head, sizeof(base->head)));
    put_int(&b, base->last_us);
    put_int(&b, base->history_bytes);
    put_int(&b, base->command_seq);
    put_int(&b, base->message_seq);
    put_int(&b, base->message_cursor);
    put_int(&b, base->status);
    put_int(&b, base->closed_reason);
    put_int(&b, base->closed_us);
    put_int(&b, base->shard);
    put_int(&b, epoch);
    put_int(&b, expected->command_seq);
    put_int(&b, base->open_signals);
    put_int(&b, base->open_updates);
    return row_end(&b);
}

void hf_row_run_expect(hf_row *row, const hf_run_base *expected)
{
    HF_ASSERT(row->op == HF_OP_RUN_ADVANCE);
    row->cells[1] = hf_db_int(expected->last_seq);
    row->cells[14] = hf_db_int(expected->command_seq);
}

hf_row *hf_row_run_mark(hf_mem *mem, int64_t run, int64_t blocked, int64_t crash_count)
{
    row_builder b = row_begin(mem, HF_OP_RUN_MARK);

    put_int(&b, run);
    put_int(&b, blocked);
    put_int(&b, crash_count);
    return row_end(&b);
}

hf_row *hf_row_history_append(hf_mem *mem, int64_t run, int64_t first_seq, int64_t count,
                              int64_t format, hf_slice body, const uint8_t hash[HF_SHA256_BYTES])
{
    row_builder b = row_begin(mem, HF_OP_HISTORY_APPEND);

    put_int(&b, 0); /* the position: the writer's */
    put_int(&b, run);
    put_int(&b, first_seq);
    put_int(&b, count);
    put_int(&b, format);
    put_blob(&b, body);
    put_blob(&b, hf_slice_from(hash, HF_SHA256_BYTES));
    return row_end(&b);
}

hf_row *hf_row_payload_new(hf_mem *mem, const hf_payload_row *row)
{
    row_builder b = row_begin(mem, HF_OP_PAYLOAD_NEW);

    put_int(&b, row->key);
    put_int(&b, row->run);
    put_blob(&b, hf_slice_from(row->digest, HF_SHA256_BYTES));
    put_int(&b, row->codec);
    put_int(&b, row->size);
    put_int(&b, row->compression);
    put_blob(&b, row->body);
    return row_end(&b);
}

static hf_row *command_row(hf_mem *mem, hf_op op, const hf_command_row *row)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, row->key);
    put_int(&b, row->instance);
    put_int(&b, row->run);
    put_int(&b, row->type);
    put_int(&b, row->status);
    put_int(&b, row->outcome);
    put_int(&b, row->rejection);
    put_int(&b, row->scope);
    put_int(&b, row->source);
    if (b.row && row->command_ahead != HF_NONE) {
        b.row->command_cell = (int)b.used;
        b.row->command_ahead = row->command_ahead;
    }
    put_int(&b, HF_NONE);
    if (b.row && row->message_ahead != HF_NONE) {
        b.row->message_cell = (int)b.used;
        b.row->message_ahead = row->message_ahead;
        b.row->signals = row->type == HF_COMMAND_TYPE_SIGNAL;
        b.row->updates = row->type == HF_COMMAND_TYPE_UPDATE;
    }
    put_int(&b, HF_NONE);
    put_text(&b, row->name);
    put_int(&b, row->state);
    put_int(&b, row->recorded_us);
    put_int(&b, row->applied_us);
    put_int(&b, row->closed_us);
    put_blob(&b, row->body);
    return row_end(&b);
}

hf_row *hf_row_command_new(hf_mem *mem, const hf_command_row *row)
{
    return command_row(mem, HF_OP_COMMAND_NEW, row);
}

hf_row *hf_row_command_record(hf_mem *mem, const hf_command_row *row)
{
    return command_row(mem, HF_OP_COMMAND_RECORD, row);
}

hf_row *hf_row_command_leave(hf_mem *mem, const hf_command_row *row)
{
    return command_row(mem, HF_OP_COMMAND_LEAVE, row);
}

hf_row *hf_row_command_close(hf_mem *mem, int64_t key, int64_t outcome, int64_t state,
                             int64_t applied_us, int64_t closed_us)
{
    row_builder b = row_begin(mem, HF_OP_COMMAND_CLOSE);

    put_int(&b, key);
    put_int(&b, outcome);
    put_int(&b, state);
    put_int(&b, applied_us);
    put_int(&b, closed_us);
    if (b.row) {
        b.row->signals = outcome == HF_CMD_OUTCOME_SIGNAL_RECEIVED ? -1 : 0;
        b.row->updates =
            outcome == HF_CMD_OUTCOME_UPDATE_COMPLETED || outcome == HF_CMD_OUTCOME_UPDATE_FAILED
                ? -1
                : 0;
    }
    return row_end(&b);
}

hf_row *hf_row_slot_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t most,
                         int64_t run, hf_slice owner, int64_t lease_until_us, int64_t now_us)
{
    row_builder b = row_begin(mem, HF_OP_SLOT_TAKE);

    put_text(&b, key);
    put_int(&b, most);
    put_int(&b, run);
    put_text(&b, owner);
    put_int(&b, lease_until_us);
    put_int(&b, now_us);
    put_int(&b, namespace_key);
    return row_end(&b);
}

hf_row *hf_row_slot_free(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t run,
                         hf_slice owner)
{
    row_builder b = row_begin(mem, HF_OP_SLOT_FREE);

    put_text(&b, key);
    put_int(&b, run);
    put_text(&b, owner);
    put_int(&b, namespace_key);
    return row_end(&b);
}

hf_row *hf_row_slot_renew(hf_mem *mem, hf_slice owner, int64_t lease_until_us)
{
    row_builder b = row_begin(mem, HF_OP_SLOT_RENEW);

    put_text(&b, owner);
    put_int(&b, lease_until_us);
    return row_end(&b);
}

hf_row *hf_row_slot_clear(hf_mem *mem, hf_slice owner)
{
    row_builder b = row_begin(mem, HF_OP_SLOT_CLEAR);

    put_text(&b, owner);
    return row_end(&b);
}

hf_row *hf_row_bucket_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t weight,
                           int64_t burst, int64_t allowed, int64_t per_us, int64_t now_us)
{
    row_builder b = row_begin(mem, HF_OP_BUCKET_TAKE);

    put_text(&b, key);
    put_int(&b, weight);
    put_int(&b, burst);
    put_int(&b, allowed);
    put_int(&b, per_us);
    put_int(&b, now_us);
    put_int(&b, namespace_key);
    return row_end(&b);
}

hf_row *hf_row_correlation_new(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t instance,
                               int64_t scope)
{
    row_builder b = row_begin(mem, HF_OP_CORRELATION_NEW);

    put_int(&b, namespace_key);
    put_text(&b, key);
    put_int(&b, instance);
    put_int(&b, scope);
    return row_end(&b);
}

static hf_row *dedup_row(hf_mem *mem, hf_op op, int64_t instance, hf_slice hash, int64_t command)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, instance);
    put_blob(&b, hash);
    put_int(&b, command);
    return row_end(&b);
}

hf_row *hf_row_dedup_new(hf_mem *mem, int64_t instance, hf_slice hash, int64_t command)
{
    return dedup_row(mem, HF_OP_DEDUP_NEW, instance, hash, command);
}

hf_row *hf_row_dedup_leave(hf_mem *mem, int64_t instance, hf_slice hash, int64_t command)
{
    return dedup_row(mem, HF_OP_DEDUP_LEAVE, instance, hash, command);
}

hf_row *hf_row_inbox_new(hf_mem *mem, int64_t key, int64_t run, int64_t kind, int64_t source_run,
                         int64_t created_us, hf_slice body)
{
    row_builder b = row_begin(mem, HF_OP_INBOX_NEW);

    put_int(&b, key);
    put_int(&b, run);
    put_int(&b, kind);
    put_int(&b, source_run);
    put_int(&b, created_us);
    put_blob(&b, body);
    return row_end(&b);
}

hf_row *hf_row_instance_hold(hf_mem *mem, int64_t key)
{
    row_builder b = row_begin(mem, HF_OP_INSTANCE_HOLD);

    put_int(&b, key);
    return row_end(&b);
}

hf_row *hf_row_message_hold(hf_mem *mem, int64_t namespace_key, hf_slice instance)
{
    row_builder b = row_begin(mem, HF_OP_MESSAGE_HOLD);

    put_int(&b, namespace_key);
    put_text(&b, instance);
    return row_end(&b);
}

hf_row *hf_row_message_new(hf_mem *mem, const hf_message_row *row)
{
    row_builder b = row_begin(mem, HF_OP_MESSAGE_NEW);

    put_int(&b, row->key);
    put_int(&b, row->namespace_key);
    put_text(&b, row->instance);
    put_text(&b, row->stream);
    put_int(&b, row->direction);
    put_text(&b, row->peer);
    put_int(&b, row->source_run);
    put_int(&b, row->ordinal);
    put_text(&b, row->reference);
    put_int(&b, row->created_us);
    return row_end(&b);
}

hf_row *hf_row_message_take(hf_mem *mem, int64_t instance, hf_slice stream, int64_t number,
                            int64_t run, int64_t step, int64_t now_us)
{
    row_builder b = row_begin(mem, HF_OP_MESSAGE_TAKE);

    put_int(&b, instance);
    put_text(&b, stream);
    put_int(&b, number);
    put_int(&b, run);
    put_int(&b, step);
    put_int(&b, now_us);
    return row_end(&b);
}

hf_row *hf_row_message_return(hf_mem *mem, int64_t run, int64_t next, int64_t step)
{
    row_builder b = row_begin(mem, HF_OP_MESSAGE_RETURN);

    put_int(&b, run);
    put_int(&b, next);
    put_int(&b, step);
    return row_end(&b);
}

hf_row *hf_row_inbox_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance, int64_t kind,
                          int64_t source_run, int64_t created_us, hf_slice body)
{
    row_builder b = row_begin(mem, HF_OP_INBOX_TELL);

    put_int(&b, key);
    put_int(&b, run);
    put_int(&b, instance);
    put_int(&b, kind);
    put_int(&b, source_run);
    put_int(&b, created_us);
    put_blob(&b, body);
    return row_end(&b);
}

hf_row *hf_row_parent_hold(hf_mem *mem, int64_t run)
{
    row_builder b = row_begin(mem, HF_OP_PARENT_HOLD);

    put_int(&b, run);
    return row_end(&b);
}

hf_row *hf_row_run_hold(hf_mem *mem, int64_t parent, int64_t step)
{
    row_builder b = row_begin(mem, HF_OP_RUN_HOLD);

    put_int(&b, parent);
    put_int(&b, step);
    return row_end(&b);
}

hf_row *hf_row_inbox_child(hf_mem *mem, int64_t key, int64_t run, int64_t parent, int64_t step,
                           int64_t created_us)
{
    row_builder b = row_begin(mem, HF_OP_INBOX_CHILD);

    put_int(&b, key);
    put_int(&b, run);
    put_int(&b, parent);
    put_int(&b, step);
    put_int(&b, created_us);
    return row_end(&b);
}

hf_row *hf_row_inbox_move(hf_mem *mem, int64_t run, int64_t next)
{
    row_builder b = row_begin(mem, HF_OP_INBOX_MOVE);

    put_int(&b, run);
    put_int(&b, next);
    return row_end(&b);
}

hf_row *hf_row_task_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance,
                         int64_t source_kind, int64_t source_key, int64_t now_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_TELL);

    put_int(&b, key);
    put_int(&b, run);
    put_int(&b, instance);
    put_int(&b, source_kind);
    put_int(&b, source_key);
    put_int(&b, now_us);
    return row_end(&b);
}

hf_row *hf_row_command_move(hf_mem *mem, int64_t key, bool update, int64_t run,
                            int64_t command_ahead)
{
    row_builder b = row_begin(mem, HF_OP_COMMAND_MOVE);

    put_int(&b, key);
    put_int(&b, run);
    if (b.row) {
        b.row->command_cell = (int)b.used;
        b.row->command_ahead = command_ahead;
        b.row->signals = !update;
        b.row->updates = update;
        b.row->moves = true;
    }
    put_int(&b, HF_NONE);
    return row_end(&b);
}

static void put_link(row_builder *b, const hf_link_row *row)
{
    put_int(b, row->key);
    put_int(b, row->kind);
    put_int(b, row->parent_run);
    put_int(b, row->step);
    put_int(b, row->child_instance);
    put_int(b, row->child_run);
    put_int(b, row->policy);
    put_int(b, row->created_us);
    put_int(b, row->call);
    put_int(b, row->call_us);
    put_int(b, row->attempt);
    put_int(b, row->max_attempts);
}

hf_row *hf_row_link_new(hf_mem *mem, const hf_link_row *row)
{
    row_builder b = row_begin(mem, HF_OP_LINK_NEW);

    put_link(&b, row);
    return row_end(&b);
}

hf_row *hf_row_link_follow(hf_mem *mem, const hf_link_row *row, int64_t before)
{
    row_builder b = row_begin(mem, HF_OP_LINK_FOLLOW);

    put_link(&b, row);
    put_int(&b, before);
    return row_end(&b);
}

hf_row *hf_row_link_take(hf_mem *mem, const hf_link_row *row, int64_t origin)
{
    row_builder b = row_begin(mem, HF_OP_LINK_TAKE);

    put_link(&b, row);
    put_int(&b, origin);
    return row_end(&b);
}

hf_row *hf_row_activity_new(hf_mem *mem, const hf_activity_row *row)
{
    row_builder b = row_begin(mem, HF_OP_ACTIVITY_NEW);

    put_int(&b, row->key);
    put_int(&b, row->run);
    put_int(&b, row->step);
    put_text(&b, row->type);
    put_int(&b, row->status);
    put_int(&b, row->attempt);
    put_int(&b, row->max_attempts);
    put_int(&b, row->lost_attempts);
    put_int(&b, row->deadline_us);
    put_int(&b, row->close_deadline_us);
    put_int(&b, row->scheduled_us);
    put_int(&b, row->started_us);
    put_int(&b, row->closed_us);
    put_blob(&b, row->policy);
    put_int(&b, row->available_us);
    return row_end(&b);
}

hf_row *hf_row_activity_set(hf_mem *mem, const hf_activity_row *row)
{
    row_builder b = row_begin(mem, HF_OP_ACTIVITY_SET);

    put_int(&b, row->key);
    put_int(&b, row->status);
    put_int(&b, row->attempt);
    put_int(&b, row->lost_attempts);
    put_int(&b, row->deadline_us);
    put_int(&b, row->started_us);
    put_int(&b, row->closed_us);
    put_int(&b, row->available_us);
    put_int(&b, row->crash_count);
    put_int(&b, row->missed_starts);
    return row_end(&b);
}

hf_row *hf_row_attempt_new(hf_mem *mem, const hf_attempt_row *row)
{
    row_builder b = row_begin(mem, HF_OP_ATTEMPT_NEW);

    put_int(&b, row->activity);
    put_int(&b, row->number);
    put_int(&b, row->status);
    put_int(&b, row->task);
    put_int(&b, row->epoch);
    put_text(&b, row->owner);
    put_int(&b, row->started_us);
    put_int(&b, row->heartbeat_us);
    put_int(&b, row->lease_until_us);
    put_int(&b, row->closed_us);
    return row_end(&b);
}

hf_row *hf_row_attempt_close(hf_mem *mem, int64_t activity, int64_t number,
                             hf_attempt_status status, int64_t closed_us)
{
    row_builder b = row_begin(mem, HF_OP_ATTEMPT_CLOSE);

    put_int(&b, activity);
    put_int(&b, number);
    put_int(&b, status);
    put_int(&b, closed_us);
    return row_end(&b);
}

hf_row *hf_row_timer_new(hf_mem *mem, const hf_timer_row *row)
{
    row_builder b = row_begin(mem, HF_OP_TIMER_NEW);

    put_int(&b, row->key);
    put_int(&b, row->run);
    put_int(&b, row->step);
    put_int(&b, row->kind);
    put_int(&b, row->status);
    put_int(&b, row->due_us);
    put_int(&b, row->created_us);
    put_int(&b, row->closed_us);
    return row_end(&b);
}

static hf_row *task_row(hf_mem *mem, hf_op op, const hf_task_row *row)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, row->key);
    put_int(&b, row->run);
    put_int(&b, row->kind);
    put_int(&b, row->status);
    put_text(&b, row->queue);
    put_int(&b, row->priority);
    put_int(&b, row->available_us);
    put_int(&b, row->epoch);
    put_blob(&b, row->token);
    put_text(&b, row->owner);
    put_int(&b, row->lease_until_us);
    put_int(&b, row->attempt);
    put_int(&b, row->repair_count);
    put_int(&b, row->source_kind);
    put_int(&b, row->source_key);
    put_int(&b, row->created_us);
    put_blob(&b, row->body);
    return row_end(&b);
}

hf_row *hf_row_task_new(hf_mem *mem, const hf_task_row *row)
{
    return task_row(mem, HF_OP_TASK_NEW, row);
}

hf_row *hf_row_task_begin(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t priority,
                          int64_t available_us, int64_t created_us)
{
    const hf_task_row row = {.key = key,
                             .run = run,
                             .kind = HF_TASK_TYPE_WORKFLOW,
                             .status = HF_TASK_STATUS_READY,
                             .queue = queue,
                             .priority = priority ? priority : HF_TASK_PRIORITY,
                             .available_us = available_us,
                             .lease_until_us = HF_NONE,
                             .source_kind = HF_NONE,
                             .source_key = HF_NONE,
                             .created_us = created_us};

    return task_row(mem, HF_OP_TASK_WAKE, &row);
}

hf_row *hf_row_task_wake(hf_mem *mem, int64_t key, int64_t run, hf_slice queue,
                         int64_t available_us, int64_t created_us)
{
    return hf_row_task_begin(mem, key, run, queue, 0, available_us, created_us);
}

static hf_row *pair_row(hf_mem *mem, hf_op op, int64_t first, int64_t second)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, first);
    put_int(&b, second);
    return row_end(&b);
}

hf_row *hf_row_task_done(hf_mem *mem, int64_t run, int64_t messages_seen)
{
    return pair_row(mem, HF_OP_TASK_DONE, run, messages_seen);
}

hf_row *hf_row_task_drop(hf_mem *mem, int64_t run, int64_t seen)
{
    return pair_row(mem, HF_OP_TASK_DROP, run, seen);
}

hf_row *hf_row_correlation_close(hf_mem *mem, int64_t instance, int64_t ending)
{
    return pair_row(mem, HF_OP_CORRELATION_CLOSE, instance, ending);
}

hf_row *hf_row_timer_reset(hf_mem *mem, int64_t key, int64_t due_us)
{
    return pair_row(mem, HF_OP_TIMER_RESET, key, due_us);
}

hf_row *hf_row_timer_cancel(hf_mem *mem, int64_t run, int64_t step)
{
    return pair_row(mem, HF_OP_TIMER_CANCEL, run, step);
}

hf_row *hf_row_task_block(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t now_us,
                          hf_slice body)
{
    row_builder b = row_begin(mem, HF_OP_TASK_BLOCK);

    put_int(&b, key);
    put_int(&b, run);
    put_int(&b, HF_TASK_STATUS_FAILED);
    put_text(&b, queue);
    put_int(&b, now_us);
    put_blob(&b, body);
    return row_end(&b);
}

hf_row *hf_row_run_pause(hf_mem *mem, int64_t run, int64_t paused_us)
{
    return pair_row(mem, HF_OP_RUN_PAUSE, run, paused_us);
}

hf_row *hf_row_run_archive(hf_mem *mem, int64_t run, int64_t archived_us)
{
    return pair_row(mem, HF_OP_RUN_ARCHIVE, run, archived_us);
}

hf_row *hf_row_run_block(hf_mem *mem, int64_t run, int64_t blocked)
{
    return pair_row(mem, HF_OP_RUN_BLOCK, run, blocked);
}

hf_row *hf_row_batch_new(hf_mem *mem, int64_t key, int64_t namespace_key, int64_t total,
                         int64_t created_us, hf_slice body)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_NEW);

    put_int(&b, key);
    put_int(&b, namespace_key);
    put_int(&b, HF_BATCH_STATUS_RUNNING);
    put_int(&b, total);
    put_int(&b, created_us);
    put_blob(&b, body);
    return row_end(&b);
}

hf_row *hf_row_batch_item_new(hf_mem *mem, const hf_batch_item_row *row)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_ITEM_NEW);

    put_int(&b, row->batch);
    put_int(&b, row->number);
    put_int(&b, row->status);
    put_text(&b, row->id);
    put_text(&b, row->outcome);
    put_text(&b, row->reason);
    put_text(&b, row->message);
    put_int(&b, row->epoch);
    return row_end(&b);
}

hf_row *hf_row_batch_claim(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t owner,
                           int64_t lease_until_us, int64_t now_us)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_CLAIM);

    put_int(&b, key);
    put_int(&b, expected_epoch);
    put_int(&b, owner);
    put_int(&b, lease_until_us);
    put_int(&b, now_us);
    put_int(&b, HF_BATCH_STATUS_RUNNING);
    return row_end(&b);
}

hf_row *hf_row_batch_free(hf_mem *mem, int64_t key, int64_t epoch)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_FREE);

    put_int(&b, key);
    put_int(&b, epoch);
    return row_end(&b);
}

hf_row *hf_row_batch_move(hf_mem *mem, const hf_batch_move *move)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_MOVE);

    put_int(&b, move->key);
    put_int(&b, move->from);
    put_int(&b, move->to);
    put_int(&b, move->next_us);
    put_int(&b, HF_BATCH_STATUS_RUNNING);
    put_int(&b, HF_BATCH_STATUS_COMPLETED);
    put_int(&b, move->now_us);
    put_int(&b, move->epoch);
    put_int(&b, move->lease_until_us);
    return row_end(&b);
}

hf_row *hf_row_batch_status(hf_mem *mem, int64_t key, hf_batch_status expected,
                            hf_batch_status status, int64_t closed_us)
{
    row_builder b = row_begin(mem, HF_OP_BATCH_STATUS);

    put_int(&b, key);
    put_int(&b, expected);
    put_int(&b, status);
    put_int(&b, closed_us);
    return row_end(&b);
}

hf_row *hf_row_run_crash(hf_mem *mem, int64_t run)
{
    row_builder b = row_begin(mem, HF_OP_RUN_CRASH);

    put_int(&b, run);
    return row_end(&b);
}

hf_row *hf_row_definition_add(hf_mem *mem, int64_t key, hf_slice fingerprint, hf_slice type,
                              hf_slice body)
{
    row_builder b = row_begin(mem, HF_OP_DEFINITION_ADD);

    put_int(&b, key);
    put_text(&b, fingerprint);
    put_text(&b, type);
    put_blob(&b, body);
    return row_end(&b);
}

hf_row *hf_row_task_set(hf_mem *mem, const hf_task_row *row)
{
    row_builder b = row_begin(mem, HF_OP_TASK_SET);

    put_int(&b, row->key);
    put_int(&b, row->status);
    put_int(&b, row->epoch);
    put_blob(&b, row->token);
    put_text(&b, row->owner);
    put_int(&b, row->lease_until_us);
    put_int(&b, row->attempt);
    put_int(&b, row->source_key);
    return row_end(&b);
}

hf_row *hf_row_task_repair(hf_mem *mem, int64_t key, int64_t available_us)
{
    return pair_row(mem, HF_OP_TASK_REPAIR, key, available_us);
}

hf_row *hf_row_task_trouble(hf_mem *mem, int64_t run, hf_task_trouble trouble, int64_t repair_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_TROUBLE);

    put_int(&b, run);
    put_int(&b, trouble);
    put_int(&b, repair_us);
    return row_end(&b);
}

hf_row *hf_row_task_redo(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t available_us,
                         int64_t repair_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_REDO);

    put_int(&b, key);
    put_int(&b, expected_epoch);
    put_int(&b, available_us);
    put_int(&b, repair_us);
    return row_end(&b);
}

hf_row *hf_row_task_claim(hf_mem *mem, int64_t key, int64_t expected_epoch, hf_slice token,
                          hf_slice owner, int64_t lease_until_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_CLAIM);

    put_int(&b, key);
    put_int(&b, expected_epoch);
    put_int(&b, expected_epoch + 1);
    put_blob(&b, token);
    put_text(&b, owner);
    put_int(&b, lease_until_us);
    put_int(&b, HF_TASK_STATUS_READY);
    put_int(&b, HF_TASK_STATUS_LEASED);
    return row_end(&b);
}

hf_row *hf_row_task_extend(hf_mem *mem, int64_t key, int64_t epoch, hf_slice token,
                           int64_t lease_until_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_EXTEND);

    put_int(&b, key);
    put_int(&b, epoch);
    put_blob(&b, token);
    put_int(&b, lease_until_us);
    return row_end(&b);
}

hf_row *hf_row_task_release(hf_mem *mem, int64_t key, int64_t epoch, hf_slice token,
                            int64_t available_us)
{
    row_builder b = row_begin(mem, HF_OP_TASK_RELEASE);

    put_int(&b, key);
    put_int(&b, epoch);
    put_blob(&b, token);
    put_int(&b, HF_TASK_STATUS_READY);
    put_int(&b, available_us);
    return row_end(&b);
}

hf_row *hf_row_summary_new(hf_mem *mem, int64_t run, int64_t namespace_key, int64_t instance,
                           int64_t status, int64_t sort_us)
{
    row_builder b = row_begin(mem, HF_OP_SUMMARY_NEW);

    put_int(&b, run);
    put_int(&b, namespace_key);
    put_int(&b, instance);
    put_int(&b, status);
    put_int(&b, sort_us);
    return row_end(&b);
}

hf_row *hf_row_summary_set(hf_mem *mem, int64_t run, int64_t status)
{
    return pair_row(mem, HF_OP_SUMMARY_SET, run, status);
}

hf_row *hf_row_cells(hf_mem *mem, hf_op op, const hf_db_value *cells, size_t count)
{
    row_builder b = row_begin(mem, op);

    for (size_t i = 0; i < count; i++)
        if (cells[i].type == HF_DB_TEXT || cells[i].type == HF_DB_BLOB)
            put_bytes(&b, cells[i].null ? (hf_slice){0} : cells[i].bytes, cells[i].type);
        else
            cell_put(&b, cells[i]);
    return row_end(&b);
}

hf_row *hf_row_worker_beat(hf_mem *mem, const hf_worker_row *row)
{
    row_builder b = row_begin(mem, HF_OP_WORKER_BEAT);

    put_text(&b, row->name);
    put_text(&b, row->queue);
    put_text(&b, row->scope);
    put_text(&b, row->host);
    put_int(&b, row->process);
    put_text(&b, row->build_id);
    put_text(&b, row->supported);
    put_int(&b, row->recorded_us);
    put_int(&b, row->expires_us);
    return row_end(&b);
}

static void put_int_or_null(row_builder *builder, int64_t number)
{
    put_int(builder, number ? number : HF_NONE);
}

hf_row *hf_row_schedule_take(hf_mem *mem, int64_t schedule, int64_t expected, int64_t revision,
                             int64_t namespace_key, hf_slice instance_id)
{
    row_builder b = row_begin(mem, HF_OP_SCHEDULE_TAKE);

    put_int(&b, schedule);
    put_int(&b, expected);
    put_int(&b, revision);
    put_int(&b, namespace_key);
    put_text(&b, instance_id);
    return row_end(&b);
}

hf_row *hf_row_schedule_instance(hf_mem *mem, const hf_instance_row *row, int64_t schedule,
                                 int64_t revision)
{
    row_builder b = row_begin(mem, HF_OP_SCHEDULE_INSTANCE);

    put_instance(&b, row);
    put_int(&b, schedule);
    put_int(&b, revision);
    return row_end(&b);
}

static hf_row *schedule_row(hf_mem *mem, hf_op op, const hf_schedule_row *row)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, row->key);
    put_int(&b, row->expected);
    put_int(&b, row->revision);
    put_int(&b, row->status);
    put_int_or_null(&b, row->next_us);
    put_int(&b, row->events);
    put_int(&b, row->fires);
    put_int_or_null(&b, row->latest_instance);
    put_blob(&b, row->body);
    return row_end(&b);
}

hf_row *hf_row_schedule_set(hf_mem *mem, const hf_schedule_row *row)
{
    return schedule_row(mem, HF_OP_SCHEDULE_SET, row);
}

hf_row *hf_row_schedule_move(hf_mem *mem, const hf_schedule_row *row)
{
    return schedule_row(mem, HF_OP_SCHEDULE_MOVE, row);
}

hf_row *hf_row_schedule_new(hf_mem *mem, const hf_schedule_row *row)
{
    row_builder b = row_begin(mem, HF_OP_SCHEDULE_NEW);

    put_int(&b, row->key);
    put_int(&b, row->namespace_key);
    put_text(&b, row->id);
    put_int(&b, row->status);
    put_int(&b, row->revision);
    put_int_or_null(&b, row->next_us);
    put_int(&b, row->events);
    put_int(&b, row->fires);
    put_int_or_null(&b, row->latest_instance);
    put_int(&b, row->created_us);
    put_blob(&b, row->body);
    return row_end(&b);
}

static hf_row *schedule_event_row(hf_mem *mem, hf_op op, const hf_schedule_event_row *row)
{
    row_builder b = row_begin(mem, op);

    put_int(&b, row->schedule);
    put_int(&b, row->sequence);
    put_int(&b, row->revision);
    put_int(&b, row->type);
    put_int(&b, row->recorded_us);
    put_int(&b, row->run);
    put_int(&b, row->slot_us);
    put_blob(&b, row->body);
    return row_end(&b);
}

hf_row *hf_row_schedule_event(hf_mem *mem, const hf_schedule_event_row *row)
{
    return schedule_event_row(mem, HF_OP_SCHEDULE_EVENT, row);
}

hf_row *hf_row_schedule_note(hf_mem *mem, const hf_schedule_event_row *row)
{
    return schedule_event_row(mem, HF_OP_SCHEDULE_NOTE, row);
}

hf_row *hf_row_delete(hf_mem *mem, hf_op op, int64_t key)
{
    row_builder b = row_begin(mem, op);

    HF_ASSERT(hf_op_infos[op].cells == 1);
    put_int(&b, key);
    return row_end(&b);
}
