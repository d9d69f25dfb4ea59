/* wake.c: a thread that sends and a thread that listens, each with its own connection and its own
   condition, so that none can take a signal that was meant for the other. The text of a
   notification is "NODE HINT HINT ...", at most WAKE_BYTES long; numbers are decimal:

       0    look at everything        12   run 12 has facts
       -12  run 12 has changed        !    some run has changed
       ?12  run 12 is awaited         ?0   any run is awaited
       @12  node 12 has mail

   A hint that is not understood is skipped: it is a newer node's. */
#include "commit/wake.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/slice.h"
#include "base/thread.h"

enum {
    WAKE_BYTES = 4000, /* a notification of PostgreSQL holds 8000 */
    HINT_BYTES = 24,   /* the longest */
    WAKE_HINTS = 4096, /* that wait to be sent; more become "everything" */
    LISTEN_MS = 200,   /* how often the listener looks whether it shall end */
    RECONNECT_US = 500000
};

struct hf_wake {
    hf_db *out; /* the sender's */
    hf_db *in;  /* the listener's */
    int64_t node;
    hf_wake_heard *heard;
    void *ctx;
    hf_thread sender;
    hf_thread listener;
    /* under the lock */
    hf_mutex lock;
    hf_cond work; /* the sender alone waits for it */
    hf_cond end;  /* the listener alone waits for it */
    hf_hint hints[WAKE_HINTS];
    size_t count;
    bool all; /* too many to name */
    bool closing;
};

static bool wake_closing(hf_wake *wake)
{
    bool closing;

    hf_mutex_lock(&wake->lock);
    closing = wake->closing;
    hf_mutex_unlock(&wake->lock);
    return closing;
}

/* With the lock held: whether it is what was said last. */
static bool is_said(const hf_wake *wake, hf_hint hint)
{
    const hf_hint *last = wake->count ? &wake->hints[wake->count - 1] : NULL;

    return last && last->kind == hint.kind && last->run == hint.run;
}

void hf_wake_tell(hf_wake *wake, hf_hint hint)
{
    hf_mutex_lock(&wake->lock);
    if (hint.kind == HF_HINT_LOOK || (wake->count == WAKE_HINTS && !is_said(wake, hint)))
        wake->all = true;
    else if (!is_said(wake, hint))
        wake->hints[wake->count++] = hint;
    hf_cond_signal(&wake->work);
    hf_mutex_unlock(&wake->lock);
}

static size_t hint_print(hf_hint hint, char *text, size_t size)
{
    int len = 0;

    switch (hint.kind) {
    case HF_HINT_LOOK:
        len = snprintf(text, size, " 0");
        break;
    case HF_HINT_FACTS:
        len = snprintf(text, size, " %" PRId64, hint.run);
        break;
    case HF_HINT_CHANGED:
        len = hint.run ? snprintf(text, size, " -%" PRId64, hint.run) : snprintf(text, size, " !");
        break;
    case HF_HINT_AWAITED:
        len = snprintf(text, size, " ?%" PRId64, hint.run);
        break;
    case HF_HINT_MAIL:
        len = snprintf(text, size, " @%" PRId64, hint.run);
        break;
    }
    return (size_t)len;
}

static bool hint_read(hf_slice text, hf_hint *out_hint)
{
    int64_t number = 0;

    if (hf_slice_equal(text, HF_SLICE("!"))) {
        *out_hint = (hf_hint){HF_HINT_CHANGED, 0};
        return true;
    }
    if (text.len && (text.ptr[0] == '?' || text.ptr[0] == '@')) {
        *out_hint = (hf_hint){.kind = text.ptr[0] == '@' ? HF_HINT_MAIL : HF_HINT_AWAITED};
        return hf_slice_int(hf_slice_from(text.ptr + 1, text.len - 1), &out_hint->run) &&
               out_hint->run >= 0;
    }
    if (!hf_slice_int(text, &number) || number == INT64_MIN)
        return false;
    if (number > 0)
        *out_hint = (hf_hint){HF_HINT_FACTS, number};
    else if (number < 0)
        *out_hint = (hf_hint){HF_HINT_CHANGED, -number};
    else
        *out_hint = (hf_hint){.kind = HF_HINT_LOOK};
    return true;
}

/* With the lock held: what is to be told, as text, or as much as fits; it is not waiting any more.
   Who looks at everything is told of runs all the same: it looks for work that waits for long, and
   these have just begun to. */
static void text_take(hf_wake *wake, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "%" PRId64, wake->node);
    size_t taken = 0;

    if (wake->all)
        len += hint_print((hf_hint){.kind = HF_HINT_LOOK}, text + len, size - len);
    wake->all = false;
    while (taken < wake->count && len < WAKE_BYTES)
        len += hint_print(wake->hints[taken++], text + len, size - len);
    wake->count -= taken;
    memmove(wake->hints, wake->hints + taken, wake->count * sizeof(wake->hints[0]));
}

/* With the lock held: the database is not there. */
static void sender_pause(hf_wake *wake)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + RECONNECT_US;

    while (!wake->closing && hf_cond_wait_until(&wake->work, &wake->lock, until_us) != HF_TIMEOUT)
        ;
}

/* The connection makes itself anew: one that was cut while nothing was said takes a second try. */
static hf_status text_send(hf_wake *wake, const char *text)
{
    hf_status st = hf_db_notify(wake->out, hf_slice_of(text), NULL);

    return st ? hf_db_notify(wake->out, hf_slice_of(text), NULL) : HF_OK;
}

