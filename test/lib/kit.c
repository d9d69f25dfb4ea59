/* kit.c: see kit.h. A case is a process of one thread, so that a short table from engine to place
   is enough. */
#define HF_KIT_INSIDE /* here the functions are themselves */
#include "lib/kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "engine/engine_impl.h"
#include "lib/nodes.h"
#include "lib/served.h"
#include "model/event_codec.h"
#include "store/row.h"

#define KIT_EPOCH_US INT64_C(1767225600000000) /* 2026-01-01 */

enum { ENGINES_MAX = 8 };

static struct {
    hf_engine *engine;
    hf_test_place *place;
    const hf_app *app;
    hf_way *way; /* NULL: the engine has the store itself */
} kit_places[ENGINES_MAX];

/* The way of this case; NULL: the engine has the store itself. */
static hf_way *(*kit_way)(hf_test_place *place, const hf_app *app, int64_t now_us);

static hf_engine *engine_note(hf_engine *engine, hf_test_place *place, const hf_app *app,
                              hf_way *way)
{
    size_t i = 0;

    while (i < ENGINES_MAX && kit_places[i].engine)
        i++;
    ck_assert_uint_lt(i, ENGINES_MAX);
    kit_places[i].engine = engine;
    kit_places[i].place = place;
    kit_places[i].app = app;
    kit_places[i].way = way;
    return engine;
}

static hf_engine *engine_at(hf_test_place *place, const hf_app *app, int64_t now_us)
{
    hf_clock *clock;
    hf_engine *engine = NULL;
    hf_status st;

    if (kit_way) {
        hf_way *way = kit_way(place, app, now_us);

        return engine_note(way->handle, place, app, way);
    }
    clock = hf_clock_new_virtual(now_us);
    ck_assert_ptr_nonnull(clock);
    st = hf_engine_open(hf_test_place_address(place), app, clock, &engine);
    ck_assert_ptr_nonnull(engine);
    if (!st)
        st = hf_engine_begin(engine, ENGINE_TEST, &engine->open_error);
    hf_kit_ok(engine, st);
    return engine_note(engine, place, app, NULL);
}

/* The world of an engine; NULL: it has the store itself. */
static hf_way *way_of(const hf_engine *engine)
{
    for (size_t i = 0; i < ENGINES_MAX; i++)
        if (engine && kit_places[i].engine == engine)
            return kit_places[i].way;
    return NULL;
}

hf_engine *hf_kit_home(hf_engine *engine)
{
    hf_way *way = way_of(engine);

    return way ? way->home : engine;
}

hf_engine *hf_kit_going(hf_engine *engine)
{
    hf_way *way = way_of(engine);

    if (way)
        way->moves->go(way);
    return engine;
}

hf_status hf_kit_command(hf_engine *engine, const char *command, hf_value request, hf_mem *mem,
                         hf_command_result *out)
{
    bool answers = command && (strcmp(command, "query") == 0 ||
                               (strcmp(command, "update") == 0 &&
                                strcmp(hf_str(request, "wait_for", "completed"), "accepted") != 0));

    return hf_command(answers ? hf_kit_going(engine) : engine, command, request, mem, out);
}

static size_t engine_find(const hf_engine *engine)
{
    size_t i = 0;

    while (i < ENGINES_MAX && kit_places[i].engine != engine)
        i++;
    ck_assert_msg(i < ENGINES_MAX, "the engine is not from hf_kit_open");
    return i;
}

hf_engine *hf_kit_open(hf_engine_kind kind, const hf_app *app)
{
    return engine_at(hf_test_place_stocked(kind), app, KIT_EPOCH_US);
}

/* The engine's handle is gone, and what it stood for. */
static void engine_end(size_t at)
{
    hf_engine *engine = kit_places[at].engine;

    kit_places[at].engine = NULL;
    if (kit_places[at].way)
        kit_places[at].way->moves->close(kit_places[at].way);
    else
        hf_close(engine);
}

hf_engine *hf_kit_reopen(hf_engine *engine, const hf_app *app)
{
    size_t at = engine_find(engine);
    hf_test_place *place = kit_places[at].place;
    int64_t now_us = hf_clock_real_us(hf_kit_home(engine)->clock);
    const hf_app *program = app ? app : kit_places[at].app;

    engine_end(at);
    return engine_at(place, program, now_us);
}

