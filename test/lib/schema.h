/* schema.h: values against JSON schemas, as far as the published ones use them: type, required,
   properties, items, enum, const, minimum, minLength, anyOf, oneOf, additionalProperties and
   references within the document. An unknown keyword fails the case, so that none is skipped. */
#ifndef HF_TEST_LIB_SCHEMA_H
#define HF_TEST_LIB_SCHEMA_H

#include "holdfast/value.h"

/* The value must fit the schema in the file; fails the case with the path that does not. */
void hf_schema_fits(const char *path, hf_value value);

#endif
