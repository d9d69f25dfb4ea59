/* nodes.c: see nodes.h. */
#include "lib/nodes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/value.h"
#include "engine/carrier.h"
#include "engine/remote_impl.h"
#include "engine/runner.h"
#include "lib/nap.h"
#include "task/matching_impl.h"

/* Leases are real time: long enough for a busy machine, and shards change hands in parts of them.
 */
#define LEASE_MS "4000"

enum { NODES = 2, PATIENCE_MS = 30000, HINT_MS = 500 };

#define HINT_RUNS INT64_C(1000000000000000000) /* no run has a key like that */

typedef struct nodes {
    hf_way way;
    hf_test_place *place; /* handle and home: the first one */
    hf_engine *node[NODES];
    hf_rein rein[NODES];
    hf_app part[NODES];
    bool fresh;    /* they began, and may not know each other yet */
    int64_t hints; /* that were asked to come back */
    const char *unrest;
} nodes;

/* ---- the types, divided */

/* Every other one of `count`, from `first` on, and the end of the table. */
static void *half_of(const void *table, size_t size, size_t count, size_t first)
{
    char *half = hf_alloc_array(count + 1, size);
    size_t at = 0;

    ck_assert_ptr_nonnull(half);
    for (size_t i = first; i < count; i += NODES)
        memcpy(half + size * at++, (const char *)table + size * i, size);
    return half;
}

static void parts_make(nodes *n, const hf_app *app, bool swapped)
{
    size_t workflows = 0;
    size_t machines = 0;
    size_t activities = 0;

    while (app->workflows && app->workflows[workflows].type)
        workflows++;
    while (app->machines && app->machines[machines].type)
        machines++;
    while (app->activities && app->activities[activities].name)
        activities++;
    for (size_t i = 0; i < NODES; i++) {
        size_t first = (i + swapped) % NODES;

        n->part[i] = *app;
        n->part[i].workflows = half_of(app->workflows, sizeof(*app->workflows), workflows, first);
        n->part[i].machines = half_of(app->machines, sizeof(*app->machines), machines, first);
        n->part[i].activities =
            half_of(app->activities, sizeof(*app->activities), activities, 1 - first);
    }
}

static void parts_free(nodes *n)
{
    for (size_t i = 0; i < NODES; i++) {
        hf_alloc_free((void *)n->part[i].workflows);
        hf_alloc_free((void *)n->part[i].machines);
        hf_alloc_free((void *)n->part[i].activities);
    }
}

/* ---- rest */

static void nodes_hold(hf_way *way)
{
    nodes *n = (nodes *)way;

    for (size_t i = 0; i < NODES; i++)
        hf_rein_hold(&n->rein[i], n->node[i]);
}

static hf_core_state nodes_look(hf_way *way)
{
    nodes *n = (nodes *)way;
    hf_core_state all = {.next_us = INT64_MAX, .pause_us = INT64_MAX};

    for (size_t i = 0; i < NODES; i++) {
        hf_core_state one = hf_rein_look(&n->rein[i], n->node[i]);

        all.busy |= one.busy;
        all.works |= one.works;
        all.leases |= one.leases;
        all.next_us = one.next_us < all.next_us ? one.next_us : all.next_us;
        all.pause_us = one.pause_us < all.pause_us ? one.pause_us : all.pause_us;
    }
    return all;
}

static bool has_types(const hf_app *part)
{
    return part->workflows->type || part->machines->type || part->activities->name;
}

/* Whether the node was told what the other one works for. */
static bool knows_other(const hf_engine *engine)
{
    bool knows;

    hf_mutex_lock(&engine->matching->lock);
    knows = hf_list_first(&engine->matching->fars) != NULL;
    hf_mutex_unlock(&engine->matching->lock);
    return knows;
}

/* Each has its share, and is there for the other. */
static bool are_two(const nodes *n)
{
    bool two = true;

    for (size_t i = 0; i < NODES; i++) {
        int64_t others[HF_CARRIER_NODES];

        two &= hf_shards_count(hf_node_shards(n->node[i]->node)) == HF_SHARDS / NODES &&
               hf_node_swept(n->node[i]->node) &&
               hf_carrier_nodes(n->node[i]->carrier, others) == NODES - 1 &&
               (!has_types(&n->part[i]) || (n->node[i]->local && knows_other(n->node[1 - i])));
    }
    return two;
}

/* Nodes that began anew are of use when they have found each other. */
static void nodes_go(hf_way *way)
{
    nodes *n = (nodes *)way;

    for (size_t i = 0; i < NODES; i++)
        hf_rein_let_go(&n->rein[i]);
    for (int i = 0; n->fresh && !are_two(n); i++) {
        ck_assert_msg(i < PATIENCE_MS, "the nodes do not find each other");
        hf_nap_ms(1);
    }
    n->fresh = false;
}

