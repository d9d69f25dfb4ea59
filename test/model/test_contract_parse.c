/* test_contract_parse.c: contract texts good and bad: what they say, or where the mistake is. */
#include <string.h>

#include "base/rng.h"
#include "lib/lost_memory.h"
#include "model/contract_texts.h"

static void sketch_add(hf_mem *mem, hf_buf *buf, const hf_param *param)
{
    hf_buf_add_format(buf, " | %.*s:%s", (int)param->name.len, param->name.ptr,
                      hf_param_type_text(param->type));
    ck_assert_int_eq(param->type == HF_PARAM_ENUM, param->choice_count > 0);
    for (size_t i = 0; i < param->choice_count; i++)
        hf_buf_add_format(buf, "%s%.*s", i ? "," : "(", (int)param->choices[i].len,
                          param->choices[i].ptr);
    hf_buf_add_text(buf, param->choice_count ? ") " : " ");
    hf_buf_add_text(buf, param->fallback ? "" : "!");
    hf_buf_add_text(buf, param->allows_null ? (param->fallback ? "0 " : "0") : "");
    if (param->fallback)
        hf_buf_add_format(buf, "=%s", hf_text(mem, param->fallback));
}

/* Every way to write a contract gives the parameters it says. */
START_TEST(good_texts_are_read)
{
    static const char *const forms[] = {"undeclared", "value", "named"};

    for (size_t i = 0; i < COUNT(good_rows); i++) {
        hf_mem *mem = mem_new();
        const hf_contract *contract = parsed(mem, good_rows[i].text);
        hf_buf buf = {0};

        hf_buf_add_text(&buf, forms[contract->form]);
        for (size_t j = 0; j < contract->count; j++)
            sketch_add(mem, &buf, &contract->params[j]);
        ck_assert_str_eq(hf_buf_text(&buf), good_rows[i].sketch);
        hf_buf_fini(&buf);
        hf_mem_free(mem);
    }
}
END_TEST

typedef struct bad_row {
    const char *text;
    const char *message; /* the whole message, or its beginning when it ends in '~' */
} bad_row;

