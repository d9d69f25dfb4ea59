/* pg_listen.h: wake-up hints between nodes. A hint may be lost or doubled; nothing may depend on
   one.

   Notifying uses a connection of its own, made at the first use: inside a writing transaction
   NOTIFY serialises all commits of the database. Listening happens on the connection itself.
   Contracts as in db.h. */
#ifndef HF_STORE_PG_LISTEN_H
#define HF_STORE_PG_LISTEN_H

#include "store/pg_pipe.h"

HF_NODISCARD hf_status hf_pg_notify(hf_db *db, hf_slice payload, hf_err *err);
HF_NODISCARD hf_status hf_pg_listen(hf_db *db, hf_err *err);
HF_NODISCARD hf_status hf_pg_notified(hf_db *db, int timeout_ms, hf_slice *out_payload,
                                      hf_err *err);

/* Ends the notifying connection and frees the last payload. */
void hf_pg_listen_fini(hf_pg *pg);

#endif
