/* remote_link.h: tasks of a server and reports on them, for the threads of a program that works for
   it; see remote_link.c. */
#ifndef HF_ENGINE_REMOTE_LINK_H
#define HF_ENGINE_REMOTE_LINK_H

#include "base/err.h"
#include "client/client.h"
#include "engine/remote.h"

typedef struct remote_link remote_link;
struct remote_hand;

HF_NODISCARD hf_status hf_remote_link_open(hf_remote *remote, remote_link **out_link, hf_err *err);
void hf_remote_link_close(remote_link *link); /* NULL is allowed; no thread uses it any more */

/* With the remote's lock held: nothing new is taken, and who waits for a task gets none. */
void hf_remote_link_stop(remote_link *link);

/* With the remote's lock held: attempts that came and that no thread has yet, and exchanges of
   registrations before `number` that may still bring one. */
int64_t hf_remote_link_attempts(const remote_link *link, uint64_t number);

/* The next task, which lives until the next call; NULL: there is none, ask again or end. */
hf_value hf_remote_task(struct remote_hand *hand);

/* Reports on a task as hf_tasks_report takes it, and waits for the answer: its status as that of
   the request it would have been alone, its body when it is not 200, in hand->mem. Asked again as
   hf_remote_report does. */
HF_NODISCARD hf_status hf_remote_tell(struct remote_hand *hand, hf_value said,
                                      hf_client_reply *out_reply, hf_err *err);

#endif