static const bad_row bad_rows[] = {
    {",", "position 1: expected the name of a parameter, found ','"},
    {":", "position 1: expected the name of a parameter, found ':'"},
    {"approver", "position 9: expected ':' and a type behind the name, found the end"},
    {"a string", "position 3: expected ':' and a type behind the name, found 's'"},
    {"a:", "position 3: expected a type (string, int, number, bool, array, object, any, "
           "enum(a|b), time or duration), found the end"},
    {"a:text", "position 3: expected a type ~"},
    {"a:String", "position 3: expected a type ~"},
    {"a:integer", "position 3: expected a type ~"},
    {"a:?", "position 3: expected a type ~"},
    {"a::int", "position 3: expected a type ~"},
    {"a:int,", "position 7: expected the name of a parameter, found the end"},
    {"a:int,,b:int", "position 7: expected the name of a parameter, found ','"},
    {"a:int b:int", "position 7: expected ',' or the end, found 'b'"},
    {"a:int;b:int", "position 6: expected ',' or the end, found ';'"},
    {"a:int??", "position 7: expected ',' or the end, found '?'"},
    {"a:int=1?", "position 7: expected a default of type int: ~"},
    {"a:int, a:string", "position 8: expected another name, a is there already"},
    {"1a:int", "position 1: expected the name of a parameter, found '1'"},
    {"a-b:int", "position 2: expected ':' and a type behind the name, found '-'"},
    {"a.b:int", "position 2: expected ':' and a type behind the name, found '.'"},
    {"\xC3\xA9:int", "position 1: expected the name of a parameter, found byte 0xC3"},
    {"a:\x01", "position 3: expected a type ~"},
    {"a:int=", "position 7: expected a default, found the end"},
    {"a:int=,b:int", "position 7: expected a default, found ','"},
    {"a:int=x", "position 7: expected a default of type int: byte ~"},
    {"a:int=1.5", "position 7: expected a default of type int"},
    {"a:int=\"1\"", "position 7: expected a default of type int"},
    {"a:int=9223372036854775808", "position 7: expected a default of type int"},
    {"a:int=null", "position 7: expected a default that is not null, or '?' behind the type"},
    {"a:string=null", "position 10: expected a default that is not null, or '?' behind the type"},
    {"a:string=two words", "position 10: expected a default of type string: byte ~"},
    {"a:string=\"open", "position 10: expected a default of type string: byte ~"},
    {"a:string=\"\xFF\"", "position 10: expected a default of type string: byte ~"},
    {"a:string=[1]", "position 10: expected a default of type string"},
    {"a:bool=2", "position 8: expected a default of type bool"},
    {"a:bool=yes", "position 8: expected a default of type bool: byte ~"},
    {"a:any=word", "position 7: expected a default of type any: byte ~"},
    {"a:array={}", "position 9: expected a default of type array"},
    {"a:array=[1", "position 9: expected a default of type array: byte ~"},
    {"a:array=1]", "position 9: expected a default of type array: byte ~"},
    {"a:object=[]", "position 10: expected a default of type object"},
    {"a:object={\"a\":1,\"a\":2}", "position 10: expected a default of type object: byte ~"},
    {"a:enum", "position 7: expected '(' and the enum's words, found the end"},
    {"a:enum()", "position 8: expected one of the enum's words, found ')'"},
    {"a:enum(a|)", "position 10: expected one of the enum's words, found ')'"},
    {"a:enum(a", "position 9: expected '|' or ')', found the end"},
    {"a:enum(a,b)", "position 9: expected '|' or ')', found ','"},
    {"a:enum(a|a)", "position 10: expected another word, a is there already"},
    {"a:enum(a b)", "position 10: expected '|' or ')', found 'b'"},
    {"a:enum(a|b)=c", "position 13: expected a default of type enum"},
    {"a:enum(a|b)=null", "position 13: expected a default that is not null, ~"},
    {"a:string(a)", "position 9: expected ',' or the end, found '('"},
    {"a:time=now", "position 8: expected a default of type time"},
    {"a:time=2026-04-02", "position 8: expected a default of type time"},
    {"a:time=2026-04-02T10:11:12+02:00", "position 8: expected a default of type time"},
    {"a:time=5", "position 8: expected a default of type time"},
    {"a:duration=-1", "position 12: expected a default of type duration"},
    {"a:duration=1.5", "position 12: expected a default of type duration"},
    {"a:duration=\"PT30S\"", "position 12: expected a default of type duration"},
    {"a:duration=9223372036854776", "position 12: expected a default of type duration"},
    {"any, a:int", "position 4: expected the end, as a value without a name stands alone, "
                   "found ','"},
    {"int string", "position 5: expected the end, as a value without a name stands alone, "
                   "found 's'"},
    {"enum", "position 5: expected '(' and the enum's words, found the end"},
    {"a:int, any", "position 11: expected ':' and a type behind the name, found the end"},
};

/* A mistake is refused with its position and what was expected there. */
START_TEST(bad_texts_are_refused)
{
    ck_assert_uint_ge(COUNT(good_rows) + COUNT(bad_rows), 60);
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        const char *message = bad_rows[i].message;
        size_t len = strlen(message);
        hf_mem *mem = mem_new();
        const hf_contract *contract = NULL;
        hf_err err = {0};

        ck_assert_msg(hf_contract_parse(mem, bad_rows[i].text, &contract, &err) == HF_INVALID, "%s",
                      bad_rows[i].text);
        ck_assert_ptr_null(contract);
        if (message[len - 1] == '~')
            ck_assert_msg(strncmp(err.text, message, len - 1) == 0, "%s: %s", bad_rows[i].text,
                          err.text);
        else
            ck_assert_str_eq(err.text, message);
        ck_assert_int_eq(hf_contract_parse(mem, bad_rows[i].text, &contract, NULL), HF_INVALID);
        hf_mem_free(mem);
    }
}
END_TEST

static hf_status parse_buf(hf_mem *mem, hf_buf *buf, const hf_contract **out_contract, hf_err *err)
{
    hf_status st = hf_contract_parse(mem, hf_buf_text(buf), out_contract, err);

    ck_assert(hf_buf_ok(buf));
    hf_buf_clear(buf);
    return st;
}

