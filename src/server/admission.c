/* admission.c: see admission.h. In a flood the next request comes at any moment, and waiting inside
   is good for nothing: the bound follows the wait much closer then. As long as threads are free,
   what is waited for is a processor, and so it falls below their number only where those are short,
   and more in work would not be more done. */
#include "server/admission.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/thread.h"

enum {
    WINDOW_US = 100000,
    WAIT_US = 3000,
    WAIT_FLOOD_US = 1000,
    BURST_US = 800000, /* waits that stay long for this time are no burst */
    CALM_US = 1000000, /* a flood is over when nobody was turned away for so long */
    LEAST = 16,
    LEAST_FLOOD = 12,
    SECOND_US = 1000000
};

typedef struct counter {
    size_t in_work;
    size_t limit;
    size_t most;
    uint64_t refused;
    uint64_t refused_before; /* the window */
    int64_t refused_us;      /* the newest */
    int64_t slow_us;         /* since then waits are long; 0: they are not */
    bool flood;
    int64_t window_end_us;
    int64_t waited_us; /* in the window, together */
    int64_t count;     /* of those who got a thread in it */
} counter;

/* What a namespace has in work, and how many requests it may still make now. */
typedef struct tenant {
    size_t in_work[HF_CLASSES];
    int64_t credit_us; /* a request costs a second divided by the rate */
    int64_t seen_us;
} tenant;

struct hf_admission {
    hf_mutex lock;
    size_t least;
    int64_t rate;
    size_t polls;
    hf_map *tenants;              /* by namespace; under the lock */
    counter counters[HF_CLASSES]; /* under the lock */
};

