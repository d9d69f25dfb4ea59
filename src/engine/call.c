/* call.c: see call.h. */
#include "engine/call.h"

#include <string.h>

#include "base/value.h"
#include "store/snapshot.h"

/* Who asks when the program itself does. */
#define EMBEDDED_CONTEXT                                                                           \
    "{\"auth\":{\"method\":null,\"status\":\"not_applicable\"},"                                   \
    "\"caller\":{\"label\":\"C API\",\"type\":\"embedded\"}}"

bool hf_call_remote(hf_engine *engine, engine_slot **out_slot)
{
    if (!engine || !engine->remote || engine->open_error.status)
        return false;
    *out_slot = hf_engine_slot_get(engine);
    if (*out_slot)
        (*out_slot)->err = (hf_err){0};
    return true;
}

hf_status hf_call_begin_(hf_call *call, hf_engine *engine, const char *function)
{
    hf_status st;

    if (!engine)
        return HF_MISUSE;
    call->engine = engine;
    call->slot = hf_engine_slot_get(engine);
    if (!call->slot)
        return HF_NOMEM;
    if (engine->open_error.status) {
        call->slot->err = engine->open_error;
        return engine->open_error.status;
    }
    call->slot->err = (hf_err){0};
    if (engine->remote)
        return hf_err_set(&call->slot->err, HF_UNSUPPORTED,
                          "%s: a server does not have this; open its store instead",
                          strncmp(function, "hf_", 3) == 0 ? function : "this function");
    st = hf_engine_begin(engine, ENGINE_THREADS, &call->slot->err);
    if (st)
        return st;
    call->open = false;
    call->awaits_shard = HF_NONE;
    call->in = (hf_intake){.stager = &call->slot->stager,
                           .keys = hf_writer_keys(engine->writer),
                           .namespace_key = call->slot->namespace_key,
                           .payload_max =
                               hf_limits_get(&engine->settings.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES),
                           .now_us = hf_clock_wall_us(engine->clock),
                           .wall_ahead_us = hf_clock_ahead_us(engine->clock),
                           .context = call->slot->context.len ? hf_buf_slice(&call->slot->context)
                                                              : HF_SLICE(EMBEDDED_CONTEXT),
                           .known = hf_registry_snapshot,
                           .known_ctx = engine->registry};
    return HF_OK;
}

hf_status hf_call_begin_either(hf_call *call, hf_engine *engine, bool *out_remote)
{
    *out_remote = hf_call_remote(engine, &call->slot);
    if (!*out_remote)
        return hf_call_begin(call, engine);
    return call->slot ? HF_OK : HF_NOMEM;
}

void hf_call_read_begin(hf_call *call)
{
    call->in.db = hf_engine_read_begin(call->engine);
}

void hf_call_read_end(hf_call *call)
{
    call->in.db = NULL;
    hf_engine_read_end(call->engine);
}

/* Whether the newest definition of the run's type has the name, be it this program's or that of a
   worker elsewhere. */
static hf_status declared_today(const hf_call *call, hf_slice type, hf_target_kind kind,
                                hf_slice name, hf_mem *mem, bool *out_declared, hf_err *err)
{
    const hf_registry_workflow *workflow = hf_registry_find_workflow(call->engine->registry, type);
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_slice fingerprint;
    int64_t key = HF_NONE;
    hf_status st = HF_OK;

    if (workflow)
        snapshot = workflow->snapshot;
    else
        st = hf_snapshot_of_type(call->in.db, mem, type, &key, &fingerprint, err);
    if (!st && key != HF_NONE)
        st = hf_snapshot_read(call->in.db, mem, key, &snapshot, err);
    if (!st)
        st = hf_definition_find(*hf_definition_targets_of(&snapshot, kind), name, mem, &contract,
                                err);
    *out_declared = contract != NULL;
    return st;
}

