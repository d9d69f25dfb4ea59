/* holdfast.h: the whole authoring API: workflows, activities, the engine that runs them, and the
   kit to test them with. Link with -lholdfast; tools that work on a store as a whole have tool.h.

   Three shapes recur. A call with options is a macro with named options, hf_activity(w, "charge",
   in, .max_attempts = 5), over a function that ends in _with, which language bindings call. Every
   option struct begins with its size, and zero means default everywhere. Workflow code frees
   nothing: values and errors live as long as the run is in memory. */
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

/* ---- types */

typedef struct hf_engine hf_engine; /* an open store and the threads that work on it */
typedef struct hf_ctx hf_ctx;       /* a running workflow: deterministic code */
typedef struct hf_act hf_act;       /* a running attempt of an activity: ordinary code */
typedef struct hf_step hf_step;     /* a running step of a step machine */
typedef int64_t hf_ms;              /* a duration in milliseconds */

/* Every step knows its source line: it is recorded, and a mismatch is shown where it is. */
#define HF_STR2(x) #x
#define HF_STR1(x) HF_STR2(x)
#define HF_AT      __FILE__ ":" HF_STR1(__LINE__)

#define hf_seconds(n) ((hf_ms)(n)*1000)
#define hf_minutes(n) ((hf_ms)(n)*60000)
#define hf_hours(n)   ((hf_ms)(n)*3600000)
#define hf_days(n)    ((hf_ms)(n)*86400000)
#define hf_weeks(n)   ((hf_ms)(n)*604800000)
#define hf_months(n)  ((hf_ms)(n)*2592000000)  /* of 30 days */
#define hf_years(n)   ((hf_ms)(n)*31536000000) /* of 365 days */

/* Why something failed. Lives in the arena of whoever was told. */
typedef struct hf_error {
    hf_status status;
    const char *type; /* "card_declined": stable, matched by code */
    const char *message;
    hf_value details;
    bool retryable;
    const struct hf_error *cause;
} hf_error;

/* ---- values: made in the arena of a workflow, an activity, an engine (the calling thread's) or
   one of your own */

HF_API hf_mem *hf_mem_of_ctx(hf_ctx *w);
HF_API hf_mem *hf_mem_of_act(hf_act *a);
HF_API hf_mem *hf_mem_of_step(hf_step *s);
HF_API hf_mem *hf_mem_of_engine(hf_engine *engine); /* grows until hf_mem_reset or hf_close */
static inline hf_mem *hf_mem_self(hf_mem *mem)
{
    return mem;
}
#ifndef __cplusplus
#define HF_MEM(o)                                                                                  \
    (_Generic((o), hf_ctx *                                                                        \
              : hf_mem_of_ctx, hf_act *                                                            \
              : hf_mem_of_act, hf_step *                                                           \
              : hf_mem_of_step, hf_engine *                                                        \
              : hf_mem_of_engine, hf_mem *                                                         \
              : hf_mem_self)(o))
#define hf_json(o, ...) hf_json_made_(HF_MEM(o), __VA_ARGS__) /* a value; see value.h */
#define hf_show(o, v)   hf_text(HF_MEM(o), v)                 /* its text */
#endif

/* ---- inside a workflow

   A workflow is straight-line C that runs on a stack of its own and is run again from its recorded
   facts whenever that stack was given up. So it must ask for everything that can differ the next
   time (time, chance, the world) here, and it owns nothing but values: they and the errors it is
   handed live as long as the run is in memory.

   Steps (activity, child, sleep, receive, wait, side effect, version, memo, ...) are recorded one
   after the other. What is recorded is handed back; what is open parks the run; what is new is
   decided. When the code asks for another step than the recorded one, the run is blocked with the
   source line until the right code is back, and nothing is written.

   A step that fails ends the run, after its compensations, unless the failure is handed to .err or
   caught by hf_protect. Misuse (no name, bad UTF-8, a step inside an update or a side effect) fails
   the run with category task_failure; from anywhere else but the body's own turn a step is refused:
   it does nothing and returns NULL, false or 0. */
typedef hf_value hf_workflow_fn(hf_ctx *w, hf_value in); /* NULL completes the run with null */
typedef bool hf_predicate(const void *state); /* looks at the state and at nothing else */

/* Durations are in milliseconds; 0 means none for every timeout.

   Every struct of options, here and in the other headers, begins with size_, its sizeof: the macros
   fill it in, other callers do. Members are only ever appended and zero means default, so a shorter
   struct is an older program's, and a longer one a newer program's: it is taken while everything
   behind what this library knows is zero, and is HF_UNSUPPORTED otherwise. A size that none can
   have (not set, no multiple of a word, over 4,096) is HF_MISUSE. In a workflow both fail the run
   as invalid_options. */
typedef struct hf_activity_opts {
    size_t size_;
    const char *at_;
    hf_value in;
    const char *queue;
    const char *summary;     /* a label for people */
    hf_ms schedule_to_start; /* how long it may wait for a place */
    hf_ms start_to_close;    /* how long one attempt may take */
    hf_ms schedule_to_close; /* how long all attempts together may take */
    hf_ms heartbeat;         /* how long an attempt may be silent */
    int max_attempts;        /* 0: the definition's, else 1; -1: no limit */
    const hf_ms *backoff;    /* NULL: 1, 2, 5, 10, 15, 30, 60, 120 s; the last repeats */
    size_t backoff_n;
    bool local;              /* its first attempt runs within the turn; see below */
    const char *no_retry_on; /* failure types, "card_declined,bad_input" */
    const hf_error **err;    /* set: report failure here; unset: fail the run */
} hf_activity_opts;

/* What becomes of a child whose parent closed. */
typedef enum { HF_CLOSE_ABANDON, HF_CLOSE_CANCEL, HF_CLOSE_TERMINATE } hf_close_policy;

typedef struct hf_child_opts {
    size_t size_;
    const char *at_;
    hf_value in;
    const char *id; /* NULL: made by the engine */
    const char *queue;
    const char *summary;
    hf_ms execution_timeout; /* over all runs of the child */
    hf_ms run_timeout;       /* of one run */
    int max_attempts;        /* runs that fail are followed by others; 0: not; -1: no limit */
    hf_close_policy on_parent_close;
    const hf_error **err; /* as for activities */
    const hf_ms *backoff; /* NULL: at once; the last repeats. The next run begins that much later */
    size_t backoff_n;
    const char *no_retry_on; /* failure types, as for activities */
} hf_child_opts;

typedef struct hf_wait_opts {
    size_t size_;
    const char *at_;
    hf_ms timeout; /* 0 waits for ever, below 0 does not wait at all */
    const char *summary;
    /* Any text that changes with the predicate: its SHA-256 is recorded, and a run that waits with
       another one is blocked. */
    const char *revision;
} hf_wait_opts;

/* A call that was begun and not yet waited for: joined once, by the run that made it. */
typedef struct hf_future {
    uint32_t id;
} hf_future;

