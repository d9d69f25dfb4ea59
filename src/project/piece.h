/* piece.h: a statement that is put together from named pieces of src/store/sql/pieces, word by
   word. Nothing that a caller gives becomes part of its text: values are parameters. Whoever knows
   which pieces are wanted adds them in order; this side numbers the parameters. */
#ifndef HF_PROJECT_PIECE_H
#define HF_PROJECT_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/db.h"
#include "store/stmt.h"

enum { HF_PIECE_PARAMS_MAX = 256 };

/* What a list is asked with, beside its filters. */
typedef struct hf_piece_world {
    int64_t namespace_key;
    int64_t now_us; /* 0: nothing is late */
    hf_slice scope; /* compatibility namespace of the fleet */
    hf_slice own;   /* markers that the asker serves itself, ",a,b,"; ptr NULL: any */
    hf_slice build; /* what the asker's own program is, empty: no build; ptr NULL: nobody can say
                       who is of which */
} hf_piece_world;

/* A statement in the making; hf_piece_sql_fini it. */
typedef struct hf_piece_sql {
    hf_buf text;
    const hf_piece_world *world;
    bool postgres;
    hf_db_value params[HF_PIECE_PARAMS_MAX];
    size_t count;     /* of parameters; those beyond the room were not kept */
    size_t fixed[6];  /* numbers of the parameters that the world gives; 0: not used yet */
    hf_piece facet;   /* what {facet} stands for */
    size_t name;      /* the parameter that {name} stands for */
    const char *sign; /* what {sign} stands for */
} hf_piece_sql;

void hf_piece_sql_init(hf_piece_sql *sql, const hf_db *db, const hf_piece_world *world);
void hf_piece_sql_fini(hf_piece_sql *sql);

/* Adds a parameter: the next {value}. */
void hf_piece_param(hf_piece_sql *sql, hf_db_value value);

/* Adds a piece after a space. */
void hf_piece_add(hf_piece_sql *sql, hf_piece piece);

/* Adds " AND " and the piece. */
void hf_piece_and(hf_piece_sql *sql, hf_piece piece);

/* Adds " AND " and that the piece, a condition, is not true: what it cannot say counts. */
void hf_piece_and_not(hf_piece_sql *sql, hf_piece piece);

/* Runs it. HF_INVALID when there are too many parameters, HF_NOMEM. */
HF_NODISCARD hf_status hf_piece_query(hf_db *db, hf_piece_sql *sql, hf_db_cursor **out_cursor,
                                      hf_err *err);

#endif
