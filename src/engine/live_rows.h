/* live_rows.h: what runs are loaded from, read by one statement: a run's row, its timers and the
   first chunks of its history, as they were at one moment. A round trip to the database costs more
   than everything that is done with the answer, so several runs that are about to have a turn share
   one. For the core's files alone. */
#ifndef HF_ENGINE_LIVE_ROWS_H
#define HF_ENGINE_LIVE_ROWS_H

#include "engine/core_impl.h"

/* One chunk as it was read. */
typedef struct live_chunk {
    int64_t first;
    hf_slice body;
} live_chunk;

enum { LIVE_CHUNKS = 64 }; /* that are read at once */

typedef struct live_rows {
    int64_t run;
    hf_mem *mem;        /* of everything here; NULL: nothing was found */
    hf_run_base base;   /* run HF_NONE: it was not found */
    hf_decide_run info; /* without what its parent says; base is not set */
    int64_t crashes;
    int64_t blocked;
    bool activities; /* some are open */
    bool called;     /* a parent waits for it */
    bool told;       /* another run left something for it */
    hf_open_work *timers;
    size_t timer_count;
    live_chunk chunks[LIVE_CHUNKS];
    size_t chunk_count;
    bool more; /* there may be more chunks */
} live_rows;

/* Reads the rows of one run. HF_NOTFOUND. They are freed also after a failure. */
HF_NODISCARD hf_status hf_live_rows_read(hf_db *db, int64_t run, live_rows *out_rows, hf_err *err);
void hf_live_rows_free(live_rows *rows);

/* The run is about to have its turn. If it is not in memory and was not read ahead, it is read
   together with those that are ready behind it, into live_run.ahead. What is read so is forgotten
   when the next step of the core begins, before it hears what has been committed meanwhile. It may
   fail: then each is read when its turn comes. */
void hf_live_ahead_read(hf_core *core, live_run *run);
void hf_live_ahead_drop(hf_core *core);
void hf_live_ahead_free(live_run *run); /* of one */

/* The next chunks of a run from a sequence number on, in the arena. */
HF_NODISCARD hf_status hf_live_chunks_read(hf_db *db, int64_t run, int64_t from_seq, hf_mem *mem,
                                           live_chunk chunks[LIVE_CHUNKS], size_t *out_count,
                                           hf_err *err);

#endif
