/* holdfast.h: the authoring API, agreed shape. It is the whole public surface for people who write workflows;
   hosts and tools have host.h and view.h. Complete it in this style: named options through macros, `_with` forms for
   bindings, size_ first and zero means default in every option struct, nothing to free in workflow code. */
#ifndef HOLDFAST_HOLDFAST_H
#define HOLDFAST_HOLDFAST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/mem.h"
#include "holdfast/status.h"
#include "holdfast/value.h"

#if defined(__GNUC__)
#define HF_NORETURN __attribute__((noreturn))
#define HF_CHECK    __attribute__((warn_unused_result))
#else
#define HF_NORETURN
#define HF_CHECK
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types */
typedef struct hf_engine hf_engine;                 /* an engine: a file, a database, a server        */
typedef struct hf_ctx  hf_ctx;             /* a running workflow (deterministic code)        */
typedef struct hf_act  hf_act;             /* a running activity attempt (ordinary code)     */
typedef struct hf_step hf_step;            /* a running machine step                         */
typedef int64_t        hf_ms;              /* a duration                                     */

#define HF_STR2(x) #x
#define HF_STR1(x) HF_STR2(x)
#define HF_AT __FILE__ ":" HF_STR1(__LINE__)   /* every step knows its source line */

#define hf_seconds(n) ((hf_ms)(n) * 1000)
#define hf_minutes(n) ((hf_ms)(n) * 60000)
#define hf_hours(n)   ((hf_ms)(n) * 3600000)
#define hf_days(n)    ((hf_ms)(n) * 86400000)
#define hf_weeks(n)   ((hf_ms)(n) * 604800000)
#define hf_months(n)  ((hf_ms)(n) * 2592000000)   /* 30 days  */
#define hf_years(n)   ((hf_ms)(n) * 31536000000)  /* 365 days */

typedef struct hf_error {                  /* lives in the arena of the task that saw it      */
    hf_status   status;
    const char *type;                      /* "card_declined": stable, matched by code and UI */
    const char *message;
    hf_value    details;
    bool        retryable;
    const struct hf_error *cause;
} hf_error;

/* --------------------------------------------------------------- values */
hf_mem *hf_mem_of_ctx (hf_ctx *);  hf_mem *hf_mem_of_act(hf_act *);
hf_mem *hf_mem_of_step(hf_step *); hf_mem *hf_mem_of_engine (hf_engine *);
static inline hf_mem *hf_mem_self(hf_mem *m) { return m; }
#ifndef __cplusplus
#define HF_MEM(o) (_Generic((o), hf_ctx *: hf_mem_of_ctx, hf_act *: hf_mem_of_act, \
                    hf_step *: hf_mem_of_step, hf_engine *: hf_mem_of_engine, hf_mem *: hf_mem_self)(o))
#define hf_json(o, ...) hf_json_(HF_MEM(o), __VA_ARGS__)
#define hf_show(o, v)   hf_text(HF_MEM(o), v)
#endif

/* ------------------------------------------------- inside a workflow */
typedef hf_value hf_workflow_fn(hf_ctx *w, hf_value in);
typedef bool     hf_predicate(const void *state);

typedef struct hf_activity_opts {
    size_t size_; const char *at_; hf_value in;
    const char *queue, *summary;           /* summary: the label the console shows on the bar */
    hf_ms schedule_to_start, start_to_close, schedule_to_close, heartbeat;
    int   max_attempts;                    /* 0: the definition's, else 1; -1: no limit        */
    const hf_ms *backoff; size_t backoff_n; /* NULL: 1,2,5,10,15,30,60,120 s; the last repeats    */
    bool  local;                           /* run inside the workflow task (local activity)  */
    const char *no_retry_on;               /* "card_declined,bad_input"                       */
    const hf_error **err;                  /* set: report failure here. unset: fail the run   */
} hf_activity_opts;

typedef enum { HF_CLOSE_ABANDON, HF_CLOSE_CANCEL, HF_CLOSE_TERMINATE } hf_close_policy;   /* 0 is the contract's default */
typedef struct hf_child_opts {
    size_t size_; const char *at_; hf_value in;
    const char *id, *queue, *summary; hf_ms execution_timeout, run_timeout;
    int max_attempts; hf_close_policy on_parent_close; const hf_error **err;
} hf_child_opts;

typedef struct hf_wait_opts { size_t size_; const char *at_; hf_ms timeout; const char *summary, *revision; } hf_wait_opts;   /* revision: predicate fingerprint */
typedef struct hf_future { uint32_t id; } hf_future;
typedef struct hf_leaf {
    enum { HF_LEAF_END, HF_LEAF_ACTIVITY, HF_LEAF_CHILD, HF_LEAF_GROUP } kind;
    const char *name; const void *opts; const struct hf_leaf *items;
} hf_leaf;

