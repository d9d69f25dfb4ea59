/* kit.h: an engine in test mode (one thread, virtual clock) on a real place of either database, so
   that one body of a behaviour test runs on both. hf_test_drain, _advance, _fail, _crash, _status
   and _count work on it as they do on hf_test_open's.

   HF_BOTH_ENGINES(b111_start_to_close_is_per_attempt)
   {
       hf_engine *d = hf_kit_open(kind, &app);
       ...
       hf_kit_close(d);
   } */
#ifndef HF_TEST_LIB_KIT_H
#define HF_TEST_LIB_KIT_H

#include "holdfast/holdfast.h"
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

/* Changes the store behind the engine's back, on its own connection. */
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

#endif
