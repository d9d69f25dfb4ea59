/* lib_report.h: what benchmark programs share: a clock, medians, and results as a table on standard
   output and as JSON lines in the file that HF_BENCH_OUT names (build/bench.jsonl). A benchmark
   that cannot measure ends the program with a sentence: there is nobody to hand an error to. */
#ifndef HF_TEST_BENCH_REPORT_H
#define HF_TEST_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Seconds since some moment; never goes back. */
double hf_bench_now_s(void);

/* Of the numbers, which it sorts. At least one. */
double hf_bench_median(double *numbers, size_t count);

/* For qsort over doubles. */
int hf_bench_order(const void *a, const void *b);

/* What this process has in memory. */
long hf_bench_memory_kb(void);

typedef struct hf_bench_result {
    const char *group;
    const char *name;
    const char *store; /* sqlite, postgres or none */
    double value;
    const char *unit;
    double floor;     /* 0: there is none */
    double ratio;     /* 0: there is none */
    double goal;      /* of the ratio; 0: there is none, below 0: at most its absolute value */
    const char *more; /* further members of the JSON object, "" or `,"name":1` */
} hf_bench_result;

/* Tells the store where the PostgreSQL module is: the program is in a folder of the build, the
   module in the build itself. First in main. */
void hf_bench_modules(const char *program);

void hf_bench_title(const char *title);
void hf_bench_report(const hf_bench_result *result);

/* Ends the program with the sentence when `held` is false. */
void hf_bench_need(bool held, const char *sentence);
void hf_bench_ok(hf_status st, const hf_err *err, const char *doing);

#endif