/* A barrier: leaves and groups of leaves, ended by HF_LEAF_END. HF_ACTIVITY, HF_CHILD and HF_ALL
   make them. A leaf holds its options itself, so that an array can be filled in a loop:
   leaves[i] = (hf_leaf)HF_CHILD("kid", v). Only HF_ALL points to an array of the block that it
   stands in. */
typedef struct hf_leaf {
    enum { HF_LEAF_END, HF_LEAF_ACTIVITY, HF_LEAF_CHILD, HF_LEAF_GROUP } kind;
    const char *name;
    const struct hf_leaf *items; /* of a group */
    union {
        hf_activity_opts activity;
        hf_child_opts child;
        uint64_t room_[24]; /* options grow into it: a leaf keeps its size */
    } opts;
} hf_leaf;

/* -- calls: the result, or NULL when the failure went to .err

   A local activity is for what is short and cheap. Its first attempt runs at once, on the thread of
   the workflow's own code, and is recorded in the same transaction as whatever the code asks for
   next: many of them cost one commit. So it must not block and not call the engine; its queue and
   the timeouts of that attempt do not count; a process that dies meanwhile runs it again from the
   beginning, with another idempotency key. An attempt that fails and may be tried again is followed
   by ordinary ones. */
HF_API hf_value hf_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o);
HF_API hf_value hf_child_with(hf_ctx *w, const char *type, const hf_child_opts *o);
/* A registered workflow as a child run that is waited for. */
HF_API hf_value hf_async(hf_ctx *w, const char *function, hf_value in);

/* -- several at once. The first failure ends the wait at once: the one recorded earliest, then the
   one with the lowest place. A member with .err is handed its own failure instead and gives null in
   its place. */
HF_API hf_future hf_spawn_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o);
HF_API hf_future hf_spawn_child_with(hf_ctx *w, const char *type, const hf_child_opts *o);
HF_API hf_value hf_join(hf_ctx *w, hf_future f);
/* An array, in the order of `f`. */
HF_API hf_value hf_join_all(hf_ctx *w, const hf_future *f, size_t n);
HF_API hf_value hf_all_of(hf_ctx *w, const hf_leaf *leaves); /* arrays in the shape of the leaves */
/* One activity for each item, at most at_once open (0: all), results in order. */
HF_API hf_value hf_map_with(hf_ctx *w, const char *activity, hf_value items, size_t at_once,
                            const hf_activity_opts *o);

/* -- waits. A signal gives true without arguments, its one argument, an array of several, or the
   object of named ones; NULL means the timeout alone. Signals wait for their turn in the order they
   came; one that came before the timeout fired wins. A condition is asked again after every update:
   true when it holds, false when the timeout came first. Its key names it for people and may be
   NULL. The signal must be one that the definition declares: others are refused, so waiting for one
   fails the run as undeclared_signal. */
HF_API hf_value hf_receive_with(hf_ctx *w, const char *signal, const hf_wait_opts *o);
HF_API bool hf_wait_with(hf_ctx *w, const char *key, hf_predicate *p, const hf_wait_opts *o);
HF_API void hf_sleep(hf_ctx *w, hf_ms d); /* 0 goes on at once, and is recorded */

/* -- what is computed once. The function of a side effect runs in the turn that records it and must
   be quick. */
HF_API hf_value hf_side_effect(hf_ctx *w, const char *key, hf_value (*fn)(hf_mem *, void *),
                               void *arg);
#define HF_VERSION_DEFAULT (-1)
/* The newest version for a run that comes here first, the recorded one ever after. Runs that passed
   before the call existed get HF_VERSION_DEFAULT: keep it in range while there are any. */
HF_API int hf_version(hf_ctx *w, const char *change, int min, int max);
HF_API bool hf_patched(hf_ctx *w, const char *change); /* version 1 of a change that has two */
/* Only the new branch is left: keeps the step. */
HF_API void hf_deprecate_patch(hf_ctx *w, const char *change);

/* -- what operators see */
HF_API void hf_memo(hf_ctx *w, hf_value entries);              /* merge; null deletes */
HF_API void hf_search_attributes(hf_ctx *w, hf_value entries); /* the same, indexed */
/* One search attribute; NULL deletes. */
HF_API void hf_label(hf_ctx *w, const char *key, const char *value);
/* What it is doing now, for people. */
HF_API void hf_note(hf_ctx *w, const char *fmt, ...) HF_PRINTF(2, 3);

/* -- other runs. A child is listed once its call is recorded and something after it was seen; ids
   live as long as the run is in memory. */
/* How many there are; fills at most max. */
HF_API size_t hf_children(hf_ctx *w, const char **out_call_ids, size_t max);
/* Also from updates. */
HF_API void hf_signal_child(hf_ctx *w, const char *child_call_id, const char *signal,
                            hf_value args);

/* -- message streams: every instance has some, by name. Messages carry a reference to their payload
   (at most 191 characters) and are numbered in the order of their commits. Reading answers an array
   of {position, from, payload_ref}, oldest first, recorded with the step: at most max of them, 0
   means 100, never over 1,000. Receiving also moves behind what it answers; whatever is unread is
   there for the next run of the instance. An arrival wakes nobody: send a signal where one waits.
 */
HF_API hf_value hf_messages_peek(hf_ctx *w, const char *stream, size_t max);
HF_API hf_value hf_messages_receive(hf_ctx *w, const char *stream, size_t max);
/* Also from updates. Leaves with this turn's commit, once. An instance that does not exist hears
   nothing: the message stands as failed in this instance's own stream. */
HF_API void hf_messages_send(hf_ctx *w, const char *to_instance, const char *stream,
                             const char *payload_ref);

/* -- how it ends. A cancellation that code may answer arrives once, as a failure with status
   HF_CANCELLED, where the code waits; steps work again after it. */
HF_API void hf_continue_as_new(hf_ctx *w, hf_value in) HF_NORETURN;
/* In an update it fails that alone. hf_refail passes on a failure the code was told of. */
HF_API void hf_fail(hf_ctx *w, const char *type, const char *message) HF_NORETURN;
HF_API void hf_refail(hf_ctx *w, const hf_error *e) HF_NORETURN;
/* Activities to run, newest first, if the run fails or is cancelled. */
HF_API void hf_compensate(hf_ctx *w, const char *activity, hf_value in);
HF_API void hf_compensated(hf_ctx *w); /* past the point of no return: drop them */
/* Local cleanup, called once however the code ends: return, failure, or leaving memory. */
HF_API void hf_defer(hf_ctx *w, void (*fn)(void *), void *arg);
/* Comes back also when `fn` fails: with its status and *err. out and err may be NULL. */
HF_API hf_status hf_protect(hf_ctx *w, hf_workflow_fn *fn, hf_value in, hf_value *out,
                            const hf_error **err);
/* For language bindings: gives this stack up, to be replayed later. */
HF_API void hf_abandon(hf_ctx *w) HF_NORETURN;

/* -- what the run knows of itself. All of it follows from what the code has seen so far and replays
   identically. */