hf_value  hf_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o);
hf_value  hf_child_with   (hf_ctx *w, const char *type, const hf_child_opts *o);
hf_future hf_spawn_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o);
hf_future hf_spawn_child_with   (hf_ctx *w, const char *type, const hf_child_opts *o);
hf_value  hf_join   (hf_ctx *w, hf_future f);
hf_value  hf_join_all(hf_ctx *w, const hf_future *f, size_t n);
hf_value  hf_all_of (hf_ctx *w, const hf_leaf *leaves);
hf_value  hf_receive_with(hf_ctx *w, const char *signal, const hf_wait_opts *o);       /* NULL: timed out  */
bool      hf_wait_with   (hf_ctx *w, const char *key, hf_predicate *p, const hf_wait_opts *o);  /* key may be NULL   */
void      hf_sleep  (hf_ctx *w, hf_ms d);
hf_value  hf_side_effect(hf_ctx *w, const char *key, hf_value (*fn)(hf_mem *, void *), void *arg);
#define HF_VERSION_DEFAULT (-1)
int       hf_version(hf_ctx *w, const char *change, int min, int max);   /* old runs get HF_VERSION_DEFAULT: keep it in range */
bool      hf_patched(hf_ctx *w, const char *change);
void      hf_deprecate_patch(hf_ctx *w, const char *change);
hf_value  hf_map_with(hf_ctx *w, const char *activity, hf_value items, size_t at_once, const hf_activity_opts *o);   /* bounded fan-out */
hf_value  hf_async(hf_ctx *w, const char *function, hf_value in);        /* registered function as a child run */
void      hf_memo(hf_ctx *w, hf_value entries);                          /* merge; null deletes */
void      hf_search_attributes(hf_ctx *w, hf_value entries);
size_t    hf_children(hf_ctx *w, const char **out_call_ids, size_t max); /* history-backed child handles */
void      hf_signal_child(hf_ctx *w, const char *child_call_id, const char *signal, hf_value args);
hf_value  hf_messages_peek(hf_ctx *w, const char *stream, size_t max);
hf_value  hf_messages_receive(hf_ctx *w, const char *stream, size_t max);
void      hf_messages_send(hf_ctx *w, const char *to_instance, const char *stream, const char *payload_ref);
size_t    hf_history_length(hf_ctx *w);
void      hf_continue_as_new(hf_ctx *w, hf_value in) HF_NORETURN;
void      hf_fail   (hf_ctx *w, const char *type, const char *message) HF_NORETURN;
void      hf_refail (hf_ctx *w, const hf_error *e) HF_NORETURN;
void      hf_compensate(hf_ctx *w, const char *activity, hf_value in);   /* run LIFO if the run fails or is cancelled */
void      hf_compensated(hf_ctx *w);                                     /* past the point of no return: drop them    */
void      hf_defer  (hf_ctx *w, void (*fn)(void *), void *arg);          /* local cleanup at abandon, fail, return    */
hf_status hf_protect(hf_ctx *w, hf_workflow_fn *fn, hf_value in, hf_value *out, const hf_error **err);
void     *hf_state  (hf_ctx *w);
int64_t   hf_now    (hf_ctx *w);           /* workflow time: replays identically              */
uint64_t  hf_random (hf_ctx *w);
const char *hf_uuid (hf_ctx *w);
void      hf_label  (hf_ctx *w, const char *key, const char *value);
void      hf_note   (hf_ctx *w, const char *fmt, ...) HF_PRINTF(2, 3);   /* the "now" line in the console */
const char *hf_workflow_id(hf_ctx *w);
const char *hf_run_id(hf_ctx *w);
bool      hf_should_continue_as_new(hf_ctx *w);
void      hf_abandon(hf_ctx *w) HF_NORETURN;   /* used by language bindings */

