/* standalone.h: the workflow type behind activities that are asked for by themselves. Workers serve
   them, so it is there as soon as workers are allowed. */
#ifndef HF_ENGINE_STANDALONE_H
#define HF_ENGINE_STANDALONE_H

#include "holdfast/holdfast.h"

extern const hf_workflow_def hf_standalone_def;

#endif
