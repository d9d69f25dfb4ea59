/* Lists: every filter against a plain walk over the same runs, on both databases; order and pages;
   what cannot be asked for. The runs are rows alone, made here: their histories do not matter. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/rng.h"
#include "lib/engine.h"
#include "project/edge.h"
#include "project/filter.h"
#include "project/list.h"
#include "store/row.h"

enum { RUNS = HF_LIST_COUNT_MAX + 20, PER_INSERT = 500 }; /* more than are counted */

static const char *const types[] = {"order", "refund", "ship", "ship.express", "50%_off"};
static const char *const markers[] = {NULL, "v1", "v2"};
enum { TYPES = sizeof(types) / sizeof(types[0]) };
static const char *const queues[] = {"default", "slow"};
static const char *const regions[] = {"eu", "us", "ap"};

/* What the walk knows of a run. */
typedef struct fact {
    int64_t sort_us;
    size_t type, queue, region, marker;
    int64_t status;
    int64_t blocked; /* 3: paused */
    int64_t wait_kind;
    int64_t amount;
    bool labelled, archived, declared, pressed, troubled, failed;
    bool current;
    int64_t closed_reason;
    int64_t business; /* -1: none */
} fact;

static fact *facts;
static const char *bytes_type; /* of the database at hand */

static void facts_make(uint64_t seed)
{
    hf_rng rng;

    hf_rng_init_seeded(&rng, seed);
    facts = calloc(RUNS + 1, sizeof(*facts));
    ck_assert_ptr_nonnull(facts);
    for (size_t i = 1; i <= RUNS; i++) {
        fact *f = &facts[i];
        bool closed;

        f->sort_us = INT64_C(1700000000000000) + (int64_t)hf_rng_below(&rng, 3000) * 1000000;
        f->type = (size_t)hf_rng_below(&rng, TYPES);
        f->queue = (size_t)hf_rng_below(&rng, 2);
        f->region = (size_t)hf_rng_below(&rng, 3);
        f->status = 1 + (int64_t)hf_rng_below(&rng, 7);
        closed = f->status > 3;
        f->closed_reason = closed ? 1 + (int64_t)hf_rng_below(&rng, 6) : 0;
        f->blocked = closed ? 0 : (int64_t)hf_rng_below(&rng, 4);
        f->wait_kind = 1 + (int64_t)hf_rng_below(&rng, 7);
        f->amount = (int64_t)hf_rng_below(&rng, 100);
        f->labelled = hf_rng_below(&rng, 2);
        f->archived = closed && hf_rng_below(&rng, 3) == 0;
        f->declared = hf_rng_below(&rng, 2);
        f->pressed = hf_rng_below(&rng, 5) == 0;
        f->troubled = !closed && hf_rng_below(&rng, 10) == 0;
        f->current = hf_rng_below(&rng, 4) != 0;
        f->business = hf_rng_below(&rng, 3) ? (int64_t)hf_rng_below(&rng, 50) : -1;
        f->marker = (size_t)hf_rng_below(&rng, 3);
        f->failed = hf_rng_below(&rng, 20) == 0;
    }
}

static void rows_write(hf_db *db, const char *into, void (*each)(hf_buf *buf, size_t i))
{
    for (size_t i = 1; i <= RUNS;) {
        hf_buf sql = {0};
        hf_err err = {0};
        size_t before;

        hf_buf_add_text(&sql, into);
        before = sql.len;
        for (size_t n = 0; n < PER_INSERT && i <= RUNS; n++, i++) {
            size_t len = sql.len;

            hf_buf_add_text(&sql, sql.len == before ? " " : ", ");
            each(&sql, i);
            if (sql.ptr[sql.len - 1] != ')')
                sql.len = len; /* it has no row there */
        }
        hf_buf_add_text(&sql, ";");
        if (sql.len > before + 1)
            hf_test_ok(hf_db_script(db, hf_buf_text(&sql), &err), &err, "write rows");
        hf_buf_fini(&sql);
    }
}

static void instance_each(hf_buf *b, size_t i)
{
    hf_buf_add_format(b, "(%zu, 1, 'run-%zu', 0, '%s', ", i, i, types[facts[i].type]);
    if (facts[i].business >= 0)
        hf_buf_add_format(b, "'key-%lld'", (long long)facts[i].business);
    else
        hf_buf_add_text(b, "NULL");
    hf_buf_add_format(b, ", %lld, 1, %lld)", (long long)(facts[i].current ? (int64_t)i : 0),
                      (long long)facts[i].sort_us);
}

