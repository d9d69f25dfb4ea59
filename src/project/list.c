/* list.c: see list.h. The statement is put together from the fragments below and in filter.def;
   nothing that a caller gives becomes part of its text. */
#include "project/list.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "store/row.h"

enum { SCAN_MAX = 20000 }; /* rows looked at for what only this side can compare */

/* The namespace is joined last whatever statistics say: rows come in the order of an index of the
   summary only when that is the outermost table. */
#define FROM                                                                                       \
    " FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = s.instance "       \
    "LEFT JOIN namespace n ON n.key = s.namespace WHERE s.namespace = ?1"
#define BEHIND " AND (s.sort_us, s.run) < (?2, ?3)"
#define ORDER  " ORDER BY s.sort_us DESC, s.run DESC LIMIT "
#define COLUMNS                                                                                    \
    "SELECT s.run, s.sort_us, i.id, r.number, i.current_run, s.type, n.name, s.business_key, "     \
    "s.compatibility, s.status, r.closed_reason, r.closed_us, r.archived_us, r.last_us, "          \
    "s.wait_kind, " HF_LIST_LIVENESS ", s.labels, s.attributes, " HF_LIST_REPAIR                   \
    ", " HF_LIST_PROBLEM ", s.declared, s.exception_count, r.last_seq, r.history_bytes, "          \
    "s.fan_out, s.pressure, s.queue, s.failure_print, r.blocked"

/* The columns, by the order of COLUMNS. */
enum {
    AT_RUN,
    AT_SORT,
    AT_ID,
    AT_NUMBER,
    AT_CURRENT,
    AT_TYPE,
    AT_NAMESPACE,
    AT_BUSINESS,
    AT_COMPATIBILITY,
    AT_STATUS,
    AT_REASON,
    AT_CLOSED,
    AT_ARCHIVED,
    AT_LAST,
    AT_WAIT,
    AT_LIVENESS,
    AT_LABELS,
    AT_ATTRIBUTES,
    AT_REPAIR,
    AT_PROBLEM,
    AT_DECLARED,
    AT_EXCEPTIONS,
    AT_EVENTS,
    AT_BYTES,
    AT_FAN_OUT,
    AT_PRESSURE,
    AT_QUEUE,
    AT_FAILURE,
    AT_BLOCKED
};

static const struct {
    const char *name;
    const char *column;
    const hf_vocab *words;
} facets[] = {{"status", "s.status", &hf_run_status_list},
              {"workflow_type", "s.type", NULL},
              {"queue", "s.queue", NULL},
              {"wait_kind", "s.wait_kind", &hf_wait_kind_list},
              {"compatibility", "s.compatibility", NULL},
              {"closed_reason", "r.closed_reason", &hf_closed_reason_list},
              {"failure", "s.failure_print", NULL}};

/* ---- rows */

static int64_t int_or_none(hf_db_cursor *c, size_t column)
{
    return hf_db_column_null(c, column) ? HF_NONE : hf_db_column_int(c, column);
}

static hf_value text_at(hf_mem *mem, hf_db_cursor *c, size_t column)
{
    return hf_db_column_null(c, column) ? hf_value_null()
                                        : hf_value_string(mem, hf_db_column_bytes(c, column));
}

static hf_value word_at(hf_mem *mem, hf_db_cursor *c, size_t column, const hf_vocab *words)
{
    const hf_vocab_item *item = hf_db_column_null(c, column)
                                    ? NULL
                                    : hf_vocab_by_number(words, hf_db_column_int(c, column));

    return item ? hf_value_string(mem, hf_slice_of(item->text)) : hf_value_null();
}

static hf_value json_at(hf_mem *mem, hf_db_cursor *c, size_t column)
{
    hf_value value = NULL;

    if (hf_db_column_null(c, column))
        return hf_value_finish(hf_value_object(mem));
    return hf_edge_json(mem, hf_db_column_bytes(c, column), &value, NULL) ? NULL : value;
}

static hf_ulid run_id_at(hf_db_cursor *c)
{
    return hf_edge_form(hf_db_column_int(c, AT_SORT), hf_db_column_int(c, AT_RUN), 0);
}

