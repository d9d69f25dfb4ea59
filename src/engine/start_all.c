/* start_all.c: many starts in few transactions. Each is drafted as if it were alone; the units go
   to the writer together, which takes all that is staged into one commit. One that the store
   refuses, because its id or key is taken, in the store or by one before it in the same call, is
   asked for again the usual way, which finds out why. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/command.h"
#include "engine/remote.h"
#include "engine/start.h"
#include "holdfast/host.h"

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
    const hf_start_opts *items; /* NULL: requests */
    hf_value requests;          /* by the names of the wire */
    hf_mem *mem;                /* of what is told of those */
    hf_status *statuses;        /* of items */
    hf_start_end *ends;         /* of requests */
    hf_map *keys; /* correlation keys of the window: the second of a key waits for the first */
    draft drafts[WINDOW];
    hf_unit *units[WINDOW];
    size_t later[WINDOW]; /* are started one by one */
    size_t draft_count;
    size_t later_count;
} starting;

hf_status hf_start_item(const hf_start_opts *items, size_t at, const hf_start_opts **out_item,
                        hf_err *err)
{
    *out_item = (const void *)((const char *)items + at * items->size_);
    return (*out_item)->size_ == items->size_
               ? HF_OK
               : hf_err_set(err, HF_MISUSE, "the items of one call say the same size");
}

/* What is asked for: valid until the next one is read. */
static hf_status item_read(starting *s, size_t at, hf_intake_start *start, hf_request *request,
                           hf_err *err)
{
    const hf_start_opts *item;
    hf_status st;

    if (!s->items)
        return hf_start_read_wire(&s->call, hf_at(s->requests, at), s->mem, start, request, err);
    *request = (hf_request){.type = HF_COMMAND_TYPE_START, .start = start};
    st = hf_start_item(s->items, at, &item, err);
    if (!st)
        st = hf_start_read(&s->call, s->type, item, start, &request->request_id, err);
    if (!st)
        request->id = start->id;
    return st;
}

/* The rest would fare no better. */
static bool ends_all(hf_status st)
{
    return st == HF_NOMEM || st == HF_STOPPED;
}

/* The answer of one; what ends all of them is returned. */
static hf_status item_end(starting *s, size_t at, hf_status st, const char *text)
{
    if (s->statuses)
        s->statuses[at] = st;
    else
        s->ends[at] = (hf_start_end){.status = st,
                                     .message = st ? hf_mem_text(s->mem, hf_slice_of(text)) : ""};
    return ends_all(st) ? st : HF_OK;
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
    hf_request request;
    hf_intake_start start;
    hf_reply reply;
    bool seen = false;
    hf_status st = item_read(s, at, &start, &request, err);

    if (st)
        return item_end(s, at, st, err->text);
    st = key_seen(s, start.correlation_key, &seen, err);
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
    return item_end(s, at, st, err->text);
}

/* One the usual way. */
static hf_status item_alone(starting *s, size_t at)
{
    hf_err *err = &s->call.slot->err;
    hf_request request;
    hf_intake_start start;
    hf_reply reply;
    hf_status st = item_read(s, at, &start, &request, err);

    if (!st)
        st = hf_engine_command(s->call.engine, &request, s->call.slot->scratch, &reply, err);
    if (!st)
        st = hf_reply_status(&reply, request.id, err);
    return item_end(s, at, st, err->text);
}

/* The end of the window: everything that was drafted is committed, and the rest one by one. */
static hf_status window_end(starting *s)
{
    hf_engine *engine = s->call.engine;
    hf_err *err = &s->call.slot->err;
    hf_status st = hf_engine_commit_all(engine, s->units, s->draft_count, err);

    for (size_t i = 0; i < s->draft_count; i++) {
        const draft *done = &s->drafts[i];
        const char *text = err->text;
        hf_status outcome = st ? st : hf_unit_outcome(done->unit, &text);

        if (!outcome)
            hf_core_notify_new(engine->core, done->run, done->priority);
        else if (outcome == HF_EXISTS || outcome == HF_CONFLICT || outcome == HF_CONSTRAINT)
            s->later[s->later_count++] = done->at;
        outcome = item_end(s, done->at, outcome, text);
        st = st ? st : outcome;
        hf_unit_free(done->unit);
    }
    for (size_t i = 0; !st && i < s->later_count; i++)
        st = item_alone(s, s->later[i]);
    s->draft_count = s->later_count = 0;
    hf_map_clear(s->keys);
    return st;
}

static hf_status starts_open(const hf_call *call, starting **out_starting)
{
    hf_err *err = &call->slot->err;
    hf_map_seed seed; /* callers of callers choose the ids */
    starting *s = NULL;
    hf_status st = hf_map_seed_system(&seed, err);

    if (st)
        return st;
    s = hf_alloc(sizeof(*s));
    if (s)
        s->keys = hf_map_new(seed);
    if (!s || !s->keys) {
        hf_alloc_free(s);
        return hf_err_nomem(err, "starts");
    }
    s->call = *call;
    *out_starting = s;
    return HF_OK;
}

/* Works through all of them, and frees what was opened. */
static hf_status starts_run(starting *s, size_t count)
{
    hf_status st = HF_OK;
    hf_status ended;

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

hf_status hf_start_all(hf_engine *engine, const char *type, const hf_start_opts *items,
                       size_t count, hf_status *out_answers)
{
    starting *s = NULL;
    hf_start_opts first = {0};
    bool remote;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin_either(&c, engine, &remote);

    if (st)
        return st;
    err = &c.slot->err;
    if (!type || !items || !out_answers)
        return hf_err_set(err, HF_MISUSE, "a type, items and answers are needed");
    if (count && hf_options_take(&first, sizeof(first), items, err) == HF_MISUSE) {
        for (size_t i = 0; i < count; i++) /* where the others begin is not known */
            out_answers[i] = HF_MISUSE;
        return HF_OK;
    }
    if (remote)
        return hf_remote_start_all(engine->remote, type, items, count, out_answers, err);
    st = starts_open(&c, &s);
    if (st)
        return st;
    s->type = type;
    s->items = items;
    s->statuses = out_answers;
    return starts_run(s, count);
}

hf_status hf_start_requests(hf_engine *engine, hf_value requests, hf_mem *mem,
                            hf_start_end *out_ends)
{
    starting *s = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st && (!mem || !out_ends))
        st = hf_err_set(&c.slot->err, HF_MISUSE, "an arena and a place for the answers are needed");
    if (!st)
        st = starts_open(&c, &s);
    if (st)
        return st;
    s->requests = requests;
    s->mem = mem;
    s->ends = out_ends;
    return starts_run(s, hf_len(requests));
}
