/* registry.h: what the server keeps in memory of the store, so that requests can be judged without
   reading it: tokens, the names of namespaces, and workers that registered and browsers that logged
   in elsewhere or before. */
#ifndef HF_SERVER_REGISTRY_H
#define HF_SERVER_REGISTRY_H

#include "base/attr.h"
#include "base/err.h"
#include "holdfast/host.h"
#include "server/server.h"

/* Reads all of it anew. Called when the server starts, after they were changed here, and now and
   then, because another node may change them too. Any thread; may block. */
HF_NODISCARD hf_status hf_server_refresh(hf_server *server, hf_err *err);

/* Makes the first token, an admin's, when the store has none that could be used; out_token->secret
   is empty when it has. */
HF_NODISCARD hf_status hf_server_first_token(hf_server *server, hf_token *out_token, hf_err *err);

#endif