HF_API void *hf_state(hf_ctx *w); /* state_size bytes, zeroed at the start, rebuilt by replay */
/* Workflow time in milliseconds since 1970: of the last fact that was seen. */
HF_API int64_t hf_now(hf_ctx *w);
HF_API uint64_t hf_random(hf_ctx *w);
HF_API const char *hf_uuid(hf_ctx *w); /* version 4 */
HF_API const char *hf_workflow_id(hf_ctx *w);
HF_API const char *hf_run_id(hf_ctx *w);
HF_API size_t hf_history_length(hf_ctx *w); /* events up to the last fact that was seen */
HF_API size_t hf_history_size(hf_ctx *w);   /* and their bytes */
HF_API bool hf_should_continue_as_new(hf_ctx *w);

/* Tells the next step its source line; the macros below do. */
HF_API hf_ctx *hf_here_(hf_ctx *w, const char *at);

#ifndef __cplusplus
#define hf_async(w, function, in)           hf_async(hf_here_(w, HF_AT), function, in)
#define hf_sleep(w, d)                      hf_sleep(hf_here_(w, HF_AT), d)
#define hf_side_effect(w, key, fn, arg)     hf_side_effect(hf_here_(w, HF_AT), key, fn, arg)
#define hf_version(w, change, min, max)     hf_version(hf_here_(w, HF_AT), change, min, max)
#define hf_patched(w, change)               hf_patched(hf_here_(w, HF_AT), change)
#define hf_deprecate_patch(w, change)       hf_deprecate_patch(hf_here_(w, HF_AT), change)
#define hf_memo(w, entries)                 hf_memo(hf_here_(w, HF_AT), entries)
#define hf_search_attributes(w, entries)    hf_search_attributes(hf_here_(w, HF_AT), entries)
#define hf_label(w, key, value)             hf_label(hf_here_(w, HF_AT), key, value)
#define hf_messages_peek(w, stream, max)    hf_messages_peek(hf_here_(w, HF_AT), stream, max)
#define hf_messages_receive(w, stream, max) hf_messages_receive(hf_here_(w, HF_AT), stream, max)
#define hf_continue_as_new(w, in)           hf_continue_as_new(hf_here_(w, HF_AT), in)
#define HF_ACTIVITY_OPTS_(...)                                                                     \
    &(hf_activity_opts)                                                                            \
    {                                                                                              \
        .size_ = sizeof(hf_activity_opts), .at_ = HF_AT, .in = __VA_ARGS__                         \
    }
#define HF_CHILD_OPTS_(...)                                                                        \
    &(hf_child_opts)                                                                               \
    {                                                                                              \
        .size_ = sizeof(hf_child_opts), .at_ = HF_AT, .in = __VA_ARGS__                            \
    }
#define hf_activity(w, name, ...) hf_activity_with(w, name, HF_ACTIVITY_OPTS_(__VA_ARGS__))
#define hf_child(w, type, ...)    hf_child_with(w, type, HF_CHILD_OPTS_(__VA_ARGS__))
#define hf_spawn_activity(w, name, ...)                                                            \
    hf_spawn_activity_with(w, name, HF_ACTIVITY_OPTS_(__VA_ARGS__))
#define hf_spawn_child(w, type, ...) hf_spawn_child_with(w, type, HF_CHILD_OPTS_(__VA_ARGS__))
/* hf_map(w, "resize", images, 8, .max_attempts = 3) */
#define hf_map(w, activity, items, ...)                                                            \
    hf_map_x_(w, activity, items, __VA_ARGS__, .size_ = sizeof(hf_activity_opts), .at_ = HF_AT)
#define hf_map_x_(w, activity, items, at_once, ...)                                                \
    hf_map_with(w, activity, items, at_once, &(hf_activity_opts){__VA_ARGS__})
#define hf_receive(w, ...)                                                                         \
    hf_receive_x_(w, __VA_ARGS__, .size_ = sizeof(hf_wait_opts), .at_ = HF_AT)
#define hf_receive_x_(w, signal, ...) hf_receive_with(w, signal, &(hf_wait_opts){__VA_ARGS__})
#define hf_wait(w, key, ...)                                                                       \
    hf_wait_x_(w, key, __VA_ARGS__, .size_ = sizeof(hf_wait_opts), .at_ = HF_AT)
#define hf_wait_x_(w, key, p, ...) hf_wait_with(w, key, p, &(hf_wait_opts){__VA_ARGS__})
#define hf_all(w, ...)             hf_all_of(w, (const hf_leaf[]){__VA_ARGS__, {.kind = HF_LEAF_END}})
#define HF_ACTIVITY(activity_, ...)                                                                \
    {                                                                                              \
        .kind = HF_LEAF_ACTIVITY, .name = activity_, .opts = {                                     \
            .activity = {.size_ = sizeof(hf_activity_opts), .at_ = HF_AT, .in = __VA_ARGS__}       \
        }                                                                                          \
    }
#define HF_CHILD(type, ...)                                                                        \
    {                                                                                              \
        .kind = HF_LEAF_CHILD, .name = type, .opts = {                                             \
            .child = {.size_ = sizeof(hf_child_opts), .at_ = HF_AT, .in = __VA_ARGS__}             \
        }                                                                                          \
    }
#define HF_ALL(...)                                                                                \
    {                                                                                              \
        .kind = HF_LEAF_GROUP, .items = (const hf_leaf[])                                          \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                .kind = HF_LEAF_END                                                                \
            }                                                                                      \
        }                                                                                          \
    }
#endif

/* ---- inside an activity

   Ordinary code in a thread of the engine: it may block, fail, or be killed. It runs at least once
   and its result is recorded once; the idempotency key is the same for every attempt, so that the
   outside world can tell a repetition. */

typedef hf_value hf_activity_fn(hf_act *a, hf_value in);

typedef struct hf_progress {
    size_t size_;
    int64_t current;
    int64_t total;
    const char *unit;
    const char *message;
    hf_value details;
} hf_progress;

/* A sign of life with progress. False: the attempt is over, so return hf_stopped. */
HF_API bool hf_heartbeat_with(hf_act *a, const hf_progress *p) HF_CHECK;
HF_API hf_value hf_last_progress(hf_act *a); /* what the attempt before reported, or NULL */
HF_API const char *hf_idempotency_key(hf_act *a);
HF_API int hf_attempt(hf_act *a); /* from 1 */

/* How an activity fails: return what these return. hf_retry may be tried again, hf_reject not. */
HF_API hf_value hf_error_(hf_act *a, bool retryable, const char *type, const char *fmt, ...)
    HF_PRINTF(4, 5);
HF_API hf_value hf_stopped(hf_act *a);
#define hf_retry(a, type, ...)  hf_error_(a, true, type, __VA_ARGS__)
#define hf_reject(a, type, ...) hf_error_(a, false, type, __VA_ARGS__)
#ifndef __cplusplus
#define hf_heartbeat(a, ...)                                                                       \
    hf_heartbeat_with(a, &(hf_progress){.size_ = sizeof(hf_progress), __VA_ARGS__})
