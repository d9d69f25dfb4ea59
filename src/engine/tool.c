/* tool.c: holdfast/tool.h. Each call opens what it needs and closes it again. Looking never needs
   a store to have this program's version: a copy is made before a migration, and an answer about
   versions is wanted most when they differ. */
#include "holdfast/tool.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "store/address.h"
#include "store/migrate.h"
#include "store/module.h"
#include "store/store.h"
#include "verify/check.h"
#include "verify/invariant.h"

/* A store open for looking. */
typedef struct tool_view {
    hf_store *store; /* NULL for a store of another version */
    hf_db *db;
} tool_view;

static void view_close(tool_view *view)
{
    hf_db_close(view->db);
    hf_store_close(view->store);
}

/* A connection to a store of another version; that the rest is in order was seen before. */
static hf_status view_dial(tool_view *view, const char *address, const char *schema, hf_err *err)
{
    hf_address parsed;
    const hf_db_driver *driver = &hf_db_sqlite;
    hf_status st = hf_address_parse(address, schema, &parsed, err);

    if (!st && parsed.kind == HF_ADDRESS_POSTGRES)
        st = hf_module_postgres(&driver, err);
    if (!st) {
        const hf_db_options options = {.address = parsed.target,
                                       .schema = parsed.schema,
                                       .mode = HF_DB_READ,
                                       .statements = hf_stmt_texts,
                                       .statement_count = hf_stmt_texts_count};

        st = hf_db_open(driver, &options, &view->db, err);
    }
    hf_address_fini(&parsed);
    return st;
}

static hf_status view_open(tool_view *view, const char *address, const char *schema,
                           bool any_version, hf_err *err)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_READER, .schema = schema};
    hf_status st;

    *view = (tool_view){0};
    st = hf_store_open(address, &options, &view->store, err);
    if (any_version && (st == HF_OLDER || st == HF_NEWER))
        st = view_dial(view, address, schema, err);
    else if (!st)
        st = hf_store_connect(view->store, HF_DB_READ, &view->db, err);
    if (st)
        view_close(view);
    return st;
}

static hf_status options_check(const hf_tool_options *options, const char **out_schema, hf_err *err)
{
    *out_schema = NULL;
    if (!options)
        return HF_OK;
    if (options->size != sizeof(*options))
        return hf_err_set(err, HF_MISUSE, "the options of a tool have the wrong size");
    *out_schema = options->schema;
    return HF_OK;
}

static hf_status meta_read(hf_db *db, const char *name, char *out_text, size_t size, hf_err *err)
{
    const hf_db_value param = hf_db_text(hf_slice_of(name));
    hf_db_cursor *cursor = NULL;
    hf_slice value = {0};
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_META_GET, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row)
        value = hf_db_column_bytes(cursor, 0);
    if (!st && (value.len == 0 || value.len >= size))
        st = hf_err_set(err, HF_CORRUPT, "the store does not say its %s", name);
    if (!st) {
        memcpy(out_text, value.ptr, value.len);
        out_text[value.len] = '\0';
    }
    hf_db_end(cursor);
    return st;
}

static hf_status info_read(hf_db *db, hf_tool_info *out_info, hf_err *err)
{
    hf_tool_info info = {.size = sizeof(info)};
    hf_store_versions versions;
    char created[sizeof(info.store_id)];
    size_t name_len = strlen(db->driver->name);
    hf_status st = hf_store_versions_get(db, &versions, err);

    if (!st)
        st = meta_read(db, "store_id", info.store_id, sizeof(info.store_id), err);
    if (!st)
        st = meta_read(db, "created_us", created, sizeof(created), err);
    if (!st && !hf_slice_int(hf_slice_of(created), &info.created_us))
        st = hf_err_set(err, HF_CORRUPT, "the store does not say when it was created");
    if (st)
        return st;
    memcpy(info.engine, db->driver->name, name_len < sizeof(info.engine) ? name_len : 0);
    info.ground_version = versions.ground;
    info.ground_known = versions.ground_known;
    info.projection_version = versions.projection;
    info.projection_known = versions.projection_known;
    *out_info = info;
    return HF_OK;
}