static hf_value sort_key_at(hf_mem *mem, hf_db_cursor *c)
{
    char time[HF_CLOCK_TEXT_SIZE];
    char id[HF_ULID_TEXT_SIZE];
    hf_ulid run = run_id_at(c);
    const char *text;

    if (!hf_clock_print(hf_db_column_int(c, AT_SORT), time))
        return hf_value_null();
    hf_ulid_print(&run, id);
    text = hf_mem_format(mem, "%s#%s", time, id);
    return text ? hf_value_string(mem, hf_slice_of(text)) : NULL;
}

static void put(hf_value_list *row, const char *name, hf_value value)
{
    hf_value_set(row, hf_slice_of(name), value);
}

static void put_identity(hf_value_list *row, hf_mem *mem, hf_db_cursor *c)
{
    hf_ulid run = run_id_at(c);
    hf_value id = hf_edge_id(mem, &run);

    put(row, "id", id);
    put(row, "workflow_instance_id", text_at(mem, c, AT_ID));
    put(row, "instance_id", text_at(mem, c, AT_ID));
    put(row, "selected_run_id", id);
    put(row, "run_id", id);
    put(row, "run_number", hf_value_int(mem, hf_db_column_int(c, AT_NUMBER)));
    put(row, "is_current_run",
        hf_value_bool(hf_db_column_int(c, AT_CURRENT) == hf_db_column_int(c, AT_RUN)));
    put(row, "engine_source", hf_value_string(mem, HF_SLICE("v2")));
    put(row, "class", text_at(mem, c, AT_TYPE));
    put(row, "workflow_type", text_at(mem, c, AT_TYPE));
    put(row, "namespace", text_at(mem, c, AT_NAMESPACE));
    put(row, "business_key", text_at(mem, c, AT_BUSINESS));
    put(row, "compatibility", text_at(mem, c, AT_COMPATIBILITY));
}

static void put_state(hf_value_list *row, hf_mem *mem, hf_db_cursor *c)
{
    hf_run_status status = (hf_run_status)hf_db_column_int(c, AT_STATUS);
    int64_t sort_us = hf_db_column_int(c, AT_SORT);
    int64_t closed_us = int_or_none(c, AT_CLOSED);

    put(row, "status", word_at(mem, c, AT_STATUS, &hf_run_status_list));
    put(row, "status_bucket",
        hf_value_string(
            mem, hf_slice_of(hf_vocab_text(&hf_status_bucket_list, hf_run_status_bucket(status)))));
    put(row, "is_terminal", hf_value_bool(closed_us != HF_NONE));
    put(row, "closed_reason", word_at(mem, c, AT_REASON, &hf_closed_reason_list));
    put(row, "started_at", hf_edge_time(mem, sort_us));
    put(row, "closed_at", hf_edge_time(mem, closed_us));
    put(row, "created_at", hf_edge_time(mem, sort_us));
    put(row, "updated_at", hf_edge_time(mem, hf_db_column_int(c, AT_LAST)));
    put(row, "sort_timestamp", hf_edge_time(mem, sort_us));
    put(row, "sort_key", sort_key_at(mem, c));
    put(row, "duration_ms",
        closed_us == HF_NONE ? hf_value_null() : hf_value_int(mem, (closed_us - sort_us) / 1000));
    put(row, "archived_at", hf_edge_time(mem, int_or_none(c, AT_ARCHIVED)));
    put(row, "wait_kind",
        closed_us == HF_NONE ? word_at(mem, c, AT_WAIT, &hf_wait_kind_list) : hf_value_null());
    put(row, "liveness_state", word_at(mem, c, AT_LIVENESS, &hf_liveness_state_list));
}

