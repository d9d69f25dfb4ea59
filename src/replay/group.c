/* group.c: several steps at once: barriers with a fixed shape, futures joined together, and maps
   over as many items as the input has. The rule: the failure a group ends with is the one that was
   recorded first, then the one with the lowest place, whatever was fed when; results keep the place
   of what they came from. */
#include "replay/inside.h"

enum { DEPTH_MAX = 32 };

/* ---- waiting for several */

static const hf_record *first_open(const hf_replay *replay, hf_record *const *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!hf_in_ended(replay, records[i]))
            return records[i];
    return NULL;
}

/* The failure that ends the group, or NULL. One that code has its own place for does not, and the
   one history says was handled is the one that was chosen. */
static hf_record *failure_pick(const hf_replay *replay, hf_record *const *records, size_t count)
{
    hf_record *pick = NULL;

    for (size_t i = 0; i < count; i++) {
        hf_record *record = records[i];

        if (!hf_in_ended(replay, record) || record->end != HF_RECORD_FAILED || record->err)
            continue;
        if (record->handled_seq)
            return record;
        if (!pick || record->ended.time_us < pick->ended.time_us)
            pick = record;
    }
    return pick;
}

/* Up to where history was known when the group ended. */
static int64_t group_limit(const hf_replay *replay, hf_record *const *records, size_t count,
                           bool failed)
{
    int64_t limit = failed ? INT64_MAX : 0;

    for (size_t i = 0; i < count; i++) {
        const hf_record *record = records[i];

        if (!hf_in_ended(replay, record))
            continue;
        if (!failed && record->ended.seq > limit)
            limit = record->ended.seq;
        if (failed && record->end == HF_RECORD_FAILED && !record->err && record->ended.seq < limit)
            limit = record->ended.seq;
    }
    return limit;
}

static void park_for(hf_replay *replay, const hf_record *open)
{
    const hf_step_look *look = open->recorded.shape ? &open->recorded : &open->wanted;

    hf_in_park(replay, look->shape == HF_HISTORY_SHAPE_CHILD_WORKFLOW ? "child" : "activity",
               look->name);
}

static void group_pass(hf_replay *replay, hf_record **records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hf_in_pass(replay, records[i]);
}

/* What is seen at the end of a group, failed or not. */
static void group_consume(hf_replay *replay, hf_record *const *records, size_t count,
                          const hf_record *failed)
{
    hf_in_updates_recorded(replay, replay->history.entered,
                           group_limit(replay, records, count, failed != NULL));
    if (failed)
        hf_in_consume(replay, &failed->ended);
    for (size_t i = 0; !failed && i < count; i++)
        hf_in_consume(replay, &records[i]->ended);
}

/* Waits until all have ended or one has failed; in that case, or when the run is cancelled, the
   records are passed and the failure is returned. */
static hf_failure *group_await(hf_replay *replay, hf_record **records, size_t count)
{
    const hf_record *open;
    hf_record *failed;
    hf_failure *failure = NULL;

    for (;;) {
        failed = failure_pick(replay, records, count);
        open = first_open(replay, records, count);
        if (failed || !open)
            break;
        failure = hf_in_round(replay);
        if (failure) {
            group_pass(replay, records, count);
            return failure;
        }
        park_for(replay, open);
    }
    group_consume(replay, records, count, failed);
    if (failed) {
        failure = hf_in_record_failure(replay, failed);
        group_pass(replay, records, count);
    }
    return failure;
}

/* The value in a place: null where code is handed the failure itself. */
static hf_value member_value(hf_replay *replay, hf_record *record)
{
    const hf_error **err = record->err;

    if (record->end != HF_RECORD_FAILED)
        return hf_in_value(replay, &record->value);
    (void)hf_in_fail_step(replay, hf_in_record_failure(replay, record), err);
    return hf_value_null();
}

static hf_value array_finish(hf_replay *replay, hf_value_list *list)
{
    hf_value value = hf_value_finish(list);

    if (!value)
        hf_in_break(replay, HF_NOMEM, "the results of a group");
    return value;
}

