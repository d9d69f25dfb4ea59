/* attention.c: hf_attention: open runs that need a person, or are worth a look, in groups. What a
   list knows to be in trouble is looked at first, then the oldest open runs, as far as one look
   affords. */
#include <string.h>

#include "base/map.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/why_run.h"
#include "holdfast/view.h"
#include "project/edge.h"
#include "project/why_short.h"

enum {
    RUNS_MAX = 1000,
    PAGE_RUNS = 250,
    BUDGET_MS = 500,
    GROUPS_MAX = 100,
    GROUPS = 50,
    SAMPLES = 5
};

/* What is asked for. */
typedef struct wanted {
    int64_t limit;
    int64_t budget_ms;
    int64_t samples;
    const char *signature; /* "": every group */
    bool notices;          /* also what passes by itself */
} wanted;

typedef struct group {
    struct group *next;
    char signature[HF_WHY_SIGNATURE_SIZE];
    hf_value why; /* of the first one */
    hf_slice type;
    hf_slice queue;
    int64_t count;
    const char *since; /* the earliest */
    hf_value_list *runs;
    bool notice; /* it passes by itself */
} group;

/* A look under way. */
typedef struct look {
    hf_call *call;
    hf_mem *mem;  /* of the answer while it is put together */
    hf_mem *work; /* of one run */
    wanted want;
    hf_map_int *seen;
    hf_map *groups;
    group *first;
    int64_t looked;
    int64_t until_us;
    bool cut;
} look;

static bool severity_is(hf_value why, hf_why_severity severity)
{
    return strcmp(hf_str(why, "severity", ""), hf_why_severity_text(severity)) == 0;
}

static hf_status group_add(look *l, hf_value why, const hf_dossier_run *run, hf_slice queue,
                           hf_err *err)
{
    const char *since = hf_str(why, "since", "");
    char signature[HF_WHY_SIGNATURE_SIZE];
    group *g = NULL;
    hf_status st = hf_why_signature(why, run->type, queue, signature, err);

    if (st || (l->want.signature[0] && strcmp(signature, l->want.signature) != 0))
        return st;
    g = hf_map_get(l->groups, hf_slice_of(signature));
    if (!g) {
        g = hf_mem_array(l->mem, 1, sizeof(*g));
        if (!g)
            return hf_err_nomem(err, "a group");
        *g = (group){.next = l->first,
                     .why = hf_value_copy(l->mem, why),
                     .type = hf_slice_from(hf_mem_text(l->mem, run->type), run->type.len),
                     .queue = hf_slice_from(hf_mem_text(l->mem, queue), queue.len),
                     .since = hf_mem_text(l->mem, hf_slice_of(since)),
                     .runs = hf_value_array(l->mem),
                     .notice = severity_is(why, HF_WHY_NOTICE)};
        memcpy(g->signature, signature, sizeof(signature));
        l->first = g;
        st = hf_map_put(l->groups, hf_slice_of(g->signature), g, NULL, err);
    }
    if (!st && (!g->why || !g->type.ptr || !g->queue.ptr || !g->since))
        st = hf_err_nomem(err, "a group");
    if (st)
        return st;
    if (since[0] && strcmp(since, g->since) < 0)
        g->since = hf_mem_text(l->mem, hf_slice_of(since));
    if (g->count++ < l->want.samples)
        hf_value_append(g->runs,
                        hf_json_(l->mem, "{'instance_id': %s, 'run_id': %s}",
                                 hf_str(why, "instance_id", ""), hf_str(why, "run_id", "")));
    return HF_OK;
}

/* Counts a run whose history cannot be read: the others have their answers all the same. */
static hf_status unreadable_add(look *l, int64_t run, hf_err *err)
{
    hf_dossier_run found;
    hf_status st = hf_dossier_find(l->call->in.db, l->work, run, &found, err);
    hf_ulid id;

    if (st)
        return st == HF_NOTFOUND ? HF_OK : st;
    id = hf_dossier_run_id(&found);
    return group_add(
        l,
        hf_value_merge(l->work, hf_why_unreadable(l->work),
                       hf_json_(l->work, "{'instance_id': %p, 'run_id': %p}",
                                (const void *)hf_value_string(l->work, found.instance_id),
                                (const void *)hf_edge_id(l->work, &id))),
        &found, (hf_slice){0}, err);
}

/* Looks at one run, unless it was looked at or the look is over. */
static hf_status run_look(look *l, int64_t run, hf_err *err)
{
    hf_engine *engine = l->call->engine;
    hf_why_world world = {.live.now_us = hf_clock_wall_us(engine->clock)};
    hf_db *db = l->call->in.db;
    hf_dossier_run found;
    hf_value why = NULL;
    hf_status st;

    if (hf_map_int_get(l->seen, (uint64_t)run))
        return HF_OK;
    if (l->looked >= RUNS_MAX || hf_clock_mono_us(hf_clock_system()) > l->until_us) {
        l->cut = true;
        return HF_OK;
    }
    l->looked++;
    hf_mem_reset(l->work);
    st = hf_map_int_put(l->seen, (uint64_t)run, l, NULL, err);
    if (!st)
        st = hf_why_run(db, engine, run, &world, l->work, &why, err);
    if (st == HF_NOTFOUND)
        return HF_OK;
    if (st == HF_CORRUPT)
        return unreadable_add(l, run, err);
    if (st || !(severity_is(why, HF_WHY_ATTENTION) ||
                (l->want.notices && severity_is(why, HF_WHY_NOTICE))))
        return st;
    st = hf_dossier_find(db, l->work, run, &found, err);
    return st ? st : group_add(l, why, &found, hf_slice_of(hf_str(why, "liveness.queue", "")), err);
}