static void put_trouble(hf_value_list *row, hf_mem *mem, hf_db_cursor *c)
{
    int64_t reason = int_or_none(c, AT_REPAIR);
    const hf_repair_blocked_look *look =
        reason == HF_NONE ? NULL : hf_repair_blocked_look_get((hf_repair_blocked_reason)reason);
    bool problem = hf_db_column_int(c, AT_PROBLEM) != 0;
    bool replay = hf_db_column_int(c, AT_BLOCKED) == HF_RUN_BLOCKED_REPLAY;

    put(row, "repair_attention", hf_value_bool(look && look->badge));
    put(row, "repair_blocked_reason", word_at(mem, c, AT_REPAIR, &hf_repair_blocked_reason_list));
    put(row, "repair_blocked",
        look ? hf_json_(mem, "{'label': %s, 'tone': %s, 'badge_visible': %p}", look->label,
                        look->tone, (const void *)hf_value_bool(look->badge))
             : hf_value_null());
    put(row, "task_problem", hf_value_bool(problem));
    put(row, "task_problem_badge",
        !problem ? hf_value_null()
                 : hf_json_(mem, "{'code': %s, 'tone': %s}", replay ? "replay_blocked" : "active",
                            replay ? "dark" : "warning"));
}

static hf_value row_value(hf_mem *mem, hf_db_cursor *c)
{
    hf_value_list *row = hf_value_object(mem);

    put_identity(row, mem, c);
    put_state(row, mem, c);
    put(row, "visibility_labels", json_at(mem, c, AT_LABELS));
    put(row, "search_attributes", json_at(mem, c, AT_ATTRIBUTES));
    put_trouble(row, mem, c);
    put(row, "declared_entry_mode",
        hf_db_column_int(c, AT_DECLARED)
            ? hf_value_string(mem, hf_slice_of(hf_entry_mode_text(HF_ENTRY_MODE_CANONICAL)))
            : hf_value_null());
    put(row, "declared_contract_source",
        hf_value_string(
            mem, hf_slice_of(hf_contract_source_text(hf_db_column_int(c, AT_DECLARED)
                                                         ? HF_CONTRACT_SOURCE_DURABLE_HISTORY
                                                         : HF_CONTRACT_SOURCE_UNAVAILABLE))));
    put(row, "exception_count", hf_value_int(mem, hf_db_column_int(c, AT_EXCEPTIONS)));
    put(row, "history_event_count", hf_value_int(mem, hf_db_column_int(c, AT_EVENTS)));
    put(row, "history_size_bytes", hf_value_int(mem, hf_db_column_int(c, AT_BYTES)));
    put(row, "history_fan_out", hf_value_int(mem, hf_db_column_int(c, AT_FAN_OUT)));
    put(row, "continue_as_new_recommended",
        hf_value_bool(hf_db_column_int(c, AT_PRESSURE) ==
                      HF_HISTORY_BUDGET_PRESSURE_CONTINUE_AS_NEW_RECOMMENDED));
    put(row, "history_budget_pressure",
        word_at(mem, c, AT_PRESSURE, &hf_history_budget_pressure_list));
    put(row, "connection", hf_value_null());
    put(row, "queue", text_at(mem, c, AT_QUEUE));
    put(row, "failure_fingerprint", text_at(mem, c, AT_FAILURE));
    return hf_value_finish(row);
}

/* ---- the statement */

/* 2026-04-12T09:02:11.000000Z#01K...: where a page ended. */
static bool cursor_parse(hf_slice cursor, int64_t *out_us, int64_t *out_run)
{
    hf_slice time;
    int64_t time_ms = 0;
    uint64_t key = 0;
    uint32_t counter = 0;
    hf_ulid id;

    if (!hf_slice_split(&cursor, '#', &time) || !hf_clock_parse(time, out_us) ||
        !hf_ulid_parse(cursor, &id))
        return false;
    hf_ulid_parts(&id, &time_ms, &key, &counter);
    *out_run = (int64_t)key;
    return key <= INT64_MAX;
}

static bool is_postgres(const hf_db *db)
{
    return strcmp(db->driver->name, "postgres") == 0;
}

/* Everything behind the columns, up to the order. Parameters 1 to 3 are fixed. */
static hf_status where_make(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_slice cursor,
                            hf_filter_sql *sql, hf_err *err)
{
    int64_t us = 0;
    int64_t run = 0;

    *sql = (hf_filter_sql){0};
    if (cursor.len && !cursor_parse(cursor, &us, &run))
        return hf_err_set(err, HF_INVALID, "the cursor is not one that a list gave");
    sql->params[0] = hf_db_int(query->namespace_key);
    sql->params[1] = hf_db_int(us);
    sql->params[2] = hf_db_int(run);
    sql->count = cursor.len ? 3 : 1;
    hf_buf_add_text(&sql->text, cursor.len ? FROM BEHIND : FROM);
    return query->filters ? hf_filter_sql_make(query->filters, is_postgres(db), mem, sql, err)
                          : HF_OK;
}

