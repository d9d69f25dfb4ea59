/* command.h: commands of the engine as routes ask for them: what a request carries, and how its
   outcome becomes an answer. For the handlers of the control plane and of webhooks. */
#ifndef HF_SERVER_COMMAND_H
#define HF_SERVER_COMMAND_H

#include "base/value.h"
#include "holdfast/holdfast.h"
#include "server/api.h"

/* A member, unless there is nothing to set. */
void hf_command_text(hf_api *api, hf_value_list *to, const char *name, const char *text);
void hf_command_field(hf_value_list *to, hf_value from, const char *name);

/* What a body says of a start, by the names that the command has. */
void hf_command_start_fields(hf_value_list *request, hf_value body);

/* Who asks and where it came from; every request has it. */
void hf_command_sign(hf_api *api, hf_value_list *request);

/* The same, and what the path and the body say of the target: workflow_id, run_id, name, reason,
   request_id. */
hf_value_list *hf_command_target(hf_api *api);

/* False: it is answered already. */
bool hf_command_send(hf_api *api, const char *command, hf_value request,
                     hf_command_result *out_result);

/* Answers with the envelope and the members of `more`; the status is that of an accepted one. */
void hf_command_answer(hf_api *api, const hf_command_result *result, int status,
                       hf_value_list *more);

/* A command to a target, with those members of the body (NULL behind the last; NULL: none) that it
   takes over as they are, sent and answered. */
void hf_command_order(hf_api *api, const char *command, const char *const *fields, int status);

/* The result of an update as an envelope; null while it has none. */
void hf_command_seal(hf_api *api, const hf_command_result *result, hf_value_list *to);

bool hf_command_outcome_is(const hf_command_result *result, const char *outcome);

#endif
