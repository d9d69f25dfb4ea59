/* piece.c: see piece.h. */
#include "project/piece.h"

#include <string.h>

#include "base/assert.h"
#include "model/limit.h"

/* Words that the world gives, in the order of hf_piece_sql.fixed. */
enum { NAMESPACE, NOW, OVERDUE, SCOPE, OWN, BUILD, FIXED };

static const char *const fixed_words[FIXED] = {"namespace", "now", "overdue",
                                               "scope",     "own", "build"};

static const struct {
    const char *word;
    hf_piece piece;
} nested[] = {{"liveness", HF_PIECE_LIST_LIVENESS}, {"transport", HF_PIECE_LIST_TRANSPORT},
              {"unserved", HF_PIECE_LIST_UNSERVED}, {"turn", HF_PIECE_LIST_TURN},
              {"pinned", HF_PIECE_LIST_PINNED},     {"unmanned", HF_PIECE_LIST_UNMANNED},
              {"doubt", HF_PIECE_LIST_DOUBT},       {"wait", HF_PIECE_LIST_WAIT},
              {"repair", HF_PIECE_LIST_REPAIR},     {"problem", HF_PIECE_LIST_PROBLEM}};

void hf_piece_sql_init(hf_piece_sql *sql, const hf_db *db, const hf_piece_world *world)
{
    *sql = (hf_piece_sql){.world = world, .postgres = strcmp(db->driver->name, "postgres") == 0};
}

void hf_piece_sql_fini(hf_piece_sql *sql)
{
    hf_buf_fini(&sql->text);
}

void hf_piece_param(hf_piece_sql *sql, hf_db_value value)
{
    if (sql->count < HF_PIECE_PARAMS_MAX)
        sql->params[sql->count] = value;
    sql->count++;
}

static hf_db_value fixed_value(const hf_piece_world *world, size_t which)
{
    switch (which) {
    case NAMESPACE:
        return hf_db_int(world->namespace_key);
    case NOW:
        return hf_db_int(world->now_us);
    case OVERDUE:
        return hf_db_int(world->now_us -
                         hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard *
                             INT64_C(1000000));
    case SCOPE:
        return hf_db_text(world->scope.ptr ? world->scope : HF_SLICE(""));
    case BUILD:
        return hf_db_text(world->build.ptr ? world->build : HF_SLICE("*"));
    }
    return hf_db_text(world->own.ptr ? world->own : HF_SLICE(",*,"));
}

/* The text that a word stands for, or a parameter's number, or another piece. */
typedef struct meaning {
    const char *text;
    size_t param;
    hf_piece piece;
} meaning;

static meaning word_look(hf_piece_sql *sql, hf_slice word, size_t newest)
{
    if (hf_slice_equal(word, HF_SLICE("value")))
        return (meaning){.param = newest};
    if (hf_slice_equal(word, HF_SLICE("before")))
        return (meaning){.param = newest - 1};
    if (hf_slice_equal(word, HF_SLICE("name")))
        return (meaning){.param = sql->name};
    if (hf_slice_equal(word, HF_SLICE("sign")))
        return (meaning){.text = sql->sign};
    if (hf_slice_equal(word, HF_SLICE("facet")))
        return (meaning){.piece = sql->facet};
    for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++)
        if (hf_slice_equal(word, hf_slice_of(nested[i].word)))
            return (meaning){.piece = nested[i].piece};
    for (size_t i = 0; i < FIXED; i++)
        if (hf_slice_equal(word, hf_slice_of(fixed_words[i]))) {
            if (!sql->fixed[i]) {
                hf_piece_param(sql, fixed_value(sql->world, i));
                sql->fixed[i] = sql->count;
            }
            return (meaning){.param = sql->fixed[i]};
        }
    hf_panic("a piece has a word that nobody knows", __FILE__, __LINE__);
}

/* Pieces name others, never in a circle. `newest` stays what it was when the outermost began. */
static void piece_write(hf_piece_sql *sql, hf_piece piece, size_t newest)
{
    const hf_piece_text *texts = &hf_piece_texts[piece];

    for (const char *at = sql->postgres ? texts->postgres : texts->sqlite; *at; at++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        meaning m;

        if (!end) {
            hf_buf_add_byte(&sql->text, (uint8_t)*at);
            continue;
        }
        m = word_look(sql, hf_slice_from(at + 1, (size_t)(end - at - 1)), newest);
        if (m.text)
            hf_buf_add_text(&sql->text, m.text);
        else if (m.param)
            hf_buf_add_format(&sql->text, "?%zu", m.param);
        else
            piece_write(sql, m.piece, newest);
        at = end;
    }
}

void hf_piece_add(hf_piece_sql *sql, hf_piece piece)
{
    hf_buf_add_byte(&sql->text, ' ');
    piece_write(sql, piece, sql->count);
}

void hf_piece_and(hf_piece_sql *sql, hf_piece piece)
{
    hf_buf_add_text(&sql->text, " AND");
    hf_piece_add(sql, piece);
}

void hf_piece_and_not(hf_piece_sql *sql, hf_piece piece)
{
    hf_buf_add_text(&sql->text, " AND (");
    hf_piece_add(sql, piece);
    hf_buf_add_text(&sql->text, ") IS NOT TRUE");
}

hf_status hf_piece_query(hf_db *db, hf_piece_sql *sql, hf_db_cursor **out_cursor, hf_err *err)
{
    if (sql->count > HF_PIECE_PARAMS_MAX)
        return hf_err_set(err, HF_INVALID, "there are more filters than a list takes");
    if (!hf_buf_ok(&sql->text))
        return hf_err_nomem(err, "a list");
    return hf_db_query_text(db, hf_buf_text(&sql->text), sql->params, sql->count, out_cursor, err);
}
