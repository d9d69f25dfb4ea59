/* list.c: see list.h. Statements are put together from pieces: nothing that a caller gives becomes
   part of their text. */
#include "project/list.h"

#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "model/name.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "project/list_row.h"

enum {
    SCAN_MAX = 20000, /* rows looked at for what only this side can compare */
    HIST_BARS = 72
};

#define SECOND_US INT64_C(1000000)

/* What a list counts by. */
typedef struct facet {
    const char *name;
    hf_piece column;
    const hf_vocab *words;
} facet;

static const facet facets[] = {
    {"status", HF_PIECE_FACET_STATUS, &hf_run_status_list},
    {"workflow_type", HF_PIECE_FACET_TYPE, NULL},
    {"queue", HF_PIECE_FACET_QUEUE, NULL},
    {"wait_kind", HF_PIECE_FACET_WAIT_KIND, &hf_wait_kind_list},
    {"compatibility", HF_PIECE_FACET_COMPATIBILITY, NULL},
    {"closed_reason", HF_PIECE_FACET_CLOSED_REASON, &hf_closed_reason_list},
    {"failure", HF_PIECE_FACET_FAILURE, NULL}};

/* ---- a page */

/* 2026-04-12T09:02:11.000000Z#01K...: where a page ended. */
static bool cursor_parse(hf_slice cursor, int64_t *out_us, int64_t *out_run)
{
    hf_slice time;
    hf_ulid id;

    if (!hf_slice_split(&cursor, '#', &time) || !hf_clock_parse(time, out_us) ||
        !hf_ulid_parse(cursor, &id))
        return false;
    *out_run = hf_ulid_key(&id);
    return true;
}

/* A walk over the rows of a page. */
typedef struct page {
    hf_mem *mem;
    hf_list_row **rows; /* room for `limit` */
    int64_t limit;
    int64_t found;
    int64_t seen;
    hf_value last; /* sort key of the last row that was looked at */
    bool more;     /* there may be more behind it */
} page;

/* Whether the run's id has the part that was asked for. */
static bool part_fits(hf_slice wanted, const hf_list_row *row)
{
    char text[HF_ULID_TEXT_SIZE];
    char part[HF_ULID_TEXT_SIZE];
    hf_ulid id;

    if (!wanted.len)
        return true;
    if (wanted.len >= sizeof(part))
        return false;
    memcpy(part, wanted.ptr, wanted.len);
    part[wanted.len] = '\0';
    id = hf_list_row_id(row);
    hf_ulid_print(&id, text);
    return strstr(text, part) != NULL;
}

static hf_status page_walk(hf_db_cursor *cursor, const hf_filter_rest *rest, int64_t scan_max,
                           page *p, hf_err *err)
{
    int64_t seen = 0;
    bool found = true;
    hf_status st = HF_OK;

    p->more = false;
    while (!st) {
        hf_list_row *row = NULL;

        st = hf_db_step(cursor, &found, err);
        if (st || !found)
            break;
        if (p->found == p->limit || seen == scan_max) {
            p->more = true;
            break;
        }
        seen++;
        st = hf_list_row_take(p->mem, cursor, &row, err);
        if (st)
            break;
        p->last = hf_list_row_key(row, p->mem);
        if (part_fits(rest->run_id_part, row))
            p->rows[p->found++] = row;
    }
    p->seen += seen;
    return st;
}

hf_status hf_list_ask(hf_db *db, const hf_list_query *query, int64_t run, hf_liveness *out_liveness,
                      hf_err *err)
{
    hf_mem *work = hf_mem_new();
    hf_track *track = NULL;
    hf_dossier dossier;
    hf_status st =
        work ? hf_dossier_skim(db, work, run, &dossier, err) : hf_err_nomem(err, "a run");

    if (!st)
        st = hf_liveness_track(&dossier, work, &track, err);
    if (!st)
        st = hf_liveness_fold(&dossier, track, &query->live, work, out_liveness, err);
    hf_track_free(track);
    hf_mem_free(work);
    return st;
}

