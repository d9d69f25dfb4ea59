/* moment.h: a run as it was after an earlier event, from its history alone. Rows of open work are
   of now, so they are left out; what was open then is what history up to there has open. What no
   event says (who held a task, until when, whether code and history disagreed, which workers were
   there) is not known of then, and is not made up. Must never read a database. */
#ifndef HF_PROJECT_MOMENT_H
#define HF_PROJECT_MOMENT_H

#include "base/err.h"
#include "base/mem.h"
#include "project/dossier.h"
#include "project/track.h"

/* State, times and commands, as they were after the last of the events that the dossier has. */
void hf_moment_rewind(hf_dossier *io_dossier);

/* The open work that those events imply, in place of the rows of now. The dossier went back already
   and all of its events went through the track. HF_NOMEM. */
HF_NODISCARD hf_status hf_moment_rows(hf_dossier *io_dossier, const hf_track *track, hf_mem *mem,
                                      hf_err *err);

#endif
