/* address.h: the text that names a store. */
#ifndef HF_STORE_ADDRESS_H
#define HF_STORE_ADDRESS_H

#include "base/err.h"

typedef enum hf_address_kind { HF_ADDRESS_SQLITE, HF_ADDRESS_POSTGRES } hf_address_kind;

/* Owned texts. */
typedef struct hf_address {
    hf_address_kind kind;
    char *target; /* SQLite: the path. PostgreSQL: the URI without our own parameters */
    char *shown;  /* for messages: every password is *** */
    char *schema; /* PostgreSQL: the schema's name. SQLite: NULL */
} hf_address;

/* Reads PATH, sqlite:PATH, postgres://... or postgresql://... The schema is `schema` (NULL allowed)
   or the URI parameter hf_schema, "holdfast" without both; [a-z_][a-z0-9_]{0,62}. HF_INVALID for
   anything else. hf_address_fini is also for a failed one. */
HF_NODISCARD hf_status hf_address_parse(const char *text, const char *schema,
                                        hf_address *out_address, hf_err *err);
void hf_address_fini(hf_address *address);

#endif
