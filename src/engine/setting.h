/* setting.h: what a program may change about its engine, by name. */
#ifndef HF_ENGINE_SETTING_H
#define HF_ENGINE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/limit.h"

typedef struct hf_settings {
    bool updates_queue; /* an update waits behind a signal that is not applied; else it is
                           refused */
    bool fleet_fails;   /* a start that no worker of the fleet supports is refused; else it waits */
    int64_t update_wait_ms;    /* how long a caller waits for the answer to an update */
    int64_t task_lease_ms;     /* how long a worker holds a workflow task without a sign of life */
    int64_t activity_lease_ms; /* the same of an attempt */
    int64_t node_lease_ms;     /* a node that is silent for this long has lost its shards */
    hf_limits limits;          /* 0: none */
} hf_settings;

hf_settings hf_settings_standard(void);

/* What the contract asks of a server alone: histories that workers of other processes have to be
   sent are bounded. */
void hf_settings_for_workers(hf_settings *settings);

/* HF_INVALID: there is no such setting, or it does not take that value. */
HF_NODISCARD hf_status hf_settings_set(hf_settings *settings, const char *name, const char *value,
                                       hf_err *err);

#endif
