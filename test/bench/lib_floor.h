/* lib_floor.h: the floor of the store benchmarks: the rows of lib_load.h written by a bare loop,
   without units, hashing, threads or error handling, as fast as the database's own interface goes
   with the same durability. SQLite: prepared statements, WAL, synchronous = FULL. PostgreSQL: one
   pipelined transaction per batch, prepared statements with one array per column. */
#ifndef HF_TEST_BENCH_FLOOR_H
#define HF_TEST_BENCH_FLOOR_H

#include "lib_load.h"

typedef struct hf_floor hf_floor;

/* What the loop writes next. Runs move as the real ones do, so fences and unique indexes hold. */
typedef struct hf_floor_unit {
    hf_load_run *run;
    int64_t position;
    int64_t time_us;
} hf_floor_unit;

/* On a store that hf_load_open made and hf_load_stop left. `address` is a path or a libpq URI; the
   schema is PostgreSQL's. The runs of `load` are used and moved. */
hf_floor *hf_floor_open_sqlite(const char *path, hf_load *load);
hf_floor *hf_floor_open_postgres(const char *uri, const char *schema, hf_load *load);
void hf_floor_close(hf_floor *floor);

/* One transaction of `units` units over the next of the first `runs` runs. */
void hf_floor_batch(hf_floor *floor, size_t units, size_t runs);

/* Units a second in batches of that size, for that long. */
double hf_floor_loop(hf_floor *floor, size_t units, size_t runs, double seconds);

/* ---- for the two files behind it */

typedef void hf_floor_write(hf_floor *floor, const hf_floor_unit *units, size_t count);

enum { HF_FLOOR_UNITS_MAX = 1000, HF_FLOOR_BODY_MAX = 4096 };

struct hf_floor {
    hf_floor_write *begin;
    hf_floor_write *write; /* units of runs that are all different */
    hf_floor_write *commit;
    void (*close)(hf_floor *floor);
    hf_load *load;
    size_t at; /* the next run */
    int64_t position;
    hf_floor_unit units[HF_FLOOR_UNITS_MAX];
    uint8_t body[HF_FLOOR_BODY_MAX];
    size_t body_bytes;
};

void hf_floor_init(hf_floor *floor, hf_load *load);

#endif
