/* test_claimant.c: whose a worker's name is: first come, as long as a lease lasts and the
   credential holds. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/fault.h"
#include "lib/suite.h"
#include "server/claimant.h"

#define SECOND INT64_C(1000000)

static hf_auth *auth_make(const char *first, const char *second)
{
    static const uint8_t digests[2][HF_SHA256_BYTES] = {{1}, {2}};
    const hf_auth_token tokens[] = {
        {.id = first, .label = "", .role = HF_ROLE_WORKER, .namespaces = "*", .digest = digests[0]},
        {.id = second,
         .label = "",
         .role = HF_ROLE_WORKER,
         .namespaces = "*",
         .digest = digests[1],
         .expires_us = 100 * SECOND}};
    hf_auth *auth = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_auth_new(&(hf_auth_options){.driver = HF_AUTH_TOKEN}, 0, &auth, &err),
                     HF_OK);
    ck_assert_int_eq(hf_auth_tokens_set(auth, tokens, second ? 2 : 1, &err), HF_OK);
    return auth;
}

/* A name is its user's for the time of a lease behind each use, and not after its token ended. */
START_TEST(names_have_owners)
{
    const hf_principal a = {.id = "a"};
    const hf_principal b = {.id = "b"};
    hf_auth *auth = auth_make("a", "b");
    hf_claimants *c = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_claimants_open(&c, &err), HF_OK);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &a, auth, 0, &err), HF_OK);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &b, auth, SECOND, &err), HF_DENIED);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("e/w"), &b, auth, SECOND, &err), HF_OK);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &a, auth, 200 * SECOND, &err), HF_OK);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &b, auth, 499 * SECOND, &err), HF_DENIED);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &b, auth, 500 * SECOND, &err), HF_OK);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &a, auth, 501 * SECOND, &err), HF_OK);
    hf_claimants_close(c);
    hf_auth_free(auth);
}
END_TEST

/* Only so many names are kept; those that are free again make room. */
START_TEST(names_are_bounded)
{
    const hf_principal a = {.id = "a"};
    hf_auth *auth = auth_make("a", NULL);
    hf_claimants *c = NULL;
    hf_err err = {0};
    char name[32];
    size_t taken = 0;

    ck_assert_int_eq(hf_claimants_open(&c, &err), HF_OK);
    for (int i = 0; i < 70000; i++) {
        (void)snprintf(name, sizeof(name), "d/%d", i);
        taken += hf_claimants_use(c, hf_slice_of(name), &a, auth, 0, &err) == HF_OK;
    }
    ck_assert_uint_eq(taken, 65536);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/new"), &a, auth, 0, &err), HF_BUSY);
    ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/new"), &a, auth, 400 * SECOND, &err), HF_OK);
    hf_claimants_close(c);
    hf_auth_free(auth);
}
END_TEST

/* Every allocation that fails leaves the names as they were. */
START_TEST(memory_runs_out)
{
    const hf_principal a = {.id = "a"};
    hf_auth *auth = auth_make("a", NULL);
    hf_status st = HF_NOMEM;

    for (int nth = 1; st; nth++) {
        hf_claimants *c = NULL;
        hf_err err = {0};

        ck_assert_int_lt(nth, 50);
        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_claimants_open(&c, &err);
        if (!st)
            st = hf_claimants_use(c, HF_SLICE("d/w"), &a, auth, 0, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(!st || st == HF_NOMEM);
        if (c)
            ck_assert_int_eq(hf_claimants_use(c, HF_SLICE("d/w"), &a, auth, 0, &err), HF_OK);
        hf_claimants_close(c);
    }
    hf_auth_free(auth);
}
END_TEST

HF_SUITE_MAIN("server/claimant", {names_have_owners, 0}, {names_are_bounded, 0},
              {memory_runs_out, 0})
