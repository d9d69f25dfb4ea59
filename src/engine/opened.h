/* opened.h: bundles that are looked at without a store, between the engine's files. */
#ifndef HF_ENGINE_OPENED_H
#define HF_ENGINE_OPENED_H

#include "holdfast/view.h"
#include "project/opened.h"

/* The run of the bundle; lives as long as the view. */
const hf_opened *hf_bundle_view_opened(const hf_bundle_view *view);

#endif
