/* trouble.c: see trouble.h. */
#include "project/trouble.h"

#include "model/limit.h"
#include "project/edge.h"
#include "project/piece.h"
#include "store/row.h"

enum { ASKED_MAX = 100, SCOPES_MAX = 50 };

/* Runs and tasks of one queue and marker. */
typedef struct scope {
    struct scope *next; /* in the order they were found */
    hf_slice queue;
    hf_slice marker; /* ptr NULL: none */
    int64_t existing;
    int64_t missing;
    int64_t selected_existing;
    int64_t selected_missing;
} scope;

typedef struct look {
    hf_db *db;
    hf_mem *mem;
    const hf_list_query *query;
    hf_trouble *out;
    scope *first;
    scope *last;
    size_t scopes;
    int64_t doubtful[ASKED_MAX]; /* runs to be asked, with when they began and moved last */
    int64_t created_us[ASKED_MAX];
    int64_t last_us[ASKED_MAX];
    scope *of[ASKED_MAX];
    size_t asked;
} look;

static void count_add(hf_trouble_count *count, int64_t runs, int64_t at_us)
{
    if (!count->runs || at_us < count->oldest_us)
        count->oldest_us = at_us;
    count->runs += runs;
}

static bool same_text(hf_slice a, hf_slice b)
{
    return !a.ptr == !b.ptr && hf_slice_equal(a, b);
}

/* NULL when there are too many already; *out_st says when memory ran out. */
static scope *scope_get(look *l, hf_slice queue, hf_slice marker, hf_status *out_st, hf_err *err)
{
    scope *s = l->first;

    while (s && !(hf_slice_equal(s->queue, queue) && same_text(s->marker, marker)))
        s = s->next;
    if (s || l->scopes == SCOPES_MAX)
        return s;
    s = hf_mem_alloc(l->mem, sizeof(*s));
    if (s)
        *s = (scope){
            .queue = hf_slice_from(hf_mem_text(l->mem, queue), queue.len),
            .marker = hf_slice_from(marker.ptr ? hf_mem_text(l->mem, marker) : NULL, marker.len)};
    if (!s || !s->queue.ptr || (marker.ptr && !s->marker.ptr)) {
        *out_st = hf_err_nomem(err, "metrics");
        return NULL;
    }
    if (l->last)
        l->last->next = s;
    else
        l->first = s;
    l->last = s;
    l->scopes++;
    return s;
}

static hf_slice text_or_none(hf_db_cursor *c, size_t column)
{
    return hf_db_column_null(c, column) ? (hf_slice){0} : hf_db_column_bytes(c, column);
}

/* ---- tasks */

static hf_status tasks_look(look *l, hf_err *err)
{
    const int64_t late_us = hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard * 1000000;
    const int64_t now_us = l->query->live.now_us;
    const hf_db_value params[] = {hf_db_int(now_us), hf_db_int(now_us - late_us),
                                  hf_db_int(l->query->namespace_key), hf_db_int(SCOPES_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(l->db, HF_STMT_METRICS_REPAIR, params, 4, &cursor, err);

    while (!st && row) {
        scope *s;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        s = scope_get(l, hf_db_column_bytes(cursor, 0), text_or_none(cursor, 1), &st, err);
        if (s)
            s->existing += hf_db_column_int(cursor, 2);
        count_add(&l->out->existing, hf_db_column_int(cursor, 2), hf_db_column_int(cursor, 3));
    }
    hf_db_end(cursor);
    return st;
}

/* ---- runs */

static void state_add(look *l, int64_t state, int64_t last_us)
{
    hf_trouble *out = l->out;

    switch (state) {
    case HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED:
        count_add(&out->replay_blocked, 1, last_us);
        break;
    case HF_LIVENESS_REPAIR_NEEDED:
        count_add(&out->repair_needed, 1, last_us);
        break;
    case HF_LIVENESS_WORKFLOW_TASK_CLAIM_FAILED:
    case HF_LIVENESS_ACTIVITY_TASK_CLAIM_FAILED:
    case HF_LIVENESS_TIMER_TASK_CLAIM_FAILED:
        count_add(&out->claim_failed, 1, last_us);
        break;
    case HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER:
        count_add(&out->unserved, 1, last_us);
        break;
    case HF_LIVENESS_RUN_QUARANTINED:
        count_add(&out->quarantined, 1, last_us);
        break;
    default:
        break;
    }
}

static hf_status run_take(look *l, hf_db_cursor *c, hf_err *err)
{
    hf_status st = HF_OK;
    scope *s;

    if (!hf_db_column_null(c, 0)) {
        state_add(l, hf_db_column_int(c, 0), hf_db_column_int(c, 5));
        return HF_OK;
    }
    if (l->asked == ASKED_MAX) {
        l->out->more = true;
        return HF_OK;
    }
    s = scope_get(l, hf_db_column_bytes(c, 2), text_or_none(c, 3), &st, err);
    l->doubtful[l->asked] = hf_db_column_int(c, 1);
    l->created_us[l->asked] = hf_db_column_int(c, 4);
    l->last_us[l->asked] = hf_db_column_int(c, 5);
    l->of[l->asked++] = s;
    return st;
}

static hf_status runs_look(look *l, hf_err *err)
{
    const hf_piece_world world = {.namespace_key = l->query->namespace_key,
                                  .now_us = l->query->live.now_us,
                                  .scope = l->query->scope,
                                  .own = l->query->own,
                                  .build = l->query->build};
    hf_db_cursor *cursor = NULL;
    hf_piece_sql sql;
    bool row = true;
    hf_status st;

    hf_piece_sql_init(&sql, l->db, &world);
    hf_piece_param(&sql, hf_db_int(HF_TROUBLE_RUNS));
    hf_piece_add(&sql, HF_PIECE_TROUBLE);
    st = hf_piece_query(l->db, &sql, &cursor, err);
    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            st = run_take(l, cursor, err);
    }
    hf_db_end(cursor);
    hf_piece_sql_fini(&sql);
    return st;
}

/* Of the runs whose rows cannot say it, history can. */
static hf_status doubtful_ask(look *l, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < l->asked; i++) {
        hf_liveness liveness;

        st = hf_list_ask(l->db, l->query, l->doubtful[i], &liveness, err);
        if (st == HF_NOTFOUND) {
            st = HF_OK; /* gone meanwhile */
            continue;
        }
        if (st)
            return st;
        state_add(l, liveness.state, l->last_us[i]);
        if (liveness.repair_blocked)
            continue;
        count_add(&l->out->missing, 1, l->created_us[i]);
        if (l->of[i])
            l->of[i]->missing++;
    }
    return st;
}

