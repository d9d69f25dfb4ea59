/* contract_texts.h: what the test programs of contracts share: texts that are good, with the
   contract each of them says, and how contracts, their stored form and values are made and
   compared. Included once per program. */
#ifndef HF_TEST_MODEL_CONTRACT_TEXTS_H
#define HF_TEST_MODEL_CONTRACT_TEXTS_H

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"
#include "lib/suite.h"
#include "model/contract.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static HF_UNUSED hf_mem *mem_new(void)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_ptr_nonnull(mem);
    return mem;
}

static HF_UNUSED const hf_contract *parsed(hf_mem *mem, const char *text)
{
    const hf_contract *contract = NULL;
    hf_err err = {0};
    hf_status st = hf_contract_parse(mem, text, &contract, &err);

    ck_assert_msg(st == HF_OK, "%s: %s", text, err.text);
    return contract;
}

static HF_UNUSED const char *json_of(hf_mem *mem, const hf_contract *contract)
{
    hf_value entries = hf_contract_to_value(contract, mem);
    hf_buf text = {0};
    const char *kept;

    ck_assert_ptr_nonnull(entries);
    hf_json_write_canonical(&text, entries);
    ck_assert(hf_buf_ok(&text));
    kept = hf_mem_text(mem, hf_buf_slice(&text));
    hf_buf_fini(&text);
    return kept;
}