#endif

/* ---- declarations: constant tables that end with {0}

   `params` says what is accepted: "sku:string, amount:number, note:string?, limit:int=100", or
   "any". NULL accepts anything too. */

typedef struct hf_signal_def {
    const char *name;
    const char *params;
} hf_signal_def;

typedef struct hf_update_def {
    const char *name;
    const char *params;
    hf_value (*apply)(hf_ctx *w, void *state, hf_value args);
    const char *(*check)(const void *state, hf_value args); /* NULL: accept, else the reason */
} hf_update_def;

typedef struct hf_query_def {
    const char *name;
    const char *params;
    hf_value (*read)(hf_mem *mem, const void *state, hf_value args);
} hf_query_def;

/* A failure type whose details the workflow's code understands in today's shape only. `decode` is
   given the failure as it was recorded, however long ago, and answers the details that the code
   sees. NULL from it, or no decode at all (the code that understood them is gone), blocks the run
   as failure_resolution until a program is there that can; nothing is written meanwhile. Like a
   predicate it looks at what it is given and at nothing else. Failures that were recorded under one
   of the aliases reach the code under the type of today. */
typedef struct hf_failure_def {
    const char *type;
    hf_value (*decode)(hf_mem *mem, const hf_error *recorded);
    const char *aliases; /* "old-type,older-type" */
} hf_failure_def;

/* For language bindings whose code cleans up behind itself: when the run leaves memory, the
   hf_protect around the step that it waits in answers HF_ABANDONED. From then on hf_protect answers
   nothing else and every other step is refused; the code comes to its end with hf_abandon. */
#define HF_WORKFLOW_UNWINDS 1u

typedef struct hf_workflow_def {
    const char *type;
    hf_workflow_fn *run;
    size_t state_size;
    const char *revision; /* change it when old runs must keep the old branch; empty by default */
    const char *aliases;  /* "old-type,older-type": types this definition still serves */
    const char *params;
    const char *doc;
    const hf_signal_def *signals;
    const hf_update_def *updates;
    const hf_query_def *queries;
    hf_ms execution_timeout;        /* over all runs of an instance; 0: none */
    hf_ms run_timeout;              /* of one run; 0: none */
    size_t stack;                   /* bytes; 0: 64 KiB */
    unsigned flags;                 /* HF_WORKFLOW_* */
    const hf_failure_def *failures; /* types whose details need decoding; others come as recorded */
} hf_workflow_def;

typedef struct hf_activity_def {
    const char *name;
    hf_activity_fn *run;
    const char *params;
    const char *doc;
    hf_ms start_to_close; /* defaults for its calls */
    hf_ms heartbeat;
    int max_attempts;
    const char *no_retry_on;
} hf_activity_def;

/* {hf_fn(reserve), .max_attempts = 3}: an activity called like its function. */
#define hf_fn(f) .name = #f, .run = f

/* ---- step machines

   The same durability without replay: a machine is a table of named steps. A step is ordinary code
   in a thread of the engine, called with the machine's state; it may block, and when its process
   dies before its outcome is committed it runs again from its beginning (at least once: the key of
   hf_step_key is the same each time). What it returns is committed before anything else happens.
   Step machines and workflows share instances, signals, children, commands and the console. */

typedef struct hf_outcome { /* made by the functions below and by nothing else */
    int kind;
    const char *step;
    const char *const *names;
    hf_value state;
    hf_value result;
    hf_ms after;
    const struct hf_leaf *children;
    const char *concurrency_key;
    const char *rate_limit;
    int weight;
} hf_outcome;
typedef hf_outcome hf_step_fn(hf_step *s);
typedef struct hf_step_def {
    const char *name;
    hf_step_fn *run;
} hf_step_def;

/* on_error answers for a step that raised a failure or returned an outcome that cannot be (an
   unknown step, an empty set of names, a timeout that is not positive, a state that cannot be
   stored): type and message say which. It sees no signals and no children, and what it decides uses
   none up. Without it the machine stops with that failure. */
typedef struct hf_machine_def {
    const char *type;
    const char *initial;
    const char *params;
    const char *doc;
    const hf_step_def *steps;
    const hf_signal_def *signals;
    hf_outcome (*on_error)(hf_step *s, const hf_error *e);
    /* Instead of steps, a job: one function, called "job". A failure that it raises is tried again
       after 1, 2, 4 ... 300 seconds, at most 20 times; hf_stop ends it at once. */
    hf_step_fn *job;
    int max_attempts; /* of a step without on_error; 0: 20 for jobs, else 1; -1: no limit */
    const hf_ms *backoff;
    size_t backoff_n;
} hf_machine_def;

/* -- what a step knows. Values live until the step returns. */
HF_API hf_value hf_step_state(hf_step *s); /* what it was started with, or the step before left */
HF_API hf_value
hf_step_awaited(hf_step *s);                /* matched signals, oldest first: [{id,name,payload}] */
HF_API hf_value hf_step_inbox(hf_step *s);  /* every signal that is not used up */
HF_API hf_value hf_step_signal(hf_step *s); /* payload of the first awaited one, or NULL */
HF_API bool hf_step_timed_out(hf_step *s);  /* the timeout of the park before it came first */
/* Every child so far: [{id,type,status,result,error}]; error is null or {type,message}. */
HF_API hf_value hf_step_children(hf_step *s);
/* From 1; counts hf_again, processes that died of the step, and workers (behind a server, or nodes
   that have not the run) that were lost with it. When the node that has the run is lost itself, it
   is not counted: the one that takes the run over does not know whether the step had begun. */
HF_API int hf_step_attempt(hf_step *s);
HF_API const char *hf_step_key(hf_step *s); /* the same for every attempt at this step */
HF_API const char *hf_step_id(hf_step *s);  /* of the instance */

/* -- what it decides. A state or a result that is NULL is null. */
#define HF_NO_TIMEOUT INT64_MAX
HF_API hf_outcome hf_next(hf_step *s, const char *step, hf_value state);
/* The next step begins when it may: with a slot under the concurrency key, which the machine keeps
   from step to step while it does not wait ("" gives it up), and with so many tokens of the rate
   limit, for this step alone. */
typedef struct hf_next_opts {
    size_t size_;
    hf_value state;
    const char *concurrency_key; /* NULL: as before */
    const char *rate_limit;      /* a declared name, or "name:partition" */
    int weight;                  /* 0: 1 */
} hf_next_opts;
HF_API hf_outcome hf_next_with(hf_step *s, const char *step, const hf_next_opts *o);
/* The same step after a delay; it sees the same signals again. */
HF_API hf_outcome hf_again(hf_step *s, hf_value state, hf_ms after);
/* Parks until a signal of that name, or of one of a NULL-terminated set, comes that this step was
   not handed, or the timeout passes; `then` sees it in hf_step_awaited. Names must be declared. */
HF_API hf_outcome hf_park(hf_step *s, const char *signal, hf_ms timeout, const char *then,
                          hf_value state);
