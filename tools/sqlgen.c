/* sqlgen.c: turns src/store/sql into C. Run by the build:  sqlgen SQL_DIR OUT_DIR

   common/NAME.sql                 the statement NAME for both engines
   sqlite/NAME.sql, postgres/NAME.sql   overrides; a statement must end up with a text for both
   engines
   assured/NAME.sql                NAME for a batch that fails as a whole when a guard does not hold
   (PostgreSQL); statements with {insert ...} or {rows ...} get theirs by leaving the guard out.
   {count} is how many rows there are. For one row alone there is a form without arrays
   migrations/NNNN_name.sql        a migration for both, or NNNN_name.sqlite.sql with
   NNNN_name.postgres.sql

   pieces/NAME.sql                 parts of statements that are put together when they are asked for
   (lists), each after a line "-- piece NAME"; words in braces that are not known here stay for
   whoever puts them together

   It writes stmt_list.h (X-macro list of names, used for the enum) and stmt_table.c (the texts).
   It must fail on anything unexpected: a statement that exists for one engine only is a bug. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ASSURED and LONE are forms for PostgreSQL; a lone one is made of the assured one's text. */
enum { NAMES_MAX = 512, ENGINES = 2, ASSURED = 2, TEXTS = 3, LONE = 3 };

typedef struct entry {
    char name[128];
    char *text[TEXTS]; /* 0 SQLite, 1 PostgreSQL, 2 PostgreSQL in an assured batch */
} entry;

typedef struct table {
    entry rows[NAMES_MAX];
    size_t count;
} table;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fputs("sqlgen: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = 0;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        die("cannot read %s", path);
    text = calloc(1, (size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        die("cannot read %s", path);
    (void)fclose(file);
    return text;
}

static entry *entry_get(table *rows, const char *name)
{
    entry *row;

    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].name, name) == 0)
            return &rows->rows[i];
    if (rows->count == NAMES_MAX || strlen(name) >= sizeof(rows->rows[0].name))
        die("too many statements, or a name is too long: %s", name);
    row = &rows->rows[rows->count++];
    (void)snprintf(row->name, sizeof(row->name), "%s", name);
    return row;
}

/* Reads every .sql of a folder. `engine` -1 means both. An override replaces the common text. */
static void folder_read(table *rows, const char *dir, int engine)
{
    DIR *folder = opendir(dir);
    struct dirent *item;

    if (!folder)
        die("cannot open %s", dir);
    while ((item = readdir(folder))) {
        char path[4096];
        char name[256];
        char *dot;
        char *text;
        int only = engine;

        if (!strstr(item->d_name, ".sql"))
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", dir, item->d_name);
        (void)snprintf(name, sizeof(name), "%s", item->d_name);
        dot = strchr(name, '.');
        if (strcmp(dot, ".sqlite.sql") == 0)
            only = 0;
        else if (strcmp(dot, ".postgres.sql") == 0)
            only = 1;
        else if (strcmp(dot, ".sql") != 0)
            die("unexpected file name %s", path);
        *dot = '\0';
        text = file_read(path);
        for (int i = 0; i < ENGINES; i++)
            if (only == -1 || only == i)
                entry_get(rows, name)->text[i] = text;
        if (only == ASSURED)
            entry_get(rows, name)->text[ASSURED] = text;
    }
    (void)closedir(folder);
}

static int entry_order(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

typedef struct word {
    const char *name;
    const char *text[ENGINES];
} word;

static const word words[] = {
    {"int", {"INTEGER", "BIGINT"}},
    {"blob", {"BLOB", "BYTEA"}},
    {"real", {"REAL", "DOUBLE PRECISION"}},
    {"hot", {"STRICT", "WITH (fillfactor = 50)"}},
    {"cold", {"STRICT", ""}},
    {"rowless", {"STRICT, WITHOUT ROWID", ""}},
    {"position", {"instr", "strpos"}},
};

typedef struct column {
    char name[64];
    char type[32];
} column;

static const char *array_type(const char *type)
{
    if (strcmp(type, "int") == 0)
        return "bigint";
    if (strcmp(type, "text") == 0)
        return "text";
    if (strcmp(type, "blob") == 0)
        return "bytea";
    if (strcmp(type, "real") == 0)
        return "double precision";
    die("unknown column type %s", type);
}

/* Reads "a int, b text" and returns the number of columns. */
static size_t columns_read(const char *list, column *columns, size_t max)
{
    size_t count = 0;
    int used = 0;

    while (count < max && sscanf(list, " %63[a-z_0-9] %31[a-z]%n", columns[count].name,
                                 columns[count].type, &used) == 2) {
        count++;
        list += used;
        while (isspace((unsigned char)*list))
            list++;
        if (*list != ',')
            break;
        list++;
    }
    if (*list || !count)
        die("cannot read the columns of {insert ...} at: %s", list);
    return count;
}

/* The arrays of an assured batch as a table u. Unlike a function in FROM, what is unnested in the
   list of columns is not put aside before it is read. */
static void assured_rows_write(FILE *out, const column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%sunnest(?%zu::%s[]) AS %s", i ? ", " : "(SELECT ", i + 1,
                      array_type(columns[i].type), columns[i].name);
    (void)fputs(") AS u", out);
}

/* The arrays of a batch, or the values of its only row, as a table u, on PostgreSQL. */
static void rows_write(FILE *out, const char *list, bool guarded, int engine)
{
    bool lone = engine == LONE;
    column columns[64];
    size_t count = columns_read(list, columns, 64);

    if (engine == ASSURED) {
        assured_rows_write(out, columns, count);
        return;
    }
    (void)fputs(lone ? "(VALUES (" : "unnest(", out);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s?%zu::%s%s", i ? ", " : "", i + 1, array_type(columns[i].type),
                      lone ? "" : "[]");
    if (guarded)
        (void)fprintf(out, ", ?%zu::bigint[], ?%zu::bytea[]", count + 1, count + 2);
    (void)fputs(lone ? ", 1::bigint)) AS u(" : ") WITH ORDINALITY AS u(", out);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s, ", columns[i].name);
    if (guarded)
        (void)fputs("guard_run, guard_head, ", out);
    (void)fputs("row)", out);
    if (guarded)
        (void)fputs(" JOIN run g ON g.key = u.guard_run AND g.head = u.guard_head", out);
}

