/* admission.c: see admission.h. The longest wait of a window says nothing, since one slow request
   is enough for it; the shortest one tells whether the queue was ever empty. */
#include "server/admission.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"

enum { WINDOW_US = 100000, WAIT_US = 3000, LEAST = 16 };

typedef struct counter {
    size_t in_work;
    size_t limit;
    size_t most;
    uint64_t refused;
    int64_t window_end_us;
    int64_t waited_us; /* in the window, together */
    int64_t count;     /* of those who got a thread in it */
} counter;

struct hf_admission {
    hf_mutex lock;
    size_t least;
    counter counters[HF_CLASSES]; /* under the lock */
};

static const struct {
    const char *text;
    size_t most;
} classes[HF_CLASSES] = {
    [HF_CLASS_OPEN] = {"open", SIZE_MAX}, [HF_CLASS_REPORT] = {"report", 1024},
    [HF_CLASS_READ] = {"read", 256},      [HF_CLASS_COMMAND] = {"command", 256},
    [HF_CLASS_WAIT] = {"wait", 1024},     [HF_CLASS_HELD] = {"held", 12288},
};

const char *hf_class_text(hf_class class)
{
    return classes[class].text;
}

hf_class hf_class_of(const hf_route *route)
{
    if (route->where == HF_WHERE_WAIT)
        return HF_CLASS_WAIT;
    if (route->plane == HF_PLANE_OPEN || route->plane == HF_PLANE_DISCOVERY)
        return HF_CLASS_OPEN;
    if (route->where == HF_WHERE_LOOP)
        return HF_CLASS_HELD;
    if (route->plane == HF_PLANE_WORKER)
        return HF_CLASS_REPORT;
    return route->method == HF_HTTP_GET ? HF_CLASS_READ : HF_CLASS_COMMAND;
}

/* With the lock held: the window is over. */
static void limit_move(const hf_admission *admission, counter *c)
{
    int64_t mean_us = c->waited_us / c->count;
    size_t limit = c->limit;

    if (mean_us > WAIT_US)
        limit = (size_t)((int64_t)limit * WAIT_US / mean_us);
    else if (mean_us < WAIT_US / 2)
        limit += limit / 4 + 1;
    if (limit < admission->least)
        limit = admission->least;
    c->limit = limit < c->most ? limit : c->most;
}

hf_status hf_admission_open(const hf_admission_limits *limits, hf_admission **out_admission,
                            hf_err *err)
{
    hf_admission *admission = hf_alloc(sizeof(*admission));
    hf_status st;

    if (!admission)
        return hf_err_nomem(err, "an admission");
    st = hf_mutex_init(&admission->lock, err);
    if (st) {
        hf_alloc_free(admission);
        return st;
    }
    admission->least = limits->least ? limits->least : LEAST;
    for (int i = 0; i < HF_CLASSES; i++) {
        size_t most = limits->most[i] ? limits->most[i] : classes[i].most;

        admission->counters[i] = (counter){.limit = most, .most = most};
    }
    *out_admission = admission;
    return HF_OK;
}

void hf_admission_close(hf_admission *admission)
{
    if (!admission)
        return;
    hf_mutex_fini(&admission->lock);
    hf_alloc_free(admission);
}

bool hf_admission_enter(hf_admission *admission, hf_class class)
{
    counter *c = &admission->counters[class];
    bool entered;

    hf_mutex_lock(&admission->lock);
    entered = c->in_work < c->limit;
    c->in_work += entered;
    c->refused += !entered;
    hf_mutex_unlock(&admission->lock);
    return entered;
}

void hf_admission_waited(hf_admission *admission, hf_class class, int64_t waited_us, int64_t now_us)
{
    counter *c = &admission->counters[class];

    if (class != HF_CLASS_READ && class != HF_CLASS_COMMAND)
        return;
    hf_mutex_lock(&admission->lock);
    if (now_us >= c->window_end_us) {
        if (c->count)
            limit_move(admission, c);
        c->window_end_us = now_us + WINDOW_US;
        c->waited_us = 0;
        c->count = 0;
    }
    c->waited_us += waited_us > 0 ? waited_us : 0;
    c->count++;
    hf_mutex_unlock(&admission->lock);
}

void hf_admission_leave(hf_admission *admission, hf_class class)
{
    counter *c = &admission->counters[class];

    hf_mutex_lock(&admission->lock);
    HF_ASSERT(c->in_work > 0);
    c->in_work--;
    hf_mutex_unlock(&admission->lock);
}

void hf_admission_look(hf_admission *admission, hf_class class, hf_admission_state *out_state)
{
    const counter *c = &admission->counters[class];

    hf_mutex_lock(&admission->lock);
    *out_state = (hf_admission_state){c->in_work, c->limit, c->refused};
    hf_mutex_unlock(&admission->lock);
}
