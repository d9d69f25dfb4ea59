/* host.h: what the host of an engine needs and workflow code does not: the server in front of it,
   its tools. Every call may block and returns when what it did is committed; texts of failures are
   those of hf_errmsg. */
#ifndef HOLDFAST_HOST_H
#define HOLDFAST_HOST_H

#include <stdint.h>

#include "holdfast/holdfast.h"
#include "holdfast/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- credentials of the server */

typedef struct hf_token_opts {
    size_t size_;
    const char *label;      /* for people; NULL: the role */
    const char *role;       /* "read", "operator", "worker" or "admin" */
    const char *namespaces; /* separated by commas; NULL: all */
    hf_ms lifespan;         /* 0: until it is revoked */
} hf_token_opts;

typedef struct hf_token {
    char id[32];
    char secret[48]; /* the only copy: the store keeps its SHA-256 */
} hf_token;

HF_API hf_status hf_token_create_with(hf_engine *engine, const hf_token_opts *o, hf_token *out);
/* HF_NOTFOUND when there is none, or it is revoked already. */
HF_API hf_status hf_token_revoke(hf_engine *engine, const char *id);
/* All of them, oldest first: [{id, label, role, namespaces, digest, created_at, expires_at,
   revoked_at}]; the digest as hexadecimal digits. */
HF_API hf_status hf_tokens(hf_engine *engine, hf_mem *mem, hf_value *out);

/* ---- sessions of browsers, by the SHA-256 of the secret that each has */

enum { HF_SIGN_IN_DIGEST = 32, HF_SIGN_INS_MAX = 10000 };

typedef struct hf_sign_in {
    uint8_t digest[HF_SIGN_IN_DIGEST];
    const char *token; /* the id of whose session it is */
    int64_t begun_us;
    int64_t seen_us;  /* the last sign of life */
    int64_t ended_us; /* 0: it has not */
} hf_sign_in;

/* Keeps it, or what became of it; what has ended stays so. HF_INVALID: it has no token. */
HF_API hf_status hf_sign_in_put(hf_engine *engine, const hf_sign_in *one);
/* Those whose last change was then or later, the newest first and HF_SIGN_INS_MAX at most:
   [{digest, token, begun_us, seen_us, ended_us}]; the digest as hexadecimal digits. */
HF_API hf_status hf_sign_ins(hf_engine *engine, int64_t since_us, hf_mem *mem, hf_value *out);

/* ---- namespaces: ids, lists, queues and schedules that do not see those of others */

enum { HF_NAMESPACE_DAYS = 30, HF_NAMESPACE_DAYS_MAX = 36500, HF_NAMESPACE_FOR_EVER = -1 };

typedef struct hf_namespace_opts {
    size_t size_;
    const char *description; /* for people; NULL: none, or as it is */
    int64_t
        retention_days; /* closed runs stay so long, or HF_NAMESPACE_FOR_EVER; 0: 30, or as it is */
    const char *storage; /* where big payloads go, JSON; NULL: as it is; "": nowhere */
} hf_namespace_opts;

/* From now on all calls of this thread work in the namespace; NULL: "default", as in the beginning.
   Cheap, and each thread of a program may be elsewhere. HF_NOTFOUND. */
HF_API hf_status hf_namespace_use(hf_engine *engine, const char *name);

/* HF_EXISTS. The name is 1 to 128 of a-z, 0-9, '.', '_' and '-'. */
HF_API hf_status hf_namespace_create(hf_engine *engine, const char *name,
                                     const hf_namespace_opts *o);
/* What is not given stays. HF_NOTFOUND. */
HF_API hf_status hf_namespace_set(hf_engine *engine, const char *name, const hf_namespace_opts *o);
/* All: [{name, description, retention_days, created_at, external_payload_storage}] */
HF_API hf_status hf_namespaces(hf_engine *engine, hf_mem *mem, hf_value *out);

/* How much the namespace of this thread has: open runs, counted up to so many; bytes of histories
   and payloads before compression, which reads something of every run. */