hf_status hf_call_drift_tell(const hf_call *call, const hf_intake_target *target,
                             hf_target_kind kind, hf_slice name, hf_mem *mem,
                             hf_intake_refusal *refusal, hf_err *err)
{
    static const char *const words[] = {
        [HF_TARGET_SIGNAL] = "signal", [HF_TARGET_UPDATE] = "update", [HF_TARGET_QUERY] = "query"};
    bool declared = false;
    hf_status st;

    if (refusal->reason != HF_REJECTION_UNKNOWN_SIGNAL &&
        refusal->reason != HF_REJECTION_UNKNOWN_UPDATE &&
        (kind != HF_TARGET_QUERY || refusal->reason || refusal->validation_errors))
        return HF_OK;
    st = declared_today(call, target->instance.type, kind, name, mem, &declared, err);
    if (!st && declared)
        refusal->why = hf_mem_format(mem,
                                     "the run declares no %s called %.*s: it was started before "
                                     "its type did (definition drift); its next run will have it",
                                     words[kind], (int)name.len, name.ptr);
    return st || refusal->why ? st : hf_err_nomem(err, "a refusal");
}

hf_status hf_call_aim(hf_call *call, hf_slice id, hf_slice run_id, hf_intake_target *out_target,
                      hf_err *err)
{
    hf_status st;

    hf_mem_reset(call->slot->scratch);
    hf_call_read_begin(call);
    st = hf_intake_aim(&call->in, call->slot->scratch, id, run_id, out_target, err);
    if (st == HF_UNREACHABLE && !hf_db_reconnect(call->in.db, NULL)) /* reading twice: no harm */
        st = hf_intake_aim(&call->in, call->slot->scratch, id, run_id, out_target, err);
    hf_call_read_end(call);
    return st;
}

hf_status hf_call_code(hf_call *call, const hf_intake_target *target, hf_mem *mem,
                       hf_slice *out_type, hf_err *err)
{
    hf_status st;

    *out_type = target->instance.type;
    if (!hf_slice_equal(target->instance.type, HF_SLICE(HF_ASYNC_TYPE)) ||
        target->definition == HF_NONE)
        return HF_OK;
    hf_call_read_begin(call);
    st = hf_snapshot_type(call->in.db, mem, target->definition, out_type, err);
    hf_call_read_end(call);
    return st;
}

static hf_status view_try(hf_call *call, hf_slice id, hf_slice run_id, hf_intake_target *out_target,
                          hf_err *err)
{
    hf_status st = hf_db_begin(call->in.db, HF_DB_READ, err);

    if (!st)
        st = hf_intake_aim(&call->in, call->slot->scratch, id, run_id, out_target, err);
    if (!st && out_target->base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "the instance %.*s was never started", (int)id.len,
                        id.ptr);
    if (st)
        hf_db_rollback(call->in.db);
    return st;
}

hf_status hf_call_view_begin(hf_call *call, hf_slice id, hf_slice run_id,
                             hf_intake_target *out_target, hf_err *err)
{
    hf_status st;

    hf_mem_reset(call->slot->scratch);
    hf_call_read_begin(call);
    st = view_try(call, id, run_id, out_target, err);
    if (st == HF_UNREACHABLE && !hf_db_reconnect(call->in.db, NULL)) /* reading twice: no harm */
        st = view_try(call, id, run_id, out_target, err);
    if (st)
        hf_call_read_end(call);
    return st;
}

void hf_call_view_end(hf_call *call)
{
    hf_db_rollback(call->in.db); /* it only read */
    hf_call_read_end(call);
}

hf_status hf_call_find(hf_call *call, const char *id, hf_intake_target *out_target)
{
    hf_err *err = &call->slot->err;
    hf_status st;

    if (!id)
        return hf_err_set(err, HF_MISUSE, "an instance id is needed");
    st = hf_call_aim(call, hf_slice_of(id), (hf_slice){0}, out_target, err);
    if (!st && out_target->base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "the instance %s was never started", id);
    return st;
}

hf_status hf_call_row(hf_call *call, hf_op op, const hf_db_value *cells, size_t count,
                      bool *out_applied, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st;

    *out_applied = false;
    if (!unit)
        return hf_err_nomem(err, "a row");
    hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), op, cells, count));
    st = hf_unit_seal(unit, &call->slot->stager, err);
    if (!st)
        st = hf_engine_commit(call->engine, unit, err);
    *out_applied = !st && hf_unit_row_applied(unit, 0);
    hf_unit_free(unit);
    return st;
}