/* JSON with single quotes, as tables of cases write it; NULL for NULL. */
static HF_UNUSED hf_value value_of(hf_mem *mem, const char *text)
{
    char room[4096];
    hf_value value = NULL;
    hf_err err = {0};
    size_t len;

    if (!text)
        return NULL;
    len = strlen(text);
    ck_assert_uint_lt(len, sizeof(room));
    for (size_t i = 0; i < len; i++)
        room[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    ck_assert_msg(hf_json_read(mem, hf_slice_from(room, len), NULL, &value, &err) == HF_OK,
                  "%s: %s", text, err.text);
    return value;
}

static HF_UNUSED void check_same(hf_mem *mem, hf_value found, const char *expected,
                                 const char *what)
{
    const char *shown = found ? hf_text(mem, found) : "NULL";

    ck_assert_msg(hf_value_equal(found, value_of(mem, expected)), "%s: %s instead of %s", what,
                  shown, expected ? expected : "NULL");
}

typedef struct good_row {
    const char *text;
    const char *sketch; /* name:type, ! required, 0 nullable, = default; see sketch_add in
                           test_contract_parse.c */
} good_row;

static HF_UNUSED const good_row good_rows[] = {
    {NULL, "undeclared"},
    {"", "named"},
    {"  \t\n", "named"},
    {"any", "value | :any !0"},
    {" any ", "value | :any !0"},
    {"int", "value | :int !"},
    {"string?", "value | :string 0 =null"},
    {"any?", "value | :any 0 =null"},
    {"int=3", "value | :int =3"},
    {"enum(a|b)", "value | :enum(a,b) !"},
    {"enum(a|b)=b", "value | :enum(a,b) =\"b\""},
    {"object={\"a\":1}", "value | :object ={\"a\":1}"},
    {"a:string", "named | a:string !"},
    {"a:int", "named | a:int !"},
    {"a:number", "named | a:number !"},
    {"a:bool", "named | a:bool !"},
    {"a:array", "named | a:array !"},
    {"a:object", "named | a:object !"},
    {"a:any", "named | a:any !0"},
    {"a:enum(x)", "named | a:enum(x) !"},
    {"a:time", "named | a:time !"},
    {"a:duration", "named | a:duration !"},
    {"any:any", "named | any:any !0"},
    {"string:string, int:int", "named | string:string ! | int:int !"},
    {"a:string,b:int", "named | a:string ! | b:int !"},
    {" a : string , b : int ? = 3 ", "named | a:string ! | b:int 0 =3"},
    {"a:string?", "named | a:string 0 =null"},
    {"a:string?=null", "named | a:string 0 =null"},
    {"a:string?=x", "named | a:string 0 =\"x\""},
    {"a:any=null", "named | a:any 0 =null"},
    {"a:string=word", "named | a:string =\"word\""},
    {"a:string=true", "named | a:string =\"true\""},
    {"a:string=17", "named | a:string =\"17\""},
    {"a:string=\"null\"", "named | a:string =\"null\""},
    {"a:string=\"x, y\"", "named | a:string =\"x, y\""},
    {"a:string=\"x\\\", y\", b:int", "named | a:string =\"x\\\", y\" | b:int !"},
    {"a:string=\"\"", "named | a:string =\"\""},
    {"a:string=a.b/c:d+e@f-g_h", "named | a:string =\"a.b/c:d+e@f-g_h\""},
    {"a:int=-7", "named | a:int =-7"},
    {"a:int=9223372036854775807", "named | a:int =9223372036854775807"},
    {"a:int=7.0", "named | a:int =7"},
    {"a:number=0.5", "named | a:number =0.5"},
    {"a:number=7.0", "named | a:number =7"},
    {"a:any=[1.0]", "named | a:any 0 =[1]"},
    {"a:bool=true", "named | a:bool =true"},
    {"a:bool=0", "named | a:bool =false"},
    {"a:array=[]", "named | a:array =[]"},
    {"a:array=[1, [2, {\"k\": \"]\"}]], b:int", "named | a:array =[1,[2,{\"k\":\"]\"}]] | b:int !"},
    {"a:object={\"b\": 1, \"a\": 2}", "named | a:object ={\"a\":2,\"b\":1}"},
    {"plan:enum(basic|pro), months:int=0", "named | plan:enum(basic,pro) ! | months:int =0"},
    {"plan:enum(basic|pro)?, cancel:bool=false",
     "named | plan:enum(basic,pro) 0 =null | cancel:bool =false"},
    {"a:enum( x | y-1 ) = y-1", "named | a:enum(x,y-1) =\"y-1\""},
    {"a:enum(1|2)=2", "named | a:enum(1,2) =\"2\""},
    {"a:time=2026-04-02T10:11:12Z", "named | a:time =\"2026-04-02T10:11:12Z\""},
    {"a:time=\"2026-04-02T10:11:12.5Z\"", "named | a:time =\"2026-04-02T10:11:12.5Z\""},
    {"a:duration=0", "named | a:duration =0"},
    {"a:duration=30000", "named | a:duration =30000"},
    {"_:int", "named | _:int !"},
    {"A9_z:int", "named | A9_z:int !"},
    {"approver:string, note:string?", "named | approver:string ! | note:string 0 =null"},
    {"a:int=1, b:int", "named | a:int =1 | b:int !"},
};

static HF_UNUSED void check_equal(const hf_contract *a, const hf_contract *b)
{
    ck_assert_int_eq(a->form, b->form);
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const hf_param *one = &a->params[i];
        const hf_param *other = &b->params[i];

        ck_assert(hf_slice_equal(one->name, other->name));
        ck_assert_int_eq(one->type, other->type);
        ck_assert_int_eq(one->allows_null, other->allows_null);
        ck_assert(hf_value_equal(one->fallback, other->fallback));
        ck_assert_uint_eq(one->choice_count, other->choice_count);
        for (size_t j = 0; j < one->choice_count; j++)
            ck_assert(hf_slice_equal(one->choices[j], other->choices[j]));
    }
}

/* Writing and reading the stored form gives the same contract and the same text again. */
static HF_UNUSED void check_round_trip(hf_mem *mem, const hf_contract *contract)
{
    const char *text = json_of(mem, contract);
    const hf_contract *again = NULL;
    hf_err err = {0};

    ck_assert_msg(hf_contract_from_json(mem, hf_slice_of(text), &again, &err) == HF_OK, "%s: %s",
                  text, err.text);
    check_equal(contract, again);
    ck_assert_str_eq(json_of(mem, again), text);
}

/* A text long enough to need several blocks of an arena. */
static HF_UNUSED const char *long_contract(void)
{
    static char text[HF_CONTRACT_TEXT_MAX];
    size_t len = 0;

    for (int i = 0; i < HF_CONTRACT_PARAMS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "%sparameter_%d:enum(basic|pro|word_%050d)?=basic", i ? "," : "", i,
                                i);
    return text;
}

#endif
