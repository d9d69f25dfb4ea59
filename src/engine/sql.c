/* sql.c: what an operator asks a store in SQL, a program on its own connection or an engine. The
   statement stands inside another one as a table, so that it can do nothing but read; the
   connection cannot write; time, rows and bytes are bounded. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "holdfast/tool.h"
#include "store/store.h"

enum { SQL_ROWS = 10000, SQL_BYTES = 64 << 20, SQL_TIMEOUT_MS = 10000, SQL_COLUMNS_MAX = 256 };

/* A question under way. */
typedef struct question {
    hf_mem *mem; /* of the row at hand */
    hf_mem *names_mem;
    const char *names[SQL_COLUMNS_MAX];
    const char *cells[SQL_COLUMNS_MAX];
    size_t count;
    bool named;
    int64_t rows;
    int64_t bytes;
    const hf_sql_options *options;
    hf_sql_row *row;
    void *ctx;
    bool stopped;
} question;

static int64_t limit_of(int64_t given, int64_t standard)
{
    return given > 0 ? given : standard;
}

/* Text as it is, anything else in hexadecimal. */
static const char *cell_text(hf_mem *mem, hf_slice bytes)
{
    char *hex;

    if (!memchr(bytes.ptr ? bytes.ptr : "", '\0', bytes.len) && hf_utf8_valid(bytes))
        return hf_mem_text(mem, bytes);
    hex = hf_mem_bytes(mem, bytes.len * 2 + 1);
    if (hex)
        hf_hex_print(bytes, hex);
    return hex;
}

static hf_status bytes_count(question *q, size_t more, hf_err *err)
{
    int64_t most = limit_of(q->options->bytes_max, SQL_BYTES);

    q->bytes += (int64_t)more;
    return q->bytes > most
               ? hf_err_set(err, HF_TOOBIG, "the rows have more than %lld bytes: ask for less",
                            (long long)most)
               : HF_OK;
}

/* SQLite: the columns of the statement. */
static hf_status row_columns(question *q, hf_db_cursor *cursor, hf_err *err)
{
    q->count = hf_db_column_count(cursor);
    if (q->count > SQL_COLUMNS_MAX)
        return hf_err_set(err, HF_TOOBIG, "at most %d columns", SQL_COLUMNS_MAX);
    for (size_t i = 0; i < q->count; i++) {
        hf_slice bytes = hf_db_column_bytes(cursor, i);
        hf_status st = bytes_count(q, bytes.len, err); /* before anything of it is copied */

        if (st)
            return st;
        if (!q->named)
            q->names[i] = hf_mem_text(q->names_mem, hf_slice_of(hf_db_column_name(cursor, i)));
        q->cells[i] = hf_db_column_null(cursor, i) ? NULL : cell_text(q->mem, bytes);
        if (!q->names[i] || (!q->cells[i] && !hf_db_column_null(cursor, i)))
            return hf_err_nomem(err, "a row");
    }
    return HF_OK;
}

/* PostgreSQL: one column, the row as JSON, because every type has a text there; null: it is bigger
   than any answer may be, and was not sent. */
static hf_status row_json(question *q, hf_db_cursor *cursor, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = SQL_BYTES};
    hf_slice text = hf_db_column_bytes(cursor, 0);
    hf_value row = NULL;
    hf_value item;
    hf_slice name;
    hf_status st = bytes_count(q, hf_db_column_null(cursor, 0) ? SQL_BYTES + 1 : text.len, err);

    if (!st)
        st = hf_err_because(err, hf_json_read(q->mem, text, &limits, &row, err),
                            "tell the columns of a row apart: give each a name of its own");
    q->count = hf_len(row);
    if (!st && q->count > SQL_COLUMNS_MAX)
        st = hf_err_set(err, HF_TOOBIG, "at most %d columns", SQL_COLUMNS_MAX);
    for (size_t i = 0; !st && hf_value_member(row, i, &name, &item); i++) {
        if (!q->named)
            q->names[i] = hf_mem_text(q->names_mem, name);
        q->cells[i] = hf_value_kind_of(item) == HF_VALUE_NULL     ? NULL
                      : hf_value_kind_of(item) == HF_VALUE_STRING ? hf_str(item, "", "")
                                                                  : hf_text(q->mem, item);
        if (!q->names[i] || (!q->cells[i] && hf_value_kind_of(item) != HF_VALUE_NULL))
            st = hf_err_nomem(err, "a row");
    }
    return st;
}

static hf_status rows_hand(question *q, hf_db_cursor *cursor, bool json, hf_err *err)
{
    bool row = true;
    hf_status st = HF_OK;

    while (!st && !q->stopped) {
        hf_mem_reset(q->mem);
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (q->rows == limit_of(q->options->rows_max, SQL_ROWS))
            return hf_err_set(err, HF_TOOBIG, "there are more than %lld rows: add a LIMIT",
                              (long long)q->rows);
        st = json ? row_json(q, cursor, err) : row_columns(q, cursor, err);
        if (st)
            break;
        if (!q->named)
            q->stopped = !q->row(q->ctx, q->names, NULL, q->count);
        q->named = true;
        q->rows++;
        if (!q->stopped)
            q->stopped = !q->row(q->ctx, q->names, q->cells, q->count);
    }
    return st;
}