hf_status hf_look_rows(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                       hf_mem *mem, hf_call_make *make, void *ctx, hf_value *out, hf_err *err)
{
    hf_value_list *list;
    hf_db_cursor *cursor = NULL;
    bool more = true;
    hf_status st;

    if (!mem || !out)
        return hf_err_set(err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = NULL;
    list = hf_value_array(mem);
    st = hf_db_query(db, stmt, params, count, &cursor, err);
    while (!st && more) {
        st = hf_db_step(cursor, &more, err);
        if (!st && more)
            hf_value_append(list, make(ctx, mem, cursor));
    }
    hf_db_end(cursor);
    if (st)
        return st;
    *out = hf_value_finish(list);
    return *out ? HF_OK : hf_err_nomem(err, "a list");
}

hf_status hf_call_rows(hf_call *call, hf_stmt stmt, const hf_db_value *params, size_t count,
                       hf_mem *mem, hf_call_make *make, void *ctx, hf_value *out)
{
    hf_status st;

    hf_call_read_begin(call);
    st = hf_look_rows(call->in.db, stmt, params, count, mem, make, ctx, out, &call->slot->err);
    hf_call_read_end(call);
    return st;
}

typedef struct core_visit {
    hf_core_call call;
    hf_call *from;
    void (*run)(hf_core *core, void *ctx);
    void *ctx;
    bool done; /* under the engine's lock */
} core_visit;

static void visit_run(hf_core *core, hf_core_call *call)
{
    core_visit *visit = (core_visit *)call;
    hf_engine *engine = visit->from->engine;

    visit->run(core, visit->ctx);
    hf_mutex_lock(&engine->lock);
    visit->done = true;
    hf_cond_signal(&visit->from->slot->woken);
    hf_mutex_unlock(&engine->lock); /* it may be gone by now */
}

hf_status hf_call_core(hf_call *call, void (*run)(hf_core *core, void *ctx), void *ctx)
{
    core_visit visit = {.call = {.run = visit_run}, .from = call, .run = run, .ctx = ctx};
    hf_engine *engine = call->engine;
    hf_status st = hf_core_call_post(engine->core, &visit.call, &call->slot->err);

    if (st)
        return st;
    if (engine->mode != ENGINE_THREADS)
        while (!visit.done)
            (void)hf_engine_pump(engine);
    hf_mutex_lock(&engine->lock);
    while (!visit.done)
        hf_cond_wait(&call->slot->woken, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    return HF_OK;
}

uint64_t hf_call_changes(const hf_call *call)
{
    uint64_t changes;

    hf_mutex_lock(&call->engine->lock);
    changes = call->engine->changes;
    hf_mutex_unlock(&call->engine->lock);
    return changes;
}

void hf_call_started(const hf_call *call, uint64_t seen, int64_t run, const char *id)
{
    engine_slot *slot = call->slot;
    size_t len = strlen(id);

    slot->started =
        len < sizeof(slot->started_id) && call->engine->mode == ENGINE_THREADS ? run : 0;
    if (!slot->started)
        return;
    memcpy(slot->started_id, id, len + 1);
    slot->started_namespace = slot->namespace_key;
    slot->started_seen = seen;
}

void hf_call_await_started(hf_call *call, const char *id)
{
    engine_slot *slot = call->slot;

    call->open = slot->started && slot->started_namespace == slot->namespace_key &&
                 strcmp(slot->started_id, id) == 0;
    if (!call->open)
        return;
    call->awaits = slot->started;
    call->awaits_shard = hf_shard_of(slot->namespace_key, hf_slice_of(id));
    call->awaits_end = true;
    call->seen = slot->started_seen;
    slot->started = 0;
}

hf_status hf_call_await(hf_call *call, hf_ms wait, hf_status (*look)(hf_call *call, void *ctx),
                        void *ctx)
{
    int64_t until_us = hf_clock_after(hf_clock_mono_us(hf_clock_system()), wait);
    uint64_t seen = call->open ? call->seen : hf_call_changes(call);
    hf_status st;

    while ((st = call->open ? HF_BUSY : look(call, ctx)) == HF_BUSY) {
        hf_err failure;

        call->open = false;
        if (hf_core_failure(call->engine->core, &failure))
            return hf_err_set(&call->slot->err, HF_STOPPED, "the engine stopped (%s): %s",
                              hf_strstatus(failure.status), failure.text);
        if (wait <= 0 && call->engine->mode == ENGINE_THREADS)
            return hf_err_set(&call->slot->err, HF_TIMEOUT, "it is not done yet");
        st = hf_engine_wait(call->engine, call->awaits_shard, call->awaits, call->awaits_end, &seen,
                            until_us, &call->slot->err);
        if (st)
            return st;
    }
    return st;
}
