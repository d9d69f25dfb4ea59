/* start_all.c: hf_start_all: many starts in few transactions. Each is drafted as if it were alone;
   the units go to the writer together, which takes all that is staged into one commit. One that the
   store refuses, because its id or key is taken, in the store or by one before it in the same call,
   is asked for again the usual way, which finds out why. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "engine/call.h"
#include "engine/command.h"
#include "engine/start.h"

enum { WINDOW = 512 }; /* units that are drafted and not committed */

typedef struct draft {
    size_t at; /* in the caller's list */
    hf_unit *unit;
    int64_t run;
    int64_t priority;
} draft;

typedef struct starting {
    hf_call call;
    const char *type;
    const hf_start_opts *items;
    hf_status *answers;
    hf_map *keys; /* correlation keys of the window: the second of a key waits for the first */
    draft drafts[WINDOW];
    hf_unit *units[WINDOW];
    size_t later[WINDOW]; /* are started one by one */
    size_t draft_count;
    size_t later_count;
} starting;

/* The caller's structs are as long as the program that made them knew them. */
static const hf_start_opts *item_at(const starting *s, size_t at)
{
    return (const void *)((const char *)s->items + at * s->items->size_);
}

/* Whether an earlier one of the window has the same correlation key. */
static hf_status key_seen(starting *s, hf_slice key, bool *out_seen, hf_err *err)
{
    *out_seen = false;
    if (!key.ptr)
        return HF_OK;
    *out_seen = hf_map_get(s->keys, key) != NULL;
    return *out_seen ? HF_OK : hf_map_put(s->keys, key, s, NULL, err);
}

/* Drafts one. What is wrong with it alone is its answer. */
static hf_status item_draft(starting *s, size_t at)
{
    hf_err *err = &s->call.slot->err;
    draft *next = &s->drafts[s->draft_count];
    hf_request request = {.type = HF_COMMAND_TYPE_START};
    hf_intake_start start;
    hf_reply reply;
    bool seen = false;
    hf_status st =
        item_at(s, at)->size_ != s->items->size_
            ? hf_err_set(err, HF_MISUSE, "the items of one call say the same size")
            : hf_start_read(&s->call, s->type, item_at(s, at), &start, &request.request_id, err);

    if (st) {
        s->answers[at] = st;
        return st == HF_NOMEM || st == HF_STOPPED ? st : HF_OK;
    }
    st = key_seen(s, start.correlation_key, &seen, err);
    request.id = start.id;
    request.start = &start;
    *next = (draft){.at = at, .priority = start.priority ? start.priority : HF_TASK_PRIORITY};
    if (!st && !seen)
        st = hf_engine_command_draft(&s->call, &request, s->call.slot->scratch, &reply, &next->unit,
                                     err);
    if (!st && next->unit) {
        next->run = reply.run;
        s->units[s->draft_count++] = next->unit;
    } else if (!st) {
        s->later[s->later_count++] = at;
    }
    s->answers[at] = st;
    return st == HF_NOMEM || st == HF_STOPPED ? st : HF_OK;
}

/* The end of the window: everything that was drafted is committed, and the rest one by one. */
static hf_status window_end(starting *s)
{
    hf_engine *engine = s->call.engine;
    hf_status st = hf_engine_commit_all(engine, s->units, s->draft_count, &s->call.slot->err);

    for (size_t i = 0; i < s->draft_count; i++) {
        const draft *done = &s->drafts[i];
        hf_status outcome = st ? st : hf_unit_outcome(done->unit, NULL);

        s->answers[done->at] = outcome;
        if (!outcome)
            hf_core_notify_new(engine->core, done->run, done->priority);
        else if (outcome == HF_EXISTS || outcome == HF_CONFLICT || outcome == HF_CONSTRAINT)
            s->later[s->later_count++] = done->at;
        else if (outcome == HF_STOPPED || outcome == HF_NOMEM)
            st = outcome;
        hf_unit_free(done->unit);
    }
    for (size_t i = 0; !st && i < s->later_count; i++) {
        size_t at = s->later[i];

        s->answers[at] = hf_start_with(engine, s->type, item_at(s, at));
        if (s->answers[at] == HF_STOPPED || s->answers[at] == HF_NOMEM)
            st = s->answers[at]; /* the rest would fare no better */
    }
    s->draft_count = s->later_count = 0;
    hf_map_clear(s->keys);
    return st;
}

hf_status hf_start_all(hf_engine *engine, const char *type, const hf_start_opts *items,
                       size_t count, hf_status *out_answers)
{
    starting *s = NULL;
    hf_start_opts first = {0};
    hf_map_seed seed; /* callers of callers choose the ids */
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);
    hf_status ended;

    if (st)
        return st;
    if (!type || !items || !out_answers)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a type, items and answers are needed");
    if (count && hf_options_take(&first, sizeof(first), items, &c.slot->err) == HF_MISUSE) {
        for (size_t i = 0; i < count; i++) /* where the others begin is not known */
            out_answers[i] = HF_MISUSE;
        return HF_OK;
    }
    st = hf_map_seed_system(&seed, &c.slot->err);
    if (st)
        return st;
    s = hf_alloc(sizeof(*s));
    if (s)
        s->keys = hf_map_new(seed);
    if (!s || !s->keys) {
        hf_alloc_free(s);
        return hf_err_nomem(&c.slot->err, "starts");
    }
    s->call = c;
    s->type = type;
    s->items = items;
    s->answers = out_answers;
    for (size_t i = 0; !st && i < count; i++) {
        st = item_draft(s, i);
        if (!st && s->draft_count + s->later_count == WINDOW)
            st = window_end(s);
    }
    ended = window_end(s);
    hf_map_free(s->keys);
    hf_alloc_free(s);
    return st ? st : ended;
}
