/* handback.h: tasks that were handed out and never arrived: the worker's connection died before it
   had the answer, or the program that speaks for workers is about to stop. They are given back as
   if nobody had had them, at once instead of when their lease ends. What is on the record of an
   attempt is put right in the store, so that a restart finds it, too.

   Whoever ends the engine waits until those that were given back before have been heard
   (hf_handback_waits). */
#ifndef HF_ENGINE_HANDBACK_H
#define HF_ENGINE_HANDBACK_H

#include "engine/core_impl.h"
#include "engine/errand.h"

/* Any thread; does not wait. The ticket says which task, which attempt and whose; its worker's name
   is copied. HF_NOMEM: the lease has to end. */
HF_NODISCARD hf_status hf_handback_post(hf_core *core, const hf_ticket *ticket, hf_err *err);

/* The core's thread: something is being given back, or a worker is about to be handed an attempt
   whose start is on its way to the store. */
bool hf_handback_waits(hf_core *core);

#endif
