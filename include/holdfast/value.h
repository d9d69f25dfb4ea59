/* value.h: immutable JSON values. A value lives in an arena (holdfast/mem.h) until that arena is
   reset or freed, and may be read from any thread meanwhile. NULL means "no value": every function
   here accepts it and answers as for something that is not there. Nothing is freed one by one. */
#ifndef HOLDFAST_VALUE_H
#define HOLDFAST_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/mem.h"
#include "holdfast/status.h"

#ifndef HF_PRINTF
#if defined(__GNUC__)
#define HF_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define HF_PRINTF(a, b)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef const struct hf_json_node *hf_value;

/* Builds a value from JSON text with holes. Strings and keys may stand in single quotes, so that C
   needs no backslashes: hf_json_(mem, "{'sku': %s, 'n': %d, 'old': %p}", sku, 3, (void *)old).
     %s          a string (NULL gives null)
     %d %i %u    a number; with l, ll, z or j in front for wider types
     %f %g       a double in its shortest exact form, whichever of the two is written
     %p          an hf_value, copied into the arena (NULL gives null)
     %%          a percent sign
   Inside quotes %s, numbers and %% become part of that string: 'order-%d'. Anything else after %,
   text that is not JSON, bad UTF-8, a double that is not finite, or no memory give NULL. */
HF_API hf_value hf_json_(hf_mem *mem, const char *format, ...) HF_PRINTF(2, 3);

/* The same, and what hf_json is: in place of NULL it gives a value that reads as null and that
   nobody takes. A run or an activity that hands it over fails with the type invalid_value, or
   structural_limit when the text had over 2 MiB; a command with it is refused with HF_INVALID or
   HF_TOOBIG. */
HF_API hf_value hf_json_made_(hf_mem *mem, const char *format, ...) HF_PRINTF(2, 3);

/* Reads strict JSON (RFC 8259), at most 2 MiB and 64 levels deep, without duplicate keys. NULL when
   the text is anything else or memory ran out. */
HF_API hf_value hf_parse_(hf_mem *mem, const char *text, size_t len);

/* What is found at `path`: keys and array positions joined by dots, "items.0.sku". The empty path
   (or NULL) is the value itself. NULL when nothing is there. A key that contains a dot cannot be
   reached this way. */
HF_API hf_value hf_get(hf_value value, const char *path);

/* What is found at `path` when it has the right kind, else `otherwise`. hf_int also takes a double
   that is a whole number, hf_num also takes an integer, hf_bool also takes the integers 0 and 1
   (what %d makes of a bool). The text is NUL-terminated and lives as long as the value. */
HF_API const char *hf_str(hf_value value, const char *path, const char *otherwise);
HF_API int64_t hf_int(hf_value value, const char *path, int64_t otherwise);
HF_API double hf_num(hf_value value, const char *path, double otherwise);
HF_API bool hf_bool(hf_value value, const char *path, bool otherwise);

/* Items of an array, members of an object, bytes of a string; 0 for everything else. */
HF_API size_t hf_len(hf_value value);

/* Item `i` of an array or the value of member `i` of an object; NULL beyond the end. */
HF_API hf_value hf_at(hf_value value, size_t i);

/* Compact JSON text in the arena, "null" for no value. NULL when memory ran out. */
HF_API const char *hf_text(hf_mem *mem, hf_value value);

#ifdef __cplusplus
}
#endif
#endif
