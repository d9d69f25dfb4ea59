/* pg_conn.c: connecting. libpq's own blocking connect is not used, because it hides the SQLSTATE of
   a refusal: it shows only in a verbose message, and the verbosity cannot be set before that call.
   So hosts are tried here. */
#include "store/pg_conn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/pg_error.h"

enum { OPTIONS_MAX = 64, TIMEOUT_S_MIN = 2, TIMEOUT_S_MAX = 3600 };

typedef struct option {
    const char *key;
    const char *value;
} option;

/* What holds unless the address says otherwise. A dead peer is noticed within about 20 s. */
static const option option_defaults[] = {
    {"application_name", "holdfast"}, {"connect_timeout", "5"},  {"keepalives_idle", "5"},
    {"keepalives_interval", "5"},     {"keepalives_count", "3"}, {"tcp_user_timeout", "15000"},
};

/* NULL-terminated, as libpq wants them. */
typedef struct conn_options {
    const char *keys[OPTIONS_MAX + 1];
    const char *values[OPTIONS_MAX + 1];
    size_t count;
} conn_options;

static const char *options_get(const conn_options *options, const char *key)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->keys[i], key) == 0)
            return options->values[i];
    return NULL;
}

static void options_set(conn_options *options, const char *key, const char *value)
{
    for (size_t i = 0; i < options->count; i++) {
        if (strcmp(options->keys[i], key) == 0) {
            options->values[i] = value;
            return;
        }
    }
    if (options->count == OPTIONS_MAX)
        return; /* more than libpq knows; it would refuse the rest anyway */
    options->keys[options->count] = key;
    options->values[options->count] = value;
    options->count++;
}

static void options_fill(conn_options *options, const PQconninfoOption *parsed)
{
    for (const PQconninfoOption *at = parsed; at->keyword; at++)
        if (at->val)
            options_set(options, at->keyword, at->val);
    for (size_t i = 0; i < sizeof(option_defaults) / sizeof(option_defaults[0]); i++)
        if (!options_get(options, option_defaults[i].key))
            options_set(options, option_defaults[i].key, option_defaults[i].value);
    options_set(options, "client_encoding", "UTF8");
}

static int options_timeout_ms(const conn_options *options)
{
    long seconds = strtol(options_get(options, "connect_timeout"), NULL, 10);

    if (seconds <= 0)
        return -1;
    if (seconds < TIMEOUT_S_MIN)
        seconds = TIMEOUT_S_MIN;
    return (int)(seconds < TIMEOUT_S_MAX ? seconds : TIMEOUT_S_MAX) * 1000;
}

static size_t list_count(const char *list)
{
    size_t count = 1;

    for (; list && *list; list++)
        count += *list == ',';
    return count;
}

/* The part of a comma list that belongs to host `index`; a single part belongs to all. */
static hf_status options_pick(conn_options *options, const char *key, size_t index, hf_mem *mem,
                              hf_err *err)
{
    hf_slice rest = hf_slice_of(options_get(options, key));
    hf_slice part = {0};
    size_t parts = list_count(rest.ptr);
    char *text;

    if (parts == 1)
        return HF_OK;
    for (size_t i = 0; i <= index && hf_slice_split(&rest, ',', &part); i++)
        continue;
    text = hf_mem_text(mem, part);
    if (!text)
        return hf_err_nomem(err, "a host of the address");
    options_set(options, key, text);
    return HF_OK;
}

static void notice_ignore(void *ctx, const PGresult *result)
{
    (void)ctx;
    (void)result;
}

