/* pg_conn.h: from an address to a libpq connection, and back to a descriptor to wait on. */
#ifndef HF_STORE_PG_CONN_H
#define HF_STORE_PG_CONN_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"

/* The oldest server the statements are written for. */
enum { HF_PG_VERSION_MIN = 15 };

/* Connects, trying each host of the address in turn. Options the address leaves open get defaults
   that notice a dead peer: 5 s to connect, keepalives, TCP_USER_TIMEOUT. Blocks. HF_INVALID
   (address or a server too old), HF_DENIED, HF_NOTFOUND (database), HF_UNREACHABLE, HF_NOMEM. The
   caller ends it with PQfinish. */
HF_NODISCARD hf_status hf_pg_conn_open(const char *address, PGconn **out_conn, hf_err *err);

/* Waits until the socket can be read, or written when `writing`; false after timeout_ms (-1:
 * never). */
bool hf_pg_conn_wait(PGconn *conn, bool writing, int timeout_ms);

#endif
