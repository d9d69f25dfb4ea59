/* row_message.c: rows of what reaches a run: commands, inbox, messages, links, keys. See row.c. */
#include "store/row_build.h"

static hf_row *command_row(hf_mem *mem, hf_op op, const hf_command_row *row)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->instance);
    hf_row_put_int(&b, row->run);
    hf_row_put_int(&b, row->type);
    hf_row_put_int(&b, row->status);
    hf_row_put_int(&b, row->outcome);
    hf_row_put_int(&b, row->rejection);
    hf_row_put_int(&b, row->scope);
    hf_row_put_int(&b, row->source);
    if (b.row && row->command_ahead != HF_NONE) {
        b.row->command_cell = (int)b.used;
        b.row->command_ahead = row->command_ahead;
    }
    hf_row_put_int(&b, HF_NONE);
    if (b.row && row->message_ahead != HF_NONE) {
        b.row->message_cell = (int)b.used;
        b.row->message_ahead = row->message_ahead;
        b.row->signals = row->type == HF_COMMAND_TYPE_SIGNAL;
        b.row->updates = row->type == HF_COMMAND_TYPE_UPDATE;
    }
    hf_row_put_int(&b, HF_NONE);
    hf_row_put_text(&b, row->name);
    hf_row_put_int(&b, row->state);
    hf_row_put_int(&b, row->recorded_us);
    hf_row_put_int(&b, row->applied_us);
    hf_row_put_int(&b, row->closed_us);
    hf_row_put_blob(&b, row->body);
    return hf_row_end(&b);
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
    hf_row_builder b = hf_row_begin(mem, HF_OP_COMMAND_CLOSE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, outcome);
    hf_row_put_int(&b, state);
    hf_row_put_int(&b, applied_us);
    hf_row_put_int(&b, closed_us);
    if (b.row) {
        b.row->signals = outcome == HF_CMD_OUTCOME_SIGNAL_RECEIVED ? -1 : 0;
        b.row->updates =
            outcome == HF_CMD_OUTCOME_UPDATE_COMPLETED || outcome == HF_CMD_OUTCOME_UPDATE_FAILED
                ? -1
                : 0;
    }
    return hf_row_end(&b);
}

void hf_row_command_closes(hf_row *command, const hf_row *close)
{
    enum { OUTCOME = 5, STATE = 12, APPLIED = 14, CLOSED };

    command->cells[OUTCOME] = close->cells[1];
    command->cells[STATE] = close->cells[2];
    command->cells[APPLIED] = close->cells[3];
    command->cells[CLOSED] = close->cells[4];
}

hf_row *hf_row_correlation_new(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t instance,
                               int64_t scope)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_CORRELATION_NEW);

    hf_row_put_int(&b, namespace_key);
    hf_row_put_text(&b, key);
    hf_row_put_int(&b, instance);
    hf_row_put_int(&b, scope);
    return hf_row_end(&b);
}

static hf_row *dedup_row(hf_mem *mem, hf_op op, int64_t instance, hf_slice hash, int64_t command)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_int(&b, instance);
    hf_row_put_blob(&b, hash);
    hf_row_put_int(&b, command);
    return hf_row_end(&b);
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
    hf_row_builder b = hf_row_begin(mem, HF_OP_INBOX_NEW);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, kind);
    hf_row_put_int(&b, source_run);
    hf_row_put_int(&b, created_us);
    hf_row_put_blob(&b, body);
    return hf_row_end(&b);
}

hf_row *hf_row_instance_hold(hf_mem *mem, int64_t key)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INSTANCE_HOLD);

    hf_row_put_int(&b, key);
    return hf_row_end(&b);
}

hf_row *hf_row_message_hold(hf_mem *mem, int64_t namespace_key, hf_slice instance)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_MESSAGE_HOLD);

    hf_row_put_int(&b, namespace_key);
    hf_row_put_text(&b, instance);
    return hf_row_end(&b);
}

hf_row *hf_row_message_new(hf_mem *mem, const hf_message_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_MESSAGE_NEW);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->namespace_key);
    hf_row_put_text(&b, row->instance);
    hf_row_put_text(&b, row->stream);
    hf_row_put_int(&b, row->direction);
    hf_row_put_text(&b, row->peer);
    hf_row_put_int(&b, row->source_run);
    hf_row_put_int(&b, row->ordinal);
    hf_row_put_text(&b, row->reference);
    hf_row_put_int(&b, row->created_us);
    return hf_row_end(&b);
}

