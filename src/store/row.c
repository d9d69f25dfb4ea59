/* row.c: row structs become cells: instances, runs, history, payloads, definitions, summaries. The
   order of cells is the order of parameters in the statement's .sql file. */
#include <string.h>

#include "base/assert.h"
#include "store/row_build.h"

static hf_row *instance_row(hf_mem *mem, hf_op op, const hf_instance_row *row)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_instance(&b, row);
    return hf_row_end(&b);
}

hf_row *hf_row_instance_new(hf_mem *mem, const hf_instance_row *row, int64_t epoch)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INSTANCE_NEW);

    hf_row_put_instance(&b, row);
    hf_row_put_int(&b, epoch);
    return hf_row_end(&b);
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
    hf_row_builder b = hf_row_begin(mem, HF_OP_INSTANCE_ADVANCE);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, expected_count);
    hf_row_put_int(&b, row->run_count);
    hf_row_put_int(&b, row->current_run);
    hf_row_put_text(&b, row->type);
    hf_row_put_text(&b, row->business_key);
    return hf_row_end(&b);
}

hf_row *hf_row_instance_point(hf_mem *mem, const hf_instance_row *row, int64_t current_run,
                              int64_t run_count)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INSTANCE_POINT);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, current_run);
    hf_row_put_int(&b, run_count);
    hf_row_put_int(&b, row->current_run);
    hf_row_put_int(&b, row->run_count);
    return hf_row_end(&b);
}

hf_row *hf_row_instance_continue(hf_mem *mem, int64_t key, int64_t run_count, int64_t current_run)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_INSTANCE_CONTINUE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run_count);
    hf_row_put_int(&b, current_run);
    return hf_row_end(&b);
}

hf_row *hf_row_run_new(hf_mem *mem, const hf_run_base *base, const hf_run_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_RUN_NEW);

    hf_row_put_int(&b, base->run);
    hf_row_put_int(&b, base->instance);
    hf_row_put_int(&b, row->number);
    hf_row_put_int(&b, base->status);
    hf_row_put_int(&b, base->last_seq);
    hf_row_put_blob(&b, hf_slice_from(base->head, sizeof(base->head)));
    hf_row_put_int(&b, base->last_us);
    hf_row_put_int(&b, base->history_bytes);
    hf_row_put_int(&b, base->command_seq);
    hf_row_put_int(&b, base->message_seq);
    hf_row_put_int(&b, base->message_cursor);
    hf_row_put_int(&b, row->created_us);
    hf_row_put_int(&b, row->execution_deadline_us);
    hf_row_put_int(&b, row->run_deadline_us);
    hf_row_put_text(&b, row->queue);
    hf_row_put_int(&b, row->definition);
    hf_row_put_int(&b, base->open_signals);
    hf_row_put_int(&b, base->open_updates);
    hf_row_put_int(&b, base->closed_us == HF_NONE ? (int64_t)HF_NONE : base->closed_reason);
    hf_row_put_int(&b, base->closed_us);
    return hf_row_end(&b);
}

/* Whether a unit that finds the run as expected leaves status and counters as they are. */
static bool run_keeps(const hf_run_base *expected, const hf_run_base *base)
{
    return base->command_seq == expected->command_seq &&
           base->message_seq == expected->message_seq &&
           base->message_cursor == expected->message_cursor && base->status == expected->status &&
           base->closed_reason == expected->closed_reason &&
           base->closed_us == expected->closed_us && base->open_signals == expected->open_signals &&
           base->open_updates == expected->open_updates;
}

hf_row *hf_row_run_advance(hf_mem *mem, const hf_run_base *expected, const hf_run_base *base,
                           int64_t epoch)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_RUN_ADVANCE);

    hf_row_put_int(&b, base->run);
    hf_row_put_int(&b, expected->last_seq);
    hf_row_put_int(&b, base->last_seq);
    hf_row_put_blob(&b, hf_slice_from(base->head, sizeof(base->head)));
    hf_row_put_int(&b, base->last_us);
    hf_row_put_int(&b, base->history_bytes);
    hf_row_put_int(&b, base->shard);
    hf_row_put_int(&b, epoch);
    hf_row_put_int(&b, expected->command_seq); /* HF_OP_RUN_STEP ends here */
    hf_row_put_int(&b, base->command_seq);
    hf_row_put_int(&b, base->message_seq);
    hf_row_put_int(&b, base->message_cursor);
    hf_row_put_int(&b, base->status);
    hf_row_put_int(&b, base->closed_reason);
    hf_row_put_int(&b, base->closed_us);
    hf_row_put_int(&b, base->open_signals);
    hf_row_put_int(&b, base->open_updates);
    return hf_row_end(&b);
}

