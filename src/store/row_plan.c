/* row_plan.c: rows of batches, schedules and workers. See row.c. */
#include "store/row_build.h"

hf_row *hf_row_batch_new(hf_mem *mem, int64_t key, int64_t namespace_key, int64_t total,
                         int64_t created_us, hf_slice body)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_NEW);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, namespace_key);
    hf_row_put_int(&b, HF_BATCH_STATUS_RUNNING);
    hf_row_put_int(&b, total);
    hf_row_put_int(&b, created_us);
    hf_row_put_blob(&b, body);
    return hf_row_end(&b);
}

hf_row *hf_row_batch_item_new(hf_mem *mem, const hf_batch_item_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_ITEM_NEW);

    hf_row_put_int(&b, row->batch);
    hf_row_put_int(&b, row->number);
    hf_row_put_int(&b, row->status);
    hf_row_put_text(&b, row->id);
    hf_row_put_text(&b, row->outcome);
    hf_row_put_text(&b, row->reason);
    hf_row_put_text(&b, row->message);
    hf_row_put_int(&b, row->epoch);
    return hf_row_end(&b);
}

hf_row *hf_row_batch_claim(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t owner,
                           int64_t lease_until_us, int64_t now_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_CLAIM);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, expected_epoch);
    hf_row_put_int(&b, owner);
    hf_row_put_int(&b, lease_until_us);
    hf_row_put_int(&b, now_us);
    hf_row_put_int(&b, HF_BATCH_STATUS_RUNNING);
    return hf_row_end(&b);
}

hf_row *hf_row_batch_free(hf_mem *mem, int64_t key, int64_t epoch)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_FREE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, epoch);
    return hf_row_end(&b);
}

hf_row *hf_row_batch_move(hf_mem *mem, const hf_batch_move *move)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_MOVE);

    hf_row_put_int(&b, move->key);
    hf_row_put_int(&b, move->from);
    hf_row_put_int(&b, move->to);
    hf_row_put_int(&b, move->next_us);
    hf_row_put_int(&b, HF_BATCH_STATUS_RUNNING);
    hf_row_put_int(&b, HF_BATCH_STATUS_COMPLETED);
    hf_row_put_int(&b, move->now_us);
    hf_row_put_int(&b, move->epoch);
    hf_row_put_int(&b, move->lease_until_us);
    return hf_row_end(&b);
}

hf_row *hf_row_batch_status(hf_mem *mem, int64_t key, hf_batch_status expected,
                            hf_batch_status status, int64_t closed_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BATCH_STATUS);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, expected);
    hf_row_put_int(&b, status);
    hf_row_put_int(&b, closed_us);
    return hf_row_end(&b);
}

hf_row *hf_row_worker_beat(hf_mem *mem, const hf_worker_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_WORKER_BEAT);

    hf_row_put_text(&b, row->name);
    hf_row_put_text(&b, row->queue);
    hf_row_put_text(&b, row->scope);
    hf_row_put_text(&b, row->host);
    hf_row_put_int(&b, row->process);
    hf_row_put_text(&b, row->build_id);
    hf_row_put_text(&b, row->supported);
    hf_row_put_int(&b, row->recorded_us);
    hf_row_put_int(&b, row->expires_us);
    return hf_row_end(&b);
}

hf_row *hf_row_schedule_take(hf_mem *mem, int64_t schedule, int64_t expected, int64_t revision,
                             int64_t namespace_key, hf_slice instance_id)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SCHEDULE_TAKE);

    hf_row_put_int(&b, schedule);
    hf_row_put_int(&b, expected);
    hf_row_put_int(&b, revision);
    hf_row_put_int(&b, namespace_key);
    hf_row_put_text(&b, instance_id);
    return hf_row_end(&b);
}

hf_row *hf_row_schedule_instance(hf_mem *mem, const hf_instance_row *row, int64_t schedule,
                                 int64_t revision)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SCHEDULE_INSTANCE);

    hf_row_put_instance(&b, row);
    hf_row_put_int(&b, schedule);
    hf_row_put_int(&b, revision);
    return hf_row_end(&b);
}

static hf_row *schedule_row(hf_mem *mem, hf_op op, const hf_schedule_row *row)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->expected);
    hf_row_put_int(&b, row->revision);
    hf_row_put_int(&b, row->status);
    hf_row_put_int_or_null(&b, row->next_us);
    hf_row_put_int(&b, row->events);
    hf_row_put_int(&b, row->fires);
    hf_row_put_int_or_null(&b, row->latest_instance);
    hf_row_put_blob(&b, row->body);
    return hf_row_end(&b);
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
    hf_row_builder b = hf_row_begin(mem, HF_OP_SCHEDULE_NEW);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->namespace_key);
    hf_row_put_text(&b, row->id);
    hf_row_put_int(&b, row->status);
    hf_row_put_int(&b, row->revision);
    hf_row_put_int_or_null(&b, row->next_us);
    hf_row_put_int(&b, row->events);
    hf_row_put_int(&b, row->fires);
    hf_row_put_int_or_null(&b, row->latest_instance);
    hf_row_put_int(&b, row->created_us);
    hf_row_put_blob(&b, row->body);
    return hf_row_end(&b);
}

static hf_row *schedule_event_row(hf_mem *mem, hf_op op, const hf_schedule_event_row *row)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_int(&b, row->schedule);
    hf_row_put_int(&b, row->sequence);
    hf_row_put_int(&b, row->revision);
    hf_row_put_int(&b, row->type);
    hf_row_put_int(&b, row->recorded_us);
    hf_row_put_int(&b, row->run);
    hf_row_put_int(&b, row->slot_us);
    hf_row_put_blob(&b, row->body);
    return hf_row_end(&b);
}

hf_row *hf_row_schedule_event(hf_mem *mem, const hf_schedule_event_row *row)
{
    return schedule_event_row(mem, HF_OP_SCHEDULE_EVENT, row);
}

hf_row *hf_row_schedule_note(hf_mem *mem, const hf_schedule_event_row *row)
{
    return schedule_event_row(mem, HF_OP_SCHEDULE_NOTE, row);
}