static const struct {
    const char *text;
    size_t most;
} classes[HF_CLASSES] = {
    [HF_CLASS_OPEN] = {"open", SIZE_MAX}, [HF_CLASS_REPORT] = {"report", 1024},
    [HF_CLASS_READ] = {"read", 1024},     [HF_CLASS_COMMAND] = {"command", 1024},
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

/* With the lock held: how many may be in work. */
static size_t bound_of(const counter *c)
{
    return c->flood ? c->limit : c->most;
}

/* With the lock held: whether it is a flood by the window that is over. */
static void flood_judge(counter *c, int64_t mean_us, int64_t now_us)
{
    if (mean_us <= WAIT_US || now_us - c->window_end_us > WINDOW_US)
        c->slow_us = 0; /* they are quick, or there was nobody for a while */
    else if (!c->slow_us)
        c->slow_us = c->window_end_us - WINDOW_US;
    if (c->refused - c->refused_before > (uint64_t)c->count ||
        (c->slow_us && now_us - c->slow_us >= BURST_US)) {
        c->refused_us = c->flood ? c->refused_us : now_us;
        c->flood = true;
    }
}

/* With the lock held: the window is over. */
static void limit_move(const hf_admission *admission, counter *c, int64_t now_us)
{
    int64_t mean_us = c->waited_us / c->count;
    size_t limit = c->limit;
    int64_t most_us;
    size_t least;

    flood_judge(c, mean_us, now_us);
    most_us = c->flood ? WAIT_FLOOD_US : WAIT_US;
    least = c->flood && admission->least > LEAST_FLOOD ? LEAST_FLOOD : admission->least;
    if (mean_us > most_us)
        limit = (size_t)((int64_t)limit * most_us / mean_us);
    else if (mean_us < most_us / 2)
        limit += limit / 4 + 1;
    if (limit < least)
        limit = least;
    c->limit = limit < c->most ? limit : c->most;
}

void hf_admission_close(hf_admission *admission)
{
    size_t at = 0;
    hf_slice space;
    void *t;

    if (!admission)
        return;
    while (admission->tenants && hf_map_next(admission->tenants, &at, &space, &t))
        hf_alloc_free(t);
    hf_map_free(admission->tenants);
    hf_mutex_fini(&admission->lock);
    hf_alloc_free(admission);
}

hf_status hf_admission_open(const hf_admission_limits *limits, hf_admission **out_admission,
                            hf_err *err)
{
    hf_admission *admission = hf_alloc(sizeof(*admission));
    hf_map_seed seed;
    hf_status st;

    if (!admission)
        return hf_err_nomem(err, "an admission");
    st = hf_mutex_init(&admission->lock, err);
    if (st) {
        hf_alloc_free(admission);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    admission->tenants = st ? NULL : hf_map_new(seed);
    if (!admission->tenants) {
        hf_admission_close(admission);
        return st ? st : hf_err_nomem(err, "an admission");
    }
    admission->rate = limits->rate;
    admission->polls = limits->polls;
    admission->least = limits->least ? limits->least : LEAST;
    for (int i = 0; i < HF_CLASSES; i++) {
        size_t most = limits->most[i] ? limits->most[i] : classes[i].most;

        admission->counters[i] = (counter){.limit = most, .most = most};
    }
    *out_admission = admission;
    return HF_OK;
}

bool hf_admission_enter(hf_admission *admission, hf_class class, int64_t now_us, bool *out_flood)
{
    counter *c = &admission->counters[class];
    bool entered;

    hf_mutex_lock(&admission->lock);
    if (c->flood && now_us - c->refused_us >= CALM_US) {
        c->flood = false;
        c->slow_us = 0;
    }
    entered = c->in_work < bound_of(c);
    c->in_work += entered;
    c->refused += !entered;
    c->refused_us = entered ? c->refused_us : now_us;
    *out_flood = c->flood;
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
            limit_move(admission, c, now_us);
        c->window_end_us = now_us + WINDOW_US;
        c->waited_us = 0;
        c->count = 0;
        c->refused_before = c->refused;
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

/* Probes are nobody's. */
static bool is_shared(hf_class class)
{
    return class != HF_CLASS_OPEN;
}

/* How much of the class one namespace may have. */
static size_t share_of(const hf_admission *admission, hf_class class, bool alone)
{
    size_t limit = bound_of(&admission->counters[class]);
    size_t share = alone ? SIZE_MAX : limit - limit / 4;

    return class == HF_CLASS_HELD && admission->polls && admission->polls < share ? admission->polls
                                                                                  : share;
}

/* With the lock held: the namespace's counters; NULL: no memory. */
static tenant *tenant_of(hf_admission *admission, hf_slice space, int64_t now_us)
{
    tenant *t = hf_map_get(admission->tenants, space);

    if (t)
        return t;
    t = hf_alloc(sizeof(*t));
    if (!t)
        return NULL;
    t->credit_us = SECOND_US;
    t->seen_us = now_us;
    if (!hf_map_put(admission->tenants, space, t, NULL, NULL))
        return t;
    hf_alloc_free(t);
    return NULL;
}

/* With the lock held: takes one request of those that the second allows. */
static bool rate_take(const hf_admission *admission, tenant *t, hf_class class, int64_t now_us)
{
    int64_t cost_us = admission->rate ? SECOND_US / admission->rate : 0;

    if (!cost_us || (class != HF_CLASS_READ && class != HF_CLASS_COMMAND && class != HF_CLASS_WAIT))
        return true;
    if (now_us > t->seen_us) {
        int64_t since_us = now_us - t->seen_us;

        t->credit_us = since_us < SECOND_US - t->credit_us ? t->credit_us + since_us : SECOND_US;
        t->seen_us = now_us;
    }
    if (t->credit_us < cost_us)
        return false;
    t->credit_us -= cost_us;
    return true;
}

bool hf_admission_share(hf_admission *admission, hf_class class, hf_slice space, bool alone,
                        int64_t now_us)
{
    counter *c = &admission->counters[class];
    bool shared = false;
    tenant *t;

    if (!is_shared(class))
        return true;
    hf_mutex_lock(&admission->lock);
    t = tenant_of(admission, space, now_us);
    if (t && t->in_work[class] < share_of(admission, class, alone))
        shared = rate_take(admission, t, class, now_us);
    if (shared)
        t->in_work[class]++;
    else
        c->refused++;
    hf_mutex_unlock(&admission->lock);
    return shared;
}

void hf_admission_unshare(hf_admission *admission, hf_class class, hf_slice space)
{
    tenant *t;

    if (!is_shared(class))
        return;
    hf_mutex_lock(&admission->lock);
    t = hf_map_get(admission->tenants, space);
    HF_ASSERT(t && t->in_work[class] > 0);
    t->in_work[class]--;
    hf_mutex_unlock(&admission->lock);
}

void hf_admission_look(hf_admission *admission, hf_class class, hf_admission_state *out_state)
{
    const counter *c = &admission->counters[class];

    hf_mutex_lock(&admission->lock);
    *out_state = (hf_admission_state){c->in_work, c->limit, bound_of(c), c->refused};
    hf_mutex_unlock(&admission->lock);
}
