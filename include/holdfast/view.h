/* view.h: what operators read: lists of runs, one run in all its parts, saved views. Requests and
   answers are values (holdfast/value.h), so that every surface speaks the same words; answers live
   in `mem`. Nothing here replays or records anything, except hf_view_save and hf_view_delete, which
   keep and forget a view.

   HF_INVALID: a request that cannot be; hf_errmsg names the member. HF_NOTFOUND: no such instance,
   run or view. Any thread. */
#ifndef HOLDFAST_VIEW_H
#define HOLDFAST_VIEW_H

#include "holdfast/holdfast.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs, newest first.
     filters   {field: value, "labels": {..}, "search_attributes": {..}}; see hf_list_filters. "q"
               among them is a query line, of which every word must be understood; "not" has what
               is left out: {field: [value, ..], "labels": {name: [value, ..]}}
     q         a query line: words such as type:order is:open started<1h, which win over `filters`.
               A word that is not understood is told in the answer's `query`, and the rest is asked
     view      id of a saved or system view, whose filters come first and yield to `filters`
     bucket    "running", "completed", "failed", "cancelled" or "terminated"
     limit     rows of a page, 1 to 1000; 50
     order     "oldest": the oldest come first; else the newest
     cursor    what the page before returned
     facets    names to count by: status, workflow_type, queue, wait_kind, compatibility,
               closed_reason, failure, label:KEY
     total     true: count all that match
     hist      true: count the newest 10,000 that match by when they started
     why       true: each item has `why` in short and a `glyph`; where history is long, or the
               page is, from its row alone: code null, and what will move it on as the text
     definition  true: visibility_filters has what hf_list_filters returns
     owner, scope   whose views count; see hf_view_save
   The answer has items, cursor, facets, total, hist {from, step_seconds, open, over, failed: one
   number for each step, exact}, visibility_filters: what was applied, and with `q`
   query {tokens, errors, filters, view}. Counts beyond 10,000 say that they are not exact.
   HF_NEWER: the view was written by a newer program. */
