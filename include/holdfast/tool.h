/* tool.h: what tools do to a store as a whole: create, migrate, verify, back up. The command line
   is built on it. Addresses are PATH, sqlite:PATH or postgres://... . Every call opens what it
   needs and closes it again; each may block. Statuses and texts are explained in status.h; on
   failure the store is as it was. */
#ifndef HOLDFAST_TOOL_H
#define HOLDFAST_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/status.h"
#include "holdfast/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, "0.1.0". */
HF_API const char *hf_version_text(void);

typedef struct hf_tool_options {
    size_t size;        /* sizeof(hf_tool_options) */
    const char *schema; /* PostgreSQL schema; NULL for "holdfast" */
    const char *space;  /* namespace that ids are looked up in; NULL for "default" */
} hf_tool_options;

typedef struct hf_tool_info {
    size_t size;
    char engine[16]; /* "sqlite" or "postgres" */
    char store_id[40];
    int64_t created_us; /* microseconds since 1970 UTC */
    int64_t ground_version;
    int64_t ground_known; /* newest this library knows */
    int64_t projection_version;
    int64_t projection_known;
} hf_tool_info;

/* Reads what a store says of itself. */
HF_API hf_status hf_tool_inspect(const char *address, const hf_tool_options *options,
                                 hf_tool_info *out_info, hf_err *err);

/* Makes a store, or brings an existing one to the newest version. `show` (may be NULL) gets each
   migration before it runs. With `print_only` nothing is changed. HF_OWNED while an engine works on
   it (SQLite). */
typedef void hf_tool_show(void *ctx, const char *name, const char *sql);
HF_API hf_status hf_tool_migrate(const char *address, const hf_tool_options *options,
                                 bool print_only, hf_tool_show *show, void *ctx, hf_err *err);

/* Copies a SQLite store into a new file while engines go on working. progress may be NULL; false
 * stops. */
typedef bool hf_tool_progress(void *ctx, int64_t done, int64_t total);
HF_API hf_status hf_tool_backup(const char *address, const char *path, hf_tool_progress *progress,
                                void *ctx, hf_err *err);

/* One broken invariant. Texts are borrowed for the call. */
typedef struct hf_finding {
    const char *invariant; /* "I01" */
    const char *severity;  /* "stop", "block_run", "warn" */
    bool repairable;       /* an automatic repair exists or is allowed */
    const char *keys;      /* JSON object that names the rows: {"run":7,"seq":3} */
    const char *sentence;  /* what is wrong, for a person */
} hf_finding;
typedef void hf_finding_fn(void *ctx, const hf_finding *finding);

typedef struct hf_verify_options {
    size_t size;
    const char *schema; /* PostgreSQL schema; NULL for "holdfast" */
    int64_t run;        /* a run key: check this run alone; 0 for all */
    bool quick;         /* without the engine's own page check and the hash chain */
} hf_verify_options;

typedef struct hf_verify_report {
    size_t size;
    int64_t runs, events, findings;
    int64_t invariants; /* how many were checked */
    int64_t elapsed_us;
} hf_verify_report;

/* Checks the invariants of a store, read-only, online, in constant memory. HF_OK also when there
   are findings: they are data. progress (may be NULL) is told events done and in all; false stops
   with HF_CANCELLED. */
HF_API hf_status hf_verify(const char *address, const hf_verify_options *options,
                           hf_finding_fn *found, hf_tool_progress *progress, void *ctx,
                           hf_verify_report *out_report, hf_err *err);

/* Why a run is not moving, as hf_why answers it, for every open one that needs a person, from the
   store alone: works while an engine is at work, and when there is none. `found` returns false to
   stop. The value is borrowed for the call. *out_runs (may be NULL): how many open runs were looked
   at. */
typedef bool hf_tool_why_fn(void *ctx, hf_value why);
HF_API hf_status hf_tool_attention(const char *address, const hf_tool_options *options,
                                   hf_tool_why_fn *found, void *ctx, int64_t *out_runs,
                                   hf_err *err);
typedef struct hf_rebuild_options {
    size_t size;
    const char *schema; /* PostgreSQL schema; NULL for "holdfast" */
    bool missing;       /* those that are not there alone */
    bool needs_rebuild; /* those that are behind, missing, or not what folding history gives */
    bool prune_stale;   /* forget those of runs that are gone */
    bool dry_run;       /* count, and change nothing */
} hf_rebuild_options;