hf_test_place *hf_kit_place(hf_engine *engine)
{
    return kit_places[engine_find(engine)].place;
}

hf_engine *hf_kit_join(hf_engine *engine, const hf_app *app)
{
    return engine_at(hf_kit_place(engine), app, hf_clock_real_us(engine->clock));
}

void hf_kit_leave(hf_engine *engine)
{
    kit_places[engine_find(engine)].engine = NULL;
    hf_close(engine);
}

void hf_kit_close(hf_engine *engine)
{
    size_t at = engine_find(engine);

    engine_end(at);
    hf_test_place_free(kit_places[at].place);
}

void hf_kit_crash_after(hf_engine *engine, int64_t commits)
{
    engine->crash_at = engine->commits + commits;
}

void hf_kit_meddle(hf_engine *engine, int64_t commits, void (*meddle)(void *ctx), void *ctx)
{
    engine->meddle = meddle;
    engine->meddle_ctx = ctx;
    engine->meddle_at = engine->commits + commits;
}

void hf_kit_skip(hf_engine *engine, hf_ms by)
{
    hf_way *way = way_of(engine);

    hf_clock_advance(way ? way->clock : engine->virtual_clock, by * 1000);
}

void hf_kit_pass(hf_engine *engine, hf_ms by)
{
    hf_way *way = way_of(engine);

    if (way)
        hf_way_advance(way, by);
    else
        hf_kit_skip(engine, by);
}

void hf_kit_turn(hf_engine *engine)
{
    (void)hf_core_step(engine->core);
    (void)hf_writer_step(engine->writer);
}

void hf_kit_ok(hf_engine *engine, hf_status st)
{
    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), hf_errmsg(engine));
}

const char *hf_kit_result(hf_engine *engine, const char *id)
{
    hf_value out = NULL;
    const hf_error *error = NULL;

    hf_kit_ok(engine, hf_result(hf_kit_going(engine), id, 0, &out, &error));
    return hf_show(engine, out);
}

/* The events of the newest run, in the engine's memory. */
static hf_event *events_read(hf_engine *engine, const char *id, size_t *out_count)
{
    hf_engine *home = hf_kit_home(engine);
    hf_mem *mem = hf_mem_of_engine(engine);
    hf_db *db = hf_engine_read_begin(home);
    hf_intake in = {.db = db, .namespace_key = home->namespace_key};
    hf_db_value params[3] = {hf_db_int(0), hf_db_int(1), hf_db_int(INT64_MAX)};
    hf_intake_target target;
    hf_db_cursor *cursor = NULL;
    hf_event *all = NULL;
    hf_err err = {0};
    bool row = true;

    *out_count = 0;
    hf_test_ok(hf_intake_find(&in, mem, hf_slice_of(id), &target, &err), &err, "find the instance");
    params[0] = hf_db_int(target.base.run);
    all = hf_mem_array(mem, (size_t)target.base.last_seq + 1, sizeof(*all));
    ck_assert_ptr_nonnull(all);
    hf_test_ok(hf_db_query(db, HF_STMT_HISTORY_READ, params, 3, &cursor, &err), &err, "history");
    for (;;) {
        hf_event *events = NULL;
        size_t count = 0;
        hf_slice body;

        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "history");
        if (!row)
            break;
        body = hf_db_column_bytes(cursor, 3);
        body = hf_slice_from(hf_mem_text(mem, body), body.len);
        hf_test_ok(hf_event_chunk_decode(mem, body, &events, &count, &err), &err, "history");
        memcpy(all + *out_count, events, count * sizeof(*events));
        *out_count += count;
    }
    hf_db_end(cursor);
    hf_engine_read_end(home);
    return all;
}

const char *hf_kit_history(hf_engine *engine, const char *id)
{
    size_t count = 0;
    hf_event *events = events_read(engine, id, &count);
    hf_buf text = {0};
    const char *copy;

    for (size_t i = 0; i < count; i++)
        hf_buf_add_format(&text, "%s%s", i ? " " : "", hf_event_type_text(events[i].type));
    ck_assert(hf_buf_ok(&text));
    copy = hf_mem_text(hf_mem_of_engine(engine), hf_buf_slice(&text));
    ck_assert_ptr_nonnull(copy);
    hf_buf_fini(&text);
    return copy;
}

