/* utf8.h: well-formed UTF-8 as Unicode defines it: no over-long forms, no surrogates, nothing above
   U+10FFFF. */
#ifndef HF_BASE_UTF8_H
#define HF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum { HF_UTF8_MAX = 4 }; /* bytes of one character */

/* Bytes of the well-formed character at the front of `left` bytes, or 0 when there is none. */
size_t hf_utf8_size(const char *at, size_t left);

bool hf_utf8_valid(hf_slice text);

/* Characters of well-formed text. */
size_t hf_utf8_count(hf_slice text);

/* The code point of the well-formed character of `size` bytes at `at`. */
uint32_t hf_utf8_point(const char *at, size_t size);

/* Control characters: C0, DEL and C1. They break logs, terminals and databases, and NUL ends what C
   takes for a text; nothing that people call something by has one. */
bool hf_utf8_is_control(uint32_t point);

/* Whether well-formed text has one. */
bool hf_utf8_has_control(hf_slice text);

/* Writes a code point that is no surrogate and not above U+10FFFF; returns its bytes, 1 to 4. */
size_t hf_utf8_put(uint32_t point, char *out_bytes);

#endif
