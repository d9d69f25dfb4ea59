/* check_store.c: see check_store.h. Prints every finding before it fails, because the first one is
   seldom the cause. */
#include "lib/check_store.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "holdfast/tool.h"

static void finding_print(void *ctx, const hf_finding *finding)
{
    int *count = ctx;

    if (strcmp(finding->invariant, "I28") == 0)
        return;
    ++*count;
    (void)fprintf(stderr, "%s %s %s %s\n", finding->invariant, finding->severity, finding->keys,
                  finding->sentence);
}

void hf_check_store(const char *address)
{
    const hf_verify_options options = {.size = sizeof(options)};
    hf_tool_info info = {.size = sizeof(info)};
    hf_err err = {0};
    int count = 0;

    for (int kind = 0; kind < HF_FAULT_KINDS; kind++)
        hf_fault_arm((hf_fault_kind)kind, 0, false);
    if (hf_tool_inspect(address, NULL, &info, NULL) != HF_OK ||
        info.ground_version != info.ground_known ||
        info.projection_version != info.projection_known)
        return;
    hf_test_ok(hf_verify(address, &options, finding_print, NULL, &count, NULL, &err), &err,
               "verify the store that the case leaves behind");
    ck_assert_msg(count == 0, "the store that the case leaves behind breaks %d invariants", count);
}

void hf_check_place(const hf_test_place *place)
{
    hf_check_store(hf_test_place_address(place));
}
