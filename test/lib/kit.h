/* kit.h: an engine in test mode (one thread, virtual clock) on a real place of either database, so
   that one body of a behaviour test runs on both. hf_test_drain, _advance, _fail, _crash, _status
   and _count work on it as they do on hf_test_open's.

   HF_BOTH_ENGINES(b111_start_to_close_is_per_attempt)
   {
       hf_engine *d = hf_kit_open(kind, &app);
       ...
       hf_kit_close(d);
   }

   HF_EVERY_WAY instead of HF_BOTH_ENGINES makes two more cases of it. In name_served the program of
   the case is a worker behind a server (served.h): `d` is its handle, so that commands are
   requests; what only the store knows is looked up, and what operators do is done, at the server's
   engine. In name_nodes two nodes share a PostgreSQL store, and its types are divided between them
   (nodes.h): `d` is one of them, which owns about half of the runs and brings about half of the
   types. A case that cannot hold there says why in test/ways/ways.def. */
#ifndef HF_TEST_LIB_KIT_H
#define HF_TEST_LIB_KIT_H

#include "engine/command.h"
#include "holdfast/holdfast.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/engine.h"
#include "model/event.h"

/* Fails the case when it cannot be had. */
hf_engine *hf_kit_open(hf_engine_kind kind, const hf_app *app);

/* The engine is closed in good order and opened again with another program (NULL: the same one) on
   the same place; the clock goes on where it stood. The old handle is gone. */
hf_engine *hf_kit_reopen(hf_engine *engine, const hf_app *app);

/* Another engine on the same place, at the same time: PostgreSQL only. hf_kit_leave closes it. */
hf_engine *hf_kit_join(hf_engine *engine, const hf_app *app);
void hf_kit_leave(hf_engine *engine);

/* Closes the engine, has the store verified, and removes the place. */
void hf_kit_close(hf_engine *engine);

/* Where the engine's store is. */
hf_test_place *hf_kit_place(hf_engine *engine);

/* Lets the engine crash right after its nth commit from now, whatever moves it there. */
void hf_kit_crash_after(hf_engine *engine, int64_t commits);

/* Calls it once, right before the engine's nth commit from now: what that commit holds was drafted
   from what was there before. */
void hf_kit_meddle(hf_engine *engine, int64_t commits, void (*meddle)(void *ctx), void *ctx);

/* Moves the clock without doing anything: what fell due meanwhile is late. */
void hf_kit_skip(hf_engine *engine, hf_ms by);

/* The same from inside a step or an activity, whose worker says meanwhile that it has it. */
void hf_kit_pass(hf_engine *engine, hf_ms by);

/* One turn of the core and one batch of the writer: what the commit promises is not kept yet, and
   no activity or step has run. */
void hf_kit_turn(hf_engine *engine);

/* The status must be HF_OK; else the case fails with the engine's own words. */
void hf_kit_ok(hf_engine *engine, hf_status st);

/* The result of a completed run as JSON text, in the engine's memory. */
const char *hf_kit_result(hf_engine *engine, const char *id);

/* The history of the newest run of an instance: names of event types separated by a space, in the
   engine's memory. */
const char *hf_kit_history(hf_engine *engine, const char *id);

/* The nth (from 0) event of a type of that run, in the engine's memory; NULL when there is none. */
const hf_event *hf_kit_event(hf_engine *engine, const char *id, const char *type, int nth);

/* What the nth event of a type says under a key: texts and JSON as they are, times and numbers in
   digits, a payload's inline bytes; "" when it says nothing. */
const char *hf_kit_said(hf_engine *engine, const char *id, const char *type, int nth,
                        hf_event_key key);

/* The published bundle of the newest run, in the engine's memory. */
hf_value hf_kit_bundle(hf_engine *engine, const char *id);

/* Changes the store behind the engine's back: on its own connection, or, where it is one among
   others that have threads of their own (way.h), while all of them begin anew. */
void hf_kit_sql(hf_engine *engine, const char *sql);

/* One number from the store: the statement returns one row with one column. */
int64_t hf_kit_number(hf_engine *engine, const char *sql);

/* How many rows a table has. */
int64_t hf_kit_rows(hf_engine *engine, const char *table);

/* A command that must be answered; the answer is in the engine's memory. */
hf_command_result hf_kit_ask(hf_engine *engine, const char *command, hf_value request);

/* Starts a run and lets the engine do all that can be done now. */
void hf_kit_begin(hf_engine *engine, const char *type, const char *id, hf_value input);

/* Does all that can be done now, then again after a crash: everything is replayed. */
void hf_kit_settle(hf_engine *engine);

/* A worker begins to ask at the queue "default". */
hf_poll *hf_kit_poll(hf_engine *engine, hf_task_kind kind, const char *worker,
                     bool (*got)(void *arg, hf_value task), void *arg);

