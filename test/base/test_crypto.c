/* test_crypto.c: digests against published vectors, and hexadecimal text. */
#include <string.h>

#include "base/crypto.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"

static void digest_check(const uint8_t digest[HF_SHA256_BYTES], const char *expected)
{
    char text[HF_SHA256_TEXT_SIZE];

    hf_hex_print(hf_slice_from(digest, HF_SHA256_BYTES), text);
    ck_assert_str_eq(text, expected);
}

/* The examples published with FIPS 180, one object for all of them. */
START_TEST(sha256_known_answers)
{
    static const char *const known[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;

    ck_assert_int_eq(hf_sha256_new(&sha, NULL), HF_OK);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        ck_assert_int_eq(hf_sha256_digest(sha, hf_slice_of(known[i][0]), digest, NULL), HF_OK);
        digest_check(digest, known[i][1]);
    }
    ck_assert_int_eq(hf_sha256_digest(sha, (hf_slice){0}, digest, NULL), HF_OK);
    digest_check(digest, known[0][1]);
    hf_sha256_begin(sha);
    for (int i = 0; i < 1000000; i++)
        hf_sha256_add(sha, HF_SLICE("a"));
    ck_assert_int_eq(hf_sha256_end(sha, digest, NULL), HF_OK);
    digest_check(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    hf_sha256_free(sha);
    hf_sha256_free(NULL);
}
END_TEST

/* However the bytes are cut into pieces, the digest is that of the whole. */
START_TEST(sha256_pieces_equal_the_whole)
{
    char bytes[300];
    hf_sha256 *sha = NULL;
    hf_rng rng;

    hf_rng_init_seeded(&rng, 41);
    hf_rng_fill(&rng, bytes, sizeof(bytes));
    ck_assert_int_eq(hf_sha256_new(&sha, NULL), HF_OK);
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        uint8_t whole[HF_SHA256_BYTES];
        uint8_t pieces[HF_SHA256_BYTES];
        size_t at = 0;

        ck_assert_int_eq(hf_sha256_digest(sha, hf_slice_from(bytes, len), whole, NULL), HF_OK);
        hf_sha256_begin(sha);
        while (at < len) {
            size_t piece = (size_t)hf_rng_below(&rng, len - at + 1);

            hf_sha256_add(sha, hf_slice_from(bytes + at, piece));
            at += piece;
        }
        ck_assert_int_eq(hf_sha256_end(sha, pieces, NULL), HF_OK);
        ck_assert_int_eq(memcmp(whole, pieces, sizeof(whole)), 0);
    }
    hf_sha256_free(sha);
}
END_TEST

/* An end without a begin is a failure, not a digest; a begin in the middle starts over. */
START_TEST(sha256_order_of_steps)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_sha256_new(&sha, NULL), HF_OK);
    hf_sha256_add(sha, HF_SLICE("x"));
    ck_assert_int_eq(hf_sha256_end(sha, digest, &err), HF_ERROR);
    ck_assert_str_ne(err.text, "");
    hf_sha256_begin(sha);
    hf_sha256_add(sha, HF_SLICE("x"));
    hf_sha256_begin(sha);
    hf_sha256_add(sha, HF_SLICE("abc"));
    ck_assert_int_eq(hf_sha256_end(sha, digest, NULL), HF_OK);
    digest_check(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_int_eq(hf_sha256_end(sha, digest, &err), HF_ERROR);
    hf_sha256_free(sha);
}
END_TEST

static void hmac_check(hf_slice key, hf_slice bytes, const char *expected)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_hmac *hmac = NULL;

    ck_assert_int_eq(hf_hmac_new(key, &hmac, NULL), HF_OK);
    for (int i = 0; i < 3; i++) { /* an object is used many times */
        memset(digest, 0, sizeof(digest));
        ck_assert_int_eq(hf_hmac_digest(hmac, bytes, digest, NULL), HF_OK);
        digest_check(digest, expected);
        ck_assert_int_eq(hf_hmac_digest(hmac, HF_SLICE("something else"), digest, NULL), HF_OK);
    }
    hf_hmac_free(hmac);
}

