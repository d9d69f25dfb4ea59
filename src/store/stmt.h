/* stmt.h: the statements and migrations of the store, generated from src/store/sql by tools/sqlgen.
   C names a statement by its enumerator; no SQL text exists outside .sql files. */
#ifndef HF_STORE_STMT_H
#define HF_STORE_STMT_H

#include <stddef.h>

#include "store/stmt_list.h"

typedef enum hf_stmt {
#define STMT_ENUM(name, text) name,
    HF_STMT_LIST(STMT_ENUM)
#undef STMT_ENUM
        HF_STMT_COUNT
} hf_stmt;

typedef struct hf_stmt_text {
    const char *name;     /* file name without folder and ending */
    const char *sqlite;   /* NULL for a statement of PostgreSQL only */
    const char *postgres; /* still with ?1: the driver writes $1 once, when it prepares; NULL for
                             SQLite only */
    const char *assured; /* PostgreSQL, in a batch that fails as a whole when a guard does not hold;
                            NULL: as above */
    const char *lone; /* the same for a batch of one row, which needs no arrays; NULL: as above */
} hf_stmt_text;

extern const hf_stmt_text hf_stmt_texts[]; /* indexed by hf_stmt */
extern const size_t hf_stmt_texts_count;

/* Parts of statements that are put together when they are asked for: lists have as many statements
   as there are sets of filters. */
typedef enum hf_piece {
#define PIECE_ENUM(name, text) name,
    HF_PIECE_LIST(PIECE_ENUM)
#undef PIECE_ENUM
        HF_PIECE_COUNT
} hf_piece;

typedef struct hf_piece_text {
    const char *sqlite;
    const char *postgres;
} hf_piece_text;

extern const hf_piece_text hf_piece_texts[]; /* indexed by hf_piece */

/* Sorted by name: ground_0001_..., ground_0002_..., projection_0001_... */
extern const hf_stmt_text hf_migration_texts[];
extern const size_t hf_migration_texts_count;

#endif