static void run_each(hf_buf *b, size_t i)
{
    const fact *f = &facts[i];
    bool closed = f->status > 3;

    hf_buf_add_format(b, "(%zu, %zu, 1, %lld, ", i, i, (long long)f->status);
    if (closed)
        hf_buf_add_format(b, "%lld, 0, 2, ", (long long)f->closed_reason);
    else
        hf_buf_add_format(b, "NULL, %lld, 2, ", (long long)(f->blocked == 3 ? 0 : f->blocked));
    hf_buf_add_format(b, "CAST('h' AS %s), %lld, 10, 1, 1, 0, 0, %lld, ", bytes_type,
                      (long long)f->sort_us, (long long)f->sort_us);
    if (closed)
        hf_buf_add_format(b, "%lld, ", (long long)f->sort_us + 5000000);
    else
        hf_buf_add_text(b, "NULL, ");
    if (f->archived)
        hf_buf_add_format(b, "%lld, ", (long long)f->sort_us + 6000000);
    else
        hf_buf_add_text(b, "NULL, ");
    hf_buf_add_format(b, "'%s', %s)", queues[f->queue], f->blocked == 3 ? "1" : "NULL");
}

static void summary_each(hf_buf *b, size_t i)
{
    const fact *f = &facts[i];

    hf_buf_add_format(b, "(%zu, 1, %zu, %lld, %lld, '%s', ", i, i, (long long)f->status,
                      (long long)f->sort_us, types[f->type]);
    if (f->business >= 0)
        hf_buf_add_format(b, "'key-%lld'", (long long)f->business);
    else
        hf_buf_add_text(b, "NULL");
    hf_buf_add_format(b, ", '%s', %lld, %d, %d, %lld, ", queues[f->queue],
                      (long long)(f->status > 3 ? f->status : 0), f->pressed ? 3 : 1, f->declared,
                      (long long)f->wait_kind);
    if (f->marker)
        hf_buf_add_format(b, "'%s')", markers[f->marker]);
    else
        hf_buf_add_text(b, "NULL)");
}

static void failure_each(hf_buf *b, size_t i)
{
    if (facts[i].failed)
        hf_buf_add_format(b, "(%zu, 2, 1, 'print-%zu', 1, 1, 'a', 'b', 'c', 0, 1)", i,
                          facts[i].region);
}

static void label_each(hf_buf *b, size_t i)
{
    if (facts[i].labelled)
        hf_buf_add_format(b, "(%zu, 'region', '%s')", i, regions[facts[i].region]);
}

static void attribute_each(hf_buf *b, size_t i)
{
    hf_buf_add_format(b, "(%zu, 'amount', 0, 4, NULL, %lld, NULL)", i, (long long)facts[i].amount);
}

static void attribute_text_each(hf_buf *b, size_t i)
{
    hf_buf_add_format(b, "(%zu, 'tag', 0, 2, '%s', NULL, NULL)", i, regions[facts[i].region]);
}

static void task_each(hf_buf *b, size_t i)
{
    if (facts[i].troubled || facts[i].blocked == 1)
        hf_buf_add_format(b, "(%zu, %zu, 1, %d, 'default', 5, 0, 0, 0, %d, 0)", i, i,
                          facts[i].blocked == 1 ? 5 : 1, facts[i].troubled ? 2 : 0);
}

static void store_fill(hf_db *db)
{
    rows_write(db,
               "INSERT INTO instance (key, namespace, id, shard, type, business_key, "
               "current_run, run_count, created_us) VALUES",
               instance_each);
    rows_write(db,
               "INSERT INTO run (key, instance, number, status, closed_reason, blocked, "
               "last_seq, head, last_us, history_bytes, command_seq, message_seq, "
               "message_cursor, crash_count, created_us, closed_us, archived_us, queue, paused_us) "
               "VALUES",
               run_each);
    rows_write(db,
               "INSERT INTO run_summary (run, namespace, instance, status, sort_us, type, "
               "business_key, queue, ended, pressure, declared, wait_kind, compatibility) VALUES",
               summary_each);
    rows_write(db,
               "INSERT INTO failure (run, seq, namespace, print, step, source, name, type, "
               "message, handled, at_us) VALUES",
               failure_each);
    rows_write(db, "INSERT INTO run_label (run, name, value) VALUES", label_each);
    rows_write(db,
               "INSERT INTO search_attribute (run, name, item, type, text, number, real) VALUES",
               attribute_each);
    rows_write(db,
               "INSERT INTO search_attribute (run, name, item, type, text, number, real) VALUES",
               attribute_text_each);
    rows_write(db,
               "INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, "
               "attempt, repair_count, created_us) VALUES",
               task_each);
}

/* ---- the walk */

static const char *word(const hf_vocab *list, int64_t number)
{
    return hf_vocab_text(list, number);
}