HF_API hf_outcome hf_park_any(hf_step *s, const char *const *names, hf_ms timeout, const char *then,
                              hf_value state);
/* Starts the children (HF_CHILD) and goes on when all have ended, however they did. */
HF_API hf_outcome hf_fan_out(hf_step *s, const struct hf_leaf *children, const char *then,
                             hf_value state);
/* The same with one child for each item of an array, which is its input. The options are for all of
   them: .in must not be set, and .id is what their ids begin with: "img" makes img-0, img-1, ... */
HF_API hf_outcome hf_fan_out_map_with(hf_step *s, const char *type, hf_value items,
                                      const char *then, hf_value state, const hf_child_opts *o);
HF_API hf_outcome hf_done(hf_step *s, hf_value result);
HF_API hf_outcome hf_stop(hf_step *s, const char *type, const char *message);
/* The step failed: on_error decides. */
HF_API hf_outcome hf_raise(hf_step *s, const char *type, const char *fmt, ...) HF_PRINTF(3, 4);

/* Tells the step where it decides; the macros below do. */
HF_API hf_step *hf_step_here_(hf_step *s, const char *at);

#ifndef __cplusplus
#define hf_next(s, ...)      hf_next(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_next_with(s, ...) hf_next_with(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_again(s, ...)     hf_again(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_park(s, ...)      hf_park(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_park_any(s, ...)  hf_park_any(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_fan_out(s, ...)   hf_fan_out(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_done(s, ...)      hf_done(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_stop(s, ...)      hf_stop(hf_step_here_(s, HF_AT), __VA_ARGS__)
#define hf_raise(s, ...)     hf_raise(hf_step_here_(s, HF_AT), __VA_ARGS__)
/* hf_fan_out_map(s, "resize", images, "collect", state, .max_attempts = 3) */
#define hf_fan_out_map(s, type, items, then, ...)                                                  \
    hf_fan_out_map_x_(s, type, items, then, __VA_ARGS__, .size_ = sizeof(hf_child_opts),           \
                      .at_ = HF_AT)
#define hf_fan_out_map_x_(s, type, items, then, state, ...)                                        \
    hf_fan_out_map_with(hf_step_here_(s, HF_AT), type, items, then, state,                         \
                        &(hf_child_opts){__VA_ARGS__})
#endif

/* Bounds that machines share, in all processes that work on a store. A concurrency key is the name
   of a limit, "name:anything", which has as many slots of its own, or any other text without a
   colon, which has one slot. */
typedef struct hf_limit_def {
    const char *name;
    int at_once;     /* slots: so many steps at once; or */
    int64_t allowed; /* tokens: so many step starts */
    hf_ms per;       /* in this time */
    int64_t burst;   /* and so many at once; 0: as many as allowed */
} hf_limit_def;

/* A webhook that came to `serve` or `dev --webhooks custom`, for the call that judges it. */
typedef struct hf_webhook {
    size_t size_;
    const char *method; /* "POST" or "GET" */
    const char *target; /* path and query as they came, percent signs and all */
    const char *body;   /* with a zero byte behind it */
    size_t body_len;
    const void *impl_;
} hf_webhook;

/* The value of a header, whatever the case of its name; lives for the call. NULL: it was not sent,
   or more than once, or memory ran out. */
HF_API const char *hf_webhook_header(const hf_webhook *webhook, const char *name);

/* Whether the hexadecimal digits are the HMAC-SHA-256, under the key, of the text `before` (NULL:
   nothing) with the body behind it. Takes the same time whatever is wrong; NULL is a wrong one. */
HF_API bool hf_webhook_signed(const hf_webhook *webhook, const char *key, const char *before,
                              const char *signature);

/* What a program brings. It must live as long as the engine. */
typedef struct hf_app {
    const char *name;
    const char *build_id;
    const char *queue;
    const hf_workflow_def *workflows;
    const hf_activity_def *activities;
    const hf_machine_def *machines;
    const hf_limit_def *limits;
    /* Build ids of other builds whose runs this one may take, separated by commas; its own counts.
       NULL: of all. Runs of other builds wait, visibly, for a program that supports them. */
    const char *supports;
    const char *fleet; /* keeps programs apart that share a store and its build ids; NULL: none */
    /* Whether a webhook may pass, in a server of this program (`--webhooks custom`). Called on one
       thread, the one that all connections share: it must not block. */
    bool (*webhook)(void *arg, const hf_webhook *webhook);
    void *webhook_arg;
} hf_app;

/* ---- the engine

   Any thread may call it. The text of a failure is kept for each thread (hf_errmsg). */

/* Opens or makes a store: "orders.db", "sqlite:PATH", "postgres://USER@HOST/DATABASE"; or goes to
   a server that has one, "http://HOST:PORT" (docs/guide/remote.md). Also after a failure *out must
   be closed; hf_errmsg(*out) says what went wrong. Work begins with the first call that needs it.
 */
HF_API hf_status hf_open(const char *where, const hf_app *app, hf_engine **out);

/* Ends what runs: attempts are told to stop and waited for. Workflow code that has not come back
   after two seconds is left behind with its thread, which ends quietly when the code does; the app
   must stay where it is as long. NULL is allowed. */
HF_API void hf_close(hf_engine *engine);

/* Changes a setting, before work begins. HF_INVALID: there is none of that name, or it does not
   take that value.
     fleet_validation_mode  warn, fail: a start of a type that is not here, when workers serve its
                            queue and none of them supports this program's build, waits for one
                            that does, or is refused as compatibility_blocked
     update_behind_signal   reject, queue: an update while an earlier signal is not applied
     update_wait_seconds    10: how long hf_command waits for the answer to an update
     node_lease_ms          10000, from 200 to 600000: an engine on a PostgreSQL store that is
                            silent for so long has lost its share of the work to the others; the
                            same for all engines of a store
     activity_lease_ms      300000, from 200 to 86400000: how long a worker of another process
                            holds an attempt without a sign of life
     workflow_task_lease_ms 60000, from 200 to 86400000: the same of a workflow task
     pending_signal_count   5000: signals of a run that are not applied; 0 for no limit, as below
     pending_update_count   500: updates of a run that are not answered
     pending_activity_count 2000, pending_child_count 1000, pending_timer_count 2000: what a run may
                            have open; a turn that would open more fails the run
     command_batch_size     1000: decisions of one turn; history_transaction_size 5000: its events
     max_events_per_run     0; 50000 where workers of other processes are allowed, as in a server:
                            a run with so many events that does not close fails
     payload_size_bytes     2097152, and that is the most: one value
     warning_threshold_percent  80: the share of a limit from which operators are warned, once; 0
                            for never */
HF_API hf_status hf_set(hf_engine *engine, const char *name, const char *value);
HF_API const char *hf_errmsg(hf_engine *engine);

