/* lib_flow.h: the application and the place of the workflow benchmarks: an engine with threads of
   its own, on a SQLite file or in a schema of a PostgreSQL server that lives for this program.
   Workflows do nothing but their steps, activities nothing but count themselves.

   steps   {"steps": n}            n activities one after the other
   fan     {"steps": n}            n activities at once, joined
   long    {"steps": n}            as steps, then waits for go; the query seen tells how many
   park                            waits for the signal go, at most 30 days
   tally                           the same, and adds up what updates bring
   doze    {"until": t}            sleeps until that time, in milliseconds since 1970
   drain   {"signals": n}          receives n signals, with an activity after each 250
   nap     {"nth": n, "ms": m}     sleeps, then runs an activity that takes the time */
#ifndef HF_TEST_BENCH_FLOW_H
#define HF_TEST_BENCH_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"

enum { HF_FLOW_ADDRESS_MAX = 512, HF_FLOW_NAPS_MAX = 1000, HF_FLOW_CROWD_MAX = 64 };

/* Where the stores of one engine kind are. */
typedef struct hf_flow_place {
    const char *store; /* sqlite or postgres */
    char folder[256];
    struct hf_pg_server *server; /* NULL: SQLite */
} hf_flow_place;

typedef void hf_flow_bench(hf_flow_place *place);

/* main of a benchmark program: both places one after the other, or the one that is named. */
int hf_flow_main(int argc, char **argv, const char *title, hf_flow_bench *bench);

/* The address of a store in the place; the same name gives the same store. */
const char *hf_flow_address(const hf_flow_place *place, const char *name,
                            char out_address[HF_FLOW_ADDRESS_MAX]);
hf_engine *hf_flow_open(const hf_flow_place *place, const char *name);

/* The same at an address, of a store or of a server; without its activities, which are somebody
   else's then. */
hf_engine *hf_flow_at(const char *address, bool activities);

/* Removes the store's file, so that the folder can go; nothing on PostgreSQL. */
void hf_flow_drop(const hf_flow_place *place, const char *name);

/* Ends the program with the engine's sentence unless the call went well. */
void hf_flow_ok(hf_engine *engine, hf_status st, const char *doing);

void hf_flow_start(hf_engine *engine, const char *type, const char *id, hf_value in);
void hf_flow_result(hf_engine *engine, const char *id); /* waits until the run is completed */

typedef struct hf_flow_rates {
    double steps; /* a second */
    double runs;
    double units; /* a step; 0 behind a server */
} hf_flow_rates;

/* So many callers, each of which keeps one run of `steps` going for that long. Counted is what is
   done while all of them are there: the last runs end one by one, which is another load. */
hf_flow_rates hf_flow_crowd(hf_engine *engine, size_t callers, int64_t steps, double seconds);

uint64_t hf_flow_steps(void);     /* activities run so far in this process */
int64_t hf_flow_resumed_us(void); /* when a parked workflow last went on, by the wall clock */
int64_t hf_flow_nap_late_us(size_t nth);   /* of a nap that is over; below 0: early */
uint64_t hf_flow_units(hf_engine *engine); /* committed so far */
void hf_flow_units_await(hf_engine *engine, uint64_t units); /* until that many are committed */
uint64_t hf_flow_parked(void); /* runs of park whose code has come to its wait */
/* Until there are so many of them, and nothing was committed for a moment: they are at rest. */
void hf_flow_parked_await(hf_engine *engine, uint64_t parked);

uint64_t hf_flow_dozed(void);       /* runs of doze that woke */
uint64_t hf_flow_dozed_early(void); /* of them, before their time */
void hf_flow_dozed_reset(void);

bool hf_flow_is_long_parked(void); /* the workflow long made all its steps; says so once */
void hf_flow_naps_reset(void);     /* before naps in another store */
double hf_flow_resident_mb(void);  /* memory of this process */

/* A number out of the store, by a connection of its own. */
double hf_flow_number(const hf_flow_place *place, const char *name, const char *sql);

/* The nth of a hundred parts of the numbers, which it sorts. */
double hf_flow_percentile(double *numbers, size_t count, double percent);

#endif
