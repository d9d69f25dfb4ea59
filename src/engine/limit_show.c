/* limit_show.c: what steps of machines stand before, for people: slots under concurrency keys and
   who has them, tokens of rate limits that are left, and how many runs wait. Slots and tokens are
   rows, which all processes of a store share; who waits is known to the process that has the run.

   What is found, wherever, is put in order by its key; what stands beside each other is one. */
#include <stdlib.h>

#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/turnstile.h"
#include "holdfast/view.h"
#include "project/edge.h"

enum { ROWS_MAX = 1000 }; /* slots that are shown, and buckets */

/* Something that is known of a key. Each kind has the members behind it. */
typedef struct sight {
    hf_slice key;
    bool rate;
    enum { SIGHT_DECLARED, SIGHT_TAKEN, SIGHT_BUCKET, SIGHT_WAITING } what;
    hf_value slot; /* SIGHT_TAKEN */
    int64_t number;
    hf_slice queue;
    int64_t tokens; /* SIGHT_BUCKET: in millionths */
    int64_t refilled_us;
    int64_t full_us;
    int64_t waiting; /* SIGHT_WAITING; queue.ptr NULL: at a queue that was not looked at */
} sight;

typedef struct limit_look {
    hf_call call;
    hf_mem *mem;
    sight *sights;
    size_t count;
    size_t room;
    bool exact;
    hf_turnstile_seen *seen;
    hf_status status; /* of the core */
    hf_err err;
} limit_look;

static hf_status sight_add(limit_look *l, sight one)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        sight *sights = hf_mem_array(l->mem, room, sizeof(*sights));

        if (!sights)
            return hf_err_nomem(&l->call.slot->err, "limits");
        for (size_t i = 0; i < l->count; i++)
            sights[i] = l->sights[i];
        l->sights = sights;
        l->room = room;
    }
    l->sights[l->count++] = one;
    return HF_OK;
}

/* ---- what is known */

static hf_slice text_keep(const limit_look *l, hf_db_cursor *row, size_t column)
{
    hf_slice text = hf_db_column_bytes(row, column);

    return hf_slice_from(hf_mem_text(l->mem, text), text.len);
}

static hf_value text_value(const limit_look *l, hf_db_cursor *row, size_t column)
{
    return hf_db_column_null(row, column)
               ? hf_value_null()
               : hf_value_string(l->mem, hf_db_column_bytes(row, column));
}

/* Of one whose run is gone nothing is known but its owner. */
static hf_status slot_take(limit_look *l, hf_db_cursor *row)
{
    enum { NUMBER = 1, OWNER, UNTIL, RUN, BEGAN, INSTANCE, TYPE, QUEUE };
    hf_ulid run = hf_ulid_form(hf_db_column_int(row, BEGAN), hf_db_column_int(row, RUN), 0);
    bool gone = hf_db_column_null(row, INSTANCE);
    sight one = {
        .what = SIGHT_TAKEN, .key = text_keep(l, row, 0), .number = hf_db_column_int(row, NUMBER)};

    if (!gone)
        one.queue = text_keep(l, row, QUEUE);
    one.slot = hf_json_(
        l->mem,
        "{'number': %lld, 'workflow_id': %p, 'run_id': %p, 'workflow_type': %p, 'task_queue': %p, "
        "'owner': %p, 'until': %p}",
        (long long)one.number, (const void *)text_value(l, row, INSTANCE),
        (const void *)(gone ? hf_value_null() : hf_edge_id(l->mem, &run)),
        (const void *)text_value(l, row, TYPE), (const void *)text_value(l, row, QUEUE),
        (const void *)text_value(l, row, OWNER),
        (const void *)hf_edge_time(l->mem, hf_db_column_int(row, UNTIL)));
    return one.slot && one.key.ptr && (gone || one.queue.ptr)
               ? sight_add(l, one)
               : hf_err_nomem(&l->call.slot->err, "a slot");
}

static hf_status bucket_take(limit_look *l, hf_db_cursor *row)
{
    sight one = {.what = SIGHT_BUCKET,
                 .rate = true,
                 .key = text_keep(l, row, 0),
                 .tokens = hf_db_column_int(row, 1),
                 .refilled_us = hf_db_column_int(row, 2),
                 .full_us = hf_db_column_int(row, 3)};

    return one.key.ptr ? sight_add(l, one) : hf_err_nomem(&l->call.slot->err, "a bucket");
}