static int64_t liveness(const fact *f)
{
    static const int64_t by_wait[] = {0, 14, 10, 6, 8, 5, 10, 7};

    if (f->status > 3)
        return 1;
    if (f->blocked)
        return f->blocked == 1 ? 2 : f->blocked == 2 ? 22 : 21;
    if (f->troubled && (f->wait_kind == 3 || f->wait_kind == 7))
        return 10; /* a turn comes before them */
    return by_wait[f->wait_kind];
}

static bool id_is(size_t i, const char *text)
{
    char id[HF_ULID_TEXT_SIZE];
    hf_ulid run = hf_ulid_form(facts[i].sort_us, (int64_t)i, 0);

    hf_ulid_print(&run, id);
    return strcmp(id, text) == 0;
}

static bool number_fits(int64_t amount, hf_value wanted)
{
    if (hf_value_kind_of(wanted) != HF_VALUE_OBJECT)
        return amount == hf_int(wanted, "", strtoll(hf_str(wanted, "", "-1"), NULL, 10));
    return (!hf_get(wanted, "gte") || amount >= hf_int(wanted, "gte", 0)) &&
           (!hf_get(wanted, "gt") || amount > hf_int(wanted, "gt", 0)) &&
           (!hf_get(wanted, "lte") || amount <= hf_int(wanted, "lte", 0)) &&
           (!hf_get(wanted, "lt") || amount < hf_int(wanted, "lt", 0)) &&
           (!hf_get(wanted, "eq") || amount == hf_int(wanted, "eq", 0));
}

/* Whether run `i` has what one filter asks for. */
static bool one_fits(size_t i, const char *name, hf_value wanted)
{
    const fact *f = &facts[i];
    const char *text = hf_str(wanted, "", "");
    bool flag = hf_bool(wanted, "", strcmp(text, "true") == 0);
    char buf[64];

    (void)snprintf(buf, sizeof(buf), "run-%zu", i);
    if (strcmp(name, "instance_id") == 0)
        return strcmp(buf, text) == 0;
    if (strcmp(name, "instance_id_contains") == 0)
        return strstr(buf, text) != NULL;
    if (strcmp(name, "run_id") == 0)
        return id_is(i, text);
    if (strcmp(name, "workflow_type") == 0)
        return strcmp(types[f->type], text) == 0;
    if (strcmp(name, "workflow_type_contains") == 0)
        return strstr(types[f->type], text) != NULL;
    (void)snprintf(buf, sizeof(buf), "key-%lld", (long long)f->business);
    if (strcmp(name, "business_key") == 0)
        return f->business >= 0 && strcmp(buf, text) == 0;
    if (strcmp(name, "business_key_contains") == 0)
        return f->business >= 0 && strstr(buf, text) != NULL;
    if (strcmp(name, "queue") == 0)
        return strcmp(queues[f->queue], text) == 0;
    if (strcmp(name, "connection") == 0)
        return false;
    if (strcmp(name, "compatibility") == 0)
        return f->marker && strcmp(markers[f->marker], text) == 0;
    (void)snprintf(buf, sizeof(buf), "print-%zu", f->region);
    if (strcmp(name, "failure") == 0)
        return f->failed && strcmp(buf, text) == 0;
    if (strcmp(name, "namespace") == 0)
        return strcmp(text, "default") == 0;
    if (strcmp(name, "status") == 0)
        return strcmp(word(&hf_run_status_list, f->status), text) == 0;
    if (strcmp(name, "status_bucket") == 0)
        return strcmp(word(&hf_status_bucket_list, f->status <= 3   ? 1
                                                   : f->status == 6 ? 2
                                                                    : 3),
                      text) == 0;
    if (strcmp(name, "closed_reason") == 0)
        return f->status > 3 && strcmp(word(&hf_closed_reason_list, f->closed_reason), text) == 0;
    if (strcmp(name, "wait_kind") == 0)
        return f->status <= 3 && strcmp(word(&hf_wait_kind_list, f->wait_kind), text) == 0;
    if (strcmp(name, "liveness_state") == 0)
        return strcmp(word(&hf_liveness_state_list, liveness(f)), text) == 0;
    if (strcmp(name, "repair_blocked_reason") == 0) {
        bool helps = f->blocked == 1 || f->blocked == 2;
        int64_t reason = !f->current ? 3 : f->status > 3 ? 4 : helps ? 0 : 5;

        return reason && strcmp(word(&hf_repair_blocked_reason_list, reason), text) == 0;
    }
    if (strcmp(name, "repair_attention") == 0)
        return !flag;
    if (strcmp(name, "task_problem") == 0)
        return flag == (f->status <= 3 && (f->blocked == 1 || f->troubled));
    if (strcmp(name, "is_current_run") == 0)
        return flag == f->current;
    if (strcmp(name, "continue_as_new_recommended") == 0)
        return flag == f->pressed;
    if (strcmp(name, "archived") == 0)
        return flag == f->archived;
    if (strcmp(name, "is_terminal") == 0)
        return flag == (f->status > 3);
    if (strcmp(name, "declared_entry_mode") == 0)
        return f->declared;
    if (strcmp(name, "declared_contract_source") == 0)
        return f->declared == (strcmp(text, "durable_history") == 0);
    if (strcmp(name, "started_from") == 0)
        return f->sort_us >= strtoll(text, NULL, 10);
    if (strcmp(name, "started_to") == 0)
        return f->sort_us < strtoll(text, NULL, 10);
    if (strcmp(name, "closed_from") == 0)
        return f->status > 3 && f->sort_us + 5000000 >= strtoll(text, NULL, 10);
    if (strcmp(name, "closed_to") == 0)
        return f->status > 3 && f->sort_us + 5000000 < strtoll(text, NULL, 10);
    ck_abort_msg("the walk does not know the filter %s", name);
    return false;
}