/* A run that is gone meanwhile stays as it is. */
static hf_status row_ask(hf_db *db, const hf_list_query *query, hf_list_row *row, hf_err *err)
{
    hf_liveness liveness;
    hf_status st = hf_list_ask(db, query, hf_list_row_run(row), &liveness, err);

    if (!st)
        hf_list_row_settle(row, &liveness);
    return st == HF_NOTFOUND ? HF_OK : st;
}

/* Rows from `from` on that came with the page, without those that do not fit after all. */
static hf_status page_settle(hf_db *db, const hf_list_query *query, const hf_filter_rest *rest,
                             int64_t from, page *p, hf_err *err)
{
    int64_t kept = from;
    hf_status st = HF_OK;

    for (int64_t i = from; !st && i < p->found; i++) {
        bool doubtful = hf_list_row_doubtful(p->rows[i]);

        if (doubtful)
            st = row_ask(db, query, p->rows[i], err);
        if (!doubtful || hf_list_row_fits(p->rows[i], rest))
            p->rows[kept++] = p->rows[i];
    }
    p->found = kept;
    return st;
}

static void begin(hf_db *db, const hf_list_query *query, hf_piece_world *world, hf_piece_sql *sql)
{
    *world = (hf_piece_world){.namespace_key = query->namespace_key,
                              .now_us = query->live.now_us,
                              .scope = query->scope,
                              .own = query->own,
                              .build = query->build};
    hf_piece_sql_init(sql, db, world);
}

static hf_status page_once(hf_db *db, const hf_list_query *query, hf_slice behind, page *p,
                           hf_err *err)
{
    int64_t from = p->found;
    int64_t us = 0;
    int64_t run = 0;
    int64_t scan;
    hf_db_cursor *cursor = NULL;
    hf_filter_rest rest;
    hf_piece_world world;
    hf_piece_sql sql;
    hf_status st = HF_OK;

    p->more = false;
    if (behind.len && !cursor_parse(behind, &us, &run))
        return hf_err_set(err, HF_INVALID, "the cursor is not one that a list gave");
    begin(db, query, &world, &sql);
    hf_piece_add(&sql, HF_PIECE_LIST_COLUMNS);
    hf_piece_add(&sql, HF_PIECE_LIST_FROM);
    if (behind.len) {
        hf_piece_param(&sql, hf_db_int(us));
        hf_piece_param(&sql, hf_db_int(run));
        hf_piece_add(&sql, query->oldest ? HF_PIECE_LIST_BEHIND_OLDEST : HF_PIECE_LIST_BEHIND);
    }
    hf_filter_add(query->filters, &sql, &rest);
    scan = rest.run_id_part.len ? SCAN_MAX : p->limit;
    hf_piece_param(&sql, hf_db_int(scan + 1));
    hf_piece_add(&sql, query->oldest ? HF_PIECE_LIST_ORDER_OLDEST : HF_PIECE_LIST_ORDER);
    if (!rest.never) {
        st = hf_piece_query(db, &sql, &cursor, err);
        if (!st)
            st = page_walk(cursor, &rest, scan, p, err);
        hf_db_end(cursor);
        if (!st)
            st = page_settle(db, query, &rest, from, p, err);
    }
    hf_piece_sql_fini(&sql);
    return st;
}

/* What rows alone cannot say may take some out of a page: it goes on until it is full, or enough
   were looked at. */
static hf_status page_read(hf_db *db, const hf_list_query *query, hf_slice behind, page *p,
                           hf_err *err)
{
    hf_status st;

    p->rows = hf_mem_array(p->mem, (size_t)p->limit, sizeof(*p->rows));
    if (!p->rows)
        return hf_err_nomem(err, "a list");
    do {
        st = page_once(db, query, behind, p, err);
        behind = hf_value_slice(p->last);
    } while (!st && p->more && p->found < p->limit && p->seen < SCAN_MAX);
    return st;
}

/* ---- counts */

/* Whether the conditions say all, so that what is counted by them is what matches. */
static bool says_all(const hf_filter_rest *rest)
{
    return rest->run_id_part.len == 0 && !rest->liveness && !rest->repair && rest->problem < 0 &&
           rest->attention < 0;
}