static hf_value group_values(hf_replay *replay, hf_record **records, size_t count)
{
    hf_value_list *list = hf_value_array(replay->mem);

    for (size_t i = 0; i < count; i++)
        hf_value_append(list, member_value(replay, records[i]));
    group_pass(replay, records, count);
    return array_finish(replay, list);
}

/* ---- barriers */

typedef struct leaf_count {
    size_t all;
    size_t children;
} leaf_count;

typedef struct barrier {
    hf_replay *replay;
    hf_record **records;
    size_t next; /* leaf */
    hf_decision_group path[DEPTH_MAX];
    size_t depth;
} barrier;

static leaf_count leaves_count(hf_replay *replay, const hf_leaf *leaves, size_t depth)
{
    leaf_count count = {0};

    if (depth >= DEPTH_MAX)
        hf_in_misuse(replay, "invalid_call", "barriers are nested at most %d deep", DEPTH_MAX);
    for (; leaves && leaves->kind != HF_LEAF_END; leaves++) {
        leaf_count inner = {.all = 1};

        switch (leaves->kind) {
        case HF_LEAF_GROUP:
            inner = leaves_count(replay, leaves->items, depth + 1);
            break;
        case HF_LEAF_CHILD:
            inner.children = 1;
            break;
        case HF_LEAF_ACTIVITY:
        case HF_LEAF_END:
            break;
        }
        count.all += inner.all;
        count.children += inner.children;
    }
    return count;
}

/* The call of a leaf that is no group. Its options cannot be longer than the leaf has room for. */
static hf_call leaf_call(hf_replay *replay, const hf_leaf *leaf)
{
    if (leaf->opts.child.size_ > sizeof(leaf->opts))
        hf_in_misuse(replay, "invalid_options", "the options of a leaf have at most %zu bytes",
                     sizeof(leaf->opts));
    return leaf->kind == HF_LEAF_CHILD
               ? hf_in_child_call(replay, leaf->name, &leaf->opts.child)
               : hf_in_activity_call(replay, leaf->name, &leaf->opts.activity);
}

/* Checks all leaves before the first is decided. */
static void leaves_check(hf_replay *replay, const hf_leaf *leaves)
{
    for (; leaves && leaves->kind != HF_LEAF_END; leaves++)
        switch (leaves->kind) {
        case HF_LEAF_ACTIVITY:
        case HF_LEAF_CHILD:
            (void)leaf_call(replay, leaves);
            break;
        case HF_LEAF_GROUP:
            leaves_check(replay, leaves->items);
            break;
        case HF_LEAF_END:
            break;
        }
}

static hf_failure *leaf_begin(barrier *all, const hf_leaf *leaf)
{
    hf_replay *replay = all->replay;
    hf_call call = leaf_call(replay, leaf);
    hf_want want = hf_in_call_want(&call);
    hf_record *record = NULL;
    bool fresh = false;
    hf_failure *failure;

    for (size_t i = 0; i < all->depth; i++)
        all->path[i].index = replay->history.entered + 1 - all->path[i].base_step;
    want.look.groups = all->path;
    want.look.group_count = all->depth;
    failure = hf_in_enter(replay, &want, &record, &fresh);
    if (failure)
        return failure;
    record->err = hf_in_call_err(&call);
    all->records[all->next++] = record;
    if (call.child)
        hf_in_child_note(replay, record);
    if (fresh)
        hf_in_call_decide(replay, &call, hf_in_call_input(&call), record->step, all->path,
                          all->depth);
    return NULL;
}

static hf_failure *leaves_begin(barrier *all, const hf_leaf *leaves)
{
    leaf_count count = leaves_count(all->replay, leaves, all->depth);
    hf_decision_group *group = &all->path[all->depth];
    hf_failure *failure = NULL;

    if (count.all == 0)
        return NULL;
    *group = (hf_decision_group){.kind = HF_PARALLEL_GROUP_KIND_MIXED,
                                 .base_step = all->replay->history.entered + 1,
                                 .size = (int64_t)count.all};
    if (count.children == 0)
        group->kind = HF_PARALLEL_GROUP_KIND_ACTIVITY;
    else if (count.children == count.all)
        group->kind = HF_PARALLEL_GROUP_KIND_CHILD;
    all->depth++;
    for (; leaves->kind != HF_LEAF_END && !failure; leaves++)
        failure = leaves->kind == HF_LEAF_GROUP ? leaves_begin(all, leaves->items)
                                                : leaf_begin(all, leaves);
    all->depth--;
    return failure;
}

