/* pg.h: real PostgreSQL servers for tests, each in a folder of its own.

   A guardian process owns the server: it starts it, crashes it on request, and when the test
   program is gone for whatever reason it stops the server and removes the folder. Nothing is left
   behind, not even after SIGKILL.

   Most tests share one server per run: hf_pg_suite_run takes the address from the environment
   variable HF_TEST_PG (set by whoever runs tools/pg_for_tests.sh) or starts one server for the
   program. Each case then works in a schema of its own. Tests that crash a server start one with
   hf_pg_start. */
#ifndef HF_TEST_LIB_PG_H
#define HF_TEST_LIB_PG_H

#include <stddef.h>

#include "base/err.h"
#include "lib/suite.h"
#include "store/db.h"

typedef struct hf_pg_server hf_pg_server;

/* Starts a server that takes user holdfast (superuser) without a password on a socket and on
   127.0.0.1, has the database holdfast, and knows the role hf_password, which needs the password
   HF_PG_PASSWORD over TCP. HF_NOTFOUND when no server is installed. Blocks a few seconds. The
   caller stops it with hf_pg_stop. */
#define HF_PG_PASSWORD "correct horse"
HF_NODISCARD hf_status hf_pg_start(hf_pg_server **out_server, hf_err *err);

/* Starts a streaming standby of `primary`, which must be running. */
HF_NODISCARD hf_status hf_pg_start_standby(hf_pg_server *primary, hf_pg_server **out_server,
                                           hf_err *err);

/* The address over TCP; borrowed from the server. Stays the same over a restart. */
const char *hf_pg_uri(const hf_pg_server *server);
int hf_pg_port(const hf_pg_server *server);

/* Immediate stop, as if the machine had lost power; returns when the server is gone. */
HF_NODISCARD hf_status hf_pg_crash(hf_pg_server *server, hf_err *err);

/* Starts it again on the same data, crashing it first when it still runs; returns when it answers.
 */
HF_NODISCARD hf_status hf_pg_restart(hf_pg_server *server, hf_err *err);

/* Stops the server and removes its folder. NULL allowed. */
void hf_pg_stop(hf_pg_server *server);

/* hf_suite_run with HF_TEST_PG set for the cases: to what it was, or to a server of this program.
 */
int hf_pg_suite_run(const char *name, const hf_case *cases, size_t count);

/* Loads the driver module from `build_dir` (HF_BUILD_DIR) and joins it to this program's fault
 * state. It stays loaded. */
HF_NODISCARD hf_status hf_pg_driver(const char *build_dir, const hf_db_driver **out_driver,
                                    hf_err *err);

/* HF_PG_SUITE_MAIN("store/pg", {commits_once}, {slow_case, 300}) */
#define HF_PG_SUITE_MAIN(name, ...)                                                                \
    int main(void)                                                                                 \
    {                                                                                              \
        const hf_case cases[] = {__VA_ARGS__};                                                     \
                                                                                                   \
        return hf_pg_suite_run(name, cases, sizeof(cases) / sizeof(cases[0]));                     \
    }

#endif