HF_API hf_status hf_namespace_open_runs(hf_engine *engine, int64_t most, int64_t *out_count);
HF_API hf_status hf_namespace_bytes(hf_engine *engine, int64_t *out_bytes);

/* ---- types

   What this program registers and what the store knows of the definitions of others, the newest of
   each type, of all namespaces: [{"type", "kind": "workflow", "machine" or "activity", "here": this
   program has its code, "fingerprint", "contract": {"parameters", "signals": [{"name",
   "parameters"}], "updates", "queries"}}]; parameters are null when they are not declared, and
   activities have neither contract nor fingerprint. At most 1,000 types that are recorded. */
HF_API hf_status hf_types(hf_engine *engine, hf_mem *mem, hf_value *out);

/* ---- what waits for a person

   Open waits for a signal, over all runs of the namespace, those of the newest runs first:
   {"limit"?: runs, 1 to 200, "cursor"?, "q"?: words that its id, type, business key, name or
   summary has; then 200 runs are looked at for a page}. The answer: {"approvals": [{"id", "kind":
   "signal", "name", "workflow_id", "run_id", "workflow_type", "business_key", "step",
   "source_line", "summary", "since", "until", "parameters": what the signal takes, null: nothing is
   declared, "links": [{"id", "label", "created_by", "created_at", "expires_at"}]}], "cursor"}. Runs
   are found in lists, which are a moment behind; a wait whose answer has come is never here. */
