/* why_short.h: what a list says of each run: the answer to "why is it not moving?" in short, and
   one word for the sign that stands in front of it. Pure functions over values that lists and
   answers are made of. */
#ifndef HF_PROJECT_WHY_SHORT_H
#define HF_PROJECT_WHY_SHORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/value.h"

/* code, severity, text, since, until, subject and next of an answer. NULL: no memory. */
hf_value hf_why_shorten(hf_mem *mem, hf_value why);

/* Whether the row of a list says all that there is to say, without history. */
bool hf_why_row_suffices(hf_value item);

/* The same shape from the row of a list alone. The code is null where only history has it, and the
   text is then what will move the run on. NULL: no memory. */
hf_value hf_why_of_row(hf_mem *mem, hf_value item, int64_t now_us);

/* The same shape of a run whose history cannot be read. NULL: no memory. */
hf_value hf_why_unreadable(hf_mem *mem);

/* running, waiting, retrying, blocked, paused, completed, failed, cancelled, terminated, timed_out
   or continued. `item` is a row of a list or the detail of a run. */
const char *hf_glyph(hf_value item, hf_value why);

#endif