/* A store that is not there yet: all migrations. */
static void migrations_show(const char *address, hf_tool_show *show, void *ctx)
{
    hf_address parsed;
    hf_err err = {0};
    bool sqlite =
        hf_address_parse(address, NULL, &parsed, &err) == HF_OK && parsed.kind == HF_ADDRESS_SQLITE;

    hf_address_fini(&parsed);
    for (size_t i = 0; i < hf_migration_texts_count; i++)
        show(ctx, hf_migration_texts[i].name,
             sqlite ? hf_migration_texts[i].sqlite : hf_migration_texts[i].postgres);
}

static void nothing_show(void *ctx, const char *name, const char *sql)
{
    (void)ctx;
    (void)name;
    (void)sql;
}

const char *hf_version_text(void)
{
    return HF_VERSION_TEXT;
}

hf_status hf_tool_inspect(const char *address, const hf_tool_options *options,
                          hf_tool_info *out_info, hf_err *err)
{
    tool_view view;
    const char *schema = NULL;
    hf_status st = options_check(options, &schema, err);

    if (!st && (!address || !out_info || out_info->size != sizeof(*out_info)))
        st = hf_err_set(err, HF_MISUSE, "the information about a store has the wrong size");
    if (!st)
        st = view_open(&view, address, schema, true, err);
    if (st)
        return st;
    st = info_read(view.db, out_info, err);
    view_close(&view);
    return st;
}

hf_status hf_tool_migrate(const char *address, const hf_tool_options *options, bool print_only,
                          hf_tool_show *show, void *ctx, hf_err *err)
{
    hf_store_options owner = {.size = sizeof(owner), .role = HF_STORE_OWNER, .create = true};
    hf_store *store = NULL;
    tool_view view;
    hf_err why = {0};
    hf_status st = options_check(options, &owner.schema, err);

    if (st)
        return st;
    if (!show)
        show = nothing_show;
    st = view_open(&view, address, owner.schema, true, &why);
    if (!st) {
        st = hf_migrate_pending(view.db, show, ctx, &why);
        view_close(&view);
    } else if (st == HF_NOTFOUND) {
        migrations_show(address, show, ctx);
        st = HF_OK;
    }
    if (st)
        return hf_err_set(err, st, "%s", why.text);
    if (print_only)
        return HF_OK;
    st = hf_store_open(address, &owner, &store, err);
    hf_store_close(store);
    return st;
}

hf_status hf_tool_backup(const char *address, const char *path, hf_tool_progress *progress,
                         void *ctx, hf_err *err)
{
    tool_view view;
    hf_status st = view_open(&view, address, NULL, true, err);

    if (st)
        return st;
    st = hf_db_backup(view.db, path, progress, ctx, err);
    view_close(&view);
    return st;
}

hf_status hf_verify(const char *address, const hf_verify_options *options, hf_finding_fn *found,
                    hf_tool_progress *progress, void *ctx, hf_verify_report *out_report,
                    hf_err *err)
{
    const hf_verify_options none = {.size = sizeof(none)};
    const hf_clock *clock = hf_clock_system();
    int64_t began_us = hf_clock_mono_us(clock);
    hf_report report;
    hf_check check = {.report = &report,
                      .low = INT64_MIN,
                      .high = INT64_MAX,
                      .progress = progress,
                      .progress_ctx = ctx};
    tool_view view;
    hf_status st;

    if (!options)
        options = &none;
    if (options->size != sizeof(*options) ||
        (out_report && out_report->size != sizeof(*out_report)))
        return hf_err_set(err, HF_MISUSE,
                          "the options or the report of a check have the wrong size");
    if (options->run)
        check.low = check.high = options->run;
    check.quick = options->quick;
    st = view_open(&view, address, options->schema, false, err);
    if (st)
        return st;
    check.db = view.db;
    hf_report_init(&report, found, ctx);
    st = hf_check_all(&check, err);
    if (out_report)
        *out_report = (hf_verify_report){.size = sizeof(*out_report),
                                         .runs = check.runs,
                                         .events = check.events,
                                         .findings = report.count,
                                         .invariants = hf_invariant_checked(options->quick),
                                         .elapsed_us = hf_clock_mono_us(clock) - began_us};
    hf_report_fini(&report);
    view_close(&view);
    return st;
}