static bool label_is(size_t i, const char *region)
{
    return facts[i].labelled && strcmp(regions[facts[i].region], region) == 0;
}

/* Whether run `i` has one of the values that are left out. */
static bool is_left_out(size_t i, hf_value without)
{
    hf_value labels = hf_get(without, "labels.region");
    bool out = false;
    hf_slice name;
    hf_value list;

    for (size_t n = 0; hf_value_member(without, n, &name, &list); n++)
        for (size_t j = 0; j < hf_len(list); j++) {
            char text[64];

            (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
            out = out || (strcmp(text, "labels") != 0 && one_fits(i, text, hf_at(list, j)));
        }
    for (size_t j = 0; j < hf_len(labels); j++)
        out = out || label_is(i, hf_str(hf_at(labels, j), "", ""));
    return out;
}

static bool all_fit(size_t i, hf_value filters)
{
    hf_slice name;
    hf_value item;

    for (size_t n = 0; hf_value_member(filters, n, &name, &item); n++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
        if (strcmp(text, "not") == 0) {
            if (is_left_out(i, item))
                return false;
        } else if (strcmp(text, "labels") == 0) {
            const char *region = hf_str(item, "region", NULL);

            if (region && !label_is(i, region))
                return false;
            if (hf_get(item, "nobody"))
                return false;
        } else if (strcmp(text, "search_attributes") == 0) {
            if (hf_get(item, "amount") && !number_fits(facts[i].amount, hf_get(item, "amount")))
                return false;
            if (hf_get(item, "tag") &&
                strcmp(regions[facts[i].region], hf_str(item, "tag", "")) != 0)
                return false;
        } else if (!one_fits(i, text, item)) {
            return false;
        }
    }
    return true;
}

static int newest_first(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;

    if (facts[x].sort_us != facts[y].sort_us)
        return facts[x].sort_us < facts[y].sort_us ? 1 : -1;
    return x < y ? 1 : -1;
}

static int oldest_first(const void *a, const void *b)
{
    return newest_first(b, a);
}

/* The list, page by page, is what the walk finds, in its order. */
static void list_check(hf_db *db, const char *json, int64_t limit, size_t least, bool oldest)
{
    static size_t expected[RUNS];
    hf_mem *mem = hf_mem_new();
    hf_list_query query = {.namespace_key = 1, .limit = limit, .oldest = oldest, .total = true};
    hf_value filters = NULL;
    hf_err err = {0};
    size_t count = 0;
    size_t at = 0;
    bool more = true;

    hf_test_ok(hf_filter_read(mem, hf_parse_(mem, json, strlen(json)), &filters, &err), &err, json);
    query.filters = filters;
    for (size_t i = 1; i <= RUNS; i++)
        if (all_fit(i, filters))
            expected[count++] = i;
    ck_assert_msg(count >= least, "%s fits %zu runs only", json, count);
    qsort(expected, count, sizeof(*expected), oldest ? oldest_first : newest_first);
    while (more) {
        hf_value page = NULL;
        hf_value items;

        hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, json);
        items = hf_get(page, "items");
        for (size_t i = 0; i < hf_len(items); i++, at++) {
            ck_assert_msg(at < count, "%s lists too much", json);
            ck_assert_msg(id_is(expected[at], hf_str(hf_at(items, i), "run_id", "")),
                          "%s: row %zu is %s", json, at,
                          hf_str(hf_at(items, i), "instance_id", ""));
        }
        if (count <= HF_LIST_COUNT_MAX) {
            ck_assert_int_eq(hf_int(page, "total.n", -1), (int64_t)count);
        } else {
            ck_assert_int_eq(hf_int(page, "total.n", -1), HF_LIST_COUNT_MAX);
            ck_assert(!hf_bool(page, "total.exact", true));
        }
        query.cursor = hf_slice_of(hf_str(page, "cursor", NULL));
        more = query.cursor.len > 0;
    }
    ck_assert_msg(at == count, "%s lists %zu of %zu", json, at, count);
    hf_mem_free(mem);
}