static hf_status total_read(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_value *out_total,
                            hf_err *err)
{
    hf_filter_rest rest;
    hf_piece_world world;
    hf_piece_sql sql;
    hf_db_cursor *cursor = NULL;
    int64_t n = 0;
    bool row = false;
    bool exact;
    hf_status st = HF_OK;

    begin(db, query, &world, &sql);
    hf_piece_add(&sql, HF_PIECE_LIST_COUNT);
    hf_piece_add(&sql, HF_PIECE_LIST_FROM);
    hf_filter_add(query->filters, &sql, &rest);
    hf_piece_param(&sql, hf_db_int(HF_LIST_COUNT_MAX + 1));
    hf_piece_add(&sql, HF_PIECE_LIST_COUNT_END);
    exact = says_all(&rest);
    if (!rest.never) {
        st = hf_piece_query(db, &sql, &cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
        if (!st && row)
            n = hf_db_column_int(cursor, 0);
        hf_db_end(cursor);
    }
    hf_piece_sql_fini(&sql);
    if (st)
        return st;
    if (n > HF_LIST_COUNT_MAX) {
        n = HF_LIST_COUNT_MAX;
        exact = false;
    }
    *out_total =
        hf_json_(mem, "{'n': %lld, 'exact': %p}", (long long)n, (const void *)hf_value_bool(exact));
    return *out_total ? HF_OK : hf_err_nomem(err, "a list");
}

static hf_value facet_value(hf_mem *mem, hf_db_cursor *cursor, const hf_vocab *words)
{
    const hf_vocab_item *item;

    if (hf_db_column_null(cursor, 0))
        return hf_value_null();
    if (!words)
        return hf_value_string(mem, hf_db_column_bytes(cursor, 0));
    item = hf_vocab_by_number(words, hf_db_column_int(cursor, 0));
    return item ? hf_value_string(mem, hf_slice_of(item->text)) : hf_value_null();
}

/* "label:KEY" counts by the values of a label. */
static bool facet_find(hf_slice name, facet *out_facet, hf_slice *out_label)
{
    hf_slice key = name;
    hf_slice head = {0};

    *out_label = (hf_slice){0};
    for (size_t i = 0; i < sizeof(facets) / sizeof(facets[0]); i++)
        if (hf_slice_equal(name, hf_slice_of(facets[i].name))) {
            *out_facet = facets[i];
            return true;
        }
    if (!hf_slice_split(&key, ':', &head) || !hf_slice_equal(head, HF_SLICE("label")) ||
        hf_name_check(HF_NAME_LABEL_KEY, key, NULL))
        return false;
    *out_facet = (facet){.column = HF_PIECE_FACET_LABEL};
    *out_label = key;
    return true;
}

static hf_status facet_read(hf_db *db, hf_mem *mem, const hf_list_query *query, const facet *by,
                            hf_slice label, hf_value *out_facet, hf_err *err)
{
    hf_value_list *values = hf_value_array(mem);
    hf_filter_rest rest;
    hf_piece_world world;
    hf_piece_sql sql;
    hf_db_cursor *cursor = NULL;
    int64_t sum = 0;
    bool row = true;
    hf_status st = HF_OK;

    begin(db, query, &world, &sql);
    sql.facet = by->column;
    if (label.len) {
        hf_piece_param(&sql, hf_db_text(label));
        sql.name = sql.count;
    }
    hf_piece_add(&sql, HF_PIECE_LIST_FACET);
    hf_piece_add(&sql, HF_PIECE_LIST_FROM);
    hf_filter_add(query->filters, &sql, &rest);
    hf_piece_param(&sql, hf_db_int(HF_LIST_COUNT_MAX + 1));
    hf_piece_param(&sql, hf_db_int(HF_LIST_FACET_VALUES));
    hf_piece_add(&sql, HF_PIECE_LIST_FACET_END);
    if (!rest.never)
        st = hf_piece_query(db, &sql, &cursor, err);
    while (!st && cursor && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        sum += hf_db_column_int(cursor, 1);
        hf_value_append(values, hf_json_(mem, "{'value': %p, 'n': %lld}",
                                         (const void *)facet_value(mem, cursor, by->words),
                                         (long long)hf_db_column_int(cursor, 1)));
    }
    hf_db_end(cursor);
    hf_piece_sql_fini(&sql);
    if (st)
        return st;
    *out_facet = hf_json_(mem, "{'values': %p, 'exact': %p}", (const void *)hf_value_finish(values),
                          (const void *)hf_value_bool(sum <= HF_LIST_COUNT_MAX));
    return *out_facet ? HF_OK : hf_err_nomem(err, "a facet");
}

static hf_status facets_read(hf_db *db, hf_mem *mem, const hf_list_query *query,
                             hf_value *out_facets, hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);

    if (hf_len(query->facets) > HF_LIST_FACETS_MAX)
        return hf_err_set(err, HF_INVALID, "a list counts by at most %d facets",
                          HF_LIST_FACETS_MAX);
    for (size_t i = 0; i < hf_len(query->facets); i++) {
        hf_slice name = hf_value_slice(hf_at(query->facets, i));
        hf_value counted = NULL;
        hf_slice label;
        facet by;
        hf_status st;

        if (!facet_find(name, &by, &label))
            return hf_err_set(err, HF_INVALID,
                              "there is no facet \"%.*s\": status, workflow_type, queue, "
                              "wait_kind, compatibility, closed_reason, failure, or label:KEY",
                              (int)name.len, name.ptr ? name.ptr : "");
        st = facet_read(db, mem, query, &by, label, &counted, err);
        if (st)
            return st;
        hf_value_set(object, name, counted);
    }
    *out_facets = hf_value_finish(object);
    return *out_facets ? HF_OK : hf_err_nomem(err, "facets");
}

