/* assert.c: the panic hook. The one process-wide variable of base: it is set before engines start.
 */
#include "base/assert.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void panic_print(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "holdfast: broken invariant: %s (%s:%d)\n", condition, file, line);
}

static _Atomic(hf_panic_fn *) panic_current = panic_print;

hf_panic_fn *hf_panic_hook(hf_panic_fn *hook)
{
    return atomic_exchange(&panic_current, hook ? hook : panic_print);
}

void hf_panic(const char *condition, const char *file, int line)
{
    atomic_load (&panic_current)(condition, file, line);
    abort();
}
