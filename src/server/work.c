/* work.c: what workers say comes before what is new, and some threads are theirs alone: a
   report ends something that was begun, a new request begins more. Otherwise first come, first
   served. A thread is woken only when there is something for it. */
#include "server/work.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "server/server_impl.h"

enum { THREADS_MAX = 64 };

typedef struct queue {
    hf_api *first;
    hf_api **last;
} queue;

struct hf_work {
    hf_mutex mutex;
    hf_cond some;
    /* Under the mutex. */
    queue reports;
    queue others;
    int others_run; /* threads that have one */
    int others_max;
    size_t waiting;
    size_t waiting_max;
    bool closing;
    int count;
    hf_thread threads[THREADS_MAX];
};

static void queue_put(queue *q, hf_api *api)
{
    api->next = NULL;
    *q->last = api;
    q->last = &api->next;
}

static hf_api *queue_take(queue *q)
{
    hf_api *api = q->first;

    if (!api)
        return NULL;
    q->first = api->next;
    if (!q->first)
        q->last = &q->first;
    return api;
}

/* Whether a thread that looks now finds something that it may have. */
static bool work_ready(const hf_work *work)
{
    return work->reports.first || (work->others.first && work->others_run < work->others_max);
}

/* The next one that this thread may have; NULL: none. */
static hf_api *work_take(hf_work *work, bool *out_other)
{
    hf_api *api = queue_take(&work->reports);

    *out_other = !api;
    if (!api && work->others_run < work->others_max)
        api = queue_take(&work->others);
    if (api) {
        work->waiting--;
        work->others_run += *out_other;
    }
    return api;
}

static void work_run(void *ctx)
{
    hf_work *work = ctx;
    bool left = false; /* this thread had one of the others until now */

    hf_mutex_lock(&work->mutex);
    for (;;) {
        bool other;
        hf_api *api = work_take(work, &other);

        if (!api) {
            if (work->closing && !work->waiting)
                break;
            left = false;
            hf_cond_wait(&work->some, &work->mutex);
            continue;
        }
        if (left && !other && work_ready(work)) /* its place is for another thread */
            hf_cond_signal(&work->some);
        hf_mutex_unlock(&work->mutex);
        hf_api_run(api);
        hf_mutex_lock(&work->mutex);
        work->others_run -= other;
        left = other;
        if (work->closing)
            hf_cond_broadcast(&work->some); /* who waits for a place, or for the end */
    }
    hf_mutex_unlock(&work->mutex);
}

hf_status hf_work_open(int threads, int reserved, size_t waiting_max, hf_work **out_work,
                       hf_err *err)
{
    hf_work *work = hf_alloc(sizeof(*work));
    hf_status st;

    if (!work)
        return hf_err_nomem(err, "handler threads");
    work->reports.last = &work->reports.first;
    work->others.last = &work->others.first;
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
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    work->others_max = threads > reserved ? threads - reserved : 1;
    for (int i = 0; i < threads && !st; i++) {
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
        queue_put(api->route->plane == HF_PLANE_WORKER ? &work->reports : &work->others, api);
        work->waiting++;
        if (work_ready(work)) /* else whoever gives its place up goes on with it */
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