typedef struct hf_start_opts {
    size_t size_;
    hf_value in;
    const char *id; /* of the instance */
    const char *business_key;
    const char *labels;
    const char *memo;
    const char *queue;
    hf_ms execution_timeout; /* 0: the definition's; at least one second otherwise */
    hf_ms run_timeout;
    hf_ms delay; /* it begins so much later */
    /* Leads to the instance like its id, and is taken (HF_EXISTS) from its start until it closes,
       and beyond when the scope says so: "done", "failed" or "done,failed" keep it taken after such
       an end until retention; "none" makes it neither an address nor unique. */
    const char *correlation_key;
    const char *correlation_scope;
    const char *request_id;
    enum { HF_DUP_REJECT, HF_DUP_RETURN_EXISTING } duplicate; /* when the id has an open run */
    int priority;                /* of machines: 1 to 99, the lower goes first; 0: 5 */
    const char *concurrency_key; /* of a machine's first step, as in hf_next_opts */
    const char *rate_limit;
    int weight;
    const char *search_attributes; /* a JSON object, as labels and memo are */
} hf_start_opts;

/* Commands return when they are committed. HF_EXISTS: the id is taken. HF_INVALID, HF_REJECTED: the
   declaration does not allow it; hf_errmsg names the field. HF_NOTFOUND: no such instance. */
HF_API hf_status hf_start_with(hf_engine *engine, const char *type, const hf_start_opts *o);
/* Starts several in few transactions; each has its answer in its place (HF_OK, HF_EXISTS,
   HF_INVALID
   ...), and of two with one id or key the first is started. Anything but HF_OK: the engine is at
   its end, and the rest was not tried. */
HF_API hf_status hf_start_all(hf_engine *engine, const char *type, const hf_start_opts *items,
                              size_t count, hf_status *out_answers);
HF_API hf_status hf_signal(hf_engine *engine, const char *id, const char *name, hf_value args);
/* The same to an id or a correlation key. A dedup key (NULL: none) that the instance has seen in
   its life, used up or not, changes nothing and wakes nobody: the first answer is given again. */
HF_API hf_status hf_signal_dedup(hf_engine *engine, const char *id_or_key, const char *name,
                                 hf_value args, const char *dedup_key);
/* Starts the instance, or takes its open run, and sends it a signal, which is there before its code
   runs for the first time. HF_REJECTED: the type takes no such signal, and nothing was started. */
HF_API hf_status hf_signal_with_start(hf_engine *engine, const char *type, const hf_start_opts *o,
                                      const char *signal, hf_value args);
/* Makes an instance that is started later; NULL: an id is made. HF_OK also when it exists and is of
   that type, HF_EXISTS when it is of another. */
HF_API hf_status hf_reserve(hf_engine *engine, const char *type, const char *id,
                            const char **out_id);
HF_API hf_status hf_cancel(hf_engine *engine, const char *id, const char *reason);
HF_API hf_status hf_terminate(hf_engine *engine, const char *id, const char *reason);

/* Orders of an operator. HF_OK also when it was so before. */
typedef struct hf_order_opts {
    size_t size_;
    const char *reason;     /* for people; recorded */
    const char *run_id;     /* NULL: the newest run */
    const char *request_id; /* NULL: none; the same one is answered as the first time */
    bool cleanup; /* cancel: the code hears of it where it waits and may clean up; the run closes as
                     cancelled when the code has ended */
} hf_order_opts;
HF_API hf_status hf_cancel_with(hf_engine *engine, const char *id, const hf_order_opts *o);
HF_API hf_status hf_terminate_with(hf_engine *engine, const char *id, const hf_order_opts *o);
/* A paused run records what happens to it (activities that end, timers, signals) and does nothing:
   no code runs and no attempt begins until it is resumed. Its deadlines go on. */
HF_API hf_status hf_pause_with(hf_engine *engine, const char *id, const hf_order_opts *o);
HF_API hf_status hf_resume_with(hf_engine *engine, const char *id, const hf_order_opts *o);
/* A run that begins with another one's history: everything up to the next step after `step` is
   copied, what was open there is open again (activities begin anew, timers are due when they were),
   and the code goes on from there. A fork is a new instance; a reset is the next run of the same
   one, and closes the run it takes the place of as terminated. Deadlines begin anew. HF_REJECTED:
   no such step, it lies within a barrier, or a fork would need a child that is still open. */
typedef struct hf_copy_opts {
    size_t size_;
    int64_t step;        /* the last one that is kept; 0: begin again */
    const char *id;      /* of the fork; NULL: one is made */
    const char *signals; /* later ones that arrive again: "a,b", "*": all, NULL: none */
    const char *reason;
    const char *run_id; /* fork: any run; NULL: the newest */
    const char *request_id;
} hf_copy_opts;
/* *out_id (may be NULL): the id of the fork, in the calling thread's memory of the engine. */
HF_API hf_status hf_fork_with(hf_engine *engine, const char *id, const hf_copy_opts *o,
                              const char **out_id);
HF_API hf_status hf_reset_with(hf_engine *engine, const char *id, const hf_copy_opts *o);
/* Marks a closed run, the newest or any other. */
HF_API hf_status hf_archive_with(hf_engine *engine, const char *id, const hf_order_opts *o);

/* Sends an update and waits at most `wait` for the workflow's answer: HF_TIMEOUT when it has not
   come, though the update is accepted. */
HF_API hf_status hf_update(hf_engine *engine, const char *id, const char *name, hf_value args,
                           hf_ms wait, hf_value *out);

/* What became of a command. Texts and values live in the arena that the command was given. */
typedef struct hf_command_result {
    bool accepted;
    const char *outcome; /* "signal_received", "rejected_not_active" ...; NULL: an open update */
    const char *reason;  /* why it was rejected: "run_not_active" ...; NULL: it was not */
    const char *command_id, *instance_id, *run_id;
    hf_value detail; /* the wire's envelope: command_sequence, validation_errors, message ... */
} hf_command_result;

/* Every command with every option, by the names that the wire has for them: "start", "signal",
   "update", "cancel", "terminate" ..., and a request with workflow_id, run_id, name, arguments,
   input, reason, request_id, context and so on (docs/guide/commands.md). HF_OK: it was answered and
   recorded, accepted or not. */
HF_API hf_status hf_command(hf_engine *engine, const char *command, hf_value request, hf_mem *mem,
                            hf_command_result *out);

/* Reads a workflow's state as it is committed, also of a closed run. Never changes anything. */
HF_API hf_status hf_query(hf_engine *engine, const char *id, const char *name, hf_value args,
                          hf_value *out);

/* Waits at most `wait` for the instance to close: HF_OK and *out, HF_ERROR or HF_CANCELLED and
 *err, HF_TIMEOUT while it is open. */
HF_API hf_status hf_result(hf_engine *engine, const char *id, hf_ms wait, hf_value *out,
                           const hf_error **err);

/* Events of a run as the published history shows them: {"events": [...], "last_sequence": N,
   "closed": false, "arguments": what it was started with (base64 of an Avro frame) or null,
   "payload_codec": "avro"}.
 */