/* Every open run, or those that a list knows to be in trouble. */
static hf_status runs_look(look *l, bool trouble, hf_err *err)
{
    hf_list_query query = {.namespace_key = l->call->in.namespace_key};
    int64_t keys[PAGE_RUNS];
    hf_slice cursor = {0};
    size_t count = 0;
    hf_asker who;
    hf_status st = hf_look_asker(l->call->engine, l->call->in.db, l->mem, &who, &query, err);

    query.filters = trouble ? hf_json_(l->mem, "{'task_problem': true}")
                            : hf_json_(l->mem, "{'status_bucket': 'running'}");
    if (!st)
        st = hf_filter_read(l->mem, query.filters, &query.filters, err);
    do {
        if (!st)
            st =
                hf_list_keys(l->call->in.db, l->mem, &query, &cursor, keys, PAGE_RUNS, &count, err);
        for (size_t i = 0; !st && !l->cut && i < count; i++)
            st = run_look(l, keys[i], err);
    } while (!st && !l->cut && cursor.len);
    return st;
}

/* Whether the one is worse: a person is needed, it has been so for longer, more runs have it. */
static bool group_is_worse(const group *one, const group *other)
{
    int order = strcmp(one->since, other->since);

    if (one->notice != other->notice)
        return other->notice;
    return order < 0 || (order == 0 && one->count > other->count);
}

/* Takes the worst group out of the list. */
static group *worst_take(group **io_first)
{
    group **worst = io_first;
    group *taken;

    for (group **at = io_first; *at; at = &(*at)->next)
        if (group_is_worse(*at, *worst))
            worst = at;
    taken = *worst;
    if (taken)
        *worst = taken->next;
    return taken;
}

static hf_value group_value(const look *l, const group *g)
{
    return hf_json_(l->mem,
                    "{'signature': %s, 'severity': %s, 'code': %s, 'text': %s, 'workflow_type': "
                    "%s, 'queue': %s, 'count': %lld, 'since': %s, 'runs': %p}",
                    g->signature, hf_str(g->why, "severity", ""), hf_str(g->why, "code", ""),
                    hf_str(g->why, "text", ""), g->type.ptr, g->queue.ptr, (long long)g->count,
                    g->since, (const void *)hf_value_finish(g->runs));
}

static hf_value answer_make(look *l)
{
    hf_value_list *list = hf_value_array(l->mem);
    hf_value groups;

    for (int64_t i = 0; i < l->want.limit; i++) {
        const group *g = worst_take(&l->first);

        if (!g)
            break;
        hf_value_append(list, group_value(l, g));
    }
    groups = hf_value_finish(list);
    return hf_json_(l->mem, "{'groups': %p, 'looked_at': %lld, 'exact': %p}", (const void *)groups,
                    (long long)l->looked, (const void *)hf_value_bool(!l->cut));
}

static hf_status look_init(look *l, hf_call *c, const wanted *want, hf_err *err)
{
    const hf_map_seed seed = {.low = 3, .high = 5}; /* keys are the engine's own */
    *l = (look){.call = c,
                .mem = hf_mem_new(),
                .work = hf_mem_new(),
                .want = *want,
                .seen = hf_map_int_new(seed),
                .groups = hf_map_new(seed),
                .until_us = hf_clock_mono_us(hf_clock_system()) + want->budget_ms * 1000};
    return l->mem && l->work && l->seen && l->groups ? HF_OK : hf_err_nomem(err, "an answer");
}

static void look_fini(look *l)
{
    hf_map_free(l->groups);
    hf_map_int_free(l->seen);
    hf_mem_free(l->work);
    hf_mem_free(l->mem);
}

static hf_status wanted_read(hf_value request, wanted *out, hf_err *err)
{
    *out = (wanted){.limit = hf_int(request, "limit", GROUPS),
                    .budget_ms = hf_int(request, "budget_ms", BUDGET_MS),
                    .samples = hf_int(request, "samples", SAMPLES),
                    .signature = hf_str(request, "signature", ""),
                    .notices = hf_bool(request, "notices", false)};
    if (out->limit < 1 || out->limit > GROUPS_MAX)
        return hf_err_set(err, HF_INVALID, "1 to %d groups are listed", GROUPS_MAX);
    if (out->budget_ms < 1 || out->budget_ms > BUDGET_MS)
        return hf_err_set(err, HF_INVALID, "a look takes 1 to %d ms", BUDGET_MS);
    if (out->samples < 1 || out->samples > RUNS_MAX)
        return hf_err_set(err, HF_INVALID, "1 to %d runs of a group are listed", RUNS_MAX);
    return hf_look_members(request, "limit budget_ms samples signature notices", err);
}

hf_status hf_attention(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_value answer = NULL;
    wanted want;
    look l;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    err = &c.slot->err;
    if (!mem || !out)
        return hf_err_set(err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = NULL;
    st = wanted_read(request, &want, err);
    if (st)
        return st;
    st = look_init(&l, &c, &want, err);
    if (!st) {
        hf_call_read_begin(&c);
        st = runs_look(&l, true, err);
        if (!st && !l.cut)
            st = runs_look(&l, false, err);
        hf_call_read_end(&c);
    }
    if (!st) {
        answer = answer_make(&l);
        *out = answer ? hf_value_copy(mem, answer) : NULL;
        st = *out ? HF_OK : hf_err_nomem(err, "an answer");
    }
    look_fini(&l);
    return hf_err_because(err, st, "look for runs that need a person");
}
