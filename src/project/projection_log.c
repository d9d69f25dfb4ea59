/* projection_log.c: the rows of a run and its stored log, and what history makes of them: see
   projection_impl.h. */
#include "base/buf.h"
#include "model/event_codec.h"
#include "project/projection_impl.h"

void hf_projection_begin(hf_projection_work *w, hf_db *db, hf_mem *mem, int64_t run)
{
    *w = (hf_projection_work){.db = db, .mem = mem, .s = {.run = run}, .counted = HF_NONE};
    w->tail = &w->rows;
}

/* What is to be said of a stored part that ends at `seq`. */
static hf_projection_state state_judge(int64_t seq, int64_t version, int64_t last_seq)
{
    if (seq == HF_NONE)
        return HF_PROJECTION_MISSING;
    if (seq > last_seq || (seq > 0 && version != HF_RUNFOLD_VERSION))
        return HF_PROJECTION_STALE;
    return seq == last_seq ? HF_PROJECTION_IN_SYNC : HF_PROJECTION_BEHIND;
}

void hf_projection_look(hf_projection_work *w)
{
    const hf_fold_source *s = &w->s;

    w->summary = state_judge(s->folded_seq, s->version, s->last_seq);
    w->log =
        state_judge(s->log_version == HF_NONE ? HF_NONE : s->log_seq, s->log_version, s->last_seq);
    if (w->log == HF_PROJECTION_IN_SYNC && !hf_slice_equal(s->log_head, s->head))
        w->log = HF_PROJECTION_STALE; /* the fold of another history */
}

hf_status hf_projection_gone(int64_t run, hf_err *err)
{
    return hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)run);
}

hf_status hf_projection_open(hf_projection_work *w, hf_db *db, hf_mem *mem, int64_t run,
                             hf_err *err)
{
    hf_fold_source *source = &w->s;
    hf_status st;

    hf_projection_begin(w, db, mem, run);
    st = hf_runfold_new(&w->fold, err);
    if (!st)
        st = hf_fold_read_rows(db, mem, &source, 1, err);
    if (!st && !source->found)
        st = hf_projection_gone(source->run, err);
    if (!st)
        hf_projection_look(w);
    return st;
}

void hf_projection_close(hf_projection_work *w)
{
    hf_runfold_free(w->fold);
    hf_sha256_free(w->sha);
}

/* ---- history */

/* The chunks of one run from the one with the event `from` on. */
static hf_status chunks_read(hf_projection_work *w, int64_t from, hf_err *err)
{
    hf_fold_source *source = &w->s;

    source->from = from;
    return hf_fold_read_chunks(w->db, w->mem, &source, 1, err);
}

hf_status hf_projection_decode(hf_projection_work *w, hf_err *err)
{
    hf_fold_chunk *first = w->s.chunks;
    int64_t next = first ? first->first : w->s.from;
    hf_status st = HF_OK;

    if (first && first->first > w->s.from)
        return hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                          (long long)first->first);
    for (hf_fold_chunk *c = first; !st && c; c = c->next) {
        st = hf_event_chunk_decode(w->mem, c->body, &c->events, &c->count, err);
        if (!st && c->first != next)
            st = hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                            (long long)c->first);
        next = c->first + (int64_t)c->count;
    }
    if (!st && next != w->s.last_seq + 1)
        st = hf_err_set(err, HF_CORRUPT, "the history ends at event %lld, its run says %lld",
                        (long long)next - 1, (long long)w->s.last_seq);
    return st;
}

hf_status hf_projection_history(hf_projection_work *w, int64_t from, hf_err *err)
{
    hf_status st = chunks_read(w, from, err);

    return st ? st : hf_projection_decode(w, err);
}

size_t hf_projection_behind(const hf_fold_chunk *c, int64_t seq, hf_event **out_events)
{
    int64_t skip = seq + 1 - c->first;

    if (skip < 0)
        skip = 0;
    if (skip >= (int64_t)c->count)
        return 0;
    *out_events = c->events + skip;
    return c->count - (size_t)skip;
}

