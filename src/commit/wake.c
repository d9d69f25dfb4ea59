/* wake.c: a thread that sends and a thread that listens, each with its own connection. The text of
   a notification is "NODE RUN RUN ..." in decimal, at most WAKE_BYTES long; "NODE 0" means
   everything. */
#include "commit/wake.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/slice.h"
#include "base/thread.h"

enum {
    WAKE_BYTES = 4000, /* a notification of PostgreSQL holds 8000 */
    WAKE_RUNS = 200,   /* runs that wait to be told of; more become "everything" */
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
    hf_cond work;
    int64_t runs[WAKE_RUNS];
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

void hf_wake_tell(hf_wake *wake, int64_t run)
{
    bool first;

    hf_mutex_lock(&wake->lock);
    first = wake->count == 0 && !wake->all;
    if (wake->count < WAKE_RUNS && (wake->count == 0 || wake->runs[wake->count - 1] != run))
        wake->runs[wake->count++] = run;
    else if (wake->count == WAKE_RUNS)
        wake->all = true;
    if (first)
        hf_cond_signal(&wake->work);
    hf_mutex_unlock(&wake->lock);
}

/* With the lock held: what is to be told, as text; the list is empty afterwards. */
static void text_take(hf_wake *wake, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "%" PRId64, wake->node);

    if (wake->all)
        (void)snprintf(text + len, size - len, " 0");
    for (size_t i = 0; !wake->all && i < wake->count; i++)
        len += (size_t)snprintf(text + len, size - len, " %" PRId64, wake->runs[i]);
    wake->count = 0;
    wake->all = false;
}

/* A hint that cannot be sent is dropped: the connection is made again before the next one. */
static void sender_run(void *ctx)
{
    hf_wake *wake = ctx;
    char text[WAKE_BYTES + 128];
    hf_status st = HF_OK;

    hf_mutex_lock(&wake->lock);
    while (!wake->closing || wake->count || wake->all) { /* the last hints are sent, too */
        if (wake->count == 0 && !wake->all) {
            hf_cond_wait(&wake->work, &wake->lock);
            continue;
        }
        text_take(wake, text, sizeof(text));
        hf_mutex_unlock(&wake->lock);
        if (st)
            st = hf_db_reconnect(wake->out, NULL);
        if (!st)
            st = hf_db_notify(wake->out, hf_slice_of(text), NULL);
        hf_mutex_lock(&wake->lock);
    }
    hf_mutex_unlock(&wake->lock);
}

static void text_hear(hf_wake *wake, hf_slice text)
{
    hf_slice part;
    int64_t number = 0;

    if (!hf_slice_split(&text, ' ', &part) || !hf_slice_int(part, &number) || number == wake->node)
        return;
    while (hf_slice_split(&text, ' ', &part))
        if (hf_slice_int(part, &number))
            wake->heard(wake->ctx, number);
}

static void listener_pause(hf_wake *wake)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + RECONNECT_US;

    hf_mutex_lock(&wake->lock);
    while (!wake->closing && hf_cond_wait_until(&wake->work, &wake->lock, until_us) != HF_TIMEOUT)
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
                wake->heard(wake->ctx, 0); /* something may have been missed */
        }
    }
}

hf_status hf_wake_open(hf_store *store, int64_t node, hf_wake_heard *heard, void *ctx,
                       hf_wake **out_wake, hf_err *err)
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
    st = hf_store_connect(store, HF_DB_READ, &wake->out, err);
    if (!st)
        st = hf_store_connect(store, HF_DB_READ, &wake->in, err);
    if (!st)
        st = hf_db_listen(wake->in, err);
    if (!st)
        st = hf_thread_start(&wake->sender, "hf-wake-out", sender_run, wake, err);
    if (!st)
        st = hf_thread_start(&wake->listener, "hf-wake-in", listener_run, wake, err);
    if (st)
        hf_wake_close(wake);
    else
        *out_wake = wake;
    return hf_err_because(err, st, "listen to other nodes");
}

void hf_wake_close(hf_wake *wake)
{
    if (!wake)
        return;
    hf_mutex_lock(&wake->lock);
    wake->closing = true;
    hf_cond_broadcast(&wake->work);
    hf_mutex_unlock(&wake->lock);
    hf_thread_join(&wake->sender);
    hf_thread_join(&wake->listener);
    hf_db_close(wake->out);
    hf_db_close(wake->in);
    hf_cond_fini(&wake->work);
    hf_mutex_fini(&wake->lock);
    hf_alloc_free(wake);
}
