/* fold_group.c: parallel groups. Members are opened in one turn and carry what the group looks
   like; they must agree, be there once each, and be as many as they say. Only groups that are not
   complete are remembered. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "verify/fold_impl.h"

static uint64_t text_hash(hf_slice text)
{
    return hf_map_hash((hf_map_seed){0}, text) | 1; /* 0 means none */
}

/* Members of one group have the same path but for their places in the groups around them, so the
   digits after each "..._index": are left out. */
static uint64_t path_hash(hf_slice path)
{
    static const char index[] = "_index\":";
    uint64_t hash = 0;
    size_t from = 0;

    for (size_t at = 0; at < path.len; at++) {
        if (path.len - at < sizeof(index) - 1 || memcmp(path.ptr + at, index, sizeof(index) - 1))
            continue;
        at += sizeof(index) - 1;
        hash = hf_map_hash((hf_map_seed){.low = hash}, hf_slice_from(path.ptr + from, at - from));
        while (at < path.len && path.ptr[at] >= '0' && path.ptr[at] <= '9')
            at++;
        from = at;
    }
    return hf_map_hash((hf_map_seed){.low = hash},
                       hf_slice_from(path.ptr + from, path.len - from)) |
           1;
}

/* A path is an array with one object for each enclosing group. Counting braces is enough to tell
   one from many; a brace inside a name only makes the check less strict. */
static bool path_nested(hf_slice path)
{
    size_t groups = 0;

    for (size_t i = 0; i < path.len; i++)
        groups += path.ptr[i] == '{';
    return groups > 1;
}

/* What the event says of its group; false when it is in none. */
static bool group_read(const hf_event *event, hf_open_group *out_group, int64_t *out_index,
                       bool *out_nested)
{
    hf_slice text = {0};
    hf_open_group group = {0};

    if (!hf_event_key_allowed(event->type, HF_KEY_PARALLEL_GROUP_ID) ||
        !hf_event_text(event, HF_KEY_PARALLEL_GROUP_ID, &text))
        return false;
    group.hash = text_hash(text);
    if (hf_event_text(event, HF_KEY_PARALLEL_GROUP_KIND, &text))
        group.kind_hash = text_hash(text);
    text = (hf_slice){0};
    if (hf_event_json(event, HF_KEY_PARALLEL_GROUP_PATH, &text))
        group.path_hash = path_hash(text);
    *out_nested = path_nested(text);
    group.flat = !*out_nested;
    *out_index = -1;
    group.base = -1;
    group.size = -1;
    (void)hf_event_int(event, HF_KEY_PARALLEL_GROUP_INDEX, out_index);
    (void)hf_event_int(event, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, &group.base);
    (void)hf_event_int(event, HF_KEY_PARALLEL_GROUP_SIZE, &group.size);
    *out_group = group;
    return true;
}

static hf_open_group *group_get(hf_fold *fold, uint64_t hash)
{
    for (size_t i = fold->group_count; i > 0; i--)
        if (fold->groups[i - 1].hash == hash)
            return &fold->groups[i - 1];
    return NULL;
}

static hf_open_group *group_add(hf_fold *fold, const hf_open_group *group)
{
    hf_open_group *grown =
        hf_span_grow(fold->mem, fold->groups, fold->group_count, &fold->group_room, sizeof(*grown));

    if (!grown)
        return NULL;
    fold->groups = grown;
    grown[fold->group_count] = *group;
    return &grown[fold->group_count++];
}

/* A member that is itself a group shows only inside, so the groups around it cannot be counted. */
static void groups_bend(hf_fold *fold)
{
    for (size_t i = 0; i < fold->group_count; i++)
        fold->groups[i].flat = false;
}

static const char *member_fault(const hf_open_group *group, const hf_open_group *said,
                                int64_t index, int64_t step)
{
    if (index < 0 || said->size < 1 || index >= said->size)
        return "has a place outside its parallel group";
    if (said->base < 1 || step < said->base || step - said->base < index)
        return "is not where its parallel group begins and its place in it put it";
    if (group->base != said->base || group->size != said->size ||
        group->kind_hash != said->kind_hash || group->path_hash != said->path_hash)
        return "describes its parallel group differently from an earlier member";
    if (hf_span_has(&group->members, index))
        return "has the same place in its parallel group as an earlier member";
    return NULL;
}

hf_status hf_fold_group_open(hf_fold *fold, const hf_event *event, hf_open_step *step, int64_t seq,
                             hf_err *err)
{
    hf_open_group said;
    hf_open_group *group;
    const char *fault;
    bool nested = false;
    int64_t index = 0;

    if (!group_read(event, &said, &index, &nested))
        return HF_OK;
    if (nested)
        groups_bend(fold);
    step->group_hash = said.hash;
    group = group_get(fold, said.hash);
    if (!group)
        group = group_add(fold, &said);
    if (!group)
        return hf_err_nomem(err, "the parallel groups of a run");
    fault = member_fault(group, &said, index, event->step);
    if (fault) {
        hf_fold_find(fold, 10, "seq", seq, "step %" PRId64 " %s", event->step, fault);
        return HF_OK;
    }
    if (!hf_span_add(&group->members, fold->mem, index))
        return hf_err_nomem(err, "the members of a parallel group");
    if (++group->count == group->size)
        *group = fold->groups[--fold->group_count];
    return HF_OK;
}

void hf_fold_group_resolve(hf_fold *fold, const hf_event *event, const hf_open_step *step,
                           int64_t seq)
{
    hf_open_group said;
    int64_t index = 0;
    bool nested = false;

    if (group_read(event, &said, &index, &nested) && said.hash != step->group_hash)
        hf_fold_find(fold, 10, "seq", seq,
                     "event %" PRId64 " resolves step %" PRId64
                     " in another parallel group than it was opened in",
                     seq, event->step);
}

void hf_fold_group_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->group_count; i++) {
        const hf_open_group *group = &fold->groups[i];

        if (group->flat)
            hf_fold_find(fold, 10, "step", group->base,
                         "the parallel group at step %" PRId64 " has %" PRId64
                         " members and says it has %" PRId64,
                         group->base, group->count, group->size);
    }
}
