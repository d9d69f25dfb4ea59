/* section.h: the lists of a history bundle that tell of a run what its events say together. Each
   function returns a value in the compose's arena. */
#ifndef HF_PROJECT_SECTION_H
#define HF_PROJECT_SECTION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/vocab.h"
#include "project/compose.h"
#include "project/dossier.h"

/* What a section is made from. */
typedef struct hf_section {
    hf_mem *mem;
    const hf_dossier *dossier;
    const hf_compose *compose; /* all events went through */
    bool lean;                 /* timeline entries without the payload of their event */
    size_t limit;              /* of the lists that grow with history, the newest; 0: all */
    int64_t step;              /* lists of steps have this one alone; 0: all */
} hf_section;

typedef hf_status hf_section_fn(const hf_section *section, hf_value *out_value, hf_err *err);

HF_NODISCARD hf_section_fn hf_section_workflow, hf_section_summary, hf_section_commands,
    hf_section_tasks, hf_section_signals, hf_section_updates, hf_section_activities,
    hf_section_timers, hf_section_failures, hf_section_links, hf_section_waits, hf_section_intakes;

/* Whether a list has what is of the step. */
bool hf_section_takes(const hf_section *section, int64_t step);

/* How many of a list are left out at its beginning. */
size_t hf_section_skip(const hf_section *section, size_t total);

/* What an event is about, as the timeline has it. */
hf_timeline_kind hf_section_kind(hf_event_type type);

/* The timeline entry of an event that the compose has just shown as `event`. */
HF_NODISCARD hf_status hf_section_entry(const hf_section *section, const hf_event *stored,
                                        hf_value event, hf_value *out_entry, hf_err *err);

#endif