/* The rows of a statement, as many as are shown; the store is being read. */
static hf_status rows_take(limit_look *l, hf_stmt stmt,
                           hf_status (*take)(limit_look *l, hf_db_cursor *row))
{
    const hf_db_value params[] = {hf_db_int(l->call.in.namespace_key), hf_db_int(l->call.in.now_us),
                                  hf_db_int(ROWS_MAX + 1)};
    hf_err *err = &l->call.slot->err;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(l->call.in.db, stmt, params, 3, &cursor, err);

    for (int i = 0; !st && row; i++) {
        st = hf_db_step(cursor, &row, err);
        l->exact &= i < ROWS_MAX || !row;
        if (!st && row && i < ROWS_MAX)
            st = take(l, cursor);
    }
    hf_db_end(cursor);
    return st;
}

static hf_status store_look(limit_look *l)
{
    hf_status st;

    hf_call_read_begin(&l->call);
    st = rows_take(l, HF_STMT_LIMIT_SLOTS, slot_take);
    if (!st)
        st = rows_take(l, HF_STMT_LIMIT_BUCKETS, bucket_take);
    hf_call_read_end(&l->call);
    return st;
}

static hf_status declared_look(limit_look *l)
{
    const hf_registry *registry = l->call.engine->registry;
    int64_t space = l->call.in.namespace_key;
    hf_slice *names = NULL;
    size_t count = 0;
    hf_status st = hf_registry_limits(registry, space, l->mem, &names, &count, &l->call.slot->err);

    for (size_t i = 0; !st && i < count; i++) {
        hf_limit_def limit;

        st = sight_add(
            l, (sight){.what = SIGHT_DECLARED,
                       .key = names[i],
                       .rate = hf_registry_find_limit(registry, space, names[i], true, &limit)});
    }
    return st;
}

/* The core's thread. */
static void core_look(hf_core *core, void *ctx)
{
    limit_look *l = ctx;

    l->status = core ? hf_turnstile_look(core, l->call.in.namespace_key, l->mem, &l->seen,
                                         &l->exact, &l->err)
                     : hf_err_set(&l->err, HF_STOPPED, "the engine ends");
}

static hf_status waiting_look(limit_look *l)
{
    hf_status st = hf_call_core(&l->call, core_look, l);

    if (!st && l->status) {
        l->call.slot->err = l->err;
        st = l->status;
    }
    for (const hf_turnstile_seen *seen = l->seen; !st && seen; seen = seen->next) {
        sight one = {.what = SIGHT_WAITING, .rate = seen->rate, .key = seen->key};
        int64_t left = seen->waiting;

        for (const struct hf_turnstile_queue *q = seen->queues; !st && q; q = q->next) {
            left -= q->waiting;
            one.queue = q->name;
            one.waiting = q->waiting;
            st = sight_add(l, one);
        }
        one.queue = (hf_slice){0};
        one.waiting = left;
        if (!st && left)
            st = sight_add(l, one);
    }
    return st;
}

/* ---- how it is shown */

static int by_key(const void *x, const void *y)
{
    const sight *a = x;
    const sight *b = y;
    int order = hf_slice_compare(a->key, b->key);

    if (order)
        return order;
    if (a->rate != b->rate)
        return a->rate - b->rate;
    if (a->what != b->what)
        return (int)a->what - (int)b->what;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : hf_slice_compare(a->queue, b->queue);
}

static hf_value declared_value(hf_mem *mem, const hf_limit_def *limit, bool rate)
{
    return rate ? hf_json_(mem, "{'name': %s, 'allowed': %lld, 'per_ms': %lld, 'burst': %lld}",
                           limit->name, (long long)limit->allowed, (long long)limit->per,
                           (long long)limit->burst)
                : hf_json_(mem, "{'name': %s, 'at_once': %d}", limit->name, limit->at_once);
}

