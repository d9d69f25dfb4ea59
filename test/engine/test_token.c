/* test_token.c: credentials of a store, on both databases. */
#include <string.h>

#include "base/crypto.h"
#include "holdfast/host.h"
#include "lib/engine.h"

static const hf_app app = {.name = "tokens"};

static hf_engine *engine_of(hf_test_place *place)
{
    hf_engine *engine = NULL;

    ck_assert_msg(hf_open(hf_test_place_address(place), &app, &engine) == HF_OK, "%s",
                  hf_errmsg(engine));
    return engine;
}

/* A token is listed with the digest of its secret, and until it is revoked; it survives. */
HF_BOTH_ENGINES(tokens_live_in_the_store)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *engine = engine_of(place);
    hf_mem *mem = hf_mem_new();
    hf_token one;
    hf_token two;
    hf_value list = NULL;
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;

    ck_assert_int_eq(
        hf_token_create_with(
            engine,
            &(hf_token_opts){.size_ = sizeof(hf_token_opts), .role = "admin", .label = "the first"},
            &one),
        HF_OK);
    ck_assert_int_eq(hf_token_create_with(engine,
                                          &(hf_token_opts){.size_ = sizeof(hf_token_opts),
                                                           .role = "worker",
                                                           .namespaces = "a,b",
                                                           .lifespan = 60000},
                                          &two),
                     HF_OK);
    ck_assert_uint_eq(strlen(one.secret), 46);
    ck_assert_str_ne(one.secret, two.secret);
    ck_assert_int_eq(hf_token_revoke(engine, one.id), HF_OK);
    ck_assert_int_eq(hf_token_revoke(engine, one.id), HF_NOTFOUND);
    ck_assert_int_eq(hf_token_revoke(engine, "nobody"), HF_NOTFOUND);
    hf_close(engine);
    engine = engine_of(place);
    ck_assert_int_eq(hf_tokens(engine, mem, &list), HF_OK);
    ck_assert_uint_eq(hf_len(list), 2);
    ck_assert_str_eq(hf_str(list, "0.label", ""), "the first");
    ck_assert_str_ne(hf_str(list, "0.revoked_at", ""), "");
    ck_assert_str_eq(hf_str(list, "1.namespaces", ""), "a,b");
    ck_assert_str_ne(hf_str(list, "1.expires_at", ""), "");
    ck_assert_str_eq(hf_str(list, "1.revoked_at", "none"), "none");
    ck_assert_int_eq(hf_sha256_new(&sha, NULL), HF_OK);
    ck_assert_int_eq(hf_sha256_digest(sha, hf_slice_of(two.secret), digest, NULL), HF_OK);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
    ck_assert_str_eq(hf_str(list, "1.digest", ""), hex);
    ck_assert_ptr_null(strstr(hf_text(mem, list), two.secret));
    hf_sha256_free(sha);
    hf_mem_free(mem);
    hf_close(engine);
    hf_test_place_free(place);
}

/* What cannot be a token is refused with a sentence. */
HF_BOTH_ENGINES(bad_tokens_are_refused)
{
    static const hf_token_opts bad[] = {
        {.size_ = sizeof(hf_token_opts)},
        {.size_ = sizeof(hf_token_opts), .role = "root"},
        {.size_ = sizeof(hf_token_opts), .role = "read", .namespaces = ""},
        {.size_ = sizeof(hf_token_opts), .role = "read", .lifespan = -1},
        {.size_ = sizeof(hf_token_opts), .role = "read", .label = "\xff"}};
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *engine = engine_of(place);
    hf_token token;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(hf_token_create_with(engine, &bad[i], &token), HF_INVALID);
        ck_assert_str_ne(hf_errmsg(engine), "");
    }
    hf_close(engine);
    hf_test_place_free(place);
}

/* Every store has the default namespace. */
HF_BOTH_ENGINES(namespaces_are_listed)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *engine = engine_of(place);
    hf_mem *mem = hf_mem_new();
    hf_value list = NULL;

    ck_assert_int_eq(hf_namespaces(engine, mem, &list), HF_OK);
    ck_assert_uint_eq(hf_len(list), 1);
    ck_assert_str_eq(hf_str(list, "0.name", ""), "default");
    ck_assert_int_eq(hf_int(list, "0.retention_days", 0), 30);
    hf_mem_free(mem);
    hf_close(engine);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/token", HF_BOTH(tokens_live_in_the_store), HF_BOTH(bad_tokens_are_refused),
                 HF_BOTH(namespaces_are_listed))