hf_row *hf_row_message_take(hf_mem *mem, int64_t instance, hf_slice stream, int64_t number,
                            int64_t run, int64_t step, int64_t now_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_MESSAGE_TAKE);

    hf_row_put_int(&b, instance);
    hf_row_put_text(&b, stream);
    hf_row_put_int(&b, number);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, step);
    hf_row_put_int(&b, now_us);
    return hf_row_end(&b);
}

hf_row *hf_row_message_return(hf_mem *mem, int64_t run, int64_t next, int64_t step)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_MESSAGE_RETURN);

    hf_row_put_int(&b, run);
    hf_row_put_int(&b, next);
    hf_row_put_int(&b, step);
    return hf_row_end(&b);
}

hf_row *hf_row_inbox_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance, int64_t kind,
                          int64_t source_run, int64_t created_us, hf_slice body)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INBOX_TELL);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, instance);
    hf_row_put_int(&b, kind);
    hf_row_put_int(&b, source_run);
    hf_row_put_int(&b, created_us);
    hf_row_put_blob(&b, body);
    return hf_row_end(&b);
}

hf_row *hf_row_parent_hold(hf_mem *mem, int64_t run)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_PARENT_HOLD);

    hf_row_put_int(&b, run);
    return hf_row_end(&b);
}

hf_row *hf_row_run_hold(hf_mem *mem, int64_t parent, int64_t step)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_RUN_HOLD);

    hf_row_put_int(&b, parent);
    hf_row_put_int(&b, step);
    return hf_row_end(&b);
}

hf_row *hf_row_inbox_child(hf_mem *mem, int64_t key, int64_t run, int64_t parent, int64_t step,
                           int64_t created_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INBOX_CHILD);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, parent);
    hf_row_put_int(&b, step);
    hf_row_put_int(&b, created_us);
    return hf_row_end(&b);
}

hf_row *hf_row_inbox_move(hf_mem *mem, int64_t run, int64_t next)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INBOX_MOVE);

    hf_row_put_int(&b, run);
    hf_row_put_int(&b, next);
    return hf_row_end(&b);
}

hf_row *hf_row_command_move(hf_mem *mem, int64_t key, bool update, int64_t run,
                            int64_t command_ahead)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_COMMAND_MOVE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    if (b.row) {
        b.row->command_cell = (int)b.used;
        b.row->command_ahead = command_ahead;
        b.row->signals = !update;
        b.row->updates = update;
        b.row->moves = true;
    }
    hf_row_put_int(&b, HF_NONE);
    return hf_row_end(&b);
}

static void put_link(hf_row_builder *b, const hf_link_row *row)
{
    hf_row_put_int(b, row->key);
    hf_row_put_int(b, row->kind);
    hf_row_put_int(b, row->parent_run);
    hf_row_put_int(b, row->step);
    hf_row_put_int(b, row->child_instance);
    hf_row_put_int(b, row->child_run);
    hf_row_put_int(b, row->policy);
    hf_row_put_int(b, row->created_us);
    hf_row_put_int(b, row->call);
    hf_row_put_int(b, row->call_us);
    hf_row_put_int(b, row->attempt);
    hf_row_put_int(b, row->max_attempts);
}

hf_row *hf_row_link_new(hf_mem *mem, const hf_link_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_LINK_NEW);

    put_link(&b, row);
    return hf_row_end(&b);
}

hf_row *hf_row_link_follow(hf_mem *mem, const hf_link_row *row, int64_t before)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_LINK_FOLLOW);

    put_link(&b, row);
    hf_row_put_int(&b, before);
    return hf_row_end(&b);
}

hf_row *hf_row_link_take(hf_mem *mem, const hf_link_row *row, int64_t origin)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_LINK_TAKE);

    put_link(&b, row);
    hf_row_put_int(&b, origin);
    return hf_row_end(&b);
}

hf_row *hf_row_correlation_close(hf_mem *mem, int64_t instance, int64_t ending)
{
    return hf_row_pair(mem, HF_OP_CORRELATION_CLOSE, instance, ending);
}
