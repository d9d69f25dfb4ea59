/* filter.h: words of a command line that say which runs are meant: part of an id, name=value,
   label=NAME=VALUE, or search_attribute=NAME=VALUE, where >=, >, <= and < take the place of the
   second sign. Also label[NAME]=VALUE and search_attribute[NAME][gte]=VALUE, as a server's
   parameters are written. */
#ifndef HF_CLI_FILTER_H
#define HF_CLI_FILTER_H

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"

/* The filters as an object, and the bucket that status=... names, or NULL. HF_INVALID: a word that
   cannot be read, or one that is given twice. */
HF_NODISCARD hf_status hf_cli_filters_read(hf_mem *mem, const char *const *words, size_t count,
                                           hf_value *out_filters, const char **out_bucket,
                                           hf_err *err);

#endif
