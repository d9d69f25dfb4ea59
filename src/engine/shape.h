/* shape.h: what the code of a run is that another process has: a workflow's, whose tasks replay, or
   a step machine's, whose tasks are steps. The one place that says so for runs whose code is
   elsewhere. What the run was started with decides; a run that was started before anybody had its
   type is what its history shows that it did, and when it has done nothing yet, what its type was
   last declared as. The core's thread. */
#ifndef HF_ENGINE_SHAPE_H
#define HF_ENGINE_SHAPE_H

#include "engine/live_rows.h"

typedef enum hf_shape {
    HF_SHAPE_UNKNOWN, /* nobody has declared the type: handed out as a workflow until then */
    HF_SHAPE_WORKFLOW,
    HF_SHAPE_MACHINE
} hf_shape;

/* Of a run that is being loaded from these rows; its info and its code's type are known. */
HF_NODISCARD hf_status hf_shape_read(hf_core *core, const live_run *run, const live_rows *rows,
                                     hf_shape *out_shape, hf_err *err);

/* Whether it has become known since the run was loaded without a shape that it is a machine: then
   it is to be loaded anew. Not while a worker has it, whose answer comes first. */
bool hf_shape_found(hf_core *core, live_run *run);

#endif