static hf_status question_ask(question *q, hf_db *db, hf_slice sql, hf_err *err)
{
    bool json = strcmp(db->driver->name, "postgres") == 0;
    int64_t limit_ms = limit_of(q->options->timeout_ms, SQL_TIMEOUT_MS);
    hf_db_cursor *cursor = NULL;
    hf_buf text = {0};
    hf_status st = hf_db_limit(db, limit_ms, err);

    if (json)
        hf_buf_add_format(&text, "SELECT CASE WHEN octet_length(j) <= %d THEN j END FROM (",
                          SQL_BYTES);
    hf_buf_add_text(&text, json ? "SELECT to_json(q)::text AS j FROM (" : "SELECT * FROM (");
    hf_buf_add_slice(&text, sql);
    hf_buf_add_text(&text, json ? "\n) q) r" : "\n) q");
    if (!st && !hf_buf_ok(&text))
        st = hf_err_nomem(err, "a question");
    if (!st)
        st = hf_db_begin(db, HF_DB_READ, err);
    if (!st) {
        st = hf_db_query_text(db, hf_buf_text(&text), NULL, 0, &cursor, err);
        if (!st)
            st = rows_hand(q, cursor, json, err);
        hf_db_end(cursor);
        hf_db_rollback(db);
    }
    if (st == HF_TIMEOUT)
        st = hf_err_set(err, HF_TIMEOUT, "the statement took longer than %lld ms",
                        (long long)limit_ms);
    hf_buf_fini(&text);
    return st;
}

/* The statement without the space around it and the semicolon that people end it with. */
static hf_slice sql_trim(const char *sql)
{
    hf_slice text = hf_slice_trim(hf_slice_of(sql));

    if (text.len && text.ptr[text.len - 1] == ';')
        text = hf_slice_trim(hf_slice_from(text.ptr, text.len - 1));
    return text;
}

