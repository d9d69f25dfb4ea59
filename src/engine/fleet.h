/* fleet.h: the engine's side of the fleet: who says that it is there, and whether the program
   itself may take a run. */
#ifndef HF_ENGINE_FLEET_H
#define HF_ENGINE_FLEET_H

#include "engine/engine_impl.h"
#include "project/fleet.h"

/* A worker says that it is there; recorded_us and expires_us are filled in. Whoever polls on behalf
   of workers of other processes calls it, at least three times in
   HF_LIMIT_COMPATIBILITY_TTL_SECONDS. */
HF_NODISCARD hf_status hf_engine_worker_beat(hf_engine *engine, const hf_worker_row *worker,
                                             hf_err *err);

/* Who asks about a run: an engine that knows itself (NULL: none does), and the fleet. */
typedef struct hf_asker {
    const hf_engine *engine;
    hf_fleet fleet;
    hf_fleet_pins pins;
    hf_slice queue; /* of the run; ptr NULL: not known */
    hf_db *db;      /* of the arena's rows, and in which namespace and when */
    hf_mem *mem;
    int64_t namespace_key;
    int64_t now_us;
} hf_asker;

/* Reads the fleet and the builds that were promoted in the namespace into the arena; `engine` and
   `queue` are set. */
HF_NODISCARD hf_status hf_asker_begin(hf_asker *who, hf_db *db, hf_mem *mem, int64_t namespace_key,
                                      int64_t now_us, hf_err *err);

/* Whether somebody may take a task: the `served` of a liveness world whose ctx is the asker. */
bool hf_asker_served(void *ctx, hf_task_type kind, hf_slice queue, hf_slice marker);

/* What this process is called among the workers. */
typedef struct hf_fleet_self {
    char host[256];
    char name[320];
} hf_fleet_self;
void hf_fleet_self_fill(hf_fleet_self *self);

/* Whether somebody beside this process is there for the queue; ptr NULL: for any. */
bool hf_fleet_others(const hf_fleet *fleet, hf_slice queue);

/* Whether a start with the marker would wait although others serve its queue: none of them supports
   it. Nobody at the queue yet is no reason. *out_why: a sentence in the arena, NULL: it may start.
 */
HF_NODISCARD hf_status hf_fleet_gate(const hf_app *app, hf_db *db, hf_mem *mem, hf_slice queue,
                                     hf_slice marker, int64_t now_us, const char **out_why,
                                     hf_err *err);

/* The markers that a program supports: what it says, with its own build; "*" when it says nothing.
 */
bool hf_engine_app_supports(const hf_app *app, hf_slice marker);

/* All of them between commas, the build among them; ptr NULL: it supports any. */
HF_NODISCARD hf_status hf_engine_app_markers(const hf_app *app, hf_mem *mem, hf_slice *out_markers,
                                             hf_err *err);

/* The build that runs of workers' types carry which begin at the queue now; ptr NULL: none. */
HF_NODISCARD hf_status hf_build_chosen(const hf_intake *in, hf_slice queue, hf_mem *mem,
                                       hf_slice *out_build, hf_err *err);
/* The same, where it is asked often: a choice of another server may be 5 s late. */
HF_NODISCARD hf_status hf_engine_build_chosen(hf_engine *engine, const hf_intake *in,
                                              hf_slice queue, hf_mem *mem, hf_slice *out_build,
                                              hf_err *err);

/* The compatibility namespace of a program, empty when it has none. */
hf_slice hf_engine_app_scope(const hf_app *app);

#endif
