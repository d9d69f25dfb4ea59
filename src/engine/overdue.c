/* overdue.c: activities whose time is over, found in the store and enforced at once. Timeouts fire
   by themselves; a pass is for those that have not, for whatever reason. It rings the alarm of each
   and waits for what the core makes of it: whether an attempt is late, and what follows, is judged
   there and nowhere else, under the fence of the run. */
#include <string.h>

#include "base/id.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "store/stmt.h"

enum { MOST = 1000, MOST_USUAL = 100 };
#define PATIENCE_MS INT64_C(10000)

/* An activity as its row says, and what the pass knows of it. */
typedef struct late_one {
    int64_t key, run, step, scheduled_us, attempt, missed, status, deadline_us, shard;
    bool closed;
    bool missing; /* there is no such activity in the namespace */
    bool rung;
    const char *id;
    const char *reason; /* why it was not enforced */
} late_one;

typedef struct pass {
    hf_call c;
    hf_mem *mem;
    late_one *items;
    size_t count;
    int64_t until_us;
} pass;

static void row_read(hf_db_cursor *row, late_one *out)
{
    out->key = hf_db_column_int(row, 0);
    out->run = hf_db_column_int(row, 1);
    out->step = hf_db_column_int(row, 2);
    out->scheduled_us = hf_db_column_int(row, 3);
    out->attempt = hf_db_column_int(row, 4);
    out->missed = hf_db_column_int(row, 5);
    out->status = hf_db_column_int(row, 6);
    out->deadline_us = hf_db_column_null(row, 7) ? INT64_MAX : hf_db_column_int(row, 7);
    out->closed = !hf_db_column_null(row, 8);
    out->shard = hf_db_column_int(row, 9);
}

/* The row of one activity; `missing` when it is none of the namespace's. */
static hf_status one_find(pass *p, int64_t key, late_one *out)
{
    const hf_db_value params[] = {hf_db_int(key), hf_db_int(p->c.in.namespace_key)};
    hf_err *err = &p->c.slot->err;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    hf_call_read_begin(&p->c);
    st = hf_db_query(p->c.in.db, HF_STMT_ACTIVITY_FIND, params, 2, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row)
        row_read(cursor, out);
    hf_db_end(cursor);
    hf_call_read_end(&p->c);
    out->missing = !row;
    return st;
}

static const char *id_text(hf_mem *mem, const late_one *one)
{
    hf_ulid id = hf_ulid_form(one->scheduled_us, one->key, 0);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    return hf_mem_text(mem, hf_slice_of(text));
}

static hf_status all_read(pass *p, int64_t most)
{
    const hf_db_value params[] = {hf_db_int(p->c.in.namespace_key), hf_db_int(p->c.in.now_us),
                                  hf_db_int(most)};
    hf_err *err = &p->c.slot->err;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    hf_call_read_begin(&p->c);
    st = hf_db_query(p->c.in.db, HF_STMT_ACTIVITY_OVERDUE, params, 3, &cursor, err);
    while (!st && row && (int64_t)p->count < most) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        row_read(cursor, &p->items[p->count]);
        p->items[p->count].id = id_text(p->mem, &p->items[p->count]);
        p->count++;
    }
    hf_db_end(cursor);
    hf_call_read_end(&p->c);
    return st;
}

/* Those that were named. */
static hf_status named_read(pass *p, const char *const *ids)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < MOST && ids[i]; i++) {
        late_one *one = &p->items[p->count++];
        hf_ulid id;

        one->id = hf_mem_text(p->mem, hf_slice_of(ids[i]));
        one->missing = true;
        if (hf_ulid_parse(hf_slice_of(ids[i]), &id))
            st = one_find(p, hf_ulid_key(&id), one);
        one->reason = one->missing                        ? "not_found"
                      : one->closed                       ? "closed"
                      : one->deadline_us > p->c.in.now_us ? "not_expired"
                                                          : NULL;
    }
    return st;
}

static hf_status pass_read(pass *p, hf_engine *engine, const hf_overdue_opts *o, hf_mem *mem)
{
    hf_overdue_opts opts = {0};
    hf_status st = hf_call_begin(&p->c, engine);

    if (!st)
        st = hf_options_take(&opts, sizeof(opts), o, &p->c.slot->err);
    if (st)
        return st;
    if (!opts.most)
        opts.most = MOST_USUAL;
    if (!mem || opts.most < 1 || opts.most > MOST)
        return hf_err_set(&p->c.slot->err, HF_INVALID,
                          "a look at timeouts needs an arena and takes 1 to %d", (int)MOST);
    p->mem = mem;
    p->items = hf_mem_array(mem, MOST, sizeof(*p->items));
    if (!p->items)
        return hf_err_nomem(&p->c.slot->err, "activities that are late");
    return opts.ids ? named_read(p, opts.ids) : all_read(p, opts.most);
}

