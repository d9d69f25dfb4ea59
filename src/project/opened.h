/* opened.h: the run of a history bundle that is looked at without a store: as a dossier, so that
   whoever shows a run (detail.h, part.h) shows it as it shows those of a store. What the bundle
   says of the run is believed only as far as it is of the right kind; rows of open work are not:
   what was open is what its events say (moment.h). Pure functions. */
#ifndef HF_PROJECT_OPENED_H
#define HF_PROJECT_OPENED_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/dossier.h"

/* Never changes once it is read: readers on several threads may have it. */
typedef struct hf_opened {
    hf_dossier dossier;    /* its events without big payloads, as those of a fold */
    const hf_event *whole; /* with them */
    hf_slice run_id;       /* as the bundle has it: others than ours make it in another way */
    hf_slice exported_at;
    hf_value redaction; /* {policy, paths: how many}; NULL: nothing was redacted */
    bool complete;      /* the run was closed */
    bool ours;          /* Holdfast wrote it: the events are what was stored */
} hf_opened;

/* Everything is made in `keep`; the text is not kept. As hf_bundle_read. */
HF_NODISCARD hf_status hf_opened_read(hf_mem *keep, hf_slice text, hf_opened *out_opened,
                                      hf_err *err);

/* The dossier for one reader, who may change it: heads of events and commands are copied, what
   they say is not. HF_NOMEM. */
HF_NODISCARD hf_status hf_opened_dossier(const hf_opened *opened, hf_mem *mem,
                                         hf_dossier *out_dossier, hf_err *err);

#endif
