/* mail.c: see mail.h. */
#include "commit/mail.h"

#include "base/alloc.h"

enum { CELLS = 4 };

hf_status hf_mail_send(hf_db *db, const hf_letter *letters, size_t count, hf_err *err)
{
    hf_db_value *cells = hf_alloc_array(count * CELLS, sizeof(*cells));
    const hf_db_rows rows = {.columns = CELLS, .count = count, .cells = cells};
    hf_status st;

    if (!cells)
        return hf_err_nomem(err, "letters");
    for (size_t i = 0; i < count; i++) {
        cells[i * CELLS] = hf_db_int(letters[i].to);
        cells[i * CELLS + 1] = hf_db_int(letters[i].from);
        cells[i * CELLS + 2] = hf_db_int(letters[i].kind);
        cells[i * CELLS + 3] = hf_db_text(letters[i].body);
    }
    st = hf_db_begin(db, HF_DB_WRITE, err);
    if (!st)
        st = hf_db_batch(db, HF_STMT_MAIL_SEND, &rows, err);
    if (!st)
        st = hf_db_commit(db, err);
    else
        hf_db_rollback(db);
    hf_alloc_free(cells);
    return hf_err_because(err, st, "send letters");
}

hf_status hf_mail_take(hf_db *db, int64_t node, void (*came)(void *ctx, const hf_letter *letter),
                       void *ctx, size_t *out_count, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(node), hf_db_int(HF_MAIL_MOST)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_MAIL_TAKE, params, 2, &cursor, err);

    *out_count = 0;
    while (!st && row) {
        hf_letter letter = {.to = node};

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        letter.from = hf_db_column_int(cursor, 0);
        letter.kind = (hf_letter_kind)hf_db_column_int(cursor, 1);
        letter.body = hf_db_column_bytes(cursor, 2);
        came(ctx, &letter);
        ++*out_count;
    }
    hf_db_end(cursor);
    return hf_err_because(err, st, "take letters");
}

hf_status hf_mail_expire(hf_db *db, int64_t after_us, hf_err *err)
{
    const hf_db_value param = hf_db_int(after_us);

    return hf_db_exec(db, HF_STMT_MAIL_EXPIRE, &param, 1, NULL, err);
}
