/* fleet.c: see fleet.h. */
#include "server/fleet.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/value.h"

#define STALE_US INT64_C(60000000)
#define KEEP_US  INT64_C(86400000000)

typedef struct fleet_worker {
    hf_mem *mem;
    hf_value said;
    int64_t registered_us;
    int64_t heard_us;
    int64_t kept_us; /* in the store, as of then */
    bool lost;
} fleet_worker;

/* Drained builds of one namespace. */
typedef struct fleet_builds {
    hf_mem *mem;
    hf_value drained; /* [{task_queue, build_id, drained_at, ...}] */
} fleet_builds;

struct hf_fleet {
    hf_mutex lock;
    hf_map *workers;
    hf_map *builds;   /* by namespace */
    uint64_t changes; /* of who is there */
};

hf_status hf_fleet_open(hf_fleet **out_fleet, hf_err *err)
{
    hf_fleet *fleet = hf_alloc(sizeof(*fleet));
    hf_map_seed seed; /* the names are chosen by others */
    hf_status st;

    if (!fleet)
        return hf_err_nomem(err, "the fleet");
    st = hf_mutex_init(&fleet->lock, err);
    if (st) {
        hf_alloc_free(fleet);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        fleet->workers = hf_map_new(seed);
        fleet->builds = hf_map_new(seed);
        st = fleet->workers && fleet->builds ? HF_OK : hf_err_nomem(err, "the fleet");
    }
    if (st) {
        hf_fleet_close(fleet);
        return st;
    }
    *out_fleet = fleet;
    return HF_OK;
}

static void worker_free(fleet_worker *worker)
{
    if (!worker)
        return;
    hf_mem_free(worker->mem);
    hf_alloc_free(worker);
}

static void builds_free(fleet_builds *builds)
{
    if (!builds)
        return;
    hf_mem_free(builds->mem);
    hf_alloc_free(builds);
}

void hf_fleet_close(hf_fleet *fleet)
{
    size_t at = 0;
    hf_slice key;
    void *worker;

    if (!fleet)
        return;
    while (fleet->workers && hf_map_next(fleet->workers, &at, &key, &worker))
        worker_free(worker);
    at = 0;
    while (fleet->builds && hf_map_next(fleet->builds, &at, &key, &worker))
        builds_free(worker);
    hf_map_free(fleet->builds);
    hf_map_free(fleet->workers);
    hf_mutex_fini(&fleet->lock);
    hf_alloc_free(fleet);
}

/* The first type whose definition is another than the one the living worker had. */
static bool definition_changed(const fleet_worker *old, hf_value said, hf_slice *out_type)
{
    hf_value before = hf_value_find(old->said, HF_SLICE("workflow_definition_fingerprints"));
    hf_value now = hf_value_find(said, HF_SLICE("workflow_definition_fingerprints"));
    hf_value print;

    for (size_t i = 0; hf_value_member(now, i, out_type, &print); i++) {
        hf_value known = hf_value_find(before, *out_type);

        if (known && !hf_value_equal(known, print))
            return true;
    }
    return false;
}

static fleet_worker *worker_new(hf_value said, int64_t now_us, hf_err *err)
{
    fleet_worker *worker = hf_alloc(sizeof(*worker));

    if (worker) {
        worker->mem = hf_mem_new();
        worker->said = worker->mem ? hf_value_copy(worker->mem, said) : NULL;
        worker->registered_us = now_us;
        worker->heard_us = now_us;
        worker->kept_us = now_us;
    }
    if (worker && worker->said)
        return worker;
    worker_free(worker);
    (void)hf_err_nomem(err, "a worker");
    return NULL;
}

/* Under the lock. */
static hf_status worker_fits(hf_fleet *fleet, hf_slice worker, hf_value said, int64_t now_us,
                             hf_err *err)
{
    const fleet_worker *old = hf_map_get(fleet->workers, worker);
    hf_slice type;

    if (!old || now_us - old->heard_us >= STALE_US || !definition_changed(old, said, &type))
        return HF_OK;
    return hf_err_set(err, HF_CONFLICT, "worker %.*s runs another definition of %.*s",
                      (int)worker.len, worker.ptr, (int)type.len, type.ptr);
}

hf_status hf_fleet_fits(hf_fleet *fleet, hf_slice worker, hf_value said, int64_t now_us,
                        hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&fleet->lock);
    st = worker_fits(fleet, worker, said, now_us, err);
    hf_mutex_unlock(&fleet->lock);
    return st;
}