/* ---- ways */

typedef enum hf_kit_way { HF_KIT_SERVED, HF_KIT_NODES } hf_kit_way;

/* The case goes this way from now on. False: ways.def says why it cannot. */
bool hf_kit_goes(hf_kit_way way, const char *file, const char *name);

/* The engine that has the store: the server's, or the case's own. */
hf_engine *hf_kit_home(hf_engine *engine);

/* The same engine, after the world that it is in may go on by itself. */
hf_engine *hf_kit_going(hf_engine *engine);

/* hf_command; the world goes on if code has to answer. Who waits for no more than the acceptance of
   an update is answered while it stands still: the update must have no validator. */
hf_status hf_kit_command(hf_engine *engine, const char *command, hf_value request, hf_mem *mem,
                         hf_command_result *out);

/* hf_test_drain, _advance, _crash, _fail, _status and _count. */
hf_status hf_kit_drain(hf_engine *engine);
hf_status hf_kit_advance(hf_engine *engine, hf_ms by);
void hf_kit_crash(hf_engine *engine);
void hf_kit_fail(hf_engine *engine, const char *activity, int times, const char *type);
const char *hf_kit_status(hf_engine *engine, const char *id);
int hf_kit_count(hf_engine *engine, const char *id, const char *event_type);

/* hf_set; in the other ways everything begins anew for it. */
hf_status hf_kit_set(hf_engine *engine, const char *name, const char *value);

#ifndef HF_KIT_INSIDE
#define hf_test_drain(engine)           hf_kit_drain(engine)
#define hf_test_advance(engine, by)     hf_kit_advance(engine, by)
#define hf_test_crash(engine)           hf_kit_crash(engine)
#define hf_test_fail(engine, ...)       hf_kit_fail(engine, __VA_ARGS__)
#define hf_test_status(engine, id)      hf_kit_status(engine, id)
#define hf_test_count(engine, id, type) hf_kit_count(engine, id, type)
#define hf_set(engine, name, value)     hf_kit_set(engine, name, value)
/* Callers wait for what code answers. */
#define hf_update(engine, ...)  hf_update(hf_kit_going(engine), __VA_ARGS__)
#define hf_query(engine, ...)   hf_query(hf_kit_going(engine), __VA_ARGS__)
#define hf_result(engine, ...)  hf_result(hf_kit_going(engine), __VA_ARGS__)
#define hf_await(engine, ...)   hf_await(hf_kit_going(engine), __VA_ARGS__)
#define hf_command(engine, ...) hf_kit_command(engine, __VA_ARGS__)
/* What a server does not have is looked at there. */
#define hf_engine_command(engine, ...) hf_engine_command(hf_kit_home(engine), __VA_ARGS__)
#define hf_why(engine, ...)            hf_why(hf_kit_home(engine), __VA_ARGS__)
#define hf_describe(engine, ...)       hf_describe(hf_kit_home(engine), __VA_ARGS__)
#define hf_export_with(engine, ...)    hf_export_with(hf_kit_home(engine), __VA_ARGS__)
#define hf_history_with(engine, ...)   hf_history_with(hf_kit_home(engine), __VA_ARGS__)
#endif

#define HF_EVERY_WAY(name)                                                                         \
    static void name##_on(hf_engine_kind kind);                                                    \
    START_TEST(name##_sqlite)                                                                      \
    {                                                                                              \
        name##_on(HF_ENGINE_SQLITE);                                                               \
    }                                                                                              \
    END_TEST                                                                                       \
    START_TEST(name##_postgres)                                                                    \
    {                                                                                              \
        name##_on(HF_ENGINE_POSTGRES);                                                             \
    }                                                                                              \
    END_TEST                                                                                       \
    START_TEST(name##_served)                                                                      \
    {                                                                                              \
        if (hf_kit_goes(HF_KIT_SERVED, __FILE__, #name))                                           \
            name##_on(HF_ENGINE_SQLITE);                                                           \
    }                                                                                              \
    END_TEST                                                                                       \
    START_TEST(name##_nodes)                                                                       \
    {                                                                                              \
        if (hf_kit_goes(HF_KIT_NODES, __FILE__, #name))                                            \
            name##_on(HF_ENGINE_POSTGRES);                                                         \
    }                                                                                              \
    END_TEST                                                                                       \
    static void name##_on(hf_engine_kind kind)

#define HF_WAYS(name) HF_WAYS_SLOW(name, 0)
#define HF_WAYS_SLOW(name, seconds)                                                                \
    {name##_sqlite, seconds}, {name##_postgres, seconds}, {name##_served, seconds},                \
    {                                                                                              \
        name##_nodes, seconds                                                                      \
    }

#endif