typedef struct hf_history_opts {
    size_t size_;
    const char *id;     /* of the instance */
    const char *run_id; /* NULL: its newest run */
    int64_t after;      /* events behind this one */
    int64_t limit;      /* at most so many; 0: all */
    hf_ms wait;         /* for events behind `after`, while the run is open; 0: not at all */
    int64_t at;         /* as it was after this event; 0: as it is */
} hf_history_opts;
HF_API hf_status hf_history_with(hf_engine *engine, hf_mem *mem, hf_value *out,
                                 const hf_history_opts *o);

/* One command for many instances, worked through by the engine, also after a restart:
   {"command": "cancel", "workflow_ids": ["a", "b"], "request": {"reason": "recall"}, "rate": 50,
   "dry_run": false}. Instead of ids it takes "filters", and "view", "bucket", "owner" and "scope",
   as a list of runs does (view.h): the instances whose current run matches then. `request` has what
   hf_command takes for that command, without the id; rate is items per second, up to
   1,000,000, 0: no limit; a dry run says what would happen. All answer with the batch: batch_id,
   status (running, paused, aborted, completed), total, done, how many items are accepted, rejected,
   not_found, failed, would_apply, and the items with their outcomes so far. HF_INVALID: a list that
   is empty, too long (10,000) or not of texts, a filter that cannot be. HF_NOTFOUND: no such batch,
   or a filter that finds nothing. */
HF_API hf_status hf_batch_start(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);
/* The newest first, at most `limit` (0: 50), without their items. */
HF_API hf_status hf_batch_list(hf_engine *engine, int64_t limit, hf_mem *mem, hf_value *out);
HF_API hf_status hf_batch_show(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);
HF_API hf_status hf_batch_pause(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);
HF_API hf_status hf_batch_resume(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);
HF_API hf_status hf_batch_abort(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);

/* How an instance stands for a caller that waits. */
typedef enum {
    HF_SETTLED_DONE = 1,
    HF_SETTLED_FAILED,
    HF_SETTLED_AWAITING, /* open, and only something from outside moves it */
    HF_SETTLED_BUSY,     /* its code has something to do; so it was when the time was up */
    HF_SETTLED_NOT_FOUND
} hf_settled_state;
typedef struct hf_settled {
    hf_settled_state state;
    hf_value result;       /* done */
    const hf_error *error; /* failed */
} hf_settled;

/* Waits at most `wait` until the instance of an id or correlation key is closed, or (not terminal)
   waits for something. An engine that is closed meanwhile answers busy. */
HF_API hf_status hf_await(hf_engine *engine, const char *id_or_key, hf_ms wait, bool terminal,
                          hf_settled *out);

/* ---- schedules: runs that start by themselves

   A schedule starts a run of `type` at the times that cron expressions (5 fields, or 6 with seconds
   in front) and intervals name; the earliest counts, and times that were missed while no engine ran
   fire once. The run of a time has the instance id "schedule:ID:20260115T090000Z", so that no time
   fires twice. docs/guide/schedules.md has the rules for clock changes, overlap and backfill. */
typedef struct hf_schedule_opts {
    size_t size_;
    const char *type; /* of the workflow that it starts, with `in` */
    hf_value in;
    const char *cron;     /* "0 9 * * 1-5"; several stand on lines of their own */
    const char *timezone; /* "Europe/Berlin"; UTC by default */
    hf_ms every;          /* an interval, counted from 1970, and how far it is shifted; whole */
    hf_ms offset;         /* seconds, both */
    hf_value spec;        /* instead of the four above: {'cron_expressions': [], 'timezone': '',
                             'intervals': [{'every': 'PT30M', 'offset': 'PT5M'}]} */
    const char *overlap;  /* while the last run is open: "skip" (default), "buffer_one",
                             "buffer_all", "allow_all", "cancel_other", "terminate_other" */
    hf_ms jitter;         /* each time is late by up to this much, drawn anew for each */
    int64_t max_runs;     /* after so many starts it deletes itself; 0: no limit */
    bool paused;          /* hf_schedule_create only */
    const char *note;
    const char *queue; /* of the runs, this and what follows */
    const char *business_key;
    const char *labels;
    const char *memo;
    hf_ms execution_timeout;
    hf_ms run_timeout;
    const char *attributes; /* search attributes of the runs, a JSON object */
} hf_schedule_opts;

/* HF_EXISTS: there is one of that id. HF_INVALID: a broken expression, an unknown time zone, an
   interval below a second; hf_errmsg names it, and nothing was changed. */
HF_API hf_status hf_schedule_create_with(hf_engine *engine, const char *id,
                                         const hf_schedule_opts *o);

/* Changes what is given; zero leaves it as it is, -1 takes jitter or max_runs away. HF_NOTFOUND,
   and HF_REJECTED when it is deleted, as for all that follow. */
HF_API hf_status hf_schedule_update_with(hf_engine *engine, const char *id,
                                         const hf_schedule_opts *o);
HF_API hf_status hf_schedule_pause(hf_engine *engine, const char *id, const char *reason);
HF_API hf_status hf_schedule_resume(hf_engine *engine, const char *id);

/* It never fires again; its runs go on, its history stays. Deleting twice is the same as once. */
HF_API hf_status hf_schedule_delete(hf_engine *engine, const char *id);

/* Fires now, by its own overlap policy or another (NULL: its own). *out (NULL allowed) says what
   came of it: {"outcome": "triggered", "workflow_id": ..., "run_id": ..., "reason": ...,
   "buffer_depth": 0}; a skip is an answer, not a failure, also of a deleted schedule. */
HF_API hf_status hf_schedule_trigger(hf_engine *engine, const char *id, const char *overlap,
                                     hf_value *out);

/* Fires for every time from `from` to `to` (milliseconds since 1970, both included), at most 1,000
   of them; jitter does not apply and buffering policies count as allow_all. *out (NULL allowed) is
   a list of what hf_schedule_trigger says, with occurrence_time. */
HF_API hf_status hf_schedule_backfill(hf_engine *engine, const char *id, int64_t from, int64_t to,
                                      const char *overlap, hf_value *out);

/* What there is to know of one; of all that live, newest first; of its audit history. */
HF_API hf_status hf_schedule_show(hf_engine *engine, const char *id, hf_value *out);

typedef struct hf_schedule_list_opts {
    size_t size_;
    const char *status; /* "active" or "paused"; NULL: both */
    const char *type;   /* of the workflow; NULL: any */
    const char *after;  /* next_page_token of the page before; NULL: the first page */
    int limit;          /* 1 to 200; 0: 50 */
} hf_schedule_list_opts;

/* {"schedules": [...], "next_page_token": null} */
HF_API hf_status hf_schedule_list_with(hf_engine *engine, const hf_schedule_list_opts *o,
                                       hf_value *out);

/* {"events": [...], "next_cursor": null}, after a sequence number, at most `limit` (0: 100). */
HF_API hf_status hf_schedule_history(hf_engine *engine, const char *id, int64_t after, int limit,
                                     hf_value *out);