static hf_db *filled(hf_test_place *place, hf_store **out_store)
{
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_db *db = hf_store_writer(store);
    int64_t key = 0;
    hf_err err = {0};

    hf_test_ok(hf_namespace_make(db, HF_SLICE("default"), 1, &key, &err), &err, "make a namespace");
    ck_assert_int_eq(key, 1);
    facts_make(42);
    bytes_type = hf_test_place_kind(place) == HF_ENGINE_SQLITE ? "BLOB" : "BYTEA";
    store_fill(db);
    *out_store = store;
    return db;
}

/* Rows without histories would not stand up to verify. */
static void emptied(hf_test_place *place, hf_store *store)
{
    hf_err err = {0};

    hf_test_ok(
        hf_db_script(hf_store_writer(store),
                     "DELETE FROM run; DELETE FROM instance; DELETE FROM run_summary; "
                     "DELETE FROM run_label; DELETE FROM search_attribute; DELETE FROM task; "
                     "DELETE FROM failure;",
                     &err),
        &err, "empty the store");
    free(facts);
    hf_store_close(store);
    hf_test_place_free(place);
}

/* Every filter alone, and many together, over 10,000 runs. */
HF_BOTH_ENGINES(b189_filters_find_what_a_walk_finds)
{
    static const struct {
        const char *json;
        int64_t limit;
        size_t least;
    } cases[] = {
        {"{}", 1000, RUNS},
        {"{\"instance_id\":\"run-77\"}", 50, 1},
        {"{\"instance_id_contains\":\"-77\"}", 50, 100},
        {"{\"workflow_type\":\"ship\"}", 1000, 1500},
        {"{\"workflow_type_contains\":\"ship\"}", 1000, 3000},
        {"{\"workflow_type_contains\":\"%_\"}", 1000, 1500},
        {"{\"business_key\":\"key-7\"}", 50, 50},
        {"{\"business_key_contains\":\"-4\"}", 1000, 500},
        {"{\"queue\":\"slow\"}", 1000, 4000},
        {"{\"connection\":\"redis\"}", 50, 0},
        {"{\"compatibility\":\"v1\"}", 1000, 3000},
        {"{\"compatibility\":\"v\"}", 50, 0},
        {"{\"failure\":\"print-1\"}", 100, 100},
        {"{\"failure\":\"print-7\"}", 100, 0},
        {"{\"namespace\":\"default\",\"queue\":\"slow\",\"status\":\"failed\"}", 100, 100},
        {"{\"namespace\":\"other\"}", 50, 0},
        {"{\"status\":\"waiting\"}", 1000, 1000},
        {"{\"status_bucket\":\"running\"}", 1000, 3000},
        {"{\"status_bucket\":\"completed\"}", 1000, 1000},
        {"{\"status_bucket\":\"failed\"}", 1000, 3000},
        {"{\"closed_reason\":\"timed_out\"}", 1000, 500},
        {"{\"wait_kind\":\"signal\"}", 1000, 400},
        {"{\"liveness_state\":\"workflow_replay_blocked\"}", 1000, 500},
        {"{\"liveness_state\":\"run_paused\"}", 1000, 500},
        {"{\"liveness_state\":\"waiting_for_signal\"}", 100, 50},
        {"{\"liveness_state\":\"timer_scheduled\"}", 100, 50},
        {"{\"liveness_state\":\"closed\"}", 1000, 4000},
        {"{\"repair_blocked_reason\":\"run_closed\"}", 1000, 3000},
        {"{\"repair_blocked_reason\":\"selected_run_not_current\"}", 1000, 2000},
        {"{\"repair_attention\":true}", 50, 0},
        {"{\"repair_attention\":\"no\",\"status\":\"pending\"}", 1000, 1000},
        {"{\"task_problem\":\"yes\"}", 1000, 500},
        {"{\"task_problem\":0,\"queue\":\"slow\",\"status\":\"running\"}", 100, 300},
        {"{\"is_current_run\":false}", 1000, 2000},
        {"{\"continue_as_new_recommended\":1}", 1000, 1500},
        {"{\"archived\":true}", 1000, 1000},
        {"{\"is_terminal\":false}", 1000, 3000},
        {"{\"declared_entry_mode\":\"canonical\"}", 1000, 4000},
        {"{\"declared_contract_source\":\"unavailable\"}", 1000, 4000},
        {"{\"labels\":{\"region\":\"eu\"}}", 1000, 1000},
        {"{\"labels\":{\"region\":\"eu\",\"nobody\":\"x\"}}", 50, 0},
        {"{\"search_attributes\":{\"amount\":7}}", 50, 50},
        {"{\"search_attributes\":{\"amount\":\"7\"}}", 50, 50},
        {"{\"search_attributes\":{\"amount\":{\"gte\":90,\"lt\":95}}}", 100, 300},
        {"{\"search_attributes\":{\"amount\":{\"gt\":90,\"lte\":95}}}", 100, 300},
        {"{\"search_attributes\":{\"amount\":{\"eq\":95}}}", 100, 50},
        {"{\"search_attributes\":{\"tag\":\"eu\",\"amount\":{\"gte\":50}}}", 500, 1000},
        {"{\"started_from\":1700000001000000,\"started_to\":\"1700000020000000\"}", 50, 30},
        {"{\"closed_from\":1700002900000000}", 50, 30},
        {"{\"closed_to\":1700000105000000}", 50, 30},
        {"{\"not\":{\"status\":\"completed\"}}", 1000, 5000},
        {"{\"not\":{\"status\":[\"completed\",\"failed\"],\"compatibility\":\"v1\"}}", 1000, 2000},
        {"{\"not\":{\"closed_reason\":\"timed_out\",\"business_key\":[\"key-7\"]}}", 1000, 5000},
        {"{\"not\":{\"wait_kind\":\"signal\",\"archived\":true,\"failure\":\"print-1\"}}", 1000,
         3000},
        {"{\"not\":{\"workflow_type_contains\":\"ship\"},\"status_bucket\":\"running\"}", 500,
         1000},
        {"{\"not\":{\"labels\":{\"region\":[\"eu\",\"us\"]}},\"queue\":\"slow\"}", 1000, 1000},
        {"{\"workflow_type\":\"order\",\"status_bucket\":\"running\",\"label\":{\"region\":\"us\"},"
         "\"search_attribute\":{\"amount\":{\"lt\":30}},\"is_current_run\":true}",
         20, 20},
    };
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = NULL;
    hf_db *db = filled(place, &store);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        list_check(db, cases[i].json, cases[i].limit, cases[i].least, i % 2);
    emptied(place, store);
}