/* ---- over time */

/* When the newest of the runs that match started, and how they stand. */
typedef struct starts {
    int64_t *us;    /* the newest first */
    int64_t *ended; /* status of a run that is over, or 0 */
    size_t count;
    bool exact;
} starts;

static hf_status starts_read(hf_db *db, hf_mem *mem, const hf_list_query *query, starts *out,
                             hf_err *err)
{
    hf_filter_rest rest;
    hf_piece_world world;
    hf_piece_sql sql;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = HF_OK;

    *out = (starts){.us = hf_mem_array(mem, HF_LIST_COUNT_MAX, sizeof(int64_t)),
                    .ended = hf_mem_array(mem, HF_LIST_COUNT_MAX, sizeof(int64_t))};
    if (!out->us || !out->ended)
        return hf_err_nomem(err, "a list");
    begin(db, query, &world, &sql);
    hf_piece_add(&sql, HF_PIECE_LIST_STARTS);
    hf_piece_add(&sql, HF_PIECE_LIST_FROM);
    hf_filter_add(query->filters, &sql, &rest);
    hf_piece_param(&sql, hf_db_int(HF_LIST_COUNT_MAX + 1));
    hf_piece_add(&sql, HF_PIECE_LIST_ORDER);
    out->exact = says_all(&rest);
    if (!rest.never)
        st = hf_piece_query(db, &sql, &cursor, err);
    while (!st && cursor && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (out->count == HF_LIST_COUNT_MAX) {
            out->exact = false;
            break;
        }
        out->us[out->count] = hf_db_column_int(cursor, 0);
        out->ended[out->count++] = hf_db_column_int(cursor, 1);
    }
    hf_db_end(cursor);
    hf_piece_sql_fini(&sql);
    return st;
}

/* From the moment that the filters name, or the first start; to theirs, or to now: unless that
   would be more than half of it. */
static void span_of(const hf_list_query *query, const starts *s, int64_t *out_from, int64_t *out_to)
{
    int64_t first = s->us[s->count - 1];
    int64_t last = s->us[0];
    int64_t now = query->live.now_us;
    int64_t named = 0;

    *out_from = first;
    *out_to = now > last && now - last <= last - first ? now : last;
    if (s->exact && hf_filter_moment(query->filters, "started_from", &named) && named < first)
        *out_from = named > 0 ? named : 0;
    if (hf_filter_moment(query->filters, "started_to", &named) && named > last)
        *out_to = named <= now ? named - 1 : now > last ? now : last;
}

/* A step that people count in, of which the span has at most HIST_BARS. */
static int64_t step_of(int64_t from_s, int64_t to_s)
{
    static const int64_t steps[] = {1,     2,     5,      10,     15,      30,     60,    120,
                                    300,   600,   900,    1800,   3600,    7200,   10800, 21600,
                                    43200, 86400, 172800, 604800, 1209600, 2419200};
    const size_t count = sizeof(steps) / sizeof(steps[0]);
    size_t i = 0;
    int64_t step = steps[0];

    while (to_s / step - from_s / step >= HIST_BARS)
        step = ++i < count ? steps[i] : 2 * step;
    return step;
}

