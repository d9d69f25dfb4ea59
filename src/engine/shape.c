/* shape.c: see shape.h. */
#include "engine/shape.h"

#include "model/event_codec.h"
#include "store/snapshot.h"

/* Definitions never change: what one says is read once. */
static hf_status definition_shape(hf_core *core, hf_mem *mem, int64_t definition,
                                  hf_shape *out_shape, hf_err *err)
{
    static const hf_shape shapes[] = {HF_SHAPE_WORKFLOW, HF_SHAPE_MACHINE};
    const hf_shape *shape = hf_map_int_get(core->far_shapes, (uint64_t)definition);
    hf_definition_snapshot snapshot = {0};
    hf_status st = HF_OK;

    if (!shape) {
        st = hf_snapshot_read(core->db, mem, definition, &snapshot, err);
        shape = &shapes[snapshot.machine];
        if (!st)
            st = hf_map_int_put(core->far_shapes, (uint64_t)definition, (void *)(uintptr_t)shape,
                                NULL, err);
    }
    *out_shape = *shape;
    return st;
}

static hf_status history_shape(const live_rows *rows, hf_shape *out_shape, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && !*out_shape && i < rows->chunk_count; i++) {
        const hf_event *first;
        hf_event *events = NULL;
        size_t count = 0;

        st = hf_event_chunk_decode(rows->mem, rows->chunks[i].body, &events, &count, err);
        first = st ? NULL : hf_event_first_step(events, count);
        if (first)
            *out_shape =
                first->type == HF_EVENT_STEP_COMPLETED ? HF_SHAPE_MACHINE : HF_SHAPE_WORKFLOW;
    }
    return st;
}

static hf_status declared_shape(hf_core *core, const live_run *run, hf_shape *out_shape,
                                hf_err *err)
{
    const hf_db_value type = hf_db_text(run->code);
    int64_t definition = HF_NONE;
    bool found = false;
    hf_status st =
        hf_db_number(core->db, HF_STMT_DEFINITION_OF_TYPE, &type, 1, &found, &definition, err);

    return st || !found ? st : definition_shape(core, run->mem, definition, out_shape, err);
}

hf_status hf_shape_read(hf_core *core, const live_run *run, const live_rows *rows,
                        hf_shape *out_shape, hf_err *err)
{
    hf_status st;

    *out_shape = HF_SHAPE_UNKNOWN;
    if (run->info.definition != HF_NONE)
        return definition_shape(core, run->mem, run->info.definition, out_shape, err);
    st = history_shape(rows, out_shape, err);
    return st || *out_shape ? st : declared_shape(core, run, out_shape, err);
}

bool hf_shape_found(hf_core *core, live_run *run)
{
    hf_shape shape = HF_SHAPE_UNKNOWN;
    hf_err err;

    if (!run->unshaped || !run->replay || run->far->lease.held || run->far->answer ||
        declared_shape(core, run, &shape, &err)) /* it is asked again with the next turn */
        return false;
    run->unshaped = shape == HF_SHAPE_UNKNOWN;
    return shape == HF_SHAPE_MACHINE;
}