#ifndef __cplusplus
#define hf_activity(w, name, ...) hf_activity_with(w, name, &(hf_activity_opts){ .size_ = sizeof(hf_activity_opts), .at_ = HF_AT, .in = __VA_ARGS__ })
#define hf_child(w, type, ...)    hf_child_with(w, type, &(hf_child_opts){ .size_ = sizeof(hf_child_opts), .at_ = HF_AT, .in = __VA_ARGS__ })
#define hf_spawn_activity(w, name, ...) hf_spawn_activity_with(w, name, &(hf_activity_opts){ .size_ = sizeof(hf_activity_opts), .at_ = HF_AT, .in = __VA_ARGS__ })
#define hf_spawn_child(w, type, ...)    hf_spawn_child_with(w, type, &(hf_child_opts){ .size_ = sizeof(hf_child_opts), .at_ = HF_AT, .in = __VA_ARGS__ })
#define hf_receive(w, ...)        hf_receive_x_(w, __VA_ARGS__, .size_ = sizeof(hf_wait_opts), .at_ = HF_AT)
#define hf_receive_x_(w, signal, ...) hf_receive_with(w, signal, &(hf_wait_opts){ __VA_ARGS__ })
#define hf_wait(w, key, ...)      hf_wait_x_(w, key, __VA_ARGS__, .size_ = sizeof(hf_wait_opts), .at_ = HF_AT)
#define hf_wait_x_(w, key, p, ...) hf_wait_with(w, key, p, &(hf_wait_opts){ __VA_ARGS__ })
#define hf_all(w, ...)            hf_all_of(w, (const hf_leaf[]){ __VA_ARGS__, { HF_LEAF_END, NULL, NULL, NULL } })
#define HF_ACTIVITY(name, ...)    { HF_LEAF_ACTIVITY, name, &(hf_activity_opts){ .size_ = sizeof(hf_activity_opts), .at_ = HF_AT, .in = __VA_ARGS__ }, NULL }
#define HF_CHILD(type, ...)       { HF_LEAF_CHILD, type, &(hf_child_opts){ .size_ = sizeof(hf_child_opts), .at_ = HF_AT, .in = __VA_ARGS__ }, NULL }
#define HF_ALL(...)               { HF_LEAF_GROUP, NULL, NULL, (const hf_leaf[]){ __VA_ARGS__, { HF_LEAF_END, NULL, NULL, NULL } } }
#endif

/* ------------------------------------------------- inside an activity */
typedef hf_value hf_activity_fn(hf_act *a, hf_value in);
typedef struct hf_progress { size_t size_; int64_t current, total; const char *unit, *message; hf_value details; } hf_progress;
bool        hf_heartbeat_with(hf_act *a, const hf_progress *p) HF_CHECK;  /* false: stop, the attempt is over */
hf_value    hf_last_progress(hf_act *a);                         /* what the previous attempt reported */
const char *hf_idempotency_key(hf_act *a);
int         hf_attempt(hf_act *a);
hf_value    hf_error_(hf_act *a, bool retryable, const char *type, const char *fmt, ...) HF_PRINTF(4, 5);
hf_value    hf_stopped(hf_act *a);
#ifndef __cplusplus
#define hf_heartbeat(a, ...) hf_heartbeat_with(a, &(hf_progress){ .size_ = sizeof(hf_progress), __VA_ARGS__ })
#endif
#define hf_retry(a, type, ...)   hf_error_(a, true,  type, __VA_ARGS__)
#define hf_reject(a, type, ...)  hf_error_(a, false, type, __VA_ARGS__)

/* ------------------------------------------------------- declarations */
typedef struct hf_signal_def { const char *name, *params; } hf_signal_def;
typedef struct hf_update_def {
    const char *name, *params;
    hf_value   (*apply)(hf_ctx *w, void *state, hf_value args);
    const char *(*check)(const void *state, hf_value args);     /* NULL: accept, else the reason */
} hf_update_def;
typedef struct hf_query_def { const char *name, *params; hf_value (*read)(hf_mem *m, const void *state, hf_value args); } hf_query_def;

typedef struct hf_workflow_def {
    const char *type; hf_workflow_fn *run; size_t state_size;
    const char *revision;                  /* change it when old runs must keep the old branch; empty by default */
    const char *aliases;                   /* "old-type,older-type": types this definition still serves */
    const char *params, *doc;
    const hf_signal_def *signals; const hf_update_def *updates; const hf_query_def *queries;
    hf_ms execution_timeout, run_timeout; size_t stack; unsigned flags;
} hf_workflow_def;
typedef struct hf_activity_def {
    const char *name; hf_activity_fn *run; const char *params, *doc;
    hf_ms start_to_close, heartbeat; int max_attempts; const char *no_retry_on;
} hf_activity_def;

#define hf_fn(f) .name = #f, .run = f

/* step machines ------------------------------------------------------- */
typedef struct hf_outcome { int kind; const char *step; const char *const *names; hf_value state, result; hf_ms after; const struct hf_leaf *children; } hf_outcome;
typedef hf_outcome hf_step_fn(hf_step *s);
typedef struct hf_step_def { const char *name; hf_step_fn *run; } hf_step_def;
typedef struct hf_machine_def {
    const char *type, *initial, *params, *doc; const hf_step_def *steps; const hf_signal_def *signals;
    hf_outcome (*on_error)(hf_step *s, const hf_error *e);
} hf_machine_def;
hf_value   hf_step_state(hf_step *s); hf_value hf_step_children(hf_step *s);
hf_value   hf_step_awaited(hf_step *s);    /* the matched signals, oldest first; empty after a timeout: [{id,name,payload}] */
hf_value   hf_step_inbox(hf_step *s);      /* everything unconsumed */
hf_value   hf_step_signal(hf_step *s);     /* payload of the first awaited signal, or NULL */
int        hf_step_attempt(hf_step *s); const char *hf_step_key(hf_step *s);
hf_outcome hf_next (hf_step *s, const char *step, hf_value state);
hf_outcome hf_again(hf_step *s, hf_value state, hf_ms after);
hf_outcome hf_park (hf_step *s, const char *signal, hf_ms timeout, const char *then, hf_value state);
hf_outcome hf_park_any(hf_step *s, const char *const *names, hf_ms timeout, const char *then, hf_value state);   /* NULL-terminated set */
hf_outcome hf_fan_out(hf_step *s, const struct hf_leaf *children, const char *then, hf_value state);
hf_outcome hf_done (hf_step *s, hf_value result);
hf_outcome hf_stop (hf_step *s, const char *type, const char *message);