/* Whether all threads that work for the other node wait for tasks. */
static bool polls_wait(const hf_engine *engine)
{
    hf_matching *matching = engine->matching;
    size_t polls = 0;

    hf_mutex_lock(&matching->lock);
    for (hf_list *link = hf_list_first(&matching->anywhere); link;
         link = hf_list_next(&matching->anywhere, link))
        polls++;
    hf_mutex_unlock(&matching->lock);
    return polls == (engine->local ? engine->local->hand_count : 0);
}

/* Whether one offers what the other would take. Nobody else has more than one of the two locks. */
static bool would_take(const hf_engine *one, const hf_engine *other)
{
    bool found = false;
    uint64_t subject;
    void *value;

    hf_mutex_lock(&one->matching->lock);
    hf_mutex_lock(&other->matching->lock);
    for (size_t kind = 0; kind < HF_TASK_KINDS; kind++)
        for (size_t at = 0; hf_map_int_next(one->matching->records[kind], &at, &subject, &value);) {
            const task_record *record = value;

            found |= !record->owner && record->state == HF_TASK_OFFERED &&
                     !record->shelf->build.ptr && hf_task_anywhere_poll(other->matching, record);
        }
    hf_mutex_unlock(&other->matching->lock);
    hf_mutex_unlock(&one->matching->lock);
    return found;
}

/* Letters to a node that ended stay for a while. */
static int64_t letters_there(const nodes *n)
{
    const hf_db_value keys[] = {hf_db_int(hf_node_key(n->node[0]->node)),
                                hf_db_int(hf_node_key(n->node[1]->node))};
    hf_engine *engine = n->way.home;
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t count;

    hf_test_ok(hf_db_query_text(hf_engine_read_begin(engine),
                                "SELECT count(*) FROM mail WHERE receiver IN (?1, ?2)", keys, NODES,
                                &cursor, &err),
               &err, "letters");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "letters");
    count = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    hf_engine_read_end(engine);
    return count;
}

/* Hints of a node come in their order. The second node says that it awaits a run that changed at
   the first, which says so at once: when that is back, all hints of both from before have come. */
static bool hints_came(nodes *n)
{
    int64_t run = HINT_RUNS + ++n->hints;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + HINT_MS * INT64_C(1000);

    hf_engine_heard(n->node[0], run);
    hf_node_await(n->node[1]->node, HF_NONE, run);
    while (!hf_engine_changed_lately(n->node[1], run)) {
        if (hf_clock_mono_us(hf_clock_system()) > until_us)
            return false;
        hf_nap_ms(1);
    }
    return true;
}

static const char *unrest_of(nodes *n, int64_t *out_stamp)
{
    hf_core_state core;

    *out_stamp = 0;
    if (!are_two(n))
        return "the shards are not divided";
    core = nodes_look(&n->way);
    if (core.busy || core.works)
        return core.busy ? "a core has something to do" : "an attempt runs";
    for (size_t i = 0; i < NODES; i++) {
        hf_task_look tasks = hf_rein_tasks(n->node[i]);

        *out_stamp += tasks.orders - tasks.fronts; /* fronts fall */
        if (tasks.held)
            return "a task is in somebody's hands";
        if (!polls_wait(n->node[i]))
            return "a thread that works for the other node is not back";
        if (hf_writer_busy(n->node[i]->writer))
            return "something flies to the store";
        if (!hf_carrier_idle(n->node[i]->carrier))
            return "letters are under way";
        if (would_take(n->node[i], n->node[1 - i]))
            return "a task is offered that the other node would take";
    }
    return letters_there(n) > 0 ? "letters are there" : NULL;
}

/* What a hint sets going passes from one to the other while they are looked at: it is over when
   both looks, before and after, see the same. */
static bool nodes_rest(hf_way *way, int64_t *out_stamp)
{
    nodes *n = (nodes *)way;
    int64_t before = 0;

    n->unrest = unrest_of(n, &before);
    if (!n->unrest && !hints_came(n))
        n->unrest = "hints do not come";
    if (!n->unrest)
        n->unrest = unrest_of(n, out_stamp);
    if (!n->unrest && before != *out_stamp)
        n->unrest = "tasks were offered";
    return !n->unrest;
}

static const char *nodes_tell(const hf_way *way)
{
    return ((const nodes *)way)->unrest;
}

/* ---- the clock */

static int64_t nodes_batch_us(const hf_way *way)
{
    const nodes *n = (const nodes *)way;
    int64_t next_us[NODES];

    for (size_t i = 0; i < NODES; i++)
        next_us[i] = hf_batch_next_us(n->node[i]->batcher);
    return next_us[0] < next_us[1] ? next_us[0] : next_us[1];
}

