/* session_store.h: sessions of browsers on their way to the store and back. What a session is, and
   whether it holds, is session.h's; this asks the engine and may wait for it. */
#ifndef HF_SERVER_SESSION_STORE_H
#define HF_SERVER_SESSION_STORE_H

#include "server/api.h"
#include "server/session.h"

/* Keeps it; nothing is kept of sessions that are not those of tokens. */
HF_NODISCARD hf_status hf_session_write(struct hf_server *server, const hf_session_row *row);

/* Keeps the sign of life that the request is, if it is one of a session and the store is far
   behind. */
void hf_session_touch(hf_api *api);

/* Reads what changed since then, here and at other servers of the store; `mem` for what it needs
   meanwhile. */
HF_NODISCARD hf_status hf_sessions_read(struct hf_server *server, int64_t since_us, hf_mem *mem,
                                        hf_err *err);

#endif