static hf_status statement_run(hf_db *db, const char *columns, const hf_filter_sql *where,
                               const char *rest, hf_db_cursor **out_cursor, hf_err *err)
{
    hf_buf text = {0};
    hf_status st;

    hf_buf_add_text(&text, columns);
    hf_buf_add_slice(&text, hf_buf_slice(&where->text));
    hf_buf_add_text(&text, rest);
    st = hf_buf_ok(&text) ? hf_db_query_text(db, hf_buf_text(&text), where->params, where->count,
                                             out_cursor, err)
                          : hf_err_nomem(err, "a list");
    hf_buf_fini(&text);
    return st;
}

/* Whether the run's id has the part that was asked for. */
static bool part_fits(const hf_filter_sql *where, hf_db_cursor *c)
{
    char text[HF_ULID_TEXT_SIZE];
    char part[HF_ULID_TEXT_SIZE];
    hf_ulid id;

    if (!where->run_id_part.len)
        return true;
    if (where->run_id_part.len >= sizeof(part))
        return false;
    memcpy(part, where->run_id_part.ptr, where->run_id_part.len);
    part[where->run_id_part.len] = '\0';
    id = run_id_at(c);
    hf_ulid_print(&id, text);
    return strstr(text, part) != NULL;
}

/* A walk over the rows of a page. */
typedef struct page {
    hf_mem *mem;
    hf_value_list *items; /* NULL: keys are wanted */
    int64_t *keys;
    int64_t limit;
    int64_t found;
    hf_value last; /* sort key of the newest row that was looked at */
    bool more;     /* there may be more behind it */
} page;

static hf_status page_walk(hf_db_cursor *cursor, const hf_filter_sql *where, int64_t scan_max,
                           page *p, hf_err *err)
{
    int64_t seen = 0;
    bool row = true;
    hf_status st = HF_OK;

    while (!st) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (p->found == p->limit || seen == scan_max) {
            p->more = true;
            break;
        }
        seen++;
        p->last = sort_key_at(p->mem, cursor);
        if (!part_fits(where, cursor))
            continue;
        if (p->items)
            hf_value_append(p->items, row_value(p->mem, cursor));
        else
            p->keys[p->found] = hf_db_column_int(cursor, AT_RUN);
        p->found++;
    }
    return st;
}

static hf_status page_read(hf_db *db, const hf_list_query *query, hf_slice from, page *p,
                           hf_err *err)
{
    hf_filter_sql where;
    hf_db_cursor *cursor = NULL;
    char rest[96];
    hf_status st = where_make(db, p->mem, query, from, &where, err);
    int64_t scan = where.run_id_part.len ? SCAN_MAX : p->limit;

    if (!st && !where.never) {
        (void)snprintf(rest, sizeof(rest), ORDER "%lld", (long long)scan + 1);
        st = statement_run(db, COLUMNS, &where, rest, &cursor, err);
        if (!st)
            st = page_walk(cursor, &where, scan, p, err);
        hf_db_end(cursor);
    }
    hf_buf_fini(&where.text);
    return st;
}

/* ---- counts */