typedef struct hf_rebuild_report {
    size_t size;
    int64_t runs; /* looked at */
    int64_t missing, behind, stale;
    int64_t rebuilt, pruned; /* with dry_run: would be */
    int64_t failed;          /* runs that cannot be folded; hf_verify says why */
} hf_rebuild_report;

/* Makes projections anew from history: with neither `missing` nor `needs_rebuild` all of them.
   HF_OWNED while an engine works on the store (SQLite), except for a dry run. */
HF_API hf_status hf_rebuild(const char *address, const hf_rebuild_options *options,
                            hf_rebuild_report *out_report, hf_err *err);

/* Runs one statement that only reads, on a connection that cannot write, and hands over row after
   row: the first call has the names of the columns and no values. Cells are text, NULL for null;
   bytes come in hexadecimal. `row` returns false to stop. HF_INVALID: not one reading statement.
   HF_TIMEOUT, HF_TOOBIG: a limit was reached; the rows so far were handed over. */
typedef bool hf_sql_row(void *ctx, const char *const *names, const char *const *cells,
                        size_t count);
typedef struct hf_sql_options {
    size_t size;
    const char *schema;
    int64_t rows_max;   /* 0: 10,000 */
    int64_t bytes_max;  /* of all cells; 0: 64 MiB */
    int64_t timeout_ms; /* 0: 10,000 */
    bool known;         /* only the functions that docs/operate/sql.md names, and no catalogues */
} hf_sql_options;
HF_API hf_status hf_sql(const char *address, const hf_sql_options *options, const char *sql,
                        hf_sql_row *row, void *ctx, hf_err *err);

/* Keys for a history bundle; NULL where none is at hand. */
typedef struct hf_bundle_keys {
    size_t size;
    const char *key;        /* HMAC */
    const char *public_key; /* Ed25519, 64 hexadecimal digits */
    bool require_signature;
} hf_bundle_keys;

/* Whether a history bundle can be relied on, without the store it came from: every rule that does
   not hold is a finding of the report (status ok, warning or failed). HF_OK also for a bundle that
   is worth nothing. HF_INVALID: the public key is none. */
HF_API hf_status hf_bundle_verify(const char *text, size_t len, const hf_bundle_keys *keys,
                                  hf_mem *mem, hf_value *out_report, hf_err *err);

/* The same for the bytes of a file from `from` up to `to` (0: its end), which can be read at any
   place (pread). Memory does not grow with it when its members are ordered by name, as in every
   bundle that Holdfast writes; others are refused over 64 MiB. HF_IO. */
HF_API hf_status hf_bundle_verify_fd(int fd, int64_t from, int64_t to, const hf_bundle_keys *keys,
                                     hf_mem *mem, hf_value *out_report, hf_err *err);

/* Which runs of a store leave it as bundles, and how. */
typedef struct hf_bundles_options {
    size_t size;
    const char *schema;
    const char *namespace_; /* NULL: "default" */
    const char *const
        *ids;         /* instances, ID#N for their nth run, or imported runs; ends with NULL */
    hf_value filters; /* without ids: as a list of runs takes them; NULL: none */
    int64_t max;      /* without ids: at most so many runs; 0: 500 */
    const char *key, *key_id; /* signs with an HMAC */
    const char *ed25519_key;  /* signs with a private key, 64 hexadecimal digits */
    hf_value (*redact)(void *arg, hf_mem *mem, hf_value context, hf_value value);
    void *redact_arg;
    const char *redact_policy;
    /* Without ids: is told of a run whose history cannot be read, {"instance_id", "run_id",
       "workflow_type"} and why, before the next one comes; NULL: such a run ends it. */
    void (*unreadable)(void *ctx, hf_value run, const hf_err *why);
} hf_bundles_options;

/* Hands over bundle after bundle, newest run first, while engines go on working. `found` returns
   false to stop. *out_runs (may be NULL): how many there were. HF_NOTFOUND: no such instance or
   run; the bundles before it were handed over. */
typedef bool hf_tool_bundle_fn(void *ctx, const char *text, size_t len);
HF_API hf_status hf_tool_bundles(const char *address, const hf_bundles_options *options,
                                 hf_tool_bundle_fn *found, void *ctx, int64_t *out_runs,
                                 hf_err *err);

/* Two bundles side by side, aligned by step. */
HF_API hf_status hf_bundle_diff(const char *a, size_t a_len, const char *b, size_t b_len,
                                hf_mem *mem, hf_value *out_diff, hf_err *err);

#ifdef __cplusplus
}
#endif
#endif
