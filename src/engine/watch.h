/* watch.h: those who follow runs, as the engine tells them. */
#ifndef HF_ENGINE_WATCH_H
#define HF_ENGINE_WATCH_H

#include "engine/engine_impl.h"

/* The run changed, or was closed (0: anything may have); with the engine's lock held. */
void hf_watches_tell(hf_engine *engine, int64_t run, bool closed);

/* Runs of other nodes are looked at, and said to be awaited again; an engine that is a node. */
void hf_watches_sweep(hf_engine *engine);

#endif