/* The times from `from` to `to` without jitter, at most `limit`: a list of milliseconds. */
HF_API hf_status hf_schedule_times(hf_engine *engine, const char *id, int64_t from, int64_t to,
                                   int limit, hf_value *out);

/* A run as a published history bundle (JSON text in `mem`): all of its history, what follows from
   it, and a checksum over everything; open runs as well as closed ones. hf_test_replay reads it. */
typedef struct hf_export_opts {
    size_t size_;
    const char *id;           /* of the instance */
    const char *run_id;       /* NULL: its newest run */
    const char *key, *key_id; /* signs the bundle (HMAC-SHA-256); NULL: unsigned */
} hf_export_opts;
HF_API hf_status hf_export_with(hf_engine *engine, hf_mem *mem, const char **out_json,
                                const hf_export_opts *o);

/* Why the newest run of the instance (or with "ID#N" its nth) is not moving, or how it ended: an
   object in `mem` with code, severity (ok, notice, attention), text, since, until, subject,
   evidence, next, and the run's state under the names of the published run summary (liveness).
   docs/reference/why.md lists the codes. hf_describe (view.h) has the same of an earlier event. */
HF_API hf_status hf_why(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);

/* Works in threads of the engine until hf_shutdown, which any thread may call. */
HF_API hf_status hf_run(hf_engine *engine);
HF_API void hf_shutdown(hf_engine *engine);

/* For a program with an event loop of its own, called before anything else: hf_fd is readable when
   hf_tick has something to do; hf_tick does what is due and says after how many milliseconds to
   come back, at most `at_most`. -1: it failed. One thread makes all calls then. */
HF_API int hf_fd(hf_engine *engine);
HF_API int hf_tick(hf_engine *engine, hf_ms at_most);

/* Told what has happened, after it is committed and never during replay: "WorkflowStarted",
   "WorkflowCompleted", "WorkflowFailed", "ActivityStarted", "ActivityCompleted", "ActivityFailed"
   (for good, not before a retry), "FailureRecorded". `detail` has instance_id, run_id,
   workflow_type, sequence and committed_at (milliseconds), with activity_type, step, attempt,
   exception_type and message where they apply, and lives for the call. Called on the engine's own
   thread: it must not block and not call the engine. A process that dies may leave the newest
   events untold. */
typedef struct hf_observer {
    size_t size_;
    void (*on)(void *arg, const char *event, hf_value detail);
    void *arg;
} hf_observer;

/* One observer an engine, set before work begins; NULL takes it away. */
HF_API void hf_observe(hf_engine *engine, const hf_observer *o);

/* The main function of a program that works on a store until SIGINT or SIGTERM; `--help` says how
   it is called. Returns the exit code. The only function here that touches signals. */
HF_API int hf_main(int argc, char **argv, const hf_app *app);

/* ---- in tests */

/* An engine in memory, on a virtual clock, in the caller's thread: nothing moves unless told to.
   Never NULL but when memory ran out. */
HF_API hf_engine *hf_test_open(const hf_app *app);
/* Does all that can be done now. Pauses before another attempt at an activity, or at a step that
   failed, count as over: the clock moves to their ends, and whatever else falls due on the way
   happens as well. Delays that code asks for are not pauses. At most 1,000 pauses, for what never
   comes to an end. */
HF_API hf_status hf_test_drain(hf_engine *engine);
/* Moves the clock and does what falls due on the way; 0 does what can be done at this very moment.
 */
HF_API hf_status hf_test_advance(hf_engine *engine, hf_ms by);

/* The next `times` attempts of the activity fail with `type` instead of running, crash or not. */
HF_API void hf_test_fail(hf_engine *engine, const char *activity, int times, const char *type);

/* As kill -9: forgets everything but what was committed, and begins again. */
HF_API void hf_test_crash(hf_engine *engine);

/* Runs the scenario undisturbed, then once for each commit of that run with a crash right after
   that commit, and compares: what the scenario returned, and the status and result of every
   instance (ids that the engine made do not count). HF_OK when all agree; otherwise `why` says
   which commit and what differed. */
HF_API hf_status hf_test_crash_everywhere(const hf_app *app,
                                          hf_status (*scenario)(hf_engine *engine, void *arg),
                                          void *arg, char *why, size_t why_size);

/* "completed", "failed", "waiting timer", "waiting signal:approved-by"; "not found". */
HF_API const char *hf_test_status(hf_engine *engine, const char *id);

/* Events of a type in the newest run; -1 when there is no such instance or type. */
HF_API int hf_test_count(hf_engine *engine, const char *id, const char *event_type);

/* Replays an exported run against the code of today: HF_OK, or HF_REPLAY_BLOCKED and `why`. */
HF_API hf_status hf_test_replay(const hf_app *app, const char *bundle, char *why, size_t why_size);

#ifndef __cplusplus
#define hf_history(engine, mem, out, ...)                                                          \
    hf_history_with(engine, mem, out,                                                              \
                    &(hf_history_opts){.size_ = sizeof(hf_history_opts), .id = __VA_ARGS__})
#define hf_export(engine, mem, out_json, ...)                                                      \
    hf_export_with(engine, mem, out_json,                                                          \
                   &(hf_export_opts){.size_ = sizeof(hf_export_opts), .id = __VA_ARGS__})
/* hf_pause(engine, "order-42", .reason = "audit") */
#define hf_pause(engine, ...)                                                                      \
    hf_order_x_(hf_pause_with, engine, __VA_ARGS__, .size_ = sizeof(hf_order_opts))
#define hf_resume(engine, ...)                                                                     \
    hf_order_x_(hf_resume_with, engine, __VA_ARGS__, .size_ = sizeof(hf_order_opts))
#define hf_archive(engine, ...)                                                                    \
    hf_order_x_(hf_archive_with, engine, __VA_ARGS__, .size_ = sizeof(hf_order_opts))
#define hf_order_x_(call, engine, id, ...) call(engine, id, &(hf_order_opts){__VA_ARGS__})
#define hf_schedule_create(engine, id, type_, ...)                                                 \
    hf_schedule_create_with(                                                                       \
        engine, id,                                                                                \
        &(hf_schedule_opts){.size_ = sizeof(hf_schedule_opts), .type = type_, .in = __VA_ARGS__})
#define hf_schedule_update(engine, id, ...)                                                        \
    hf_schedule_update_with(engine, id,                                                            \
                            &(hf_schedule_opts){.size_ = sizeof(hf_schedule_opts), __VA_ARGS__})
#define hf_schedule_list(engine, out, ...)                                                         \
    hf_schedule_list_with(                                                                         \
        engine, &(hf_schedule_list_opts){.size_ = sizeof(hf_schedule_list_opts), __VA_ARGS__},     \
        out)
#define hf_start(engine, type, ...)                                                                \
    hf_start_with(engine, type, &(hf_start_opts){.size_ = sizeof(hf_start_opts), .in = __VA_ARGS__})
#endif
#ifdef __cplusplus
}
#endif
#endif