/* One host. Each step of the handshake may take the whole time limit; there are few. */
static hf_status host_connect(const conn_options *options, PGconn **out_conn, hf_err *err)
{
    PGconn *conn = PQconnectStartParams(options->keys, options->values, 0);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    int timeout_ms = options_timeout_ms(options);
    hf_status st = HF_OK;

    if (!conn)
        return hf_err_nomem(err, "a connection");
    (void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    (void)PQsetNoticeReceiver(conn, notice_ignore, NULL); /* the default prints to standard error */
    while (!st && PQstatus(conn) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
           state != PGRES_POLLING_FAILED) {
        if (!hf_pg_conn_wait(conn, state == PGRES_POLLING_WRITING, timeout_ms))
            st = hf_err_set(err, HF_UNREACHABLE, "no answer from the server within %d ms",
                            timeout_ms);
        else
            state = PQconnectPoll(conn);
    }
    if (!st && PQstatus(conn) != CONNECTION_OK)
        st = hf_pg_error_connect(conn, options_get(options, "password"), err);
    if (!st && PQserverVersion(conn) < HF_PG_VERSION_MIN * 10000)
        st = hf_err_set(err, HF_INVALID, "the server is PostgreSQL %s, Holdfast needs %d or newer",
                        PQparameterStatus(conn, "server_version"), HF_PG_VERSION_MIN);
    if (st) {
        PQfinish(conn);
        return st;
    }
    *out_conn = conn;
    return HF_OK;
}

static bool server_says_on(PGconn *conn, const char *setting)
{
    const char *value = PQparameterStatus(conn, setting); /* NULL: a pooler does not tell */

    return value && strcmp(value, "on") == 0;
}

/* Whether the server is the one that is wanted, and else why not. */
static hf_status server_fits(PGconn *conn, hf_pg_want want, hf_err *err)
{
    if (server_says_on(conn, "in_hot_standby"))
        return hf_err_set(err, HF_READONLY, HF_PG_STANDBY);
    if (want == HF_PG_WRITABLE && server_says_on(conn, "default_transaction_read_only"))
        return hf_err_set(err, HF_READONLY,
                          "the server takes no changes (default_transaction_read_only is on)");
    return HF_OK;
}

/* Of several hosts the first that fits. One that answers and does not fit says more than one that
   does not answer. */
static hf_status hosts_connect(const conn_options *options, hf_pg_want want, hf_mem *mem,
                               PGconn **out_conn, hf_err *err)
{
    PGconn *spare = NULL; /* a standby, for want of something newer */
    hf_err misfit = {0};
    size_t hosts = list_count(options_get(options, "host"));
    size_t addresses = list_count(options_get(options, "hostaddr"));
    size_t count = hosts > addresses ? hosts : addresses;
    hf_status st = HF_OK;

    for (size_t i = 0; i < count; i++) {
        conn_options one = *options;

        st = options_pick(&one, "host", i, mem, err);
        if (!st)
            st = options_pick(&one, "hostaddr", i, mem, err);
        if (!st)
            st = options_pick(&one, "port", i, mem, err);
        if (!st)
            st = host_connect(&one, out_conn, err);
        if (st == HF_NOMEM)
            break;
        if (st)
            continue;
        st = server_fits(*out_conn, want, &misfit);
        if (!st)
            break;
        if (want == HF_PG_ANY && !spare)
            spare = *out_conn;
        else
            PQfinish(*out_conn);
    }
    if (st && st != HF_NOMEM && spare) {
        *out_conn = spare;
        return HF_OK;
    }
    PQfinish(spare);
    if (st && st != HF_NOMEM && misfit.status)
        st = hf_err_set(err, misfit.status, "%s", misfit.text);
    return st;
}

bool hf_pg_conn_wait(PGconn *conn, bool writing, int timeout_ms)
{
    struct pollfd ready = {.fd = PQsocket(conn), .events = POLLIN};
    int count;

    if (writing)
        ready.events = POLLOUT;
    do {
        count = poll(&ready, 1, timeout_ms);
    } while (count < 0 && errno == EINTR);
    return count != 0;
}

hf_status hf_pg_conn_open(const char *address, hf_pg_want want, PGconn **out_conn, hf_err *err)
{
    conn_options options = {0};
    char *message = NULL;
    PQconninfoOption *parsed = PQconninfoParse(address, &message);
    hf_mem *mem = NULL;
    hf_status st;

    if (!parsed) {
        /* libpq's message quotes the part it could not read, which may be a password. */
        st = message
                 ? hf_err_set(
                       err, HF_INVALID,
                       "the address is neither a postgresql:// URI nor a list of key=value options")
                 : hf_err_nomem(err, "the address");
        goto done;
    }
    mem = hf_mem_new();
    if (!mem) {
        st = hf_err_nomem(err, "the options of the address");
        goto done;
    }
    options_fill(&options, parsed);
    st = hosts_connect(&options, want, mem, out_conn, err);
done:
    hf_mem_free(mem);
    PQconninfoFree(parsed);
    PQfreemem(message);
    return st;
}
