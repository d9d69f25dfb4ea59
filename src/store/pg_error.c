/* pg_error.c: the table of SQLSTATEs, and sentences made from libpq's messages. */
#include "store/pg_error.h"

#include <ctype.h>
#include <string.h>

#include "base/slice.h"

typedef struct state_row {
    const char *prefix; /* of the SQLSTATE; the first row that fits is taken */
    hf_status status;
} state_row;

static const state_row state_rows[] = {
    {"08P01", HF_ERROR},       /* a malformed message of ours, not a lost connection */
    {"08", HF_UNREACHABLE},    /* connection exceptions */
    {"22001", HF_TOOBIG},      /* string too long */
    {"22", HF_INVALID},        /* the data cannot be stored */
    {"23", HF_CONSTRAINT},     /* integrity */
    {"25006", HF_READONLY},    /* read-only transaction */
    {"25P03", HF_UNREACHABLE}, /* the server ended a transaction that idled too long */
    {"28", HF_DENIED},         /* authentication */
    {"3D000", HF_NOTFOUND},    /* database */
    {"3F000", HF_NOTFOUND},    /* schema */
    {"40001", HF_RETRY},       /* serialisation failure */
    {"40P01", HF_RETRY},       /* deadlock */
    {"42501", HF_DENIED},      /* privilege */
    {"53100", HF_FULL},        /* disk */
    {"53", HF_BUSY},           /* memory, connections */
    {"54", HF_TOOBIG},         /* a limit of the server */
    {"55P03", HF_BUSY},        /* lock not available */
    {"57014", HF_TIMEOUT},     /* statement timeout or cancel */
    {"57P", HF_UNREACHABLE},   /* shutdown, crash, start-up, database dropped, idle session */
    {"58", HF_IO},             /* the server's operating system */
    {"XX001", HF_CORRUPT},     /* data */
    {"XX002", HF_CORRUPT},     /* index */
};

/* The first line without white space at its ends. */
static hf_slice message_line(const char *message)
{
    hf_slice rest = hf_slice_of(message);
    hf_slice line = {0};

    (void)hf_slice_split(&rest, '\n', &line);
    return hf_slice_trim(line);
}

/* Finds "  28P01: " in a verbose message: where the SQLSTATE begins, or NULL. */
static const char *message_state(hf_slice line)
{
    for (size_t i = 0; i + 9 <= line.len; i++) {
        const char *at = line.ptr + i;
        bool state = at[0] == ' ' && at[1] == ' ' && at[7] == ':' && at[8] == ' ';

        for (size_t k = 2; state && k < 7; k++)
            state = isdigit((unsigned char)at[k]) || isupper((unsigned char)at[k]);
        if (state)
            return at + 2;
    }
    return NULL;
}

/* The status for a five-letter SQLSTATE. NULL or empty (libpq itself failed): HF_UNREACHABLE. */
static hf_status sqlstate_status(const char *sqlstate)
{
    if (!sqlstate || !*sqlstate)
        return HF_UNREACHABLE;
    for (size_t i = 0; i < sizeof(state_rows) / sizeof(state_rows[0]); i++)
        if (strncmp(sqlstate, state_rows[i].prefix, strlen(state_rows[i].prefix)) == 0)
            return state_rows[i].status;
    return HF_ERROR;
}

hf_status hf_pg_error_set(const PGresult *result, hf_err *err)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    hf_slice line = message_line(primary ? primary : PQresultErrorMessage(result));

    return hf_err_set(err, sqlstate_status(sqlstate), "%.*s (SQLSTATE %s)", (int)line.len, line.ptr,
                      sqlstate ? sqlstate : "none");
}

bool hf_pg_error_fatal(const PGresult *result)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    return severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

hf_status hf_pg_error_connect(PGconn *conn, const char *password, hf_err *err)
{
    const char *message = PQerrorMessage(conn);
    hf_slice line = message_line(message);
    const char *state = message_state(line);
    hf_status status = HF_UNREACHABLE;

    if (state)
        status = sqlstate_status(state);
    else if (PQconnectionNeedsPassword(conn))
        status = HF_DENIED;
    else if (hf_slice_starts(line, HF_SLICE("invalid ")))
        status = HF_INVALID; /* an option that libpq refused before it connected */
    if (password && *password && strstr(message, password))
        return hf_err_set(err, status,
                          "cannot connect (the reason repeats the password and is left out)");
    return hf_err_set(err, status, "%.*s", (int)line.len, line.ptr);
}

hf_status hf_pg_error_lost(PGconn *conn, hf_status status, hf_err *err)
{
    hf_slice line = message_line(PQerrorMessage(conn));

    return hf_err_set(err, status, "the connection to PostgreSQL is lost: %.*s", (int)line.len,
                      line.ptr);
}