static void nodes_moved(hf_way *way)
{
    const nodes *n = (const nodes *)way;

    for (size_t i = 0; i < NODES; i++)
        hf_runner_wake(n->node[i]);
}

/* Attempts of the other node show that they live, as they would have in that time. */
static void nodes_passed(hf_way *way)
{
    const nodes *n = (const nodes *)way;

    for (size_t i = 0; i < NODES; i++)
        for (size_t k = 0; n->node[i]->local && k < n->node[i]->local->hand_count; k++)
            hf_remote_beats(&n->node[i]->local->hands[k], INT64_MAX);
}

/* ---- opening and closing */

static void node_begin(const nodes *n, size_t i)
{
    hf_err err = {0};

    hf_test_ok(hf_engine_begin(n->node[i], ENGINE_THREADS, &err), &err, "begin a node");
}

/* What goes on comes to rest first: nobody holds a task of a node that is gone. */
static void nodes_end(hf_way *way)
{
    nodes *n = (nodes *)way;

    if (!n->rein[0].held)
        hf_way_settle(way);
    for (size_t i = 0; i < NODES; i++)
        hf_rein_end(&n->rein[i]);
}

static void nodes_close(hf_way *way)
{
    nodes *n = (nodes *)way;

    nodes_end(way);
    for (size_t i = 0; i < NODES; i++) {
        n->node[i]->virtual_clock = NULL; /* it is ours */
        hf_close(n->node[i]);
        hf_rein_close(&n->rein[i]);
    }
    hf_clock_free_virtual(way->clock);
    parts_free(n);
    hf_alloc_free(n);
}

/* One after the other: the second one takes the shards of the first meanwhile, if it is quick. */
static void nodes_restart(hf_way *way, const char *sql)
{
    nodes *n = (nodes *)way;

    if (!n->rein[0].held)
        hf_way_settle(way);
    if (sql)
        hf_way_sql(n->place, sql);
    for (size_t i = 0; i < NODES; i++) {
        hf_rein_end(&n->rein[i]);
        hf_engine_end(n->node[i]);
        node_begin(n, i);
        hf_rein_hold(&n->rein[i], n->node[i]);
    }
    n->fresh = true;
}

static hf_status nodes_set(hf_way *way, const char *name, const char *value)
{
    const nodes *n = (const nodes *)way;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < NODES; i++)
        st = hf_set(n->node[i], name, value);
    if (!st)
        nodes_restart(way, NULL);
    return st;
}

/* One of them has the activity. */
static void nodes_trip(hf_way *way, const char *activity, int times, const char *type)
{
    const nodes *n = (const nodes *)way;

    for (size_t i = 0; i < NODES; i++)
        hf_test_fail(n->node[i], activity, times, type);
}

static const char *nodes_status(hf_way *way, const char *id)
{
    const nodes *n = (const nodes *)way;

    return hf_rein_status(way->home, n->node, NODES, id);
}

static const hf_way_moves moves = {.close = nodes_close,
                                   .go = nodes_go,
                                   .hold = nodes_hold,
                                   .look = nodes_look,
                                   .rests = nodes_rest,
                                   .tell = nodes_tell,
                                   .batch_us = nodes_batch_us,
                                   .moved = nodes_moved,
                                   .passed = nodes_passed,
                                   .restart = nodes_restart,
                                   .set = nodes_set,
                                   .trip = nodes_trip,
                                   .status = nodes_status};

hf_way *hf_nodes_open(hf_test_place *place, const hf_app *app, int64_t now_us, bool swapped)
{
    nodes *n = hf_alloc(sizeof(*n));
    hf_clock *clock = hf_clock_new_virtual(now_us);
    hf_status st;

    ck_assert_ptr_nonnull(n);
    ck_assert_ptr_nonnull(clock);
    n->place = place;
    parts_make(n, app, swapped);
    for (size_t i = 0; i < NODES; i++) {
        hf_rein_open(&n->rein[i]);
        st = hf_engine_open(hf_test_place_address(place), &n->part[i], clock, &n->node[i]);
        if (!st)
            st = hf_set(n->node[i], "node_lease_ms", LEASE_MS);
        ck_assert_msg(st == HF_OK, "%s", hf_errmsg(n->node[i]));
        node_begin(n, i);
    }
    n->way = (hf_way){.moves = &moves,
                      .thread = pthread_self(),
                      .handle = n->node[0],
                      .home = n->node[1],
                      .clock = clock};
    n->fresh = true;
    hf_way_settle(&n->way);
    return &n->way;
}
