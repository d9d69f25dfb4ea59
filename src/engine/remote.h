/* remote.h: an engine whose store is behind a server. The handle is the same, and so is the
   program: its commands become requests, and its workflows, activities and step machines are worked
   on as a worker
   of that server: it registers, polls, runs what it gets in its own coroutines, which it keeps for
   the next task, sends back what they decided, and registers again when the server was away. What a
   server does not offer is refused with HF_UNSUPPORTED and the name of the function.

   Any thread. Nothing is kept here that the server does not have: a program that is killed leaves
   leases that run out. */
#ifndef HF_ENGINE_REMOTE_H
#define HF_ENGINE_REMOTE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/holdfast.h"
#include "holdfast/host.h"

typedef struct hf_remote hf_remote;

/* Whether the address is one of a server. */
bool hf_remote_is(const char *where);

/* Nothing is sent yet. The token comes from HF_TOKEN, the namespace from HF_NAMESPACE. HF_INVALID,
   HF_NOTFOUND (no libcurl), HF_NOMEM. */
HF_NODISCARD hf_status hf_remote_open(hf_engine *engine, const char *where, hf_remote **out_remote,
                                      hf_err *err);

/* The worker that a node is for the other nodes of its store: what it brings is worked on for all.
 */
HF_NODISCARD hf_status hf_remote_open_local(hf_engine *engine, hf_remote **out_remote, hf_err *err);

/* Ends what runs: attempts are told to stop, reported and waited for. NULL is allowed. */
void hf_remote_close(hf_remote *remote);

/* Begins to work, if the app brings something to work with; once. */
HF_NODISCARD hf_status hf_remote_begin(hf_remote *remote, hf_err *err);

/* How much memory coroutines of runs that wait may hold; 64 MiB if nothing is said. Runs beyond it
   are replayed from their beginning when they are next worked on. */
void hf_remote_cache_limit(hf_remote *remote, size_t bytes);

/* hf_run and hf_shutdown. */
HF_NODISCARD hf_status hf_remote_run(hf_remote *remote, hf_err *err);
void hf_remote_shutdown(hf_remote *remote);

/* ---- commands. Values and errors live in `mem`. A command that was not answered is asked again,
   under one request id, as long as a server that is started anew takes to come back. */

/* hf_command: any of the commands that have a route. */
HF_NODISCARD hf_status hf_remote_command(hf_remote *remote, const char *command, hf_value request,
                                         hf_mem *mem, hf_command_result *out, hf_err *err);
/* The same, and HF_OK only when it was accepted. */
HF_NODISCARD hf_status hf_remote_order(hf_remote *remote, const char *command, hf_value request,
                                       hf_mem *mem, hf_command_result *out, hf_err *err);
HF_NODISCARD hf_status hf_remote_start(hf_remote *remote, const char *type,
                                       const hf_start_opts *opts, const char *signal, hf_value args,
                                       hf_mem *mem, hf_err *err);
HF_NODISCARD hf_status hf_remote_start_all(hf_remote *remote, const char *type,
                                           const hf_start_opts *items, size_t count,
                                           hf_status *out_answers, hf_err *err);
HF_NODISCARD hf_status hf_remote_settled(hf_remote *remote, const char *id_or_key, hf_ms wait,
                                         bool terminal, hf_mem *mem, hf_settled *out, hf_err *err);
HF_NODISCARD hf_status hf_remote_reserve(hf_remote *remote, const char *type, const char *id,
                                         hf_mem *mem, const char **out_id, hf_err *err);
HF_NODISCARD hf_status hf_remote_update(hf_remote *remote, const char *id, const char *name,
                                        hf_value args, hf_ms wait, hf_mem *mem, hf_value *out,
                                        hf_err *err);
HF_NODISCARD hf_status hf_remote_query(hf_remote *remote, const char *id, const char *name,
                                       hf_value args, hf_mem *mem, hf_value *out, hf_err *err);
HF_NODISCARD hf_status hf_remote_result(hf_remote *remote, const char *id, hf_ms wait, hf_mem *mem,
                                        hf_value *out, const hf_error **out_failure, hf_err *err);

/* ---- remote_admin.c. A path or body with a name in it lives in `mem`, and so does what comes
   back. */
HF_NODISCARD hf_status hf_remote_attributes(hf_remote *remote, hf_mem *mem, hf_value *out,
                                            hf_err *err);
HF_NODISCARD hf_status hf_remote_attribute_create(hf_remote *remote, const char *name,
                                                  const char *type, hf_mem *mem, hf_err *err);
HF_NODISCARD hf_status hf_remote_attribute_delete(hf_remote *remote, const char *name, hf_mem *mem,
                                                  hf_err *err);
/* The options are as long as this library knows them. */
HF_NODISCARD hf_status hf_remote_namespace_set(hf_remote *remote, const char *name,
                                               const hf_namespace_opts *o, hf_mem *mem,
                                               hf_err *err);

#endif
