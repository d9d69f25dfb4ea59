/* replay_check.h: a recorded history against the code of today. The history is replayed up to its
   end, or up to where code closed the run, and what the code then does is compared with what is on
   the record. Nothing is written anywhere. */
#ifndef HF_ENGINE_REPLAY_CHECK_H
#define HF_ENGINE_REPLAY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "engine/registry.h"
#include "model/decision.h"
#include "model/event.h"
#include "replay/replay.h"

/* The type of the first event that recording a decision leaves; 0 when it leaves none in its run.
 */
int hf_replay_event_of(hf_decision kind);

/* Whether the event is what recording the decision leaves: type, step, name and value agree. */
HF_NODISCARD hf_status hf_replay_records(const hf_decision_row *row, const hf_event *event,
                                         bool *out_same, hf_err *err);

enum { HF_REPLAY_AT_SIZE = 160 };

/* Where a replay would block. */
typedef struct hf_replay_verdict {
    const char *reason;         /* a word: one of contract 2.3, or of ours; NULL: it would not */
    int64_t step;               /* 0: none in particular, as at the end of a run */
    char at[HF_REPLAY_AT_SIZE]; /* source line of the step in code; empty when there is none */
    hf_value blocked;           /* as a blocked task has it; NULL: it would not, or at its end */
} hf_replay_verdict;

/* A replay of a run with the definition; the fields that a caller has more of are its own. */
hf_replay_info hf_replay_check_info(const hf_registry_workflow *workflow, hf_slice instance_id,
                                    hf_slice run_id, int64_t run_key);

/* HF_OK, or HF_REPLAY_BLOCKED with a sentence: "step 3: history has timer 2d, code wants activity
   ship at order.c:39". HF_CORRUPT when the events contradict each other, HF_NOMEM. Code goes no
   further than history has resolved: it begins no step that is not on the record. Payloads must be
   inline, or `info` must bring a way to read them. The verdict's value is in `mem`; NULL: none is
   made. */
HF_NODISCARD hf_status hf_replay_check(const hf_replay_info *info, const hf_event *events,
                                       size_t count, hf_mem *mem, hf_replay_verdict *out_verdict,
                                       hf_err *err);

#endif
