/* pg_error.h: what PostgreSQL and libpq report, as a status and a sentence. The sentence never
   holds a password and never the content of a row: the primary message is kept, details are not. */
#ifndef HF_STORE_PG_ERROR_H
#define HF_STORE_PG_ERROR_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"

/* Records a failed result. The status is that of its SQLSTATE. */
hf_status hf_pg_error_set(const PGresult *result, hf_err *err);

/* Whether the server closes the connection after this error. */
bool hf_pg_error_fatal(const PGresult *result);

/* Records why a connection could not be made. It needs the verbosity PQERRORS_VERBOSE, because
   libpq hands out the SQLSTATE of a refused connection only inside its message. `password` may be
   NULL. */
hf_status hf_pg_error_connect(PGconn *conn, const char *password, hf_err *err);

/* Records that an established connection is gone. */
hf_status hf_pg_error_lost(PGconn *conn, hf_status status, hf_err *err);

#endif