static void insert_write(FILE *out, const char *list, int engine)
{
    column columns[64];
    size_t count = columns_read(list, columns, 64);

    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s%s", i ? ", " : "(", columns[i].name);
    (void)fputs(engine == 0 ? ") VALUES (" : ") SELECT ", out);
    for (size_t i = 0; i < count; i++) {
        if (engine == 0)
            (void)fprintf(out, "%s?%zu", i ? ", " : "", i + 1);
        else
            (void)fprintf(out, "%su.%s", i ? ", " : "", columns[i].name);
    }
    if (engine == 0) {
        (void)fputc(')', out);
        return;
    }
    (void)fputs(" FROM ", out);
    rows_write(out, list, engine == 1, engine);
}

/* Writes what stands for {name ...} and returns the position of the closing brace. */
static const char *brace_write(FILE *out, const char *at, int engine, bool piece)
{
    const char *end = strchr(at, '}');
    char name[4096];

    if (!end || (size_t)(end - at) >= sizeof(name))
        die("a brace does not close: %.40s", at);
    (void)snprintf(name, sizeof(name), "%.*s", (int)(end - at - 1), at + 1);
    if (strncmp(name, "insert ", 7) == 0) {
        insert_write(out, name + 7, engine);
        return end;
    }
    if (strncmp(name, "rows ", 5) == 0 || strncmp(name, "bare ", 5) == 0) {
        if (engine == 0)
            die("{%.4s ...} is for PostgreSQL only", name);
        rows_write(out, name + 5, name[0] == 'r' && engine == 1, engine);
        return end;
    }
    if (strcmp(name, "count") == 0 && engine >= ASSURED) {
        (void)fputs(engine == LONE ? "1" : "cardinality(?1::bigint[])", out);
        return end;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].name, name) == 0) {
            (void)fputs(words[i].text[engine == 0 ? 0 : 1], out);
            return end;
        }
    }
    if (!piece)
        die("unknown word {%s}", name);
    (void)fprintf(out, "{%s}", name);
    return end;
}

/* Comments and white space are for readers of the .sql file, not for the database. */
static void text_write(FILE *out, const char *text, int engine, bool piece)
{
    bool blank = true;
    bool quoted = false;

    (void)fputc('"', out);
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            quoted = !quoted;
        if (!quoted && at[0] == '-' && at[1] == '-') {
            while (at[1] && at[1] != '\n')
                at++;
            continue;
        }
        if (!quoted && isspace((unsigned char)*at)) {
            if (!blank)
                (void)fputc(' ', out);
            blank = true;
            continue;
        }
        blank = false;
        if (!quoted && *at == '{') {
            at = brace_write(out, at, engine, piece);
            continue;
        }
        if (*at == '"' || *at == '\\')
            (void)fputc('\\', out);
        if (*at == '\n')
            (void)fputs("\\n", out);
        else
            (void)fputc(*at, out);
    }
    (void)fputc('"', out);
}

static void engine_write(FILE *out, const entry *row, int engine, bool both)
{
    static const char *const only[ENGINES] = {"-- only postgres", "-- only sqlite"};

    if (row->text[engine])
        text_write(out, row->text[engine], engine, false);
    else if (both && strstr(row->text[1 - engine], only[engine]))
        (void)fputs("NULL", out);
    else if (both)
        die("%s has no text for %s", row->name, engine == 0 ? "SQLite" : "PostgreSQL");
    else
        (void)fputs("\"\"", out);
}

/* The forms for a batch in which every guard is known to hold, or the transaction ends. A statement
   that reads the guard's row keeps it; one that takes an array by itself has no form for one row.
 */
static void assured_write(FILE *out, const entry *row)
{
    const char *text = row->text[ASSURED];

    if (!text && row->text[1] && !strstr(row->text[1], " g.") &&
        (strstr(row->text[1], "{insert ") || strstr(row->text[1], "{rows ")))
        text = row->text[1];
    for (int form = ASSURED; form <= LONE; form++) {
        (void)fprintf(out, ",\n     ");
        if (text && (form == ASSURED || !strstr(text, "[]")))
            text_write(out, text, form, false);
        else
            (void)fputs("NULL", out);
    }
}

