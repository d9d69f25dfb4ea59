/* json_number.h: numbers of JSON text. Reading is exact for int64_t and correctly rounded for
   doubles; writing gives the fewest digits that read back as the same double. No locale. */
#ifndef HF_BASE_JSON_NUMBER_H
#define HF_BASE_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum {
    HF_JSON_NUMBER_MAX = 1024, /* bytes of a number that is read */
    HF_JSON_NUMBER_BYTES = 32  /* room that every number written fits in */
};

typedef enum hf_json_number_end {
    HF_JSON_NUMBER_INT,
    HF_JSON_NUMBER_DOUBLE,
    HF_JSON_NUMBER_MALFORMED,
    HF_JSON_NUMBER_RANGE, /* too large for a double */
    HF_JSON_NUMBER_LONG   /* over HF_JSON_NUMBER_MAX bytes */
} hf_json_number_end;

typedef struct hf_json_number {
    const char *end; /* behind the number, or where it is wrong */
    int64_t integer; /* with HF_JSON_NUMBER_INT */
    double number;   /* with HF_JSON_NUMBER_DOUBLE */
} hf_json_number;

typedef enum hf_json_number_style {
    HF_JSON_NUMBER_PLAIN, /* as ECMAScript, but always recognisable as a double: 7.0, 1e+25 */
    HF_JSON_NUMBER_ES6,   /* as ECMAScript's Number::toString: 7, 1e+25, -0.0 as 0 */
    HF_JSON_NUMBER_PHP    /* as PHP's json_encode with a zero fraction: 7.0, 1.0e+25 */
} hf_json_number_style;

/* Reads the number at `at`. The text must end in a byte that no number contains, such as NUL. */
HF_NODISCARD hf_json_number_end hf_json_number_read(const char *at, hf_json_number *out_number);

/* Write at most HF_JSON_NUMBER_BYTES, no NUL; return how many. `number` must be finite. */
size_t hf_json_int_put(int64_t integer, char *out_text);
size_t hf_json_double_put(double number, hf_json_number_style style, char *out_text);

#endif
