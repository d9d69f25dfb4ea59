/* why_impl.h: an answer between the file that finds it (why.c) and the one that says it
   (why_value.c). */
#ifndef HF_PROJECT_WHY_IMPL_H
#define HF_PROJECT_WHY_IMPL_H

#include "project/why.h"

/* An answer in the making. */
typedef struct hf_why_answer {
    const hf_dossier *dossier;
    const hf_why_world *world;
    const hf_liveness *live;
    hf_mem *mem;
    hf_why_code code;
    const char *subject; /* kind of thing it is about */
    const char *name;    /* words of the sentence; NULL: not known, all four */
    const char *detail;
    const char *queue;
    const char *line; /* of the step in the code; NULL: unknown */
    int64_t number;   /* {attempt}, HF_NONE: not known */
    int64_t step;     /* HF_NONE: none */
    int64_t since_us;
    int64_t until_us;
    const hf_event *event; /* evidence; NULL: none */
} hf_why_answer;

/* The answer as an object, in its arena. HF_NOMEM. */
HF_NODISCARD hf_status hf_why_answer_value(const hf_why_answer *answer, hf_value *out_why,
                                           hf_err *err);

#endif