void hf_row_run_expect(hf_row *row, const hf_run_base *expected, const hf_run_base *base)
{
    HF_ASSERT(hf_op_infos[row->op].guard == HF_OP_GUARD_FENCE);
    row->op = run_keeps(expected, base) ? HF_OP_RUN_STEP : HF_OP_RUN_ADVANCE;
    row->cells[1] = hf_db_int(expected->last_seq);
    row->cells[8] = hf_db_int(expected->command_seq);
}

hf_row *hf_row_run_mark(hf_mem *mem, int64_t run, int64_t blocked, int64_t crash_count)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_RUN_MARK);

    hf_row_put_int(&b, run);
    hf_row_put_int(&b, blocked);
    hf_row_put_int(&b, crash_count);
    return hf_row_end(&b);
}

hf_row *hf_row_history_append(hf_mem *mem, int64_t run, int64_t first_seq, int64_t count,
                              int64_t format, hf_slice body, const uint8_t hash[HF_SHA256_BYTES])
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_HISTORY_APPEND);

    hf_row_put_int(&b, 0); /* the position: the writer's */
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, first_seq);
    hf_row_put_int(&b, count);
    hf_row_put_int(&b, format);
    hf_row_put_blob(&b, body);
    hf_row_put_blob(&b, hf_slice_from(hash, HF_SHA256_BYTES));
    return hf_row_end(&b);
}

hf_row *hf_row_payload_new(hf_mem *mem, const hf_payload_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_PAYLOAD_NEW);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->run);
    hf_row_put_blob(&b, hf_slice_from(row->digest, HF_SHA256_BYTES));
    hf_row_put_int(&b, row->codec);
    hf_row_put_int(&b, row->size);
    hf_row_put_int(&b, row->compression);
    hf_row_put_blob(&b, row->body);
    return hf_row_end(&b);
}

hf_row *hf_row_run_pause(hf_mem *mem, int64_t run, int64_t paused_us)
{
    return hf_row_pair(mem, HF_OP_RUN_PAUSE, run, paused_us);
}

hf_row *hf_row_run_archive(hf_mem *mem, int64_t run, int64_t archived_us)
{
    return hf_row_pair(mem, HF_OP_RUN_ARCHIVE, run, archived_us);
}

hf_row *hf_row_run_block(hf_mem *mem, int64_t run, int64_t blocked)
{
    return hf_row_pair(mem, HF_OP_RUN_BLOCK, run, blocked);
}

hf_row *hf_row_run_crash(hf_mem *mem, int64_t run)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_RUN_CRASH);

    hf_row_put_int(&b, run);
    return hf_row_end(&b);
}

hf_row *hf_row_definition_add(hf_mem *mem, int64_t key, hf_slice fingerprint, hf_slice type,
                              hf_slice body)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_DEFINITION_ADD);

    hf_row_put_int(&b, key);
    hf_row_put_text(&b, fingerprint);
    hf_row_put_text(&b, type);
    hf_row_put_blob(&b, body);
    return hf_row_end(&b);
}

hf_row *hf_row_summary_new(hf_mem *mem, int64_t run, int64_t namespace_key, int64_t instance,
                           int64_t status, int64_t sort_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SUMMARY_NEW);

    hf_row_put_int(&b, run);
    hf_row_put_int(&b, namespace_key);
    hf_row_put_int(&b, instance);
    hf_row_put_int(&b, status);
    hf_row_put_int(&b, sort_us);
    return hf_row_end(&b);
}

hf_row *hf_row_summary_set(hf_mem *mem, int64_t run, int64_t status)
{
    return hf_row_pair(mem, HF_OP_SUMMARY_SET, run, status);
}

hf_row *hf_row_cells(hf_mem *mem, hf_op op, const hf_db_value *cells, size_t count)
{
    hf_row_builder b = hf_row_begin(mem, op);

    for (size_t i = 0; i < count; i++)
        if (cells[i].type == HF_DB_TEXT || cells[i].type == HF_DB_BLOB)
            hf_row_put_bytes(&b, cells[i].null ? (hf_slice){0} : cells[i].bytes, cells[i].type);
        else
            hf_row_put(&b, cells[i]);
    return hf_row_end(&b);
}

hf_row *hf_row_delete(hf_mem *mem, hf_op op, int64_t key)
{
    hf_row_builder b = hf_row_begin(mem, op);

    HF_ASSERT(hf_op_infos[op].cells == 1);
    hf_row_put_int(&b, key);
    return hf_row_end(&b);
}