HF_API hf_status hf_list_runs(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* The fields a list is filtered by, with labels and options, for those who build forms. */
HF_API hf_status hf_list_filters(hf_engine *engine, hf_mem *mem, hf_value *out);

/* One run: {"id": instance, "run_id"?, "at"?: event, "limit"?: of its lists}. Everything that the
   published selected-run detail has: identity, state, contracts, what can be done and why not,
   waits, timeline, activities, timers, failures, commands, tasks, links, and `why`. With `at` all
   of it is what history up to that event says; nothing can be done to an earlier moment. */
HF_API hf_status hf_describe(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* One part of it for a page that shows only that: {"id", "run_id"?, "at"?, "limit"?, "part", ...}.
   Payloads in it are for people: {"codec", "text": JSON text of at most 16 KB, "bytes", "cut"}.

     head      all that hf_describe has but its lists; actions, counts, parent, started_by

     events    {run_id, last_sequence, is_now, events, next_after, previous_before, scanned_to}:
   between `after` and `before`, `limit` (1 to 1000) of those that have one of `kinds` and the text
   `q`, from the first on or with `order` "desc" from the last on; at most 20,000 are looked at

     spans     {run_id, spans: what hf_spans returns}

     waits, commands, activities, timers, failures, tasks   {run_id, that list}

     step      {run_id, step, bar, activity, wait, timer, child, failures, events} of `step`

     state     memo, search attributes, labels, notes; where a machine stands

     blocked   {workflow_id, run_id, workflow_type, blocked: what is stored of a run whose code and
   history disagree, with the steps around; null: it is not blocked}

     payload   {run_id, event, key, codec, bytes, size, from, to, text}: `size` bytes (at most 1
   MiB) of the JSON text of what `event` has under `key`, `from` there on; text null: it was erased

     lineage   the runs around it, `depth` (1 to 5; 2) steps up and down: {root, nodes, edges, cut}
 */
HF_API hf_status hf_run_part(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* Its steps as bars over time: {"id", "run_id"?, "at"?, "limit"?: the newest; `left_out` is how
   many older ones there are}. */
HF_API hf_status hf_spans(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* How a query line could go on: {"q", "at"?: the caret, in bytes; the end} -> {"start", "end",
   "suggestions": [{"text", "n", "exact", "help"}]}: `text` may stand in place of the bytes from
   start to end; `n` runs would be found, null where nobody counted, or where it took too long. */
HF_API hf_status hf_list_suggest(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* Keeps a view: {"id"?: to change one, "name", "bucket", "filters" or "q": a query line, "owner",
   "scope"?, "shared"?, "filter_version"?}. With a line it needs no bucket: it is then of all runs,
   and its bucket is null. The line is kept as it was written: its ages count from when the view is
   looked at. HF_EXISTS: in that scope and bucket the owner has a view of that name, or both it
   and another one are shared. HF_DENIED: somebody else's. */
HF_API hf_status hf_view_save(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* System views and those that the owner may see: {"owner"?, "scope"?, "bucket"?}. */
HF_API hf_status hf_view_list(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);
HF_API hf_status hf_view_get(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);
HF_API hf_status hf_view_delete(hf_engine *engine, hf_value request);

/* An export that is signed with a public key and redacted on its way out. */
typedef struct hf_export_seal {
    size_t size_;
    const char *ed25519_key; /* the private key, 64 hexadecimal digits; NULL: no such signature */
    /* Shown each payload, context, reason and diagnostic before it leaves, with its path and
       category; returns it, or something else in its place. NULL fails the export. */
    hf_value (*redact)(void *arg, hf_mem *mem, hf_value context, hf_value value);
    void *redact_arg;
    const char *redact_policy; /* what the redactor calls itself; the bundle says it */
} hf_export_seal;
HF_API hf_status hf_export_sealed(hf_engine *engine, hf_mem *mem, const char **out_json,
                                  const hf_export_opts *o, const hf_export_seal *seal);

/* Takes a run of another store in, as the bundle it left that store in. It is verified as a whole
   first: HF_INVALID (or HF_NEWER, HF_TOOBIG) names the rule that does not hold, and nothing is
   written. It is kept as it is, to be read, replayed and compared; nothing ever works on it, and it
   is in no list of runs. The answer: {run_id, instance_id, workflow_type, events, complete,
   imported}; imported is false when exactly this was there already. HF_EXISTS: the run is there
   with another content. HF_NOTFOUND: no such namespace. */
typedef struct hf_import_opts {
    size_t size_;
    const char *text; /* the bundle */
    size_t len;
    const char *space;      /* namespace; NULL: the engine's */
    const char *key;        /* HMAC; NULL: not checked */
    const char *public_key; /* Ed25519, 64 hexadecimal digits; NULL: any */
    bool require_signature;
} hf_import_opts;
HF_API hf_status hf_import_with(hf_engine *engine, hf_mem *mem, hf_value *out,
                                const hf_import_opts *o);

/* What was imported, the newest first: {"namespace"?, "limit"?, "cursor"?: of the last row}. */
HF_API hf_status hf_imports(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* The text as it came in: {"id": run or instance, "namespace"?}. */
HF_API hf_status hf_import_get(hf_engine *engine, hf_value request, hf_mem *mem,
                               const char **out_json);
/* {"run_id", "namespace"?} */
HF_API hf_status hf_import_delete(hf_engine *engine, hf_value request);

/* A bundle that is looked at without becoming part of any store: its run is shown as runs of a
   store are, as it was when it was exported. Any thread; readers do not wait for each other. */
typedef struct hf_bundle_view hf_bundle_view;

/* HF_INVALID: it is no bundle, or cut off. HF_CORRUPT: a rule that bundles keep does not hold, such
   as its checksum. HF_NEWER: a newer program wrote it. HF_TOOBIG: over 64 MiB. */
HF_API hf_status hf_bundle_view_open(const char *text, size_t len, hf_bundle_view **out_view,
                                     hf_err *err);
HF_API void hf_bundle_view_close(hf_bundle_view *view); /* NULL is allowed */

/* Bytes of memory that it takes, with the text, which hf_bundle_view_text returns. */
HF_API size_t hf_bundle_view_held(const hf_bundle_view *view);
HF_API const char *hf_bundle_view_text(const hf_bundle_view *view, size_t *out_len);

/* {workflow_id, run_id, workflow_type, events, bytes, complete, ours, exported_at, redacted,
   verification {status, checksum, signature, findings}}. NULL: no memory. */
HF_API hf_value hf_bundle_view_about(const hf_bundle_view *view, hf_mem *mem);

/* As hf_run_part, with a request that names no run: {"part", "at"?, "limit"?, ...}. Lineage is what
   its history says. HF_INVALID, HF_NOTFOUND. */
HF_API hf_status hf_bundle_view_part(const hf_bundle_view *view, hf_value request, hf_mem *mem,
                                     hf_value *out, hf_err *err);

/* Two runs side by side, aligned by step: {"left": {"id", "run_id"?}, "right": {...}, "after"?,
   "limit"?: steps, 1 to 1000, "different_only"?}. A view in place of a run of the store (NULL:
   none) has its name as {"bundle"} there. HF_NOTFOUND begins with left: or right:. The answer:
   {equal, different, first_difference, type, input, output, left, right, steps [{step, state: same,
   different_step, different_input, different_output, only_left or only_right, first, left, right}],
   next_after}. */
HF_API hf_status hf_run_diff(hf_engine *engine, hf_value request, const hf_bundle_view *left,
                             const hf_bundle_view *right, hf_mem *mem, hf_value *out);

/* Replays the history of a run with the code of today and compares what it asks for with what is
   on record: {"id", "run_id"?, "timeout_ms"?: 1 to 60000}, or of a view, which then names no run.
   Nothing is written, no activity runs, and code begins no step that is not on record. This program
   replays it when it has the code, else a worker that has it (programs of ours can). The answer:
   {workflow_id, run_id, workflow_type, events, verdict: ok, blocked, elsewhere (nobody who could
   say has the code) or unreadable, ran {kind, build, elapsed_ms}, reason, step, source_line, text,
   rows
   [{step, state: same, different, not_reached or missing, recorded, wanted}], rows_before,
   rows_after, guard}. HF_BUSY: two are under way. HF_TIMEOUT: the code did not come back. */
HF_API hf_status hf_run_replay(hf_engine *engine, hf_value request, const hf_bundle_view *view,
                               hf_mem *mem, hf_value *out);

/* The types that events of a history have, in the order of the reference; NULL behind the last. */
HF_API const char *hf_event_type_at(size_t i);

/* The published operator metrics, read from rows when asked: runs, tasks, activities, backlog,
   repair, starts, history, projections, schedules, workers, and what the engine is set to. States
   of runs are those of the 10,000 oldest open ones. */
HF_API hf_status hf_metrics(hf_engine *engine, hf_mem *mem, hf_value *out);

/* The same as Prometheus text: holdfast_GROUP_NAME, without labels. */
HF_API hf_status hf_metrics_text(hf_engine *engine, hf_mem *mem, const char **out_text);

/* Checks with their status (ok, warning, error) and the metrics they were made from. */
HF_API hf_status hf_health(hf_engine *engine, hf_mem *mem, hf_value *out);

/* What a dashboard shows first. */
HF_API hf_status hf_stats(hf_engine *engine, hf_mem *mem, hf_value *out);

/* What an operator looks at first, in bounded time whatever the store holds: {runs: {open, pending,
   running, waiting, completed, failed, cancelled, terminated, exact}, rates, backlog,
   timers_next_hour: one number for each minute, types, types_exact, records {longest_open,
   most_retries, biggest_history}, failures: kinds of them, projections, schedules {active, paused,
   missed}, storage {backend, bytes, wal_bytes, path}}. Numbers are counted up to 10,000, and types,
   records and failures are those of the 10,000 newest runs. */
HF_API hf_status hf_overview(hf_engine *engine, hf_mem *mem, hf_value *out);

/* What steps of machines stand before, in the order of their keys: {"limits": [{key, kind
   ("concurrency" or "rate"), limit (as it was declared: {name, at_once} or {name, allowed, per_ms,
   burst}; null: nobody did), slots (how many there are), taken: [{number, workflow_id, run_id,
   workflow_type, task_queue (null, all four: the run is gone), owner, until}], tokens, full_at,
   waiting: how many runs, queues:
   [{name, taken, waiting}]}], "exact"}. slots is null of rates, tokens of keys and of a rate that
   nobody declared; full_at is null of a full bucket. Slots and tokens are those of all processes,
   runs that wait are this one's. exact is false when there are more than 1,000 slots, buckets or
   keys with waiting runs, or 10,000 of those: what is more is left out, or has no queue. */
HF_API hf_status hf_limits_state(hf_engine *engine, hf_mem *mem, hf_value *out);

/* What happened in each minute or hour, for charts: {"span": "minute" or "hour", "from_us"?,
   "to_us"?, "limit"?: 1 to 10080}. The answer: {"span", "points": [{at, started, completed, failed,
   cancelled, terminated, continued, failures, attempts, retries, events}]} in the order of time, by
   the times of events; a moment in which nothing happened has no point. Kept for 15 days in the
   store; a second or so behind. */
HF_API hf_status hf_metrics_points(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* How long runs were open that closed in a stretch of time: {"from_us", "to_us", "points"?: how
   many equal steps, 1 to 240}. The answer: {"points": [{at, closed, p50_ms, p95_ms, p99_ms}] for
   those steps in which some did, "types": [{workflow_type, closed, completed, failed, p50_ms,
   p95_ms}], what closed most first, "looked_at", "exact"}; exact is false when there are more runs
   than the 10,000 newest, which alone are looked at. */
HF_API hf_status hf_durations(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* Open runs that need a person, those in the same plight together, the worst group first: what has
   been so for longest. {"limit"?: groups, 1 to 100, "budget_ms"?: how long it may look, 1 to 500,
   "samples"?: runs of each, 1 to 1000, else 5, "signature"?: only that group, "notices"?: true
   adds, behind the others, what passes by itself but is worth a look}. The answer: {"groups":
   [{signature, severity, code, text, workflow_type, queue, count, since, runs}], "looked_at",
   "exact"}; exact is false when there were more runs than one look affords (1,000, or half a
   second). */
HF_API hf_status hf_attention(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* Failures in groups that differ in numbers only: {"since_us"?, "limit"?}. What workers report of
   workflow tasks that they cannot do now comes first ("workflow_task": true), whenever it began;
   then the failures of history, the newest first. The filter `failure` of a list takes their
   fingerprint. */
HF_API hf_status hf_failure_groups(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

/* One of them: {"fingerprint", "after_us"?}: {group, samples [{workflow_id, run_id, workflow_type,
   step, at, failure_type, message, handled, build}], the newest 20, builds: those of runs that had
   it behind `after_us`; null among them: of runs that need none}. HF_NOTFOUND. */
HF_API hf_status hf_failure_group(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out);

#ifdef __cplusplus
}
#endif
#endif
