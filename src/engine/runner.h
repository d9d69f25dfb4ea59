/* runner.h: the thread that works at an engine's core, and its successor when it is lost in user
   code. ENGINE_THREADS only. For engine.c. */
#ifndef HF_ENGINE_RUNNER_H
#define HF_ENGINE_RUNNER_H

#include "engine/engine_impl.h"

HF_NODISCARD hf_status hf_runner_start(hf_engine *engine, hf_err *err);

/* Ends the thread. Code that does not come back within the time that any code has is left behind
   with its thread; it can do no harm to what is committed. Does nothing when none was started. */
void hf_runner_stop(hf_engine *engine);

/* hf_core_options.stalled: starts a successor, unless too many threads are away. */
void hf_runner_stalled(void *ctx, hf_seat *seat, uint64_t look);

/* hf_core_options.wake */
void hf_runner_wake(void *ctx);

/* Whether the thread sleeps and nobody has woken it; any thread. */
bool hf_runner_idle(hf_engine *engine);

#endif
