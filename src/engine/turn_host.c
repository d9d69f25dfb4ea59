/* turn_host.c: see turn_host.h. */
#include "engine/turn_host.h"

#include <string.h>

#include "engine/attempt.h"
#include "engine/errand.h"
#include "engine/fleet.h"
#include "engine/inbox.h"
#include "store/snapshot.h"

static bool host_activity(void *ctx, hf_slice name, hf_retry_policy *out_policy)
{
    const hf_turn_host *host = ctx;
    const hf_registry_activity *activity = hf_registry_find_activity(host->core->o.registry, name);

    if (activity)
        *out_policy = activity->policy;
    return activity != NULL;
}

/* What a worker of another process declared of the type. */
static bool far_workflow(const hf_turn_host *host, hf_slice type, hf_decide_type *out_type)
{
    hf_err err;

    *out_type = (hf_decide_type){.definition = HF_NONE};
    return !hf_snapshot_of_type(host->core->db, hf_unit_mem(host->unit), type,
                                &out_type->definition, &out_type->fingerprint, &err) &&
           out_type->definition != HF_NONE;
}

static bool host_workflow(void *ctx, hf_slice type, hf_decide_type *out_type)
{
    const hf_turn_host *host = ctx;
    const hf_registry_workflow *workflow = hf_registry_find_workflow(host->core->o.registry, type);

    if (!workflow && host->core->o.matching)
        return far_workflow(host, type, out_type);
    if (workflow)
        *out_type =
            (hf_decide_type){.definition = workflow->key,
                             .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
                             .execution_timeout_us = workflow->definition->execution_timeout * 1000,
                             .run_timeout_us = workflow->definition->run_timeout * 1000};
    return workflow != NULL;
}

/* A child of such a type would be waited for until somebody found the typing mistake. Programs that
   share a store come and go: there nobody can say. */
static bool host_nobody(void *ctx, hf_slice type)
{
    const hf_turn_host *host = ctx;
    const hf_core *core = host->core;
    hf_mem *mem = hf_unit_mem(host->unit);
    int64_t definition = HF_NONE;
    hf_slice fingerprint;
    hf_fleet fleet = {0};
    hf_err err;

    return !core->o.matching && !core->o.shards &&
           !hf_snapshot_of_type(core->db, mem, type, &definition, &fingerprint, &err) &&
           definition == HF_NONE &&
           !hf_fleet_read(core->db, mem, hf_engine_app_scope(core->o.app), 0, hf_core_now(core),
                          &fleet, &err) &&
           !hf_fleet_others(&fleet, (hf_slice){0});
}

static bool host_claim(void *ctx, hf_slice name, hf_slice queue)
{
    const hf_turn_host *host = ctx;

    (void)name;
    return hf_slice_equal(queue, host->run->info.queue) && hf_pool_reserve(host->core->pool);
}

static bool host_hand(void *ctx, hf_effect *io_effect)
{
    const hf_turn_host *host = ctx;

    return hf_errand_hand(host->run, hf_unit_mem(host->unit), io_effect);
}

/* A copy that lives as long as the unit; ptr NULL: there was none, or no memory. */
static hf_slice slice_keep(hf_mem *mem, hf_slice text)
{
    return hf_slice_from(text.ptr ? hf_mem_text(mem, text) : NULL, text.len);
}

static hf_status host_local(void *ctx, const hf_decision_row *row, hf_ulid id,
                            hf_attempt_end *io_end, int64_t *out_ended_us, hf_err *err)
{
    hf_turn_host *host = ctx;
    hf_mem *mem = hf_unit_mem(host->unit);
    hf_job *job = NULL;
    hf_status st = hf_attempt_local(host->run, row, id, &job, &host->lost, err);

    if (!st && host->lost)
        st = hf_err_set(err, HF_STOPPED, "a local activity took too long and was given up");
    if (!st) {
        *out_ended_us = hf_core_now(host->core);
        io_end->codec = HF_PAYLOAD_CODEC_JSON;
        io_end->failed = job->failed;
        io_end->failure = job->failure;
        io_end->result = slice_keep(mem, job->result);
        io_end->failure.type = slice_keep(mem, job->failure.type);
        io_end->failure.message = slice_keep(mem, job->failure.message);
        io_end->failure.details.bytes = slice_keep(mem, job->failure.details.bytes);
        if (job->failed ? !io_end->failure.type.ptr || !io_end->failure.message.ptr
                        : !io_end->result.ptr)
            st = hf_err_nomem(err, "what a local activity left");
    }
    hf_job_free(job);
    return st;
}

static const hf_open_message *host_message(void *ctx, int64_t seq)
{
    const hf_turn_host *host = ctx;

    return hf_live_message(host->run, seq);
}

static hf_status host_know(void *ctx, unsigned what, hf_err *err)
{
    const hf_turn_host *host = ctx;

    if (host->run->unborn)
        return HF_OK; /* nobody can have sent it anything */
    return hf_inbox_know(host->core, host->run, host->unit, what, err);
}

/* An id that was made from the parent's own is looked up only after the store refused one. */
static hf_status host_taken(void *ctx, hf_slice id, bool *out_taken, hf_err *err)
{
    const hf_turn_host *host = ctx;
    hf_slice own = host->run->info.instance_id;
    bool made = id.len > own.len && memcmp(id.ptr, own.ptr, own.len) == 0 && id.ptr[own.len] == ':';
    hf_instance_row instance;
    hf_status st;

    *out_taken = false;
    host->run->makes_children = true;
    if (made && !host->run->check_ids)
        return HF_OK;
    st = hf_instance_get(host->core->db, hf_unit_mem(host->unit), host->run->info.namespace_key, id,
                         &instance, err);
    *out_taken = st == HF_OK;
    return st == HF_NOTFOUND ? HF_OK : st;
}

static hf_status host_keyword(const void *ctx, hf_slice name, bool *out_keyword, hf_err *err)
{
    const hf_turn_host *host = ctx;

    return hf_attribute_is_keyword(host->core->db, host->run->info.namespace_key, name, out_keyword,
                                   err);
}

hf_decide_host hf_turn_host_of(hf_turn_host *host)
{
    return (hf_decide_host){.ctx = host,
                            .activity = host_activity,
                            .workflow = host_workflow,
                            .nobody = host_nobody,
                            .claim = host_claim,
                            .hand = host_hand,
                            .local = host_local,
                            .message = host_message,
                            .know = host_know,
                            .taken = host_taken,
                            .keyword = host_keyword,
                            .owner = host->core->o.owner};
}
