/* effects.c: see effects.h. */
#include "lib/effects.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hf_effects_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

char (*hf_effects_read(const char *path, size_t *out_count))[HF_EFFECT_KEY_BYTES]
{
    FILE *file = fopen(path, "r");
    char(*keys)[HF_EFFECT_KEY_BYTES] = NULL;
    size_t count = 0;
    size_t len;
    char line[512];

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file)) {
        if (count % 1024 == 0) {
            keys = realloc(keys, (count + 1024) * sizeof(*keys));
            ck_assert_ptr_nonnull(keys);
        }
        len = strlen(line);
        ck_assert_uint_ge(len, HF_EFFECT_KEY_BYTES);
        line[len - 1] = '\0';
        memcpy(keys[count++], line + len - HF_EFFECT_KEY_BYTES,
               HF_EFFECT_KEY_BYTES); /* behind what a kill tore off */
    }
    (void)fclose(file);
    qsort(keys, count, sizeof(*keys), hf_effects_compare);
    *out_count = count;
    return keys;
}