/* ---- what a pass would take */

/* One of each scope, then the second of each, as the watchdog does it. */
static int64_t fair_select(scope *first, int64_t limit, bool missing)
{
    int64_t taken = 0;
    bool any = true;

    while (any && taken < limit) {
        any = false;
        for (scope *s = first; s && taken < limit; s = s->next) {
            int64_t *selected = missing ? &s->selected_missing : &s->selected_existing;

            if (*selected >= (missing ? s->missing : s->existing))
                continue;
            ++*selected;
            taken++;
            any = true;
        }
    }
    return taken;
}

static hf_value scopes_value(hf_mem *mem, const scope *first)
{
    hf_value_list *list = hf_value_array(mem);

    for (const scope *s = first; s; s = s->next) {
        const char *marker = s->marker.ptr ? s->marker.ptr : "";

        if (!s->existing && !s->missing)
            continue;
        hf_value_append(
            list,
            hf_json_(mem,
                     "{'scope_key': %s, 'connection': null, 'queue': %s, 'compatibility': %s, "
                     "'existing_task_candidates': %lld, 'missing_task_candidates': %lld, "
                     "'total_candidates': %lld, 'selected_existing': %lld, "
                     "'selected_missing': %lld, 'selected_total': %lld}",
                     hf_mem_format(mem, "%s|%s", s->queue.ptr, marker), s->queue.ptr, s->marker.ptr,
                     (long long)s->existing, (long long)s->missing,
                     (long long)(s->existing + s->missing), (long long)s->selected_existing,
                     (long long)s->selected_missing,
                     (long long)(s->selected_existing + s->selected_missing)));
    }
    return hf_value_finish(list);
}

hf_status hf_trouble_read(hf_db *db, hf_mem *mem, const hf_list_query *query,
                          hf_trouble *out_trouble, hf_err *err)
{
    const int64_t limit = hf_limit_get(HF_LIMIT_REPAIR_SCAN_LIMIT)->standard;
    const hf_trouble_count none = {.oldest_us = HF_NONE};
    look l = {.db = db, .mem = mem, .query = query, .out = out_trouble};
    hf_status st;

    *out_trouble = (hf_trouble){.repair_needed = none,
                                .claim_failed = none,
                                .unserved = none,
                                .replay_blocked = none,
                                .quarantined = none,
                                .missing = none,
                                .existing = none};
    st = tasks_look(&l, err);
    if (!st)
        st = runs_look(&l, err);
    if (!st)
        st = doubtful_ask(&l, err);
    if (st)
        return st;
    out_trouble->selected_existing = fair_select(l.first, limit, false);
    out_trouble->selected_missing = fair_select(l.first, limit, true);
    out_trouble->scopes = scopes_value(mem, l.first);
    return out_trouble->scopes ? HF_OK : hf_err_nomem(err, "metrics");
}
