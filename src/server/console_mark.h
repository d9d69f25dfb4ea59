/* console_mark.h: what people decided about groups, put beside them. */
#ifndef HF_SERVER_CONSOLE_MARK_H
#define HF_SERVER_CONSOLE_MARK_H

#include "server/api.h"

/* Groups of attention with `snoozed` (null: they are not), at most `limit`, those that are snoozed
   last; with `awake`, without them. Answers and returns NULL when marks cannot be read. */
hf_value hf_api_groups_snoozed(hf_api *api, hf_value groups, int64_t limit, bool awake);

/* Groups of failures with their `state`; with `states` ("open,reopened"; NULL: all) those alone
   that are so. Answers and returns NULL when it cannot be read. */
hf_value hf_api_groups_judged(hf_api *api, hf_value groups, const char *states);

/* Whether a list of states can be asked for; answers and returns false when not. */
bool hf_api_states_check(hf_api *api, const char *states);

#endif