/* How many tokens there are by now. NULL: it has no bucket, which is as good as a full one. */
static double tokens_now(const limit_look *l, const hf_limit_def *limit, const sight *bucket)
{
    double full = (double)limit->burst;
    double came = 0;
    double now;

    if (!bucket)
        return full;
    if (l->call.in.now_us > bucket->refilled_us)
        came = (double)(l->call.in.now_us - bucket->refilled_us) * (double)limit->allowed /
               ((double)limit->per * 1000);
    now = (double)bucket->tokens / 1e6 + came;
    return now < full ? now : full;
}

/* The queues whose runs have it or wait for it. */
static hf_value queues_value(hf_mem *mem, const sight *first, size_t count)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < count; i++) {
        hf_slice name = first[i].queue;
        int64_t taken = 0;
        int64_t waiting = 0;
        bool known = !name.ptr;

        for (size_t k = 0; k < i; k++)
            known |= hf_slice_equal(first[k].queue, name);
        for (size_t k = i; !known && k < count; k++) {
            if (!hf_slice_equal(first[k].queue, name))
                continue;
            taken += first[k].what == SIGHT_TAKEN;
            waiting += first[k].waiting;
        }
        if (!known)
            hf_value_append(list, hf_json_(mem, "{'name': %p, 'taken': %lld, 'waiting': %lld}",
                                           (const void *)hf_value_string(mem, name),
                                           (long long)taken, (long long)waiting));
    }
    return hf_value_finish(list);
}

/* All that is known of one key. */
static hf_value limit_value(const limit_look *l, const sight *first, size_t count)
{
    bool rate = first->rate;
    hf_value_list *taken = hf_value_array(l->mem);
    const sight *bucket = NULL;
    int64_t waiting = 0;
    hf_limit_def limit = {0};
    bool declared = hf_registry_find_limit(l->call.engine->registry, l->call.in.namespace_key,
                                           first->key, rate, &limit);
    hf_value none = hf_value_null();
    hf_value tokens = none;

    for (size_t i = 0; i < count; i++) {
        if (first[i].what == SIGHT_TAKEN)
            hf_value_append(taken, first[i].slot);
        if (first[i].what == SIGHT_BUCKET)
            bucket = &first[i];
        waiting += first[i].waiting;
    }
    if (rate && declared)
        tokens = hf_json_(l->mem, "%g", tokens_now(l, &limit, bucket));
    return hf_json_(
        l->mem,
        "{'key': %p, 'kind': %s, 'limit': %p, 'slots': %p, 'taken': %p, 'tokens': %p, "
        "'full_at': %p, 'waiting': %lld, 'queues': %p}",
        (const void *)hf_value_string(l->mem, first->key), rate ? "rate" : "concurrency",
        (const void *)(declared ? declared_value(l->mem, &limit, rate) : none),
        (const void *)(rate ? none : hf_value_int(l->mem, declared ? limit.at_once : 1)),
        (const void *)hf_value_finish(taken), (const void *)tokens,
        (const void *)hf_edge_time(l->mem, bucket ? bucket->full_us : HF_EDGE_NO_TIME),
        (long long)waiting, (const void *)queues_value(l->mem, first, count));
}

hf_status hf_limits_state(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    limit_look l = {.mem = mem, .exact = true};
    hf_value_list *list;
    hf_status st = hf_call_begin(&l.call, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&l.call.slot->err, HF_MISUSE,
                          "memory and a place for the answer are needed");
    st = waiting_look(&l);
    if (!st)
        st = store_look(&l);
    if (!st)
        st = declared_look(&l);
    if (st)
        return st;
    if (l.count)
        qsort(l.sights, l.count, sizeof(*l.sights), by_key);
    list = hf_value_array(mem);
    for (size_t i = 0, next; i < l.count; i = next) {
        next = i + 1;
        while (next < l.count && l.sights[next].rate == l.sights[i].rate &&
               hf_slice_equal(l.sights[next].key, l.sights[i].key))
            next++;
        hf_value_append(list, limit_value(&l, &l.sights[i], next - i));
    }
    *out = hf_json_(mem, "{'limits': %p, 'exact': %p}", (const void *)hf_value_finish(list),
                    (const void *)hf_value_bool(l.exact));
    return *out ? HF_OK : hf_err_nomem(&l.call.slot->err, "limits");
}
