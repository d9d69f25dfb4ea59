/* metrics_impl.h: groups of the operator metrics, between the files that read them: metrics.c has
   runs, history and projections, metrics_work.c tasks, activities and repair, metrics_fleet.c
   schedules, workers and what the engine is set to. */
#ifndef HF_PROJECT_METRICS_IMPL_H
#define HF_PROJECT_METRICS_IMPL_H

#include "project/metrics.h"
#include "project/trouble.h"
#include "store/row.h"

enum { HF_METRICS_NUMBERS = 24 };

/* The one row of a statement. */
typedef struct hf_metrics_row {
    int64_t at[HF_METRICS_NUMBERS]; /* HF_NONE: null */
} hf_metrics_row;

HF_NODISCARD hf_status hf_metrics_numbers(hf_db *db, hf_stmt stmt, const hf_db_value *params,
                                          size_t count, hf_metrics_row *out_row, hf_err *err);

/* A number under its name, 0 for HF_NONE. */
void hf_metrics_put(hf_value_list *o, hf_mem *mem, const char *name, int64_t number);

/* A moment (HF_NONE: null) and how many milliseconds ago it is. */
void hf_metrics_age(hf_value_list *o, hf_mem *mem, const char *at, const char *age, int64_t time_us,
                    int64_t now_us);

/* Groups are added to `into` under their names. `attempts` began in the last minute. */
HF_NODISCARD hf_status hf_metrics_work(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                                       const hf_trouble *trouble, int64_t attempts,
                                       hf_value_list *into, hf_err *err);
HF_NODISCARD hf_status hf_metrics_fleet(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                                        hf_value_list *into, hf_err *err);

#endif