/* A statement needs a text for both engines or says why not; a migration may concern one engine
 * only. */
static void table_write(FILE *out, const char *name, table *rows, bool both)
{
    (void)fprintf(out, "const hf_stmt_text %s[] = {\n", name);
    for (size_t i = 0; i < rows->count; i++) {
        entry *row = &rows->rows[i];

        (void)fprintf(out, "    {\"%s\",\n     ", row->name);
        engine_write(out, row, 0, both);
        (void)fprintf(out, ",\n     ");
        engine_write(out, row, 1, both);
        assured_write(out, row);
        (void)fprintf(out, "},\n");
    }
    (void)fprintf(out, "};\nconst size_t %s_count = %zu;\n\n", name, rows->count);
}

/* Cuts a file of pieces at the lines that name them. What comes before the first is for readers. */
static void pieces_cut(table *rows, const char *path)
{
    static const char mark[] = "\n-- piece ";
    char *at = strstr(file_read(path), mark);

    if (!at)
        die("%s has no pieces", path);
    while (at) {
        char *name = at + sizeof(mark) - 1;
        char *text = strchr(name, '\n');
        entry *row;

        if (!text)
            die("%s ends with the name of a piece", path);
        *text++ = '\0';
        at = strstr(text, mark);
        if (at)
            *at = '\0';
        row = entry_get(rows, name);
        if (row->text[0])
            die("there are two pieces %s", name);
        row->text[0] = text;
    }
}

static void pieces_read(table *rows, const char *dir)
{
    DIR *folder = opendir(dir);
    struct dirent *item;
    char path[8192];

    if (!folder)
        die("cannot open %s", dir);
    while ((item = readdir(folder)))
        if (strstr(item->d_name, ".sql")) {
            (void)snprintf(path, sizeof(path), "%s/%s", dir, item->d_name);
            pieces_cut(rows, path);
        }
    (void)closedir(folder);
}

static void pieces_write(FILE *out, const table *rows)
{
    (void)fprintf(out, "const hf_piece_text hf_piece_texts[] = {\n");
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(out, "    {");
        text_write(out, rows->rows[i].text[0], 0, true);
        (void)fprintf(out, ",\n     ");
        text_write(out, rows->rows[i].text[0], 1, true);
        (void)fprintf(out, "},\n");
    }
    (void)fprintf(out, "};\n");
}

/* The names of a table as a list for an enum. */
static void names_write(FILE *out, const char *list, const char *prefix, const table *rows)
{
    (void)fprintf(out, "#define %s(X) \\\n", list);
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(out, "    X(%s", prefix);
        for (const char *at = rows->rows[i].name; *at; at++)
            (void)fputc(toupper((unsigned char)*at), out);
        (void)fprintf(out, ", \"%s\") \\\n", rows->rows[i].name);
    }
    (void)fprintf(out, "\n");
}

static FILE *file_open(const char *dir, const char *name)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "w");
    if (!file)
        die("cannot write %s", path);
    return file;
}

int main(int argc, char **argv)
{
    static table statements;
    static table migrations;
    static table pieces;
    static const char *const folders[] = {"common", "sqlite", "postgres", "assured"};
    FILE *out;

    if (argc != 3)
        die("usage: sqlgen SQL_DIR OUT_DIR");
    for (int i = 0; i < 4; i++) {
        char dir[4096];

        (void)snprintf(dir, sizeof(dir), "%s/%s", argv[1], folders[i]);
        folder_read(&statements, dir, i - 1);
    }
    {
        char dir[4096];

        (void)snprintf(dir, sizeof(dir), "%s/migrations", argv[1]);
        folder_read(&migrations, dir, -1);
        (void)snprintf(dir, sizeof(dir), "%s/pieces", argv[1]);
        pieces_read(&pieces, dir);
    }
    qsort(statements.rows, statements.count, sizeof(entry), entry_order);
    qsort(migrations.rows, migrations.count, sizeof(entry), entry_order);
    qsort(pieces.rows, pieces.count, sizeof(entry), entry_order);

    out = file_open(argv[2], "stmt_list.h");
    (void)fprintf(out, "/* Generated by tools/sqlgen from src/store/sql. */\n");
    names_write(out, "HF_STMT_LIST", "HF_STMT_", &statements);
    names_write(out, "HF_PIECE_LIST", "HF_PIECE_", &pieces);
    if (fclose(out))
        die("cannot write stmt_list.h");

    out = file_open(argv[2], "stmt_table.c");
    (void)fprintf(
        out, "/* Generated by tools/sqlgen from src/store/sql. */\n#include \"store/stmt.h\"\n\n");
    table_write(out, "hf_stmt_texts", &statements, true);
    table_write(out, "hf_migration_texts", &migrations, false);
    pieces_write(out, &pieces);
    if (fclose(out))
        die("cannot write stmt_table.c");
    return 0;
}