HF_API hf_status hf_approvals(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* A link that answers one of them, once, for somebody without an account: {"approval": id,
   "label": for whom, "created_by"?, "lifespan_seconds"?: 60 to 2592000; 604800}. It ends with the
   deadline of the wait at the latest. The answer: {"id", "label", "token": the only copy,
   "created_at", "expires_at"}. HF_NOTFOUND: nothing waits there. HF_EXISTS: it has 10 links. */
HF_API hf_status hf_answer_link_create(hf_engine *engine, hf_value request, hf_mem *mem,
                                       hf_value *out);

/* All links of an approval that were not used answer no more; how many they were. */
HF_API hf_status hf_answer_link_revoke(hf_engine *engine, const char *approval, int64_t *out_count);

/* What a token leads to, in whatever namespace: {"id", "namespace", "label", "expires_at",
   "state": "open", "used", "revoked", "expired" or "over" (somebody else answered, or the run went
   on), "approval": null unless it is open}. HF_NOTFOUND: it is no token of a link. */
HF_API hf_status hf_answer_link_look(hf_engine *engine, const char *token, hf_mem *mem,
                                     hf_value *out);

/* Answers: a signal to exactly that wait, which is committed once whatever happens, also when two
   answer at the same time or the process dies before it says so. `arguments` as for a signal, NULL:
   none; `context` as for hf_command; `from` is where it came from. *out is what became of the
   signal; an answer that its contract refuses leaves the link open. HF_CONFLICT: it has been
   answered, or was over. HF_NOTFOUND, as above. */
HF_API hf_status hf_answer_link_use(hf_engine *engine, const char *token, hf_value arguments,
                                    hf_value context, const char *from, hf_mem *mem,
                                    hf_command_result *out);

/* ---- what people decide about groups of the namespace, by the key of the group: hexadecimal
   digits

   `kind` is "attention" or "failure". Putting null forgets it. HF_NOTFOUND: no group has such a
   key, HF_EXISTS: there are too many, HF_TOOBIG. The list: [{key, value, at}]. */
HF_API hf_status hf_mark_put(hf_engine *engine, const char *kind, const char *key, hf_value value);
HF_API hf_status hf_marks(hf_engine *engine, const char *kind, hf_mem *mem, hf_value *out);

/* ---- what pages keep for whoever uses them, by the id of who that is

   {"surface", "value": what was put, null: nothing, "updated_at"}. A surface is 1 to 64 of a-z,
   0-9, '.', '_' and '-'; a value has at most 16 KiB of JSON, and nobody more than 32 of them:
   HF_INVALID, HF_TOOBIG, HF_EXISTS. Putting null forgets it. */
HF_API hf_status hf_preference(hf_engine *engine, const char *principal, const char *surface,
                               hf_mem *mem, hf_value *out);
HF_API hf_status hf_preference_put(hf_engine *engine, const char *principal, const char *surface,
                                   hf_value value);

/* ---- SQL

   hf_sql on the engine's store, over a connection of its own; the text of a failure is that of
   hf_errmsg. The views show runs of all namespaces. */
HF_API hf_status hf_sql_ask(hf_engine *engine, const hf_sql_options *options, const char *sql,
                            hf_sql_row *row, void *ctx);

/* What can be asked: {"store": "sqlite" or "postgres", "views": [{"name", "columns": [names]}]}. */
HF_API hf_status hf_sql_schema(hf_engine *engine, hf_mem *mem, hf_value *out);

/* ---- who changes schedules */

/* What the histories of schedules say, as command_context, of changes and firings that this thread
   asks for from now on: an object like the context of hf_command, with caller, auth, request and
   principal. It is copied. NULL: the program itself, as in the beginning. HF_INVALID: no object. */
HF_API hf_status hf_schedule_context(hf_engine *engine, hf_value context);

/* ---- retention: closed runs whose time is over leave the store with everything that is theirs.
   The engine does so by itself; a pass does it at once. */

typedef struct hf_retention_opts {
    size_t size_;
    const char *name; /* of the namespace; NULL: all */
    int64_t most;     /* runs to remove; 0: as many as there are */
} hf_retention_opts;

/* Removes, a few runs in one transaction, those that were closed for longer than their namespace
   keeps them and that nothing needs: not those of an open run's call, not the parent of an open
   child, not one with an older run of its instance before it. What belongs to
   no run goes as well: batches, deleted schedules and imported runs of that age, token buckets that
   are full, definitions that no run has. Counts what is gone: {runs, instances, batches, schedules,
   imports, buckets, definitions}, the runs that are over and `held`, and whether there is `more`.
   NULL for `o` is the default. A pass that is cut short by a failure has removed whole runs. */
HF_API hf_status hf_retention_pass(hf_engine *engine, const hf_retention_opts *o, hf_mem *mem,
                                   hf_value *out);

/* ---- whether it works */

/* HF_OK while the engine can go on. HF_STOPPED when it never will again, and why: a failed sync,
   corruption, somebody else who wrote to its store. What is read still is right; the host should
   stop taking work and end with a failure. HF_FULL while the disk or the database is full,
   HF_READONLY while the file system or the database takes no changes: commands fail with it, and
   the engine goes on by itself as soon as it can write again, which it tries twice a second.
   HF_UNREACHABLE while the database of a shared store did not renew the lease of this node: others
   go on with its runs, and commands wait. Asks nothing of the store; any thread. */
HF_API hf_status hf_working(hf_engine *engine);

/* ---- stopping */

/* True: from now on nobody waits. Calls that wait for a run, an update or a worker's answer return
   HF_STOPPED at once, those that wait already too; whatever they asked for stays recorded and can
   be looked up, and everything else goes on. For hosts that are about to stop, while others may
   still ask. False: they wait again. Any thread. */
HF_API void hf_waits_stop(hf_engine *engine, bool stop);

/* ---- activity timeouts: they fire by themselves when they are due. What is overdue waits for its
   commit, or was missed; a pass has it judged and enforced at once. */

typedef struct hf_overdue_opts {
    size_t size_;
    const char *const *ids; /* of activities, ended by NULL; NULL: all of the namespace */
    int64_t most;           /* at most so many, the longest overdue first, 1 to 1000; 0: 100 */
} hf_overdue_opts;

/* The ids of open activities whose next timeout has passed: [text]. */
HF_API hf_status hf_overdue(hf_engine *engine, const hf_overdue_opts *o, hf_mem *mem,
                            hf_value *out);

/* {processed, enforced, skipped, failed, results: [{execution_id, outcome: enforced, skipped or
   failed, reason, has_retry}]}, after the commits; waits 10 s at most. Skipped are those that are
   not_found, closed, not_expired (also by a sign of life that is not recorded yet) or
   owned_by_another_node. */
HF_API hf_status hf_overdue_pass(hf_engine *engine, const hf_overdue_opts *o, hf_mem *mem,
                                 hf_value *out);

/* ---- many starts */

/* How one of several starts ended. */
typedef struct hf_start_end {
    hf_status status;
    const char *message; /* in the arena; "": it is started; NULL: memory ran out */
} hf_start_end;

/* hf_start_all of requests as hf_command("start") takes them, so that each may say who asks:
   `out_ends` has room for each. */
HF_API hf_status hf_start_requests(hf_engine *engine, hf_value requests, hf_mem *mem,
                                   hf_start_end *out_ends);

/* ---- following a run */

typedef struct hf_watch hf_watch;
typedef struct hf_watch_opts {
    size_t size_;
    const char *id;
    const char *run_id; /* NULL: the newest run */
    /* After each commit that changed the run, and when anything may have: on a store that is shared
       with other nodes from time to time, because their hints may be lost. On a thread of the
       engine: it must neither block nor call the engine. */
    void (*changed)(void *arg);
    void *arg;
    bool ends; /* only the commit that closed the run counts */
} hf_watch_opts;

/* HF_NOTFOUND. */
HF_API hf_status hf_watch_begin(hf_engine *engine, const hf_watch_opts *o, hf_watch **out_watch);
/* `changed` is not called any more when it returns. NULL is allowed. */
HF_API void hf_watch_end(hf_watch *watch);

/* ---- following all runs */

/* How many changes of runs this engine knows of. Waits at most so long for the number to be another
   one than `seen`, and tells it then; on a store that is shared with other nodes it also returns
   from time to time, because their hints may be lost. */
HF_API hf_status hf_changes(hf_engine *engine, int64_t seen, hf_ms wait, int64_t *out_seen);

/* ---- search attributes that a namespace knows */

/* {"system_attributes": {name: type}, "custom_attributes": {name: type}} */
HF_API hf_status hf_attributes(hf_engine *engine, hf_mem *mem, hf_value *out);
/* The type is string, keyword, keyword_list, int, float, bool or datetime. A text of a keyword has
   at most 255 characters from then on, other texts 2,048: a longer one is refused where it is
   given. HF_EXISTS; HF_DENIED: the name is a system attribute's; HF_TOOBIG: there are too many. */
HF_API hf_status hf_attribute_create(hf_engine *engine, const char *name, const char *type);
/* Runs that carry it keep it. HF_NOTFOUND. */
HF_API hf_status hf_attribute_delete(hf_engine *engine, const char *name);

/* ---- activities that are asked for by themselves

   A workflow of this type runs one activity and ends as it ends. It is started with {activity_type,
   input, task_queue, retry_policy {max_attempts, backoff_seconds, non_retryable_error_types},
   start_to_close_timeout_seconds, schedule_to_start_timeout_seconds,
   schedule_to_close_timeout_seconds, heartbeat_timeout_seconds}, and there is one as soon as
   workers are allowed (worker.h). */
#define HF_STANDALONE_TYPE "durable-workflow.standalone-activity"

/* ---- bundles against the code of today */

/* Replays one history bundle with the definitions of `app`, without a store and without running any
   activity: {instance_id, run_id, workflow_type, events, verdict, reason, step, at, sentence}. The
   verdict is "ok", "blocked" (at this step and source line), "unknown_type" (not this program's) or
   "unreadable". HF_OK whatever it is; in `mem`. Any thread. */
HF_API hf_status hf_replay_bundle(const hf_app *app, const char *text, size_t len, hf_mem *mem,
                                  hf_value *out_report, hf_err *err);

#ifdef __cplusplus
}
#endif
#endif
