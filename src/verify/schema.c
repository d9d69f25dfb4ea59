/* schema.c: the store's own record of its schema against what this program would have made. */
#include <string.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "store/store.h"
#include "verify/check.h"

static const char *migration_text(const hf_check *check, size_t at)
{
    bool sqlite = strcmp(check->db->driver->name, "sqlite") == 0;

    return sqlite ? hf_migration_texts[at].sqlite : hf_migration_texts[at].postgres;
}

static void migration_report(hf_check *check, const char *name, const char *what)
{
    const hf_report_key key = {.name = "migration", .text = name};

    hf_report_add(check->report, 40, &key, 1, "migration %s %s", name, what);
}

/* Reports one recorded migration when it is not ours; marks it as seen. */
static hf_status migration_check(hf_check *check, hf_sha256 *sha, bool *seen, hf_db_cursor *cursor,
                                 hf_err *err)
{
    hf_slice name = hf_db_column_bytes(cursor, 0);
    uint8_t digest[HF_SHA256_BYTES];
    char known[HF_SHA256_TEXT_SIZE];
    char shown[128];
    size_t at = 0;
    hf_status st;

    while (at < hf_migration_texts_count &&
           !hf_slice_equal(name, hf_slice_of(hf_migration_texts[at].name)))
        at++;
    if (at == hf_migration_texts_count) {
        size_t len = name.len < sizeof(shown) - 1 ? name.len : sizeof(shown) - 1;

        memcpy(shown, name.ptr, len);
        shown[len] = '\0';
        migration_report(check, shown, "is not known to this program");
        return HF_OK;
    }
    seen[at] = true;
    st = hf_sha256_digest(sha, hf_slice_of(migration_text(check, at)), digest, err);
    if (st)
        return st;
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), known);
    if (!hf_slice_equal(hf_db_column_bytes(cursor, 1), hf_slice_of(known)))
        migration_report(check, hf_migration_texts[at].name, "was run with another text");
    return HF_OK;
}

hf_status hf_check_schema(hf_check *check, hf_err *err)
{
    bool *seen = hf_alloc_array(hf_migration_texts_count, sizeof(*seen));
    hf_sha256 *sha = NULL;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = seen ? hf_sha256_new(&sha, err) : hf_err_nomem(err, "the migrations");

    if (!st)
        st = hf_db_query(check->db, HF_STMT_MIGRATION_LIST, NULL, 0, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        st = migration_check(check, sha, seen, cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    for (size_t i = 0; !st && i < hf_migration_texts_count; i++)
        if (!seen[i])
            migration_report(check, hf_migration_texts[i].name, "is not recorded");
    hf_sha256_free(sha);
    hf_alloc_free(seen);
    return st ? st : hf_report_status(check->report, err);
}