/* Names, words, lists and whole texts are taken up to their bounds and not beyond. */
START_TEST(texts_are_bounded)
{
    hf_mem *mem = mem_new();
    const hf_contract *contract = NULL;
    hf_buf buf = {0};
    hf_err err = {0};

    for (int extra = 0; extra < 2; extra++) {
        hf_buf_add_format(&buf, "%0*d:int", 64 + extra, 0);
        memset(buf.ptr, 'n', (size_t)(64 + extra));
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
        hf_buf_add_format(&buf, "a:enum(%0*d)", 64 + extra, 0);
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
        for (int i = 0; i < HF_CONTRACT_PARAMS_MAX + extra; i++)
            hf_buf_add_format(&buf, "%sp%d:int", i ? "," : "", i);
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
        for (int i = 0; i < HF_CONTRACT_CHOICES_MAX + extra; i++)
            hf_buf_add_format(&buf, "%sw%d", i ? "|" : "enum(", i);
        hf_buf_add_text(&buf, ")");
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
        hf_buf_add_text(&buf, "any=");
        for (int i = 0; i < 32 + extra; i++)
            hf_buf_add_text(&buf, "[");
        for (int i = 0; i < 32 + extra; i++)
            hf_buf_add_text(&buf, "]");
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
        hf_buf_add_format(&buf, "a:int%*s", HF_CONTRACT_TEXT_MAX - 5 + extra, "");
        ck_assert_int_eq(parse_buf(mem, &buf, &contract, &err), extra ? HF_INVALID : HF_OK);
    }
    ck_assert_str_eq(err.text, "a contract has 16385 bytes; at most 16384 are allowed");
    hf_buf_fini(&buf);
    hf_mem_free(mem);
}
END_TEST

static hf_status pass_parse(hf_mem *mem, hf_err *err)
{
    const hf_contract *contract = NULL;
    hf_status st = hf_contract_parse(mem, long_contract(), &contract, err);

    ck_assert_int_eq(contract == NULL, st != HF_OK);
    return st;
}

static hf_status pass_parse_default(hf_mem *mem, hf_err *err)
{
    const hf_contract *contract = NULL;

    return hf_contract_parse(mem, "a:object={\"a\": [1, 2, \"x\"]}", &contract, err);
}

/* Memory that runs out in the middle of a text leaves nothing behind. */
START_TEST(parse_survives_lost_memory)
{
    hf_lost_memory_each(pass_parse);
    hf_lost_memory_each(pass_parse_default);
}
END_TEST

/* A random text: pieces of the grammar, or a good text with a few bytes changed. */
static size_t random_text(hf_rng *rng, char *room, size_t size)
{
    static const char *const pieces[] = {
        "a",   "b",  ":",        "string", "int",   "number", "bool",  "array",    "object", "any",
        "?",   "=",  ",",        "enum",   "(",     ")",      "|",     "time",     " ",      "\"",
        "\\",  "[",  "]",        "{",      "}",     "1",      "-",     "duration", "null",   "true",
        "1.5", "\n", "\xC3\xA9", "\xFF",   "a:int", "x:any=", "\"k\"", ", ",       "1e400",  "_",
    };
    size_t len = 0;

    if (hf_rng_below(rng, 2) == 0) {
        uint64_t count = hf_rng_below(rng, 14);

        for (uint64_t i = 0; i < count; i++) {
            const char *piece = pieces[hf_rng_below(rng, COUNT(pieces))];

            memcpy(room + len, piece, strlen(piece));
            len += strlen(piece);
        }
    } else {
        const char *text = good_rows[1 + hf_rng_below(rng, COUNT(good_rows) - 1)].text;

        len = strlen(text);
        ck_assert_uint_lt(len, size);
        memcpy(room, text, len);
        for (int i = 0; i < 3 && len > 0; i++)
            room[hf_rng_below(rng, len)] = (char)(1 + hf_rng_below(rng, 255));
    }
    room[len] = '\0';
    return len;
}

/* Whatever the text, it is refused with a message or gives a contract that survives storage. */
START_TEST(random_texts_never_break)
{
    hf_mem *mem = mem_new();
    hf_rng rng;
    size_t accepted = 0;
    char room[512];

    hf_rng_init_seeded(&rng, 20260402);
    for (int i = 0; i < 100000; i++) {
        const hf_contract *contract = NULL;
        hf_err err = {0};
        hf_status st;

        (void)random_text(&rng, room, sizeof(room));
        st = hf_contract_parse(mem, room, &contract, &err);
        if (st == HF_OK) {
            check_round_trip(mem, contract);
            accepted++;
        } else {
            ck_assert_msg(st == HF_INVALID && strncmp(err.text, "position ", 9) == 0, "%s: %s",
                          room, err.text);
        }
        hf_mem_reset(mem);
    }
    ck_assert_uint_gt(accepted, 1000);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/contract_parse", {good_texts_are_read, 0}, {bad_texts_are_refused, 0},
              {texts_are_bounded, 0}, {parse_survives_lost_memory, 0},
              {random_texts_never_break, 300})