/* What could not be sent is not kept by name: who looks at everything finds it. */
static void sender_run(void *ctx)
{
    hf_wake *wake = ctx;
    char text[WAKE_BYTES + HINT_BYTES * 2];
    hf_status st = HF_OK;

    hf_mutex_lock(&wake->lock);
    while (!wake->closing || ((wake->count || wake->all) && !st)) { /* the last ones, too */
        if (wake->count == 0 && !wake->all) {
            hf_cond_wait(&wake->work, &wake->lock);
            continue;
        }
        text_take(wake, text, sizeof(text));
        hf_mutex_unlock(&wake->lock);
        st = text_send(wake, text);
        hf_mutex_lock(&wake->lock);
        if (st) {
            wake->all = true;
            sender_pause(wake);
        }
    }
    hf_mutex_unlock(&wake->lock);
}

static void text_hear(hf_wake *wake, hf_slice text)
{
    hf_slice part;
    int64_t number = 0;
    hf_hint hint;

    if (!hf_slice_split(&text, ' ', &part) || !hf_slice_int(part, &number) || number == wake->node)
        return;
    while (hf_slice_split(&text, ' ', &part))
        if (hint_read(part, &hint))
            wake->heard(wake->ctx, hint);
}

static void listener_pause(hf_wake *wake)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + RECONNECT_US;
    hf_cond *end = hf_fault_planted(HF_PLANT_ONE_SIGNAL) ? &wake->work : &wake->end;

    hf_mutex_lock(&wake->lock);
    while (!wake->closing && hf_cond_wait_until(end, &wake->lock, until_us) != HF_TIMEOUT)
        ;
    hf_mutex_unlock(&wake->lock);
}

static void listener_run(void *ctx)
{
    hf_wake *wake = ctx;
    hf_slice text;

    while (!wake_closing(wake)) {
        hf_status st = hf_db_notified(wake->in, LISTEN_MS, &text, NULL);

        if (st == HF_OK) {
            text_hear(wake, text);
        } else if (st != HF_TIMEOUT) {
            if (hf_db_reconnect(wake->in, NULL)) /* listens again by itself */
                listener_pause(wake);
            else
                wake->heard(wake->ctx, (hf_hint){.kind = HF_HINT_LOOK}); /* some may be lost */
        }
    }
}

static hf_status wake_new(int64_t node, hf_wake_heard *heard, void *ctx, hf_wake **out_wake,
                          hf_err *err)
{
    hf_wake *wake = hf_alloc(sizeof(*wake));
    hf_status st;

    if (!wake)
        return hf_err_nomem(err, "wake-ups between nodes");
    wake->node = node;
    wake->heard = heard;
    wake->ctx = ctx;
    st = hf_mutex_init(&wake->lock, err);
    if (st) {
        hf_alloc_free(wake);
        return st;
    }
    st = hf_cond_init(&wake->work, err);
    if (st) {
        hf_mutex_fini(&wake->lock);
        hf_alloc_free(wake);
        return st;
    }
    st = hf_cond_init(&wake->end, err);
    if (st) {
        hf_cond_fini(&wake->work);
        hf_mutex_fini(&wake->lock);
        hf_alloc_free(wake);
        return st;
    }
    *out_wake = wake;
    return HF_OK;
}

hf_status hf_wake_open_on(hf_db *out, hf_db *in, int64_t node, hf_wake_heard *heard, void *ctx,
                          hf_wake **out_wake, hf_err *err)
{
    hf_wake *wake = NULL;
    hf_status st = wake_new(node, heard, ctx, &wake, err);

    if (st) {
        hf_db_close(out);
        hf_db_close(in);
        return st;
    }
    wake->out = out;
    wake->in = in;
    st = hf_db_listen(wake->in, err);
    if (!st)
        st = hf_thread_start(&wake->sender, "hf-wake-out", sender_run, wake, err);
    if (!st)
        st = hf_thread_start(&wake->listener, "hf-wake-in", listener_run, wake, err);
    if (st)
        hf_wake_close(wake);
    else
        *out_wake = wake;
    return st;
}

hf_status hf_wake_open(hf_store *store, int64_t node, hf_wake_heard *heard, void *ctx,
                       hf_wake **out_wake, hf_err *err)
{
    hf_db *out = NULL;
    hf_db *in = NULL;
    hf_status st = hf_store_connect(store, HF_DB_READ, &out, err);

    if (!st)
        st = hf_store_connect(store, HF_DB_READ, &in, err);
    if (st)
        hf_db_close(out);
    else
        st = hf_wake_open_on(out, in, node, heard, ctx, out_wake, err);
    return hf_err_because(err, st, "listen to other nodes");
}

void hf_wake_close(hf_wake *wake)
{
    if (!wake)
        return;
    hf_mutex_lock(&wake->lock);
    wake->closing = true;
    hf_cond_signal(&wake->work);
    hf_cond_signal(&wake->end);
    hf_mutex_unlock(&wake->lock);
    hf_thread_join(&wake->sender);
    hf_thread_join(&wake->listener);
    hf_db_close(wake->out);
    hf_db_close(wake->in);
    hf_cond_fini(&wake->end);
    hf_cond_fini(&wake->work);
    hf_mutex_fini(&wake->lock);
    hf_alloc_free(wake);
}
