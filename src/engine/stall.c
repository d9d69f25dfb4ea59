/* stall.c: see stall.h. A core pays two atomic writes a turn; it takes the lock only to wake a
   watcher that sleeps without end. */
#include "engine/stall.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { TICK_US = 250000, QUIET_US = 2000000 };

struct hf_stall {
    hf_thread thread;
    const hf_log *log;
    void (*late)(void *ctx, hf_seat *seat, uint64_t look);
    void *ctx;
    _Atomic bool asleep; /* the watcher waits to be woken */
    /* under the lock */
    hf_mutex lock;
    hf_cond wake;
    hf_list seats;
    bool closing;
};

static void late_tell(const hf_stall *stall, hf_seat *seat, int64_t ms)
{
    const hf_log_field fields[] = {hf_log_text("code", HF_SLICE("task_timeout")),
                                   hf_log_int("run", atomic_load(&seat->run)),
                                   hf_log_int("ms", ms)};

    hf_log_write(stall->log, HF_LOG_WARN, "workflow code has not yielded", fields, 3);
}

/* With the lock held. True when the seat may need the watcher soon. */
static bool seat_check(hf_stall *stall, hf_seat *seat, int64_t now_us)
{
    uint64_t look = hf_seat_look(seat);
    int64_t patience_us = atomic_load(&seat->patience_us);

    if (look != seat->seen) {
        seat->seen = look;
        seat->since_us = now_us;
        return true;
    }
    if (!hf_seat_codes(look))
        return now_us - seat->since_us < QUIET_US;
    if (now_us - seat->since_us < patience_us)
        return true;
    seat->since_us = now_us; /* the host is asked again while it could not help */
    if (seat->told != look)
        late_tell(stall, seat, patience_us / 1000);
    seat->told = look;
    if (stall->late)
        stall->late(stall->ctx, seat, look);
    return true;
}

/* With the lock held. */
static bool seats_check(hf_stall *stall)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());
    hf_list *link = stall->seats.next;
    bool busy = false;

    while (link != &stall->seats) {
        hf_seat *seat = HF_LIST_ENTRY(link, hf_seat, place);

        link = link->next;
        busy |= seat_check(stall, seat, now_us);
    }
    return busy;
}

/* With the lock held: sleeps until some code runs. Whoever enters after `asleep` was set wakes us,
   whoever did before is seen by another look. */
static void stall_doze(hf_stall *stall)
{
    atomic_store(&stall->asleep, true);
    if (!seats_check(stall))
        while (!stall->closing && atomic_load(&stall->asleep))
            hf_cond_wait(&stall->wake, &stall->lock);
    atomic_store(&stall->asleep, false);
}

static void stall_thread(void *ctx)
{
    hf_stall *stall = ctx;

    hf_mutex_lock(&stall->lock);
    while (!stall->closing) {
        int64_t until_us = hf_clock_mono_us(hf_clock_system()) + TICK_US;
        hf_status st = HF_OK;

        if (!seats_check(stall)) {
            stall_doze(stall);
            continue;
        }
        while (!stall->closing && !st)
            st = hf_cond_wait_until(&stall->wake, &stall->lock, until_us);
    }
    hf_mutex_unlock(&stall->lock);
}

hf_status hf_stall_open(const hf_log *log, void (*late)(void *ctx, hf_seat *seat, uint64_t look),
                        void *ctx, hf_stall **out_stall, hf_err *err)
{
    hf_stall *stall = hf_alloc(sizeof(*stall));
    hf_status st;

    if (!stall)
        return hf_err_nomem(err, "the watcher of workflow code");
    stall->log = log;
    stall->late = late;
    stall->ctx = ctx;
    hf_list_init(&stall->seats);
    st = hf_mutex_init(&stall->lock, err);
    if (st) {
        hf_alloc_free(stall);
        return st;
    }
    st = hf_cond_init(&stall->wake, err);
    if (st) {
        hf_mutex_fini(&stall->lock);
        hf_alloc_free(stall);
        return st;
    }
    st = hf_thread_start(&stall->thread, "hf-stall", stall_thread, stall, err);
    if (st)
        hf_stall_close(stall);
    else
        *out_stall = stall;
    return st;
}

void hf_stall_close(hf_stall *stall)
{
    hf_list *link;

    if (!stall)
        return;
    hf_mutex_lock(&stall->lock);
    stall->closing = true;
    hf_cond_broadcast(&stall->wake);
    hf_mutex_unlock(&stall->lock);
    hf_thread_join(&stall->thread);
    while ((link = hf_list_first(&stall->seats)))
        hf_list_remove(link);
    hf_cond_fini(&stall->wake);
    hf_mutex_fini(&stall->lock);
    hf_alloc_free(stall);
}

void hf_stall_watch(hf_stall *stall, hf_seat *seat)
{
    hf_mutex_lock(&stall->lock);
    hf_list_add_last(&stall->seats, &seat->place);
    hf_mutex_unlock(&stall->lock);
}

void hf_stall_ignore(hf_stall *stall, hf_seat *seat)
{
    hf_mutex_lock(&stall->lock);
    if (hf_list_linked(&seat->place))
        hf_list_remove(&seat->place);
    hf_mutex_unlock(&stall->lock);
}

void hf_stall_wake(hf_stall *stall)
{
    if (!atomic_load(&stall->asleep))
        return;
    hf_mutex_lock(&stall->lock);
    atomic_store(&stall->asleep, false);
    hf_cond_signal(&stall->wake);
    hf_mutex_unlock(&stall->lock);
}
