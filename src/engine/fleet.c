/* fleet.c: see fleet.h. */
#include "engine/fleet.h"

#include <stdio.h>
#include <unistd.h>

#include "model/limit.h"

hf_status hf_engine_worker_beat(hf_engine *engine, const hf_worker_row *worker, hf_err *err)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_unit *unit = slot ? hf_unit_new(NULL, NULL) : NULL;
    hf_worker_row row = *worker;
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a heartbeat");
    row.recorded_us = hf_clock_wall_us(engine->clock);
    row.expires_us = row.recorded_us + hf_limit_us(HF_LIMIT_COMPATIBILITY_TTL_SECONDS);
    hf_unit_row(unit, 0, hf_row_worker_beat(hf_unit_mem(unit), &row));
    st = hf_unit_seal(unit, &slot->stager, err);
    if (!st)
        st = hf_engine_commit(engine, unit, err);
    hf_unit_free(unit);
    return st;
}

bool hf_engine_app_supports(const hf_app *app, hf_slice marker)
{
    if (!app || !app->supports || !marker.ptr)
        return true;
    return hf_slice_equal(hf_slice_of(app->build_id), marker) ||
           hf_fleet_supports(hf_slice_of(app->supports), marker);
}

hf_status hf_engine_app_markers(const hf_app *app, hf_mem *mem, hf_slice *out_markers, hf_err *err)
{
    char *own;
    char *to;

    *out_markers = (hf_slice){0};
    if (!app || !app->supports)
        return HF_OK;
    own = hf_mem_format(mem, ",%s,%s,", app->supports, app->build_id ? app->build_id : "");
    if (!own)
        return hf_err_nomem(err, "markers");
    to = own;
    for (const char *at = own; *at; at++) /* markers have no spaces, lists of them may */
        if (*at != ' ')
            *to++ = *at;
    *to = '\0';
    *out_markers = hf_slice_of(own);
    return HF_OK;
}

hf_slice hf_engine_app_scope(const hf_app *app)
{
    return app && app->fleet ? hf_slice_of(app->fleet) : HF_SLICE("");
}

hf_status hf_asker_begin(hf_asker *who, hf_db *db, hf_mem *mem, int64_t namespace_key,
                         int64_t now_us, hf_err *err)
{
    hf_status st =
        hf_fleet_read(db, mem, hf_engine_app_scope(who->engine ? who->engine->app : NULL),
                      namespace_key, now_us, &who->fleet, err);

    who->db = db;
    who->mem = mem;
    who->namespace_key = namespace_key;
    who->now_us = now_us;
    return st ? st : hf_fleet_pins_read(db, mem, namespace_key, &who->pins, err);
}

/* The build of the program itself. */
static bool build_is_own(const hf_engine *engine, hf_slice marker)
{
    return engine && engine->app && engine->app->build_id &&
           hf_slice_equal(hf_slice_of(engine->app->build_id), marker);
}

bool hf_asker_served(void *ctx, hf_task_type kind, hf_slice queue, hf_slice marker)
{
    const hf_asker *who = ctx;

    if (!who->engine && !who->fleet.count)
        return true; /* nobody can say */
    if (kind == HF_TASK_TYPE_WORKFLOW && hf_fleet_pinned(&who->pins, queue, marker))
        return build_is_own(who->engine, marker) || hf_fleet_has_build(&who->fleet, queue, marker);
    return (who->engine && hf_engine_app_supports(who->engine->app, marker)) ||
           hf_fleet_serves(&who->fleet, queue, marker);
}

void hf_fleet_self_fill(hf_fleet_self *self)
{
    *self = (hf_fleet_self){0};
    (void)gethostname(self->host, sizeof(self->host) - 1);
    (void)snprintf(self->name, sizeof(self->name), "engine-%ld@%s", (long)getpid(), self->host);
}

bool hf_fleet_others(const hf_fleet *fleet, hf_slice queue)
{
    hf_fleet_self self;

    hf_fleet_self_fill(&self);
    for (size_t i = 0; i < fleet->count; i++) {
        const hf_fleet one = {.workers = &fleet->workers[i], .count = 1};

        if (!hf_slice_equal(fleet->workers[i].name, hf_slice_of(self.name)) &&
            (!queue.ptr || hf_fleet_serves(&one, queue, (hf_slice){0})))
            return true;
    }
    return false;
}

hf_status hf_fleet_gate(const hf_app *app, hf_db *db, hf_mem *mem, hf_slice queue, hf_slice marker,
                        int64_t now_us, const char **out_why, hf_err *err)
{
    hf_fleet fleet = {0};
    hf_fleet_self self;
    size_t there = 0;
    hf_status st = hf_fleet_read(db, mem, hf_engine_app_scope(app), 0, now_us, &fleet, err);

    *out_why = NULL;
    hf_fleet_self_fill(&self);
    for (size_t i = 0; !st && i < fleet.count; i++) {
        const hf_fleet one = {.workers = &fleet.workers[i], .count = 1};

        if (hf_slice_equal(fleet.workers[i].name, hf_slice_of(self.name)) ||
            !hf_fleet_serves(&one, queue, (hf_slice){0}))
            continue; /* this process does not know the type */
        if (hf_fleet_serves(&one, queue, marker))
            return HF_OK;
        there++;
    }
    if (st || !there)
        return st;
    *out_why = hf_mem_format(mem, "no worker at queue %.*s supports %.*s", (int)queue.len,
                             queue.ptr, (int)marker.len, marker.ptr);
    return *out_why ? HF_OK : hf_err_nomem(err, "a refusal");
}