/* --------------------------------------------------------- the engine */
typedef struct hf_app {
    const char *name, *build_id, *queue;
    const hf_workflow_def *workflows; const hf_activity_def *activities; const hf_machine_def *machines;
} hf_app;
typedef struct hf_start_opts {
    size_t size_; hf_value in;
    const char *id, *business_key, *labels, *memo, *queue; hf_ms execution_timeout, run_timeout, delay;
    const char *correlation_key, *correlation_scope, *request_id;
    enum { HF_DUP_REJECT, HF_DUP_RETURN_EXISTING } duplicate;
} hf_start_opts;

hf_status   hf_open (const char *where, const hf_app *app, hf_engine **out);  /* "orders.db" "postgres://..." "http://..." */
void        hf_close(hf_engine *d);
const char *hf_errmsg(hf_engine *d);              /* the calling thread's last error on this engine           */
int         hf_fd(hf_engine *d);                  /* readable when hf_tick has something to do: for your poll loop */
hf_status   hf_start_with(hf_engine *d, const char *type, const hf_start_opts *o);
hf_status   hf_signal(hf_engine *d, const char *id, const char *name, hf_value args);
hf_status   hf_update(hf_engine *d, const char *id, const char *name, hf_value args, hf_ms wait, hf_value *out);
hf_status   hf_query (hf_engine *d, const char *id, const char *name, hf_value args, hf_value *out);
hf_status   hf_result(hf_engine *d, const char *id, hf_ms wait, hf_value *out, const hf_error **err);
hf_status   hf_signal_with_start(hf_engine *d, const char *type, const hf_start_opts *o, const char *signal, hf_value args);
hf_status   hf_signal_dedup(hf_engine *d, const char *id_or_key, const char *name, hf_value args, const char *dedup_key);
typedef struct hf_command_result { bool accepted; const char *outcome, *reason, *command_id, *instance_id, *run_id; hf_value detail; } hf_command_result;
hf_status   hf_command(hf_engine *d, const char *command, hf_value request, hf_mem *m, hf_command_result *out);   /* every command and option, as the wire has them */
hf_status   hf_cancel(hf_engine *d, const char *id, const char *reason);
hf_status   hf_terminate(hf_engine *d, const char *id, const char *reason);
hf_status   hf_run (hf_engine *d);                       /* work until hf_shutdown                          */
int         hf_tick(hf_engine *d, hf_ms at_most);        /* for your own event loop: do due work, say when next */
void        hf_shutdown(hf_engine *d);
typedef struct hf_observer { size_t size_; void (*on)(void *arg, const char *event, hf_value detail); void *arg; } hf_observer;
void        hf_observe(hf_engine *d, const hf_observer *o);   /* after commit, never during replay */
int         hf_main(int argc, char **argv, const hf_app *app);  /* your program becomes dev server, worker and CLI */

/* --------------------------------------------------------- in tests */
hf_engine         *hf_test_open(const hf_app *app);                     /* in memory, virtual clock, one thread     */
hf_status   hf_test_drain(hf_engine *d);                                /* run all that can run now                 */
hf_status   hf_test_advance(hf_engine *d, hf_ms by);                    /* move the clock, firing what falls due    */
void        hf_test_fail(hf_engine *d, const char *activity, int times, const char *type);   /* inject failures     */
void        hf_test_crash(hf_engine *d);                                /* forget everything but what was committed */
hf_status   hf_test_crash_everywhere(const hf_app *app, hf_status (*scenario)(hf_engine *, void *), void *arg, char *why, size_t why_size);
const char *hf_test_status(hf_engine *d, const char *id);               /* "completed" "waiting signal:approved-by" */
int         hf_test_count(hf_engine *d, const char *id, const char *event_type);
hf_status   hf_test_replay(const hf_app *app, const char *bundle, char *why, size_t why_size);

#ifndef __cplusplus
#define hf_start(d, type, ...) hf_start_with(d, type, &(hf_start_opts){ .size_ = sizeof(hf_start_opts), .in = __VA_ARGS__ })
#endif
#ifdef __cplusplus
}
#endif
#endif