/* Runs that started at the same moment come in the order of their ids, and pages of any size cut
   the same list. */
HF_BOTH_ENGINES(b188_order_and_pages)
{
    static const int64_t limits[] = {1, 7, 333};
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = NULL;
    hf_db *db = filled(place, &store);

    for (size_t i = 0; i < 6; i++)
        list_check(db, "{\"started_from\":1700000001000000,\"started_to\":1700000040000000}",
                   limits[i / 2], 100, i % 2);
    emptied(place, store);
}

/* As a plain walk over the runs that fit counts them; null: those without the label. */
static void labels_counted(hf_value facet, hf_value filters)
{
    hf_value values = hf_get(facet, "values");

    ck_assert(hf_bool(facet, "exact", false));
    ck_assert_uint_gt(hf_len(values), 1);
    for (size_t i = 0; i < hf_len(values); i++) {
        const char *region = hf_str(hf_at(values, i), "value", NULL);
        int64_t n = 0;

        for (size_t run = 1; run <= RUNS; run++)
            n += all_fit(run, filters) &&
                 (region ? facts[run].labelled && !strcmp(regions[facts[run].region], region)
                         : !facts[run].labelled);
        ck_assert_int_eq(hf_int(hf_at(values, i), "n", 0), n);
    }
}

/* Facets count what matches; ids are found by a part; many keys are listed for commands. */
HF_BOTH_ENGINES(facets_parts_and_keys)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = NULL;
    hf_db *db = filled(place, &store);
    hf_mem *mem = hf_mem_new();
    hf_list_query query = {.namespace_key = 1, .limit = 5};
    hf_value page = NULL;
    hf_slice cursor = {0};
    hf_err err = {0};
    char part[20];
    char id[HF_ULID_TEXT_SIZE];
    hf_ulid run = hf_ulid_form(facts[123].sort_us, 123, 0);
    int64_t keys[400];
    size_t count = 0;
    size_t all = 0;
    int64_t sum = 0;

    query.facets = hf_json_(mem, "['status', 'workflow_type', 'label:region', 'label:nobody']");
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    ck_assert_uint_eq(hf_len(hf_get(page, "items")), 5);
    for (size_t i = 0; i < hf_len(hf_get(page, "facets.status.values")); i++)
        sum += hf_int(hf_at(hf_get(page, "facets.status.values"), i), "n", 0);
    ck_assert_int_le(sum, HF_LIST_COUNT_MAX + 1);
    ck_assert(!hf_bool(page, "facets.status.exact", true)); /* there are more than it looks at */
    ck_assert_uint_eq(hf_len(hf_get(page, "facets.workflow_type.values")), TYPES);
    query.filters = hf_json_(mem, "{'queue': 'slow'}");
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    labels_counted(hf_get(page, "facets.label:region"), query.filters);
    ck_assert_uint_eq(hf_len(hf_get(page, "facets.label:nobody.values")), 1);
    sum = 0;
    for (size_t i = 1; i <= RUNS; i++)
        sum += all_fit(i, query.filters);
    ck_assert_int_eq(hf_int(page, "facets.label:nobody.values.0.n", 0), sum);
    query.facets = hf_json_(mem, "['label:']");
    ck_assert_int_eq(hf_list_read(db, mem, &query, &page, &err), HF_INVALID);
    query.facets = hf_json_(mem, "[\"label:a' b\"]");
    ck_assert_int_eq(hf_list_read(db, mem, &query, &page, &err), HF_INVALID);
    hf_ulid_print(&run, id);
    memcpy(part, id + 10, 16);
    part[16] = '\0';
    query = (hf_list_query){
        .namespace_key = 1, .limit = 5, .filters = hf_json_(mem, "{'run_id_contains': %s}", part)};
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    ck_assert_uint_eq(hf_len(hf_get(page, "items")), 1);
    ck_assert_str_eq(hf_str(page, "items.0.instance_id", ""), "run-123");
    query = (hf_list_query){.namespace_key = 1, .filters = hf_json_(mem, "{'run_id': %s}", id)};
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    ck_assert_uint_eq(hf_len(hf_get(page, "items")), 1);
    query = (hf_list_query){.namespace_key = 1};
    do {
        hf_test_ok(hf_list_keys(db, mem, &query, &cursor, keys, 400, &count, &err), &err, "keys");
        all += count;
    } while (cursor.len);
    ck_assert_uint_eq(all, RUNS);
    query.cursor = HF_SLICE("yesterday");
    ck_assert_int_eq(hf_list_read(db, mem, &query, &page, &err), HF_INVALID);
    hf_mem_free(mem);
    emptied(place, store);
}

