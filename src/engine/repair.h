/* repair.h: what history says must be there and is not, is put back. The same for an operator's
   repair and for the watchdog: one unit with the command, RepairRequested and the rows. Code that
   may be running is never started a second time. */
#ifndef HF_ENGINE_REPAIR_H
#define HF_ENGINE_REPAIR_H

#include "commit/unit.h"
#include "project/liveness.h"

typedef struct hf_repair {
    hf_keys *keys;
    int64_t now_us;
    const hf_dossier *dossier;
    const hf_liveness *live;
    bool drifted_too; /* rows that claim an end which history lacks: only when a person says so */
    hf_unit *unit;    /* empty; based on the run as the dossier has it */
} hf_repair;

/* Drafts the unit. `row` is the command's row but for key, outcome and times. *out_command: its
   key; *out_outcome: repair_dispatched or repair_not_needed. HF_BUSY: keys ran out, HF_NOMEM,
   HF_CORRUPT: a recorded policy cannot be read. */
HF_NODISCARD hf_status hf_repair_draft(const hf_repair *repair, hf_command_row row,
                                       int64_t *out_command, hf_cmd_outcome *out_outcome,
                                       hf_err *err);

#endif