static hf_value leaves_values(barrier *all, const hf_leaf *leaves)
{
    hf_value_list *list = hf_value_array(all->replay->mem);

    for (; leaves && leaves->kind != HF_LEAF_END; leaves++)
        hf_value_append(list, leaves->kind == HF_LEAF_GROUP
                                  ? leaves_values(all, leaves->items)
                                  : member_value(all->replay, all->records[all->next++]));
    return array_finish(all->replay, list);
}

static size_t unrecorded(const hf_replay *replay, size_t count)
{
    int64_t missing = replay->history.entered + (int64_t)count - replay->history.top;

    return missing <= 0 ? 0 : missing > (int64_t)count ? count : (size_t)missing;
}

/* ---- public */

hf_value hf_all_of(hf_ctx *w, const hf_leaf *leaves)
{
    hf_replay *replay = hf_in_ready(w);
    barrier all = {.replay = replay};
    leaf_count count;
    hf_failure *failure;
    hf_value value;

    if (!replay)
        return NULL;
    count = leaves_count(replay, leaves, 0);
    leaves_check(replay, leaves);
    if (count.all == 0)
        return leaves_values(&all, leaves);
    hf_in_room(replay, unrecorded(replay, count.all));
    all.records = hf_in_alloc(replay, count.all * sizeof(hf_record *));
    failure = leaves_begin(&all, leaves);
    if (failure)
        group_pass(replay, all.records, all.next);
    else
        failure = group_await(replay, all.records, all.next);
    if (failure)
        hf_in_raise(replay, failure);
    all.next = 0;
    value = leaves_values(&all, leaves);
    group_pass(replay, all.records, count.all);
    return value;
}

static hf_record *future_record(hf_replay *replay, hf_future future)
{
    hf_record *record = hf_history_get(&replay->history, (int64_t)future.id);

    if (!record || !record->spawned)
        hf_in_misuse(replay, "invalid_future",
                     "a future can be joined once, by the run that made it");
    return record;
}

hf_value hf_join(hf_ctx *w, hf_future f)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record *record;
    hf_failure *failure = NULL;
    const hf_error **err;
    hf_value value = NULL;

    if (!replay)
        return NULL;
    record = future_record(replay, f);
    hf_in_tell_survived(replay);
    err = record->err;
    record->err = NULL; /* so that its failure ends the wait */
    failure = group_await(replay, &record, 1);
    if (failure)
        return hf_in_fail_step(replay, failure, err);
    value = hf_in_value(replay, &record->value);
    hf_in_pass(replay, record);
    return value;
}

hf_value hf_join_all(hf_ctx *w, const hf_future *f, size_t n)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record **records;
    hf_failure *failure;

    if (!replay)
        return NULL;
    if ((n && !f) || n > UINT32_MAX)
        hf_in_misuse(replay, "invalid_future", "there are no %zu futures to join", n);
    hf_in_tell_survived(replay);
    records = hf_in_alloc(replay, n * sizeof(hf_record *));
    for (size_t i = 0; i < n; i++) {
        records[i] = future_record(replay, f[i]);
        for (size_t j = 0; j < i && n <= 64; j++)
            if (records[j] == records[i])
                hf_in_misuse(replay, "invalid_future", "the same future is joined twice");
    }
    failure = group_await(replay, records, n);
    if (failure)
        hf_in_raise(replay, failure);
    return group_values(replay, records, n);
}

/* ---- maps */

typedef struct mapping {
    hf_replay *replay;
    const hf_call *call;
    hf_value items;
    size_t count;
    size_t at_once;
    hf_record **records;
    size_t opened;
} mapping;

