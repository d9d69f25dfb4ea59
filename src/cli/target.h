/* target.h: where a verb goes: a server, or a store that is opened for it. The rule: a verb asks
   the same and is told the same by both; what differs between them is known here and nowhere else.
   Reads of a store write nothing and need no owner; commands to one open an engine on it. */
#ifndef HF_CLI_TARGET_H
#define HF_CLI_TARGET_H

#include "cli/verbs.h"
#include "holdfast/reader.h"

typedef struct hf_cli_target hf_cli_target;

/* Whether an address is a server's. */
bool hf_cli_address_remote(const char *address);

/* `change`: commands will be sent. Sets call->next when that helps. */
HF_NODISCARD hf_status hf_cli_target_open(hf_cli_call *call, bool change, hf_cli_target **out,
                                          hf_err *err);
/* The same for verbs that talk HTTP alone (hf_cli_target_ask): a store gets a server of its own for
   as long as the verb takes, so that both answer with the same words. */
HF_NODISCARD hf_status hf_cli_target_serve(hf_cli_call *call, hf_cli_target **out, hf_err *err);
void hf_cli_target_close(hf_cli_target *target); /* NULL is allowed */

/* After HF_NOTFOUND from what reads call->store without a target: call->next becomes the verb that
   lists what could have been meant, runs or namespaces; nothing when the store itself is missing.
 */
void hf_cli_target_missing(hf_cli_call *call);

/* The name of a run on the command line: ID, ID#N, or ID with --run R. */
typedef struct hf_cli_aim {
    const char *id;
    const char *run_id; /* NULL: the newest */
} hf_cli_aim;

/* HF_NOTFOUND: the instance has no such run. Without a run nothing is looked up. */
HF_NODISCARD hf_status hf_cli_target_aim(hf_cli_target *target, const char *name, hf_cli_aim *out,
                                         hf_err *err);

/* Runs, newest first: {"filters", "bucket", "limit", "cursor", "view", "wait_changes"}. The last
   one is a number of hf_cli_target_changes: a server answers when it has another one, or after a
   while; of a store that has no other one *out_rows is NULL. */
HF_NODISCARD hf_status hf_cli_target_list(hf_cli_target *target, hf_value request, hf_mem *mem,
                                          hf_value *out_rows, const char **out_cursor, hf_err *err);

/* As of the last list: a number that is another one after something has changed. */
int64_t hf_cli_target_changes(const hf_cli_target *target);

/* The row of a list that the newest run of an instance has. */
HF_NODISCARD hf_status hf_cli_target_row(hf_cli_target *target, const char *id, hf_mem *mem,
                                         hf_value *out_row, hf_err *err);

/* One run in all its parts. */
HF_NODISCARD hf_status hf_cli_target_run(hf_cli_target *target, const hf_cli_aim *aim, hf_mem *mem,
                                         hf_value *out_run, hf_err *err);

/* A page of events behind one; aim->run_id must be set. */
HF_NODISCARD hf_status hf_cli_target_history(hf_cli_target *target, const hf_cli_aim *aim,
                                             int64_t after, hf_mem *mem, hf_value *out_page,
                                             hf_err *err);

/* A server alone: returns when the run of `row` has an event that the row does not know of, or
   after so long. HF_CANCELLED: it was stopped. */
HF_NODISCARD hf_status hf_cli_target_await(hf_cli_target *target, const char *id, hf_value row,
                                           int64_t wait_ms, hf_mem *mem, hf_err *err);

/* A command by the names of hf_command; the answer is its envelope. HF_REJECTED: it was refused,
   and the envelope says why. HF_INVALID: its arguments were. */
HF_NODISCARD hf_status hf_cli_target_command(hf_cli_target *target, const char *command,
                                             hf_value request, hf_mem *mem, hf_value *out_envelope,
                                             hf_err *err);

HF_NODISCARD hf_status hf_cli_target_query(hf_cli_target *target, const hf_cli_aim *aim,
                                           const char *name, hf_value arguments, hf_mem *mem,
                                           hf_value *out_result, hf_err *err);

/* For a server alone: one question, and what its answer means; NULL for one without a body. */
HF_NODISCARD hf_status hf_cli_target_ask(hf_cli_target *target, const char *method,
                                         const char *path, hf_value body, hf_mem *mem,
                                         hf_value *out_body, hf_err *err);

/* Any thread, a server alone: ends the question under way and every later one: HF_CANCELLED. */
void hf_cli_target_stop(hf_cli_target *target);

/* Waits so long, or until it is stopped: HF_CANCELLED. */
HF_NODISCARD hf_status hf_cli_target_pause(hf_cli_target *target, int64_t ms, hf_err *err);

/* The credential that the call says, or NULL. */
HF_NODISCARD hf_status hf_cli_target_token(hf_cli_call *call, const char **out_token, hf_err *err);

bool hf_cli_target_is_server(const hf_cli_target *target);

hf_cli_call *hf_cli_target_call(hf_cli_target *target);

/* What reads a store, beside whoever owns it; for no server. */
HF_NODISCARD hf_status hf_cli_target_reader(hf_cli_target *target, hf_reader **out, hf_err *err);

/* The engine behind commands to a store; NULL for a server. */
hf_engine *hf_cli_target_engine(hf_cli_target *target);

#endif