/* What reads begins with one of these. Whatever else it does is up to the connection to refuse. */
static bool sql_reads(hf_slice sql)
{
    static const char *const words[] = {"select", "with", "values"};
    char word[7] = {0};
    size_t len = 0;

    for (; len < sql.len && len < sizeof(word); len++) {
        char c =
            sql.ptr[len] >= 'A' && sql.ptr[len] <= 'Z' ? (char)(sql.ptr[len] + 32) : sql.ptr[len];

        if (c < 'a' || c > 'z')
            break;
        word[len] = c;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (hf_slice_equal(hf_slice_from(word, len), hf_slice_of(words[i])))
            return true;
    return false;
}

/* The parentheses of the statement must close, or it could leave the table it stands in. */
static bool sql_balanced(hf_slice sql)
{
    int depth = 0;
    char quote = '\0';

    for (size_t i = 0; i < sql.len; i++) {
        char c = sql.ptr[i];
        char next = i + 1 < sql.len ? sql.ptr[i + 1] : '\0';

        if (quote) {
            if (c == quote)
                quote = '\0';
            continue;
        }
        if (c == '\'' || c == '"')
            quote = c;
        else if (c == '(')
            depth++;
        else if (c == ')' && --depth < 0)
            return false;
        else if (c == ';' || c == '$' || (c == '/' && next == '*') || (c == '-' && next == '-') ||
                 c == '\\')
            return false;
    }
    return depth == 0 && !quote;
}

/* ---- what is allowed to those who ask from elsewhere */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Functions, and words that may stand before a parenthesis: nothing that reads files, runs texts,
   makes big values or speaks to other sessions. docs/operate/sql.md names them. */
static bool word_calls(const char *word)
{
    static const char *const words[] = {
#define HF_SQL_WORD(word) #word,
#include "engine/sql_word.def"
#undef HF_SQL_WORD
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* Names of the databases' own catalogues and functions. */
static bool word_inner(const char *word)
{
    static const char *const heads[] = {"pg_", "lo_", "sqlite_", "information_schema"};

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        if (strncmp(word, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

enum { WORD_SIZE = 64 };

/* The word at `at`, in small letters, cut where it is longer than any that is known; returns how
   long it is. */
static size_t word_at(hf_slice sql, size_t at, char out[WORD_SIZE])
{
    size_t len = 0;

    for (; at + len < sql.len && is_word(sql.ptr[at + len]); len++) {
        char c = sql.ptr[at + len];

        if (len < WORD_SIZE - 1) {
            out[len] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
            out[len + 1] = '\0';
        }
    }
    return len;
}

/* Texts in apostrophes are skipped; names in quotes count like those without. What was checked
   before has no comments, dollar signs and backslashes in it. */
static hf_status sql_known(hf_slice sql, hf_err *err)
{
    char word[WORD_SIZE] = "";
    char before = '\0'; /* the last character that is no space; 'a' after a word */

    for (size_t i = 0; i < sql.len;) {
        char c = sql.ptr[i];
        size_t len = word_at(sql, i, word);

        if (len && word_inner(word))
            return hf_err_set(err, HF_INVALID, "%s: only the views can be asked here", word);
        if (c == '\'')
            for (i++; i < sql.len && sql.ptr[i] != '\'';)
                i++;
        if (c == '`' || (c == '(' && (before == ']' || before == '"' || before == '\'')))
            return hf_err_set(err, HF_INVALID, "names are written in letters, or between quotes");
        if (c == '(' && before == 'a' && !word_calls(word))
            return hf_err_set(err, HF_INVALID, "there is no function %s here", word);
        if (len)
            before = 'a';
        else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            before = c;
        i += len ? len : 1;
    }
    return HF_OK;
}

/* ---- public */

/* The statement itself, or why it cannot be asked. */
static hf_status sql_check(const hf_sql_options *options, const char *sql, hf_sql_row *row,
                           hf_slice *out_text, hf_err *err)
{
    if (options->size != sizeof(*options) || !sql || !row)
        return hf_err_set(err, HF_MISUSE, "a question needs its text and somebody who takes rows");
    *out_text = sql_trim(sql);
    if (!sql_reads(*out_text))
        return hf_err_set(err, HF_INVALID,
                          "nothing but reading: a statement begins with SELECT, WITH or VALUES");
    if (!sql_balanced(*out_text))
        return hf_err_set(err, HF_INVALID,
                          "one reading statement, without semicolons, comments and dollar signs");
    return options->known ? sql_known(*out_text, err) : HF_OK;
}

static hf_status store_ask(hf_store *store, question *q, hf_slice text, hf_err *err)
{
    hf_db *db = NULL;
    hf_status st;

    q->mem = hf_mem_new();
    q->names_mem = hf_mem_new();
    st = q->mem && q->names_mem ? hf_store_connect(store, HF_DB_READ, &db, err)
                                : hf_err_nomem(err, "a question");
    if (!st)
        st = question_ask(q, db, text, err);
    hf_db_close(db);
    hf_mem_free(q->names_mem);
    hf_mem_free(q->mem);
    return st == HF_ERROR || st == HF_MISUSE || st == HF_READONLY
               ? hf_err_because(err, HF_INVALID, "ask the store")
               : st;
}

hf_status hf_sql(const char *address, const hf_sql_options *options, const char *sql,
                 hf_sql_row *row, void *ctx, hf_err *err)
{
    const hf_sql_options none = {.size = sizeof(none)};
    hf_store_options open = {.size = sizeof(open), .role = HF_STORE_READER};
    question q = {.options = options ? options : &none, .row = row, .ctx = ctx};
    hf_store *store = NULL;
    hf_slice text;
    hf_status st = sql_check(q.options, sql, row, &text, err);

    if (st)
        return st;
    open.schema = q.options->schema;
    st = hf_store_open(address, &open, &store, err);
    if (!st)
        st = store_ask(store, &q, text, err);
    hf_store_close(store);
    return st;
}

hf_status hf_sql_ask(hf_engine *engine, const hf_sql_options *options, const char *sql,
                     hf_sql_row *row, void *ctx)
{
    question q = {.options = options, .row = row, .ctx = ctx};
    hf_slice text;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st && !options)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "a question needs options");
    if (!st)
        st = sql_check(options, sql, row, &text, &c.slot->err);
    return st ? st : store_ask(engine->store, &q, text, &c.slot->err);
}

/* The views, and their columns: a row that is not there has all of them. */
static const char *const views[] = {"v_runs",       "v_events",   "v_waits",
                                    "v_activities", "v_failures", "v_tasks"};

typedef struct schema_look {
    hf_mem *mem;
    hf_value columns;
} schema_look;

static bool schema_row(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    schema_look *look = ctx;
    hf_value_list *list = hf_value_array(look->mem);

    (void)cells;
    for (size_t i = 0; i < count; i++)
        hf_value_append(list, hf_value_string(look->mem, hf_slice_of(names[i])));
    look->columns = hf_value_finish(list);
    return false;
}

hf_status hf_sql_schema(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    const hf_sql_options options = {.size = sizeof(options)};
    hf_value_list *list = hf_value_array(mem);
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    for (size_t i = 0; !st && i < sizeof(views) / sizeof(views[0]); i++) {
        schema_look look = {.mem = mem};

        st = hf_sql_ask(engine, &options,
                        hf_mem_format(mem,
                                      "SELECT v.* FROM (SELECT 1 AS one) o LEFT JOIN %s v ON 1 = 0",
                                      views[i]),
                        schema_row, &look);
        hf_value_append(list, hf_json_(mem, "{'name': %s, 'columns': %p}", views[i],
                                       (const void *)look.columns));
    }
    if (st)
        return st;
    *out = hf_json_(mem, "{'store': %s, 'views': %p}", hf_store_engine(engine->store),
                    (const void *)hf_value_finish(list));
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "a schema");
}