static hf_decision_group item_group(int64_t step)
{
    return (hf_decision_group){
        .kind = HF_PARALLEL_GROUP_KIND_ACTIVITY, .base_step = step, .size = 1, .index = 0};
}

/* Whether the next step is recorded as an item of this map. An item is a group of its own, which
   the step after a failed map is not, unless code went on: then it came after FailureHandled. */
static bool item_recorded(const mapping *map)
{
    int64_t step = map->replay->history.entered + 1;
    const hf_record *record = hf_history_get(&map->replay->history, step);
    const hf_decision_group *group;

    if (!record || record->recorded.group_count != 1)
        return false;
    group = &record->recorded.groups[0];
    if (group->kind != HF_PARALLEL_GROUP_KIND_ACTIVITY || group->base_step != step ||
        group->size != 1 || group->index != 0)
        return false;
    for (size_t i = 0; i < map->opened; i++)
        if (map->records[i]->handled_seq && map->records[i]->handled_seq < record->open_seq)
            return false;
    return true;
}

static hf_failure *item_begin(mapping *map)
{
    hf_replay *replay = map->replay;
    hf_decision_group group = item_group(replay->history.entered + 1);
    hf_want want = hf_in_call_want(map->call);
    hf_record *record = NULL;
    bool fresh = false;
    hf_failure *failure;

    want.look.groups = &group;
    want.look.group_count = 1;
    failure = hf_in_enter(replay, &want, &record, &fresh);
    if (failure)
        return failure;
    if (fresh)
        hf_in_call_decide(replay, map->call, hf_at(map->items, map->opened), record->step, &group,
                          1);
    map->records[map->opened++] = record;
    return NULL;
}

static size_t items_open(const mapping *map)
{
    size_t open = 0;

    for (size_t i = 0; i < map->opened; i++)
        open += !hf_in_ended(map->replay, map->records[i]);
    return open;
}

/* Takes what is recorded, then opens as many as may be open. Stops for a failure. */
static hf_failure *items_begin(mapping *map)
{
    hf_failure *failure = NULL;
    size_t open;

    while (!failure && map->opened < map->count && item_recorded(map))
        failure = item_begin(map);
    if (failure || failure_pick(map->replay, map->records, map->opened))
        return failure;
    for (open = items_open(map); !failure && map->opened < map->count && open < map->at_once;
         open++)
        failure = item_begin(map);
    return failure;
}

static hf_failure *map_run(mapping *map)
{
    hf_replay *replay = map->replay;
    hf_failure *failure;
    hf_record *failed;

    for (;;) {
        const hf_record *open;

        failure = items_begin(map);
        if (failure)
            break;
        failed = failure_pick(replay, map->records, map->opened);
        open = first_open(replay, map->records, map->opened);
        if (failed || !open) {
            group_consume(replay, map->records, map->opened, failed);
            failure = failed ? hf_in_record_failure(replay, failed) : NULL;
            break;
        }
        failure = hf_in_round(replay);
        if (failure)
            break;
        park_for(replay, open);
    }
    if (failure)
        group_pass(replay, map->records, map->opened);
    return failure;
}

hf_value hf_map_with(hf_ctx *w, const char *activity, hf_value items, size_t at_once,
                     const hf_activity_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_call call;
    mapping map;
    hf_failure *failure;
    const hf_error **err;

    if (!replay)
        return NULL;
    call = hf_in_activity_call(replay, activity, o);
    if (hf_value_kind_of(items) != HF_VALUE_ARRAY)
        hf_in_misuse(replay, "invalid_call", "a map needs an array of items");
    map = (mapping){.replay = replay,
                    .call = &call,
                    .items = items,
                    .count = hf_len(items),
                    .at_once = at_once ? at_once : SIZE_MAX};
    err = call.activity.err;
    call.activity.err = NULL;
    map.records = hf_in_alloc(replay, map.count * sizeof(hf_record *));
    failure = map_run(&map);
    return failure ? hf_in_fail_step(replay, failure, err)
                   : group_values(replay, map.records, map.opened);
}