hf_status hf_fleet_register(hf_fleet *fleet, hf_slice worker, hf_value said, int64_t now_us,
                            hf_err *err)
{
    fleet_worker *made = worker_new(said, now_us, err);
    void *replaced = NULL;
    hf_status st;

    if (!made)
        return HF_NOMEM;
    hf_mutex_lock(&fleet->lock);
    st = worker_fits(fleet, worker, said, now_us, err);
    if (!st)
        st = hf_map_put(fleet->workers, worker, made, &replaced, err);
    fleet->changes += !st;
    hf_mutex_unlock(&fleet->lock);
    worker_free(st ? made : replaced);
    return st;
}

/* One of them; those that registered here are known better. */
static hf_status worker_learn(hf_fleet *fleet, hf_value one, hf_err *err)
{
    fleet_worker *made;
    hf_buf name = {0};
    hf_status st = HF_OK;

    if (hf_value_kind_of(hf_get(one, "said")) != HF_VALUE_OBJECT)
        return HF_OK;
    hf_buf_add_format(&name, "%s/%s", hf_str(one, "namespace", ""), hf_str(one, "worker_id", ""));
    made =
        hf_buf_ok(&name) ? worker_new(hf_get(one, "said"), hf_int(one, "seen_at", 0), err) : NULL;
    hf_mutex_lock(&fleet->lock);
    if (!made)
        st = HF_NOMEM;
    else if (!hf_map_get(fleet->workers, hf_buf_slice(&name)))
        st = hf_map_put(fleet->workers, hf_buf_slice(&name), made, NULL, err);
    else
        st = HF_EXISTS;
    hf_mutex_unlock(&fleet->lock);
    hf_buf_fini(&name);
    if (st)
        worker_free(made);
    return st == HF_EXISTS ? HF_OK : st;
}

hf_status hf_fleet_learn(hf_fleet *fleet, hf_value kept, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(kept); i++)
        st = worker_learn(fleet, hf_at(kept, i), err);
    return st;
}

bool hf_fleet_beat(hf_fleet *fleet, hf_slice worker, int64_t now_us)
{
    fleet_worker *found;

    hf_mutex_lock(&fleet->lock);
    found = hf_map_get(fleet->workers, worker);
    if (found) {
        found->heard_us = now_us;
        fleet->changes += found->lost;
        found->lost = false;
    }
    hf_mutex_unlock(&fleet->lock);
    return found != NULL;
}

void hf_fleet_lost(hf_fleet *fleet, hf_slice worker)
{
    fleet_worker *found;

    hf_mutex_lock(&fleet->lock);
    found = hf_map_get(fleet->workers, worker);
    if (found)
        found->lost = true;
    fleet->changes += found != NULL;
    hf_mutex_unlock(&fleet->lock);
}

bool hf_fleet_due(hf_fleet *fleet, hf_slice worker, int64_t now_us)
{
    fleet_worker *found;
    bool due;

    hf_mutex_lock(&fleet->lock);
    found = hf_map_get(fleet->workers, worker);
    due = found && now_us - found->kept_us >= KEEP_US;
    if (due)
        found->kept_us = now_us;
    hf_mutex_unlock(&fleet->lock);
    return due;
}

bool hf_fleet_remove(hf_fleet *fleet, hf_slice worker)
{
    fleet_worker *found;

    hf_mutex_lock(&fleet->lock);
    found = hf_map_remove(fleet->workers, worker);
    fleet->changes += found != NULL;
    hf_mutex_unlock(&fleet->lock);
    worker_free(found);
    return found != NULL;
}

uint64_t hf_fleet_changes(hf_fleet *fleet)
{
    uint64_t changes;

    hf_mutex_lock(&fleet->lock);
    changes = fleet->changes;
    hf_mutex_unlock(&fleet->lock);
    return changes;
}

bool hf_fleet_has(hf_fleet *fleet, hf_slice worker)
{
    bool known;

    hf_mutex_lock(&fleet->lock);
    known = hf_map_get(fleet->workers, worker) != NULL;
    hf_mutex_unlock(&fleet->lock);
    return known;
}

hf_value hf_fleet_get(hf_fleet *fleet, hf_slice worker, hf_mem *mem)
{
    fleet_worker *found;
    hf_value copy;

    hf_mutex_lock(&fleet->lock);
    found = hf_map_get(fleet->workers, worker);
    copy = found ? hf_value_copy(mem, found->said) : NULL;
    hf_mutex_unlock(&fleet->lock);
    return copy;
}

hf_status hf_fleet_builds(hf_fleet *fleet, hf_slice space, hf_value drained, hf_err *err)
{
    fleet_builds *made = hf_alloc(sizeof(*made));
    void *replaced = NULL;
    hf_status st;

    if (!made)
        return hf_err_nomem(err, "builds");
    made->mem = hf_mem_new();
    made->drained = made->mem ? hf_value_copy(made->mem, drained) : NULL;
    if (!made->drained) {
        builds_free(made);
        return hf_err_nomem(err, "builds");
    }
    hf_mutex_lock(&fleet->lock);
    st = hf_map_put(fleet->builds, space, made, &replaced, err);
    hf_mutex_unlock(&fleet->lock);
    builds_free(st ? made : replaced);
    return st;
}