static hf_status total_read(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_value *out_total,
                            hf_err *err)
{
    hf_filter_sql where;
    hf_db_cursor *cursor = NULL;
    char rest[64];
    int64_t n = 0;
    bool row = false;
    hf_status st = where_make(db, mem, query, (hf_slice){0}, &where, err);
    bool exact = where.run_id_part.len == 0;

    (void)snprintf(rest, sizeof(rest), " LIMIT %d) c", HF_LIST_COUNT_MAX + 1);
    if (!st && !where.never) {
        st = statement_run(db, "SELECT count(*) FROM (SELECT 1", &where, rest, &cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
        if (!st && row)
            n = hf_db_column_int(cursor, 0);
        hf_db_end(cursor);
    }
    hf_buf_fini(&where.text);
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

static hf_status facet_read(hf_db *db, hf_mem *mem, const hf_list_query *query, size_t which,
                            hf_value *out_facet, hf_err *err)
{
    hf_value_list *values = hf_value_array(mem);
    hf_filter_sql where;
    hf_db_cursor *cursor = NULL;
    char columns[96];
    char rest[128];
    int64_t sum = 0;
    bool row = true;
    hf_status st = where_make(db, mem, query, (hf_slice){0}, &where, err);

    (void)snprintf(columns, sizeof(columns), "SELECT v, count(*) FROM (SELECT %s AS v",
                   facets[which].column);
    (void)snprintf(rest, sizeof(rest), " LIMIT %d) c GROUP BY v ORDER BY 2 DESC, 1 LIMIT %d",
                   HF_LIST_COUNT_MAX + 1, HF_LIST_FACET_VALUES);
    if (!st && !where.never)
        st = statement_run(db, columns, &where, rest, &cursor, err);
    while (!st && cursor && row) {
        hf_value value;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        sum += hf_db_column_int(cursor, 1);
        value = facets[which].words ? word_at(mem, cursor, 0, facets[which].words)
                                    : text_at(mem, cursor, 0);
        hf_value_append(values, hf_json_(mem, "{'value': %p, 'n': %lld}", (const void *)value,
                                         (long long)hf_db_column_int(cursor, 1)));
    }
    hf_db_end(cursor);
    hf_buf_fini(&where.text);
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
        size_t which = 0;
        hf_value facet = NULL;
        hf_status st;

        while (which < sizeof(facets) / sizeof(facets[0]) &&
               !hf_slice_equal(name, hf_slice_of(facets[which].name)))
            which++;
        if (which == sizeof(facets) / sizeof(facets[0]))
            return hf_err_set(err, HF_INVALID, "there is no facet \"%.*s\"", (int)name.len,
                              name.ptr ? name.ptr : "");
        st = facet_read(db, mem, query, which, &facet, err);
        if (st)
            return st;
        hf_value_set(object, name, facet);
    }
    *out_facets = hf_value_finish(object);
    return *out_facets ? HF_OK : hf_err_nomem(err, "facets");
}

hf_status hf_list_read(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_value *out_page,
                       hf_err *err)
{
    page p = {.mem = mem,
              .items = hf_value_array(mem),
              .limit = query->limit ? query->limit : HF_LIST_LIMIT};
    hf_value total = hf_value_null();
    hf_value counted = hf_value_null();
    hf_value items;
    hf_status st;

    if (p.limit < 1 || p.limit > HF_LIST_LIMIT_MAX)
        return hf_err_set(err, HF_INVALID, "a page has 1 to %d rows", HF_LIST_LIMIT_MAX);
    st = page_read(db, query, query->cursor, &p, err);
    if (!st && query->total)
        st = total_read(db, mem, query, &total, err);
    if (!st && query->facets)
        st = facets_read(db, mem, query, &counted, err);
    if (st)
        return hf_err_because(err, st, "list runs");
    items = hf_value_finish(p.items);
    if (!items)
        return hf_err_nomem(err, "a list");
    *out_page = hf_json_(mem, "{'items': %p, 'cursor': %p, 'total': %p, 'facets': %p}",
                         (const void *)items, (const void *)(p.more ? p.last : hf_value_null()),
                         (const void *)total, (const void *)counted);
    return *out_page ? HF_OK : hf_err_nomem(err, "a list");
}

hf_status hf_list_keys(hf_db *db, hf_mem *mem, const hf_list_query *query, hf_slice *io_cursor,
                       int64_t *out_keys, size_t room, size_t *out_count, hf_err *err)
{
    page p = {.mem = mem, .keys = out_keys, .limit = (int64_t)room};
    hf_status st = page_read(db, query, *io_cursor, &p, err);

    *out_count = (size_t)p.found;
    *io_cursor = p.more ? hf_value_slice(p.last) : (hf_slice){0};
    return hf_err_because(err, st, "list runs");
}
