/* call.h: what one call of the public API works with: the calling thread's slot, the tools that
   read and draft, and waiting for a run. For the engine's own files. */
#ifndef HF_ENGINE_CALL_H
#define HF_ENGINE_CALL_H

#include "base/options.h"
#include "engine/engine_impl.h"

typedef struct hf_call {
    hf_engine *engine;
    engine_slot *slot;
    hf_intake in;         /* its db is set between hf_call_read_begin and hf_call_read_end */
    int64_t awaits;       /* the run that the caller waits for */
    int64_t awaits_shard; /* where that is, if known; else HF_NONE */
    bool awaits_end;      /* until it is closed */
    bool open; /* that run was open at `seen`: there is nothing to look at before it changes */
    uint64_t seen;
} hf_call;

/* Starts the engine when it is not started. The failure is in the slot, which hf_errmsg shows.
   HF_UNSUPPORTED: the engine is behind a server, and the function that asks is none that it has. */
#define hf_call_begin(call, engine) hf_call_begin_(call, engine, __func__)
HF_NODISCARD hf_status hf_call_begin_(hf_call *call, hf_engine *engine, const char *function);

/* For functions that a server has too: true when the engine is behind one. The slot is there then,
   and what it said before is forgotten; NULL: no memory. */
bool hf_call_remote(hf_engine *engine, engine_slot **out_slot);

/* The same for those that look at what they are given first: begins the call, of which only the
   slot is there when the engine is behind a server. */
HF_NODISCARD hf_status hf_call_begin_either(hf_call *call, hf_engine *engine, bool *out_remote);

/* The store may be read through call->in.db; not nested. */
void hf_call_read_begin(hf_call *call);
void hf_call_read_end(hf_call *call);

/* A refusal of a name that the run does not have and its type has by now says that it is the run
   that is old, not the caller who is wrong. Any other stays what it is. The store is being read;
   the sentence is in `mem`. */
HF_NODISCARD hf_status hf_call_drift_tell(const hf_call *call, const hf_intake_target *target,
                                          hf_target_kind kind, hf_slice name, hf_mem *mem,
                                          hf_intake_refusal *refusal, hf_err *err);

/* The newest run of an instance, or with `run_id` (ptr NULL: none) that one; base.run is HF_NONE
   when the instance was never started. Forgets what the slot's scratch arena held. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_call_aim(hf_call *call, hf_slice id, hf_slice run_id,
                                   hf_intake_target *out_target, hf_err *err);

/* The type whose code the run has, in the arena: its own, or that of the function that an async
   child runs. */
HF_NODISCARD hf_status hf_call_code(hf_call *call, const hf_intake_target *target, hf_mem *mem,
                                    hf_slice *out_type, hf_err *err);

/* The same for reading: until hf_call_view_end the store may be read through call->in.db, in the
   snapshot in which the run was found, so that an instance that goes on as a new run meanwhile is
   one or the other and never half of each. The run must be there; on any failure there is no view.
 */
HF_NODISCARD hf_status hf_call_view_begin(hf_call *call, hf_slice id, hf_slice run_id,
                                          hf_intake_target *out_target, hf_err *err);
void hf_call_view_end(hf_call *call);

/* The same for the newest run, which there must be; the failure is in the slot. */
HF_NODISCARD hf_status hf_call_find(hf_call *call, const char *id, hf_intake_target *out_target);

/* Commits one bare row that belongs to no run; *out_applied says whether it took effect. */
HF_NODISCARD hf_status hf_call_row(hf_call *call, hf_op op, const hf_db_value *cells, size_t count,
                                   bool *out_applied, hf_err *err);

/* The rows of a statement as an array in the arena, each made by `make`; NULL from it: no memory.
   Through the engine's connection that reads, or any. */
typedef hf_value hf_call_make(void *ctx, hf_mem *mem, hf_db_cursor *row);
HF_NODISCARD hf_status hf_look_rows(hf_db *db, hf_stmt stmt, const hf_db_value *params,
                                    size_t count, hf_mem *mem, hf_call_make *make, void *ctx,
                                    hf_value *out, hf_err *err);
HF_NODISCARD hf_status hf_call_rows(hf_call *call, hf_stmt stmt, const hf_db_value *params,
                                    size_t count, hf_mem *mem, hf_call_make *make, void *ctx,
                                    hf_value *out);

/* Has `run` called on the core's thread, with no core when the engine closes first, and waits for
   that. HF_NOMEM: it was not. */
HF_NODISCARD hf_status hf_call_core(hf_call *call, void (*run)(hf_core *core, void *ctx),
                                    void *ctx);

/* How many changes of runs there were. */
uint64_t hf_call_changes(const hf_call *call);

/* The thread has started a run that was not there when there were `seen` changes: should it wait
   for the end of it next, it need not look first. */
void hf_call_started(const hf_call *call, uint64_t seen, int64_t run, const char *id);
void hf_call_await_started(hf_call *call, const char *id);

/* Asks `look` until it answers something else than HF_BUSY, or the time is up: HF_TIMEOUT. `look`
   says in call->awaits which run is waited for, and in call->awaits_shard where it is. */
HF_NODISCARD hf_status hf_call_await(hf_call *call, hf_ms wait,
                                     hf_status (*look)(hf_call *call, void *ctx), void *ctx);

#endif