const hf_event *hf_kit_event(hf_engine *engine, const char *id, const char *type, int nth)
{
    size_t count = 0;
    hf_event *events = events_read(engine, id, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(hf_event_type_text(events[i].type), type) == 0 && nth-- == 0)
            return &events[i];
    return NULL;
}

const char *hf_kit_said(hf_engine *engine, const char *id, const char *type, int nth,
                        hf_event_key key)
{
    const hf_event *event = hf_kit_event(engine, id, type, nth);
    hf_mem *mem = hf_mem_of_engine(engine);
    hf_payload_value payload;
    hf_slice text = {0};
    int64_t number = 0;
    bool flag = false;
    bool found = false;
    hf_ulid ulid;
    char printed[27];

    ck_assert_msg(event != NULL, "%s has no %s number %d", id, type, nth);
    switch (hf_event_key_kind(key)) {
    case HF_VALUE_KIND_TEXT:
        found = hf_event_text(event, key, &text);
        break;
    case HF_VALUE_KIND_JSON:
        found = hf_event_json(event, key, &text);
        break;
    case HF_VALUE_KIND_PAYLOAD:
        found = hf_event_payload(event, key, &payload);
        text = found ? payload.bytes : text;
        break;
    case HF_VALUE_KIND_INT:
        if (hf_event_int(event, key, &number))
            return hf_mem_format(mem, "%" PRId64, number);
        break;
    case HF_VALUE_KIND_TIME:
        if (hf_event_time(event, key, &number))
            return hf_mem_format(mem, "%" PRId64, number);
        break;
    case HF_VALUE_KIND_BOOL:
        if (hf_event_bool(event, key, &flag))
            return flag ? "true" : "false";
        break;
    case HF_VALUE_KIND_ID:
        if (hf_event_id(event, key, &ulid)) {
            hf_ulid_print(&ulid, printed);
            return hf_mem_text(mem, hf_slice_of(printed));
        }
        break;
    }
    return found ? hf_mem_text(mem, text) : "";
}

hf_value hf_kit_bundle(hf_engine *engine, const char *id)
{
    const hf_json_limits limits = {.bytes_max = 16 * 1024 * 1024};
    const char *json = NULL;
    hf_value out = NULL;
    hf_err err;

    hf_kit_ok(engine, hf_export(hf_kit_home(engine), hf_mem_of_engine(engine), &json, id));
    hf_test_ok(hf_json_read(hf_mem_of_engine(engine), hf_slice_of(json), &limits, &out, &err), &err,
               "read a bundle");
    return out;
}

/* An engine with threads of its own may write meanwhile, and owns its file alone: it begins anew.
 */
void hf_kit_sql(hf_engine *engine, const char *sql)
{
    hf_way *way = way_of(engine);
    hf_err err = {0};

    if (way)
        way->moves->restart(way, sql);
    else
        hf_test_ok(hf_db_script(hf_store_writer(engine->store), sql, &err), &err, sql);
}

int64_t hf_kit_number(hf_engine *engine, const char *sql)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number;

    hf_test_ok(
        hf_db_query_text(hf_engine_read_begin(hf_kit_home(engine)), sql, NULL, 0, &cursor, &err),
        &err, sql);
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, sql);
    ck_assert_msg(row, "no row: %s", sql);
    number = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    hf_engine_read_end(hf_kit_home(engine));
    return number;
}

hf_command_result hf_kit_ask(hf_engine *engine, const char *command, hf_value request)
{
    hf_command_result out = {0};

    hf_kit_ok(engine, hf_kit_command(engine, command, request, hf_mem_of_engine(engine), &out));
    return out;
}

void hf_kit_begin(hf_engine *engine, const char *type, const char *id, hf_value input)
{
    hf_kit_ok(engine, hf_start(engine, type, input, .id = id));
    hf_kit_ok(engine, hf_kit_advance(engine, 0));
}