/* How many of one kind a bar has, as a plain walk counts them. */
static int64_t started(hf_value filters, const char *kind, int64_t from_us, int64_t to_us)
{
    int64_t n = 0;

    for (size_t i = 1; i <= RUNS; i++) {
        int64_t status = facts[i].status;
        const char *is = status <= 3 ? "open" : status == HF_RUN_STATUS_FAILED ? "failed" : "over";

        n += facts[i].sort_us >= from_us && facts[i].sort_us < to_us && strcmp(is, kind) == 0 &&
             all_fit(i, filters);
    }
    return n;
}

/* Every bar is what a walk counts; how many there are in all. */
static int64_t hist_check(hf_value hist, hf_value filters)
{
    static const char *const kinds[] = {"open", "over", "failed"};
    int64_t step_us = hf_int(hist, "step_seconds", 0) * 1000000;
    int64_t from_us = 0;
    int64_t sum = 0;

    ck_assert(hf_clock_parse(hf_slice_of(hf_str(hist, "from", "")), &from_us));
    ck_assert_int_eq(from_us % step_us, 0);
    for (size_t k = 0; k < 3; k++) {
        hf_value bars = hf_get(hist, kinds[k]);

        ck_assert_uint_eq(hf_len(bars), hf_len(hf_get(hist, "open")));
        ck_assert(hf_len(bars) > 20 && hf_len(bars) <= 72);
        for (size_t i = 0; i < hf_len(bars); i++) {
            int64_t begin_us = from_us + (int64_t)i * step_us;
            int64_t n = hf_int(hf_at(bars, i), "", -1);

            if (filters)
                ck_assert_int_eq(n, started(filters, kinds[k], begin_us, begin_us + step_us));
            sum += n;
        }
    }
    return sum;
}

/* Runs by when they started and how they stand; the newest alone when there are too many. */
HF_BOTH_ENGINES(runs_over_time)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = NULL;
    hf_db *db = filled(place, &store);
    hf_mem *mem = hf_mem_new();
    hf_list_query query = {.namespace_key = 1,
                           .limit = 1,
                           .hist = true,
                           .filters = hf_json_(mem, "{'queue': 'slow', 'started_from': "
                                                    "'1700000000000000', 'started_to': "
                                                    "'1700003000000000'}")};
    hf_value page = NULL;
    hf_err err = {0};
    hf_value hist;

    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    hist = hf_get(page, "hist");
    ck_assert(hf_bool(hist, "exact", false));
    ck_assert_int_eq(hf_int(hist, "step_seconds", 0), 60);
    ck_assert_int_gt(hist_check(hist, query.filters), 4000);
    query.filters = NULL;
    query.live.now_us = INT64_C(1700000000000000) + INT64_C(9000) * 1000000; /* long after */
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    hist = hf_get(page, "hist");
    ck_assert(!hf_bool(hist, "exact", true));
    ck_assert_int_eq(hist_check(hist, NULL), HF_LIST_COUNT_MAX);
    query.filters = hf_json_(mem, "{'workflow_type': 'nothing'}");
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list");
    ck_assert_int_eq(hf_value_kind_of(hf_get(page, "hist")), HF_VALUE_NULL);
    query.filters = hf_json_(mem, "{'instance_id': 'run-7', 'started_from': '1', "
                                  "'started_to': '253402300799000000'}");
    hf_test_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list"); /* some 54 years */
    ck_assert_int_eq(hist_check(hf_get(page, "hist"), query.filters), 1);
    hf_mem_free(mem);
    emptied(place, store);
}