/* ---- the log */

bool hf_projection_log_usable(const hf_projection_work *w)
{
    return w->log == HF_PROJECTION_IN_SYNC || w->log == HF_PROJECTION_BEHIND;
}

hf_status hf_projection_log_load(hf_projection_work *w, hf_err *err)
{
    hf_err why = {0};
    hf_status st;

    hf_runfold_clear(w->fold);
    if (!hf_projection_log_usable(w))
        return HF_OK;
    st = hf_runfold_load(w->fold, w->s.pack, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a fold");
    if (st || hf_runfold_seq(w->fold) != w->s.log_seq || w->s.log_seq > w->s.last_seq) {
        hf_runfold_clear(w->fold);
        w->log = HF_PROJECTION_STALE;
    }
    return HF_OK;
}

hf_status hf_projection_log_read(hf_projection_work *w, hf_err *err)
{
    hf_fold_source *source = &w->s;
    hf_status st = HF_OK;

    if (hf_projection_log_usable(w))
        st = hf_fold_read_packs(w->db, w->mem, &source, 1, err);
    return st ? st : hf_projection_log_load(w, err);
}

int64_t hf_projection_log_good(const hf_projection_work *w)
{
    return hf_projection_log_usable(w) ? w->s.log_seq : 0;
}

bool hf_projection_log_fits(const hf_projection_work *w)
{
    for (const hf_fold_chunk *c = w->s.chunks; c; c = c->next)
        if (c->first + (int64_t)c->count - 1 == w->s.log_seq)
            return hf_slice_equal(c->hash, w->s.log_head);
    return w->s.log_seq == 0;
}

void hf_projection_log_restart(hf_projection_work *w)
{
    hf_runfold_clear(w->fold);
    w->log = HF_PROJECTION_STALE;
}

hf_status hf_projection_log_add(hf_projection_work *w, hf_err *err)
{
    hf_status st = HF_OK;

    for (const hf_fold_chunk *c = w->s.chunks; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = hf_projection_behind(c, hf_projection_log_good(w), &events);

        st = hf_runfold_add(w->fold, events, count, err);
    }
    return st;
}

hf_status hf_projection_log_finish(hf_projection_work *w, hf_err *err)
{
    hf_status st = HF_OK;

    if (w->log == HF_PROJECTION_BEHIND && !hf_projection_log_fits(w))
        hf_projection_log_restart(w);
    if (hf_projection_log_good(w) == 0 && w->s.from > 1)
        st = hf_projection_history(w, 1, err);
    return st ? st : hf_projection_log_add(w, err);
}

/* ---- reading */

hf_status hf_projection_read(hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                             hf_projection *out_projection, hf_err *err)
{
    hf_buf pack = {0};
    hf_slice kept;
    hf_projection_work w;
    hf_status st = hf_projection_open(&w, db, mem, run, err);

    *out_projection = (hf_projection){0};
    if (!st)
        st = hf_projection_log_read(&w, err);
    if (st)
        goto done;
    kept = w.s.pack;
    if (w.log != HF_PROJECTION_IN_SYNC) {
        st = hf_projection_history(
            &w, hf_projection_log_good(&w) > 1 ? hf_projection_log_good(&w) : 1, err);
        if (!st)
            st = hf_projection_log_finish(&w, err);
        if (!st)
            st = hf_runfold_pack(w.fold, &pack, err);
        kept = hf_buf_slice(&pack);
    }
    out_projection->state = w.log;
    out_projection->last_seq = w.s.last_seq;
    if (!st)
        st = hf_runfold_events(mem, kept, at, &out_projection->events, &out_projection->count, err);
done:
    hf_buf_fini(&pack);
    hf_projection_close(&w);
    return hf_err_because(err, st, "read the fold of run %lld", (long long)run);
}
