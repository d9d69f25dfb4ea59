/* wait.c: threads that wait for a run to change, and how they are woken. A wake is a hint: who
   waits looks again. It never changes anything. */
#include "engine/call.h"
#include "engine/engine_impl.h"
#include "engine/inquiry.h"
#include "engine/watch.h"
#include "holdfast/host.h"

enum { LATELY_US = 1000000 }; /* a hint takes no longer, or it counts as lost */

void hf_engine_wake_waiting(hf_engine *engine, int64_t run, bool closed)
{
    if (run && !closed && !engine->waiting_any)
        return;
    for (hf_list *link = engine->waiting.next; link != &engine->waiting; link = link->next) {
        engine_slot *slot = HF_LIST_ENTRY(link, engine_slot, waiting);

        if (run && slot->awaits != HF_ENGINE_SOME_RUN &&
            (slot->awaits != run || (slot->awaits_end && !closed)))
            continue;
        slot->is_woken = true;
        hf_cond_signal(&slot->woken);
    }
}

static void change_note(hf_engine *engine, int64_t run, bool closed)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    hf_mutex_lock(&engine->lock);
    engine->recent_us[engine->changes % ENGINE_RECENT] = now_us;
    engine->recent[engine->changes++ % ENGINE_RECENT] = closed ? -run : run;
    hf_engine_wake_waiting(engine, run, closed);
    hf_watches_tell(engine, run, closed);
    if (!run)
        hf_cond_broadcast(&engine->changed);
    hf_mutex_unlock(&engine->lock);
}

void hf_engine_changed(hf_engine *engine, int64_t run, bool closed)
{
    change_note(engine, run, closed);
    if (engine->node && run)
        hf_node_changed(engine->node, run);
}

void hf_engine_heard(hf_engine *engine, int64_t run)
{
    change_note(engine, run, true);
}

bool hf_engine_changed_lately(hf_engine *engine, int64_t run)
{
    int64_t since_us = hf_clock_mono_us(hf_clock_system()) - LATELY_US;
    uint64_t seen;
    bool changed = false;

    hf_mutex_lock(&engine->lock);
    for (seen = engine->changes; seen && !changed; seen--) {
        size_t at = (seen - 1) % ENGINE_RECENT;

        if (engine->recent_us[at] < since_us)
            break;
        changed = !run || engine->recent[at] == run || engine->recent[at] == -run ||
                  engine->changes - seen >= ENGINE_RECENT - 1; /* as far as is known */
    }
    hf_mutex_unlock(&engine->lock);
    return changed;
}

/* With the lock held: whether the run changed since. What is too long ago to tell counts as
 * changed. */
static bool run_changed(const hf_engine *engine, int64_t run, bool closed, uint64_t seen)
{
    if (engine->changes - seen > ENGINE_RECENT || run == HF_ENGINE_SOME_RUN)
        return engine->changes != seen;
    for (; seen < engine->changes; seen++) {
        int64_t recent = engine->recent[seen % ENGINE_RECENT];

        if (!recent || recent == -run || (recent == run && !closed))
            return true;
    }
    return false;
}

hf_status hf_engine_wait(hf_engine *engine, int64_t shard, int64_t run, bool closed, uint64_t *seen,
                         int64_t until_us, hf_err *err)
{
    int64_t look_us = until_us; /* hints of other nodes may be lost */
    engine_slot *slot;
    hf_status st = HF_OK;

    if (engine->mode != ENGINE_THREADS) {
        st = hf_engine_begin(engine, engine->mode, err);
        if (st || hf_engine_pump(engine))
            return st;
        if (engine->mode == ENGINE_TEST || hf_clock_mono_us(hf_clock_system()) >= until_us)
            return hf_err_set(err, HF_TIMEOUT, "nothing more happens by itself");
        (void)hf_tick(engine, 10);
        return HF_OK;
    }
    slot = hf_engine_slot_get(engine);
    if (!slot)
        return hf_err_nomem(err, "a wait");
    if (engine->node) {
        int64_t renewal_us =
            hf_clock_mono_us(hf_clock_system()) + hf_shards_renew_us(hf_node_shards(engine->node));

        look_us = look_us > renewal_us ? renewal_us : look_us;
        hf_node_await(engine->node, shard, run == HF_ENGINE_SOME_RUN ? 0 : run);
    }
    hf_mutex_lock(&engine->lock);
    slot->awaits = run;
    slot->awaits_end = closed;
    slot->is_woken = run_changed(engine, run, closed, *seen);
    hf_list_add_last(&engine->waiting, &slot->waiting);
    engine->waiting_any += !closed;
    while (!st && !slot->is_woken && !engine->stopping && !engine->waits_over)
        st = hf_cond_wait_until(&slot->woken, &engine->lock, look_us);
    hf_list_remove(&slot->waiting);
    engine->waiting_any -= !closed;
    if (st && look_us < until_us)
        st = HF_OK; /* no hint came: the caller looks anyway */
    if (!st && engine->waits_over && !slot->is_woken)
        st = HF_STOPPED;
    if (!st && engine->stopping && engine->changes == *seen)
        st = HF_STOPPED;
    *seen = engine->changes;
    hf_mutex_unlock(&engine->lock);
    if (st == HF_STOPPED)
        return hf_err_set(err, st, "the engine was shut down");
    return st ? hf_err_set(err, HF_TIMEOUT, "the time allowed ran out") : HF_OK;
}

hf_status hf_changes(hf_engine *engine, int64_t seen, hf_ms wait, int64_t *out_seen)
{
    int64_t until_us = hf_clock_after(hf_clock_mono_us(hf_clock_system()), wait);
    uint64_t now = (uint64_t)seen;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!out_seen || wait < 0)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a wait and a place for the answer are needed");
    if (wait)
        st = hf_engine_wait(engine, HF_NONE, HF_ENGINE_SOME_RUN, false, &now, until_us,
                            &c.slot->err);
    hf_mutex_lock(&engine->lock);
    *out_seen = (int64_t)(wait ? now : engine->changes);
    hf_mutex_unlock(&engine->lock);
    return st == HF_TIMEOUT ? HF_OK : st;
}

hf_status hf_working(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_err failure = {0};
    bool ended;

    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (engine->open_error.status) {
        slot->err = engine->open_error;
        return engine->open_error.status;
    }
    if (!engine->writer) /* it is behind a server, or has not begun */
        return HF_OK;
    hf_mutex_lock(&engine->lock);
    ended = engine->stopping; /* what the core's thread leaves behind can be read now */
    hf_mutex_unlock(&engine->lock);
    if (!hf_writer_failure(engine->writer, &failure) &&
        (!ended || !hf_core_failure(engine->core, &failure)))
        return engine->node && !hf_shards_held(hf_node_shards(engine->node))
                   ? hf_err_set(&slot->err, HF_UNREACHABLE,
                                "the database does not renew the lease of this node")
                   : hf_writer_barred(engine->writer, &slot->err);
    return hf_err_set(&slot->err, HF_STOPPED, "the engine stopped (%s): %s",
                      hf_strstatus(failure.status), failure.text);
}

void hf_waits_stop(hf_engine *engine, bool stop)
{
    if (!engine)
        return;
    hf_mutex_lock(&engine->lock);
    engine->waits_over = stop;
    for (hf_list *link = engine->waiting.next; stop && link != &engine->waiting; link = link->next)
        hf_cond_signal(&HF_LIST_ENTRY(link, engine_slot, waiting)->woken);
    hf_mutex_unlock(&engine->lock);
    hf_inquiries_shut(engine->inquiries, stop);
}