/* The test cases of RFC 4231 that are not cut short. */
START_TEST(hmac_known_answers)
{
    char long_key[131];
    char key_4[25];
    char bytes[50];

    memset(bytes, 0x0b, 20);
    hmac_check(hf_slice_from(bytes, 20), HF_SLICE("Hi There"),
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_check(HF_SLICE("Jefe"), HF_SLICE("what do ya want for nothing?"),
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(long_key, 0xaa, sizeof(long_key));
    memset(bytes, 0xdd, sizeof(bytes));
    hmac_check(hf_slice_from(long_key, 20), hf_slice_from(bytes, 50),
               "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    for (size_t i = 0; i < sizeof(key_4); i++)
        key_4[i] = (char)(i + 1);
    memset(bytes, 0xcd, sizeof(bytes));
    hmac_check(hf_slice_from(key_4, sizeof(key_4)), hf_slice_from(bytes, 50),
               "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    hmac_check(hf_slice_from(long_key, sizeof(long_key)),
               HF_SLICE("Test Using Larger Than Block-Size Key - Hash Key First"),
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    hmac_check(hf_slice_from(long_key, sizeof(long_key)),
               HF_SLICE("This is a test using a larger than block-size key and a larger than "
                        "block-size data. The key needs to be hashed before being used by the "
                        "HMAC algorithm."),
               "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}
END_TEST

/* No bytes can be authenticated; no key cannot. */
START_TEST(hmac_edges)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_hmac *hmac = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_hmac_new((hf_slice){0}, &hmac, &err), HF_INVALID);
    ck_assert_ptr_null(hmac);
    ck_assert_int_eq(hf_hmac_new(HF_SLICE("key"), &hmac, NULL), HF_OK);
    ck_assert_int_eq(hf_hmac_digest(hmac, (hf_slice){0}, digest, NULL), HF_OK);
    digest_check(digest, "5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0");
    hf_hmac_free(hmac);
    hf_hmac_free(NULL);
}
END_TEST

/* Comparing notices a difference of any one bit, and of length. */
START_TEST(equality_of_secrets)
{
    char a[32] = "0123456789abcdef0123456789abcde";
    char b[32];

    for (size_t at = 0; at < sizeof(a); at++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(b, a, sizeof(b));
            ck_assert(hf_crypto_equal(hf_slice_from(a, 32), hf_slice_from(b, 32)));
            b[at] = (char)(b[at] ^ (1 << bit));
            ck_assert(!hf_crypto_equal(hf_slice_from(a, 32), hf_slice_from(b, 32)));
        }
    }
    ck_assert(!hf_crypto_equal(hf_slice_from(a, 32), hf_slice_from(a, 31)));
    ck_assert(!hf_crypto_equal(hf_slice_from(a, 1), (hf_slice){0}));
    ck_assert(hf_crypto_equal((hf_slice){0}, HF_SLICE("")));
}
END_TEST

/* All bytes survive the way to text and back, in either case. */
START_TEST(hex_round_trip)
{
    unsigned char bytes[256];
    unsigned char read[256];
    char text[513];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    hf_hex_print(hf_slice_from(bytes, sizeof(bytes)), text);
    ck_assert_uint_eq(strlen(text), 512);
    ck_assert_int_eq(strncmp(text, "000102030405060708090a0b0c0d0e0f10", 34), 0);
    ck_assert(hf_hex_parse(hf_slice_of(text), read, sizeof(read)));
    ck_assert_int_eq(memcmp(bytes, read, sizeof(bytes)), 0);
    ck_assert(hf_hex_parse(HF_SLICE("DEADbeef"), read, 4));
    ck_assert_int_eq(memcmp(read, "\xde\xad\xbe\xef", 4), 0);
    hf_hex_print((hf_slice){0}, text);
    ck_assert_str_eq(text, "");
    ck_assert(hf_hex_parse((hf_slice){0}, read, 0));
}
END_TEST

/* Every byte that is no digit is refused at either place of a pair, as are other lengths; a
   refusal writes nothing. */
START_TEST(hex_reading_is_strict)
{
    const char *digits = "0123456789abcdefABCDEF";
    unsigned char read[2] = {0x5A, 0x5A};

    for (int byte = 0; byte < 256; byte++) {
        bool digit = byte != 0 && byte < 0x80 && strchr(digits, byte);

        for (size_t at = 0; at < 4; at++) {
            char text[4] = {'0', '0', '0', '0'};
            unsigned char out[2] = {0x5A, 0x5A};

            text[at] = (char)byte;
            ck_assert_msg(hf_hex_parse(hf_slice_from(text, 4), out, 2) == digit, "byte %d", byte);
            if (!digit)
                ck_assert_int_eq(memcmp(out, read, 2), 0);
        }
    }
    ck_assert(!hf_hex_parse(HF_SLICE("000"), read, 1));
    ck_assert(!hf_hex_parse(HF_SLICE("000"), read, 2));
    ck_assert(!hf_hex_parse(HF_SLICE("00"), read, 2));
    ck_assert(!hf_hex_parse(HF_SLICE("000000"), read, 2));
    ck_assert(!hf_hex_parse((hf_slice){0}, read, 2));
    ck_assert(read[0] == 0x5A && read[1] == 0x5A);
}
END_TEST

/* Whichever allocation of ours fails, no object is handed out and the failure is named. */
START_TEST(objects_without_memory)
{
    for (int64_t nth = 1;; nth++) {
        hf_sha256 *sha = NULL;
        hf_hmac *hmac = NULL;
        hf_err err = {0};
        hf_status st;
        bool done;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_sha256_new(&sha, &err);
        if (!st)
            st = hf_hmac_new(HF_SLICE("key"), &hmac, &err);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, done ? HF_OK : HF_NOMEM);
        ck_assert_int_eq(err.status, st);
        ck_assert_int_eq(hmac != NULL, done);
        hf_sha256_free(sha);
        hf_hmac_free(hmac);
        if (done)
            break;
    }
}
END_TEST

HF_SUITE_MAIN("base/crypto", {sha256_known_answers, 0}, {sha256_pieces_equal_the_whole, 0},
              {sha256_order_of_steps, 0}, {hmac_known_answers, 0}, {hmac_edges, 0},
              {equality_of_secrets, 0}, {hex_round_trip, 0}, {hex_reading_is_strict, 0},
              {objects_without_memory, 0})