/* What cannot be is refused with the name of the filter, and nothing is asked of a database. */
START_TEST(unknown_and_malformed_filters_are_refused)
{
    static const char *const bad[] = {"{\"colour\":\"red\"}",
                                      "{\"status\":\"asleep\"}",
                                      "{\"archived\":\"perhaps\"}",
                                      "{\"instance_id\":[1]}",
                                      "{\"labels\":\"eu\"}",
                                      "{\"labels\":{\"bad key\":\"x\"}}",
                                      "{\"search_attributes\":{\"a\":{\"between\":1}}}",
                                      "{\"search_attributes\":{\"a\":[1]}}",
                                      "{\"started_from\":\"soon\"}",
                                      "{\"not\":\"failed\"}",
                                      "{\"not\":{\"colour\":\"red\"}}",
                                      "{\"not\":{\"status\":[\"asleep\"]}}",
                                      "{\"not\":{\"liveness_state\":\"closed\"}}",
                                      "{\"not\":{\"started_from\":1}}",
                                      "{\"not\":{\"labels\":\"eu\"}}",
                                      "{\"not\":{\"labels\":{\"bad key\":\"x\"}}}",
                                      "[1]"};
    hf_mem *mem = hf_mem_new();
    hf_value filters = NULL;
    hf_err err = {0};
    char text[300];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_filter_read(mem, hf_parse_(mem, bad[i], strlen(bad[i])), &filters, &err) ==
                          HF_INVALID,
                      "%s was taken", bad[i]);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(hf_filter_read(mem, hf_json_(mem, "{'queue': %s}", text), &filters, &err),
                     HF_INVALID);
    ck_assert_int_eq(
        hf_filter_read(mem, hf_json_(mem, "{'queue': '  ', 'status': null}"), &filters, &err),
        HF_OK);
    ck_assert_uint_eq(hf_len(filters), 0);
    hf_mem_free(mem);
}
END_TEST

/* Later filters win; labels are merged name by name and sorted; what either leaves out is. */
START_TEST(b189_filters_merge)
{
    hf_mem *mem = hf_mem_new();
    hf_value a =
        hf_json_(mem, "{'status': 'failed', 'queue': 'q', 'labels': {'b': '1', 'c': '2'}}");
    hf_value b = hf_json_(mem, "{'status': 'running', 'labels': {'a': '0', 'b': '9'}}");

    ck_assert_str_eq(hf_text(mem, hf_filter_merge(mem, a, b)),
                     "{\"queue\":\"q\",\"status\":\"running\",\"labels\":{\"a\":\"0\",\"b\":\"9\","
                     "\"c\":\"2\"}}");
    a = hf_json_(mem, "{'not': {'status': ['failed'], 'labels': {'b': ['1']}}}");
    b = hf_json_(mem, "{'not': {'status': ['failed', 'running'], 'queue': ['q'], "
                      "'labels': {'a': ['0'], 'b': ['9']}}}");
    ck_assert_str_eq(
        hf_text(mem, hf_filter_merge(mem, a, b)),
        "{\"not\":{\"status\":[\"failed\",\"running\"],\"labels\":{\"b\":[\"1\",\"9\"],"
        "\"a\":[\"0\"]},\"queue\":[\"q\"]}}");
    ck_assert_int_eq(hf_int(hf_filter_definition(mem), "version", 0), 6);
    ck_assert_str_eq(hf_str(hf_filter_definition(mem), "fields.status.input", ""), "select");
    hf_mem_free(mem);
}
END_TEST

HF_PG_SUITE_MAIN("project/list", HF_BOTH_SLOW(b189_filters_find_what_a_walk_finds, 300),
                 HF_BOTH_SLOW(b188_order_and_pages, 300), HF_BOTH_SLOW(facets_parts_and_keys, 300),
                 HF_BOTH_SLOW(runs_over_time, 300), {unknown_and_malformed_filters_are_refused, 0},
                 {b189_filters_merge, 0})