void hf_kit_settle(hf_engine *engine)
{
    hf_kit_ok(engine, hf_kit_advance(engine, 0));
    hf_kit_crash(engine);
    hf_kit_ok(engine, hf_kit_advance(engine, 0));
}

int64_t hf_kit_rows(hf_engine *engine, const char *table)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
    return hf_kit_number(engine, sql);
}

hf_poll *hf_kit_poll(hf_engine *engine, hf_task_kind kind, const char *worker,
                     bool (*got)(void *arg, hf_value task), void *arg)
{
    hf_poll *poll = NULL;

    hf_kit_ok(engine, hf_poll_begin(hf_kit_home(engine),
                                    &(hf_poll_opts){.size_ = sizeof(hf_poll_opts),
                                                    .kind = kind,
                                                    .queue = "default",
                                                    .worker = worker,
                                                    .got = got,
                                                    .arg = arg},
                                    &poll));
    return poll;
}

/* ---- ways */

typedef struct way_row {
    hf_kit_way way;
    const char *file;
    const char *name;
} way_row;

#define HF_NOT_SERVED(file, name, reason) {HF_KIT_SERVED, file, #name},
#define HF_NOT_NODES(file, name, reason)  {HF_KIT_NODES, file, #name},
#define HF_NOT_APART(file, name, reason)
static const way_row not_that_way[] = {
#include "ways/ways.def"
    {HF_KIT_SERVED, NULL, NULL}};
#undef HF_NOT_SERVED
#undef HF_NOT_NODES
#undef HF_NOT_APART

/* Sanitizers have their own tests of servers; these are about what programs see. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool built_plain = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool built_plain = false;
#else
static const bool built_plain = true;
#endif
#else
static const bool built_plain = true;
#endif

/* Which node gets the first type: half of the cases begin with a type that the node of their
   commands does not have. HF_TEST_NODES=other: the other half. */
static bool kit_swapped;

static hf_way *nodes_open(hf_test_place *place, const hf_app *app, int64_t now_us)
{
    return hf_nodes_open(place, app, now_us, kit_swapped);
}

bool hf_kit_goes(hf_kit_way way, const char *file, const char *name)
{
    const char *nodes = getenv("HF_TEST_NODES");

    for (const way_row *row = not_that_way; row->file; row++)
        if (row->way == way && strstr(file, row->file) && strcmp(row->name, name) == 0)
            return false;
    if (!built_plain)
        return false;
    kit_way = way == HF_KIT_SERVED ? hf_served_open : nodes_open;
    for (const char *at = name; *at; at++)
        kit_swapped ^= *at & 1;
    kit_swapped ^= nodes && strcmp(nodes, "other") == 0;
    return true;
}

hf_status hf_kit_drain(hf_engine *engine)
{
    hf_way *way = way_of(engine);

    if (!way)
        return hf_test_drain(engine);
    hf_way_drain(way);
    return HF_OK;
}

hf_status hf_kit_advance(hf_engine *engine, hf_ms by)
{
    hf_way *way = way_of(engine);

    if (!way)
        return hf_test_advance(engine, by);
    hf_way_advance(way, by);
    return HF_OK;
}

void hf_kit_crash(hf_engine *engine)
{
    hf_way *way = way_of(engine);

    if (way)
        way->moves->restart(way, NULL);
    else
        hf_test_crash(engine);
}

void hf_kit_fail(hf_engine *engine, const char *activity, int times, const char *type)
{
    hf_way *way = way_of(engine);

    if (way)
        way->moves->trip(way, activity, times, type);
    else
        hf_test_fail(engine, activity, times, type);
}

const char *hf_kit_status(hf_engine *engine, const char *id)
{
    hf_way *way = way_of(engine);

    return way ? way->moves->status(way, id) : hf_test_status(engine, id);
}

int hf_kit_count(hf_engine *engine, const char *id, const char *event_type)
{
    return hf_test_count(hf_kit_home(engine), id, event_type);
}

hf_status hf_kit_set(hf_engine *engine, const char *name, const char *value)
{
    hf_way *way = way_of(engine);

    return way ? way->moves->set(way, name, value) : hf_set(engine, name, value);
}