/* Whether what is drained is the build. A queue that is paused has every build drained. */
static bool build_meant(hf_slice drained, hf_slice build)
{
    return hf_slice_equal(drained, build) || hf_slice_equal(drained, HF_SLICE(HF_FLEET_ALL_BUILDS));
}

/* Under the lock. */
static bool build_drained(const hf_fleet *fleet, hf_slice space, hf_slice queue, hf_slice build,
                          int64_t *out_us)
{
    const fleet_builds *builds = hf_map_get(fleet->builds, space);

    for (size_t i = 0; builds && i < hf_len(builds->drained); i++) {
        hf_value one = hf_at(builds->drained, i);

        if (!hf_slice_equal(hf_slice_of(hf_str(one, "task_queue", "")), queue) ||
            !build_meant(hf_slice_of(hf_str(one, "build_id", "")), build) ||
            hf_int(one, "drained_at", 0) == 0)
            continue;
        if (out_us)
            *out_us = hf_int(one, "drained_at", 0);
        return true;
    }
    return false;
}

bool hf_fleet_drained(hf_fleet *fleet, hf_slice space, hf_slice queue, const char *build,
                      int64_t *out_us)
{
    bool drained;

    hf_mutex_lock(&fleet->lock);
    drained = build_drained(fleet, space, queue, hf_slice_of(build ? build : ""), out_us);
    hf_mutex_unlock(&fleet->lock);
    return drained;
}

/* active, draining or stale */
static const char *worker_status(const hf_fleet *fleet, hf_slice space, const fleet_worker *worker,
                                 int64_t now_us)
{
    hf_slice queue = hf_slice_of(
        hf_str(worker->said, "task_queue", hf_str(worker->said, "task_queues.0", "default")));

    if (worker->lost || now_us - worker->heard_us >= STALE_US)
        return "stale";
    return build_drained(fleet, space, queue, hf_slice_of(hf_str(worker->said, "build_id", "")),
                         NULL)
               ? "draining"
               : "active";
}

static void time_set(hf_value_list *object, hf_mem *mem, const char *key, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    (void)hf_clock_print(us, text);
    hf_value_set(object, hf_slice_of(key), hf_value_string(mem, hf_slice_of(text)));
}

static hf_value worker_show(const hf_fleet *fleet, hf_slice space, const fleet_worker *worker,
                            hf_mem *mem, int64_t now_us)
{
    static const char *const shown[] = {"worker_id",
                                        "runtime",
                                        "sdk_version",
                                        "build_id",
                                        "task_queues",
                                        "supported_workflow_types",
                                        "supported_activity_types",
                                        "max_concurrent_workflow_tasks",
                                        "max_concurrent_activity_tasks",
                                        "workflow_definition_fingerprints",
                                        "capabilities",
                                        "task_slots",
                                        "process_metrics"};
    const char *queue =
        hf_str(worker->said, "task_queue", hf_str(worker->said, "task_queues.0", "default"));
    const char *status = worker_status(fleet, space, worker, now_us);
    hf_value_list *object = hf_value_object(mem);

    hf_value_set(object, HF_SLICE("namespace"), hf_value_string(mem, space));
    hf_value_set(object, HF_SLICE("task_queue"), hf_value_string(mem, hf_slice_of(queue)));
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        hf_value value = hf_value_find(worker->said, hf_slice_of(shown[i]));

        hf_value_set(object, hf_slice_of(shown[i]),
                     value ? hf_value_copy(mem, value) : hf_value_null());
    }
    time_set(object, mem, "registered_at", worker->registered_us);
    time_set(object, mem, "last_heartbeat_at", worker->heard_us);
    hf_value_set(object, HF_SLICE("status"), hf_value_string(mem, hf_slice_of(status)));
    return hf_value_finish(object);
}

hf_value hf_fleet_list(hf_fleet *fleet, hf_slice space, hf_mem *mem, int64_t now_us)
{
    hf_value_list *list = hf_value_array(mem);
    size_t at = 0;
    hf_slice key;
    void *worker;

    hf_mutex_lock(&fleet->lock);
    while (hf_map_next(fleet->workers, &at, &key, &worker))
        if (key.len > space.len && key.ptr[space.len] == '/' && hf_slice_starts(key, space))
            hf_value_append(list, worker_show(fleet, space, worker, mem, now_us));
    hf_mutex_unlock(&fleet->lock);
    return hf_value_finish(list);
}
