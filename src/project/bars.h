/* bars.h: a run as bars over time, for pictures: one bar per step, cut into segments (queued,
   running, back-off, waiting, lost), with its attempts, heartbeats and deadline. What is drawn is
   folded here, once, so that every picture agrees. Pure functions over a track. */
#ifndef HF_PROJECT_BARS_H
#define HF_PROJECT_BARS_H

#include "base/err.h"
#include "base/value.h"
#include "project/section.h"

/* The bars in the order the steps were opened, the newest section->limit of them; `out_left_out`
   (or NULL) is how many older ones there are. */
HF_NODISCARD hf_status hf_bars_make(const hf_section *section, hf_value *out_bars,
                                    size_t *out_left_out, hf_err *err);

/* The barriers that steps stand in, in the order they were opened: {id, kind, depth, step, size,
   leaves, done, failed, from, to}. A bar's `group` names those it is in, the outermost first. */
HF_NODISCARD hf_status hf_bars_barriers(const hf_section *section, hf_value *out_barriers,
                                        hf_err *err);

#endif