static hf_value bars_value(hf_mem *mem, const int64_t *bars, size_t count)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < count; i++)
        hf_value_append(list, hf_value_int(mem, bars[i]));
    return hf_value_finish(list);
}

static hf_status hist_read(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_value *out_hist,
                           hf_err *err)
{
    enum { OPEN, OVER, FAILED, KINDS };

    int64_t bars[KINDS][HIST_BARS] = {{0}};
    int64_t from = 0;
    int64_t to = 0;
    int64_t step;
    size_t count;
    starts s;
    hf_status st = starts_read(db, mem, query, &s, err);

    if (st || !s.count)
        return st;
    span_of(query, &s, &from, &to);
    step = step_of(from / SECOND_US, to / SECOND_US);
    from = from / SECOND_US / step;
    count = (size_t)(to / SECOND_US / step - from) + 1;
    for (size_t i = 0; i < s.count; i++) {
        size_t kind = !s.ended[i] ? OPEN : s.ended[i] == HF_RUN_STATUS_FAILED ? FAILED : OVER;

        bars[kind][s.us[i] / SECOND_US / step - from]++;
    }
    *out_hist = hf_json_(mem,
                         "{'from': %p, 'step_seconds': %lld, 'open': %p, 'over': %p, "
                         "'failed': %p, 'exact': %p}",
                         (const void *)hf_edge_time(mem, from * step * SECOND_US), (long long)step,
                         (const void *)bars_value(mem, bars[OPEN], count),
                         (const void *)bars_value(mem, bars[OVER], count),
                         (const void *)bars_value(mem, bars[FAILED], count),
                         (const void *)hf_value_bool(s.exact));
    return *out_hist ? HF_OK : hf_err_nomem(err, "a list");
}

/* ---- all of it */

hf_status hf_list_read(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_value *out_page,
                       hf_err *err)
{
    page p = {.mem = mem, .limit = query->limit ? query->limit : HF_LIST_LIMIT};
    hf_value_list *rows = hf_value_array(mem);
    hf_value total = hf_value_null();
    hf_value counted = hf_value_null();
    hf_value hist = hf_value_null();
    hf_value items;
    hf_status st;

    if (p.limit < 1 || p.limit > HF_LIST_LIMIT_MAX)
        return hf_err_set(err, HF_INVALID, "a page has 1 to %d rows", HF_LIST_LIMIT_MAX);
    st = page_read(db, query, query->cursor, &p, err);
    if (!st && query->total)
        st = total_read(db, mem, query, &total, err);
    if (!st && query->facets)
        st = facets_read(db, mem, query, &counted, err);
    if (!st && query->hist)
        st = hist_read(db, mem, query, &hist, err);
    if (st)
        return hf_err_because(err, st, "list runs");
    for (int64_t i = 0; i < p.found; i++)
        hf_value_append(rows, hf_list_row_value(p.rows[i], mem));
    items = hf_value_finish(rows);
    if (!items)
        return hf_err_nomem(err, "a list");
    *out_page = hf_json_(mem, "{'items': %p, 'cursor': %p, 'total': %p, 'facets': %p, 'hist': %p}",
                         (const void *)items, (const void *)(p.more ? p.last : hf_value_null()),
                         (const void *)total, (const void *)counted, (const void *)hist);
    return *out_page ? HF_OK : hf_err_nomem(err, "a list");
}

hf_status hf_list_keys(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_slice *io_cursor,
                       int64_t *out_keys, size_t room, size_t *out_count, hf_err *err)
{
    page p = {.mem = mem, .limit = (int64_t)room};
    hf_status st = page_read(db, query, *io_cursor, &p, err);

    for (int64_t i = 0; i < p.found; i++)
        out_keys[i] = hf_list_row_run(p.rows[i]);
    *out_count = (size_t)p.found;
    *io_cursor = p.more ? hf_value_slice(p.last) : (hf_slice){0};
    return hf_err_because(err, st, "list runs");
}
