/* pg_conn.h: from an address to a libpq connection, and back to a descriptor to wait on. */
#ifndef HF_STORE_PG_CONN_H
#define HF_STORE_PG_CONN_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"

/* The oldest server the statements are written for. */
enum { HF_PG_VERSION_MIN = 15 };

/* Of the servers that an address names, after a failover among them. */
typedef enum hf_pg_want {
    HF_PG_ANY,     /* the primary when it answers, else a standby, whose rows may be old */
    HF_PG_PRIMARY, /* the newest rows */
    HF_PG_WRITABLE /* it must take changes, too */
} hf_pg_want;

#define HF_PG_STANDBY "the server is a standby (in recovery); connect to the primary"

/* Connects, trying each host of the address in turn until one is what is wanted. Options the
   address leaves open get defaults that notice a dead peer: 5 s to connect, keepalives,
   TCP_USER_TIMEOUT. Blocks. HF_INVALID (address or a server too old), HF_DENIED, HF_NOTFOUND
   (database), HF_UNREACHABLE, HF_READONLY (servers answer, and none is what is wanted), HF_NOMEM.
   The caller ends it with PQfinish. */
HF_NODISCARD hf_status hf_pg_conn_open(const char *address, hf_pg_want want, PGconn **out_conn,
                                       hf_err *err);

/* Waits until the socket can be read, or written when `writing`; false after timeout_ms (-1:
 * never). */
bool hf_pg_conn_wait(PGconn *conn, bool writing, int timeout_ms);

#endif
