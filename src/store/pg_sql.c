/* pg_sql.c: one pass over a statement that leaves quoted text and comments alone. */
#include "store/pg_sql.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Behind a quoted part that begins at `at`; a doubled quote continues it, a backslash only in
 * E'...'. */
static const char *quote_end(const char *at, bool escapes)
{
    char quote = *at;

    for (at++; *at; at++) {
        if (escapes && at[0] == '\\' && at[1])
            at++;
        else if (*at == quote)
            return at + 1;
    }
    return at;
}

/* Behind a comment that nests, as PostgreSQL's do. */
static const char *comment_end(const char *at)
{
    int depth = 0;

    while (*at) {
        if (at[0] == '/' && at[1] == '*') {
            depth++;
            at += 2;
        } else if (at[0] == '*' && at[1] == '/') {
            depth--;
            at += 2;
            if (depth == 0)
                return at;
        } else {
            at++;
        }
    }
    return at;
}

/* Behind $tag$...$tag$, or `at` when no such quote begins here. */
static const char *dollar_end(const char *at)
{
    size_t len = 1;
    const char *end = at;

    while (isalpha((unsigned char)at[len]) || at[len] == '_' ||
           (len > 1 && isdigit((unsigned char)at[len])))
        len++;
    if (at[len] != '$')
        return at;
    len++;
    for (end = at + len; *end; end++)
        if (strncmp(end, at, len) == 0)
            return end + len;
    return end;
}

/* Behind what must be copied untouched, or `at` when ordinary text stands there. */
static const char *literal_end(const char *at, char before)
{
    if (*at == '\'')
        return quote_end(at, before == 'E' || before == 'e');
    if (*at == '"')
        return quote_end(at, false);
    if (at[0] == '-' && at[1] == '-')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*')
        return comment_end(at);
    if (*at == '$')
        return dollar_end(at);
    return at;
}

void hf_pg_sql_rewrite(const char *sql, hf_buf *out)
{
    char before = ' ';

    while (*sql) {
        const char *end = literal_end(sql, before);

        if (end != sql) {
            hf_buf_add(out, sql, (size_t)(end - sql));
            before = ' ';
            sql = end;
            continue;
        }
        before = *sql;
        hf_buf_add_byte(out,
                        (uint8_t)(sql[0] == '?' && isdigit((unsigned char)sql[1]) ? '$' : sql[0]));
        sql++;
    }
}
