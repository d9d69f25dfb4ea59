/* work.c: first come, first served. A thread is woken only when there is something for it. */
#include "server/work.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "server/server_impl.h"

enum { THREADS_MAX = 64 };

struct hf_work {
    hf_mutex mutex;
    hf_cond some;
    /* Under the mutex. */
    hf_api *first;
    hf_api **last;
    size_t waiting;
    size_t waiting_max;
    bool closing;
    int count;
    hf_thread threads[THREADS_MAX];
};

static void work_run(void *ctx)
{
    hf_work *work = ctx;

    hf_mutex_lock(&work->mutex);
    for (;;) {
        hf_api *api = work->first;

        if (!api) {
            if (work->closing)
                break;
            hf_cond_wait(&work->some, &work->mutex);
            continue;
        }
        work->first = api->next;
        if (!work->first)
            work->last = &work->first;
        work->waiting--;
        hf_mutex_unlock(&work->mutex);
        hf_api_run(api);
        hf_mutex_lock(&work->mutex);
    }
    hf_mutex_unlock(&work->mutex);
}

hf_status hf_work_open(int threads, size_t waiting_max, hf_work **out_work, hf_err *err)
{
    hf_work *work = hf_alloc(sizeof(*work));
    hf_status st;

    if (!work)
        return hf_err_nomem(err, "handler threads");
    work->last = &work->first;
    work->waiting_max = waiting_max;
    st = hf_mutex_init(&work->mutex, err);
    if (st) {
        hf_alloc_free(work);
        return st;
    }
    st = hf_cond_init(&work->some, err);
    if (st) {
        hf_mutex_fini(&work->mutex);
        hf_alloc_free(work);
        return st;
    }
    for (int i = 0; i < threads && i < THREADS_MAX && !st; i++) {
        st = hf_thread_start(&work->threads[i], "hf-api", work_run, work, err);
        work->count += !st;
    }
    if (st) {
        hf_work_close(work);
        return st;
    }
    *out_work = work;
    return HF_OK;
}

void hf_work_close(hf_work *work)
{
    if (!work)
        return;
    hf_mutex_lock(&work->mutex);
    work->closing = true;
    hf_cond_broadcast(&work->some);
    hf_mutex_unlock(&work->mutex);
    for (int i = 0; i < work->count; i++)
        hf_thread_join(&work->threads[i]);
    hf_cond_fini(&work->some);
    hf_mutex_fini(&work->mutex);
    hf_alloc_free(work);
}

hf_status hf_work_offer(hf_work *work, hf_api *api)
{
    hf_status st = HF_OK;

    hf_mutex_lock(&work->mutex);
    if (work->waiting >= work->waiting_max || work->closing) {
        st = HF_BUSY;
    } else {
        api->next = NULL;
        *work->last = api;
        work->last = &api->next;
        work->waiting++;
        hf_cond_signal(&work->some);
    }
    hf_mutex_unlock(&work->mutex);
    return st;
}

size_t hf_work_waiting(hf_work *work)
{
    size_t waiting;

    hf_mutex_lock(&work->mutex);
    waiting = work->waiting;
    hf_mutex_unlock(&work->mutex);
    return waiting;
}
