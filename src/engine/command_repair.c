/* command_repair.c: an operator asks that a run be put back on its way. */
#include "engine/command_impl.h"
#include "engine/fleet.h"
#include "engine/repair.h"

/* The state of the run as one snapshot saw it; everything lives in the unit's arena but the track.
 */
static hf_status state_read(hf_handling *h, hf_dossier *dossier, hf_track **out_track,
                            hf_liveness *live, hf_err *err)
{
    hf_asker who = {.engine = h->call->engine};
    const hf_liveness_world world = {
        .now_us = h->call->in.now_us, .served = hf_asker_served, .ctx = &who};
    hf_mem *mem = hf_unit_mem(h->unit);
    hf_status st;

    hf_call_read_begin(h->call);
    st = hf_dossier_skim(h->call->in.db, mem, h->target.base.run, dossier, err);
    if (!st) {
        who.queue = dossier->queue;
        st = hf_asker_begin(&who, h->call->in.db, mem, dossier->namespace_key, world.now_us, err);
    }
    hf_call_read_end(h->call);
    if (!st)
        st = hf_liveness_track(dossier, mem, out_track, err);
    return st ? st : hf_liveness_fold(dossier, *out_track, &world, mem, live, err);
}

hf_status hf_command_repair(hf_handling *h, hf_err *err)
{
    hf_dossier dossier;
    hf_liveness live;
    hf_track *track = NULL;
    hf_repair repair = {.keys = h->call->in.keys,
                        .now_us = h->call->in.now_us,
                        .dossier = &dossier,
                        .live = &live,
                        .drifted_too = true,
                        .unit = h->unit};
    hf_cmd_outcome outcome = 0;
    int64_t command = 0;
    hf_status st;

    if (hf_handling_inactive(h))
        return HF_OK;
    st = state_read(h, &dossier, &track, &live, err);
    if (!st)
        st = hf_repair_draft(&repair, hf_handling_row(h), &command, &outcome, err);
    if (!st) {
        hf_handling_accept(h, command, (int64_t)outcome);
        h->reloads = outcome == HF_CMD_OUTCOME_REPAIR_DISPATCHED;
    }
    hf_track_free(track);
    return st;
}