/* The core's thread. */
static void alarms_ring(hf_core *core, void *ctx)
{
    pass *p = ctx;

    for (size_t i = 0; i < p->count; i++) {
        late_one *one = &p->items[i];
        const core_alarm alarm = {
            .kind = CORE_ALARM_ATTEMPT, .key = one->key, .run = one->run, .step = one->step};

        if (one->reason)
            continue;
        if (!core)
            one->reason = "stopped";
        else if (core->o.shards && hf_shards_epoch(core->o.shards, one->shard) == HF_NONE)
            one->reason = "owned_by_another_node";
        else if (!hf_attempt_is_late(core, one->run, one->key))
            one->reason = "not_expired"; /* a sign of life that is not on the record yet */
        else
            one->rung = hf_core_alarm_move(core, &alarm, hf_core_now(core));
    }
}

typedef struct look {
    pass *p;
    const late_one *before;
    late_one now;
} look;

/* Whether anything has become of it. */
static hf_status change_look(hf_call *call, void *ctx)
{
    look *l = ctx;
    hf_status st = one_find(l->p, l->before->key, &l->now);

    call->awaits = l->before->run;
    if (st)
        return st;
    return l->now.missing || l->now.closed || l->now.attempt != l->before->attempt ||
                   l->now.missed != l->before->missed || l->now.status != l->before->status ||
                   l->now.deadline_us != l->before->deadline_us
               ? HF_OK
               : HF_BUSY;
}

/* What became of one, as the published answer has it. */
static hf_status one_result(pass *p, const late_one *one, hf_value_list *results, int64_t counts[3])
{
    enum { ENFORCED, SKIPPED, FAILED };
    static const char *const outcomes[] = {"enforced", "skipped", "failed"};
    look l = {.p = p, .before = one};
    int64_t left_us = p->until_us - hf_clock_mono_us(hf_clock_system());
    int outcome = SKIPPED;
    const char *reason = one->reason;
    hf_status st = HF_OK;

    if (!reason) {
        st = one->rung ? hf_call_await(&p->c, left_us > 0 ? left_us / 1000 : 0, change_look, &l)
                       : HF_NOMEM;
        outcome = st ? FAILED : ENFORCED;
        reason = st ? hf_strstatus(st) : NULL;
    }
    counts[outcome]++;
    hf_value_append(
        results,
        hf_json_(
            p->mem, "{'execution_id': %s, 'outcome': %s, 'reason': %p, 'has_retry': %p}", one->id,
            outcomes[outcome],
            (const void *)(reason ? hf_value_string(p->mem, hf_slice_of(reason)) : hf_value_null()),
            (const void *)(outcome == ENFORCED ? hf_value_bool(!l.now.closed && !l.now.missing)
                                               : hf_value_null())));
    return st == HF_STOPPED || st == HF_NOMEM ? st : HF_OK;
}

hf_status hf_overdue(hf_engine *engine, const hf_overdue_opts *o, hf_mem *mem, hf_value *out)
{
    hf_value_list *list;
    pass p = {0};
    hf_status st = pass_read(&p, engine, o, mem);

    if (st)
        return st;
    list = hf_value_array(mem);
    for (size_t i = 0; i < p.count; i++)
        if (!p.items[i].reason)
            hf_value_append(list, hf_value_string(mem, hf_slice_of(p.items[i].id)));
    *out = hf_value_finish(list);
    return *out ? HF_OK : hf_err_nomem(&p.c.slot->err, "activities that are late");
}

hf_status hf_overdue_pass(hf_engine *engine, const hf_overdue_opts *o, hf_mem *mem, hf_value *out)
{
    hf_value_list *results;
    int64_t counts[3] = {0};
    pass p = {0};
    hf_status st = pass_read(&p, engine, o, mem);

    if (!st && p.count)
        st = hf_call_core(&p.c, alarms_ring, &p);
    if (st)
        return st;
    p.until_us = hf_clock_mono_us(hf_clock_system()) + PATIENCE_MS * 1000;
    results = hf_value_array(mem);
    for (size_t i = 0; !st && i < p.count; i++)
        st = one_result(&p, &p.items[i], results, counts);
    if (st)
        return st;
    *out = hf_json_(mem,
                    "{'processed': %lld, 'enforced': %lld, 'skipped': %lld, 'failed': %lld, "
                    "'results': %p}",
                    (long long)p.count, (long long)counts[0], (long long)counts[1],
                    (long long)counts[2], (const void *)hf_value_finish(results));
    return *out ? HF_OK : hf_err_nomem(&p.c.slot->err, "what became of timeouts");
}
