/* test_contract.c: contract texts good and bad, their JSON form there and back, and arguments held
   against them. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/value.h"
#include "lib/lost_memory.h"
#include "lib/suite.h"
#include "model/contract.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static hf_mem *mem_new(void)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_ptr_nonnull(mem);
    return mem;
}

static const hf_contract *parsed(hf_mem *mem, const char *text)
{
    const hf_contract *contract = NULL;
    hf_err err = {0};
    hf_status st = hf_contract_parse(mem, text, &contract, &err);

    ck_assert_msg(st == HF_OK, "%s: %s", text, err.text);
    return contract;
}

static const char *json_of(hf_mem *mem, const hf_contract *contract)
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

/* JSON with single quotes, as the tables below write it; NULL for NULL. */
static hf_value value_of(hf_mem *mem, const char *text)
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

static void check_same(hf_mem *mem, hf_value found, const char *expected, const char *what)
{
    const char *shown = found ? hf_text(mem, found) : "NULL";

    ck_assert_msg(hf_value_equal(found, value_of(mem, expected)), "%s: %s instead of %s", what,
                  shown, expected ? expected : "NULL");
}

typedef struct good_row {
    const char *text;
    const char *sketch; /* name:type, ! required, 0 nullable, = default; see sketch_add */
} good_row;

static const good_row good_rows[] = {
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

/* Each type has one word, and the word leads back to it. */
START_TEST(type_words_are_unique)
{
    hf_param_type type;

    for (int i = HF_PARAM_STRING; i <= HF_PARAM_DURATION; i++) {
        ck_assert(hf_param_type_parse(hf_slice_of(hf_param_type_text((hf_param_type)i)), &type));
        ck_assert_int_eq((int)type, i);
    }
    ck_assert(!hf_param_type_parse(HF_SLICE("unknown"), &type));
    ck_assert(!hf_param_type_parse((hf_slice){0}, &type));
    ck_assert_str_eq(hf_param_type_text((hf_param_type)99), "unknown");
}
END_TEST

/* The stored form is exactly the published list of entries, and enum's words with it. */
START_TEST(stored_form_is_golden)
{
    hf_mem *mem = mem_new();

    ck_assert_str_eq(json_of(mem, parsed(mem, NULL)), "null");
    ck_assert_str_eq(json_of(mem, parsed(mem, "")), "[]");
    ck_assert_str_eq(json_of(mem, parsed(mem, "any")),
                     "[{\"allows_null\":true,\"default\":null,\"default_available\":false,"
                     "\"name\":\"\",\"position\":0,\"required\":true,\"type\":\"any\","
                     "\"variadic\":false}]");
    ck_assert_str_eq(json_of(mem, parsed(mem, "plan:enum(basic|pro)?, months:int=3")),
                     "[{\"allows_null\":true,\"default\":null,\"default_available\":true,"
                     "\"enum\":[\"basic\",\"pro\"],\"name\":\"plan\",\"position\":0,"
                     "\"required\":false,\"type\":\"enum\",\"variadic\":false},"
                     "{\"allows_null\":false,\"default\":3,\"default_available\":true,"
                     "\"name\":\"months\",\"position\":1,\"required\":false,\"type\":\"int\","
                     "\"variadic\":false}]");
    hf_mem_free(mem);
}
END_TEST

static void check_equal(const hf_contract *a, const hf_contract *b)
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
static void check_round_trip(hf_mem *mem, const hf_contract *contract)
{
    const char *text = json_of(mem, contract);
    const hf_contract *again = NULL;
    hf_err err = {0};

    ck_assert_msg(hf_contract_from_json(mem, hf_slice_of(text), &again, &err) == HF_OK, "%s: %s",
                  text, err.text);
    check_equal(contract, again);
    ck_assert_str_eq(json_of(mem, again), text);
}

/* What was stored is what was declared, for every good text. */
START_TEST(stored_form_comes_back)
{
    for (size_t i = 0; i < COUNT(good_rows); i++) {
        hf_mem *mem = mem_new();

        check_round_trip(mem, parsed(mem, good_rows[i].text));
        hf_mem_free(mem);
    }
}
END_TEST

/* An entry with one member changed: {'name': 'a', ..., key: value}. A NULL value leaves it out. */
static hf_value entry_with(hf_mem *mem, const char *key, const char *value)
{
    static const char *const members[][2] = {
        {"name", "'a'"},          {"position", "0"},   {"required", "true"},
        {"variadic", "false"},    {"default", "null"}, {"default_available", "false"},
        {"allows_null", "false"}, {"type", "'int'"},
    };
    hf_value_list *entry = hf_value_object(mem);
    hf_value_list *list = hf_value_array(mem);
    bool changed = false;

    for (size_t i = 0; i < COUNT(members); i++) {
        bool same = strcmp(members[i][0], key) == 0;
        const char *text = same ? value : members[i][1];

        changed = changed || same;
        if (text)
            hf_value_set(entry, hf_slice_of(members[i][0]), value_of(mem, text));
    }
    if (!changed)
        hf_value_set(entry, hf_slice_of(key), value_of(mem, value));
    hf_value_append(list, hf_value_finish(entry));
    return hf_value_finish(list);
}

/* A stored form that is not as it was written is refused, with the parameter and the reason. */
START_TEST(bad_stored_forms_are_refused)
{
    static const struct {
        const char *key, *value, *message;
    } rows[] = {
        {"name", "7", "name is not text"},
        {"name", NULL, "name is not text"},
        {"name", "'a-b'", "name is not a parameter's name"},
        {"position", "1", "position is not 0"},
        {"position", "'0'", "position is not 0"},
        {"position", NULL, "position is not 0"},
        {"required", "1", "required is not a boolean"},
        {"required", NULL, "required is not a boolean"},
        {"required", "false", "required and default_available contradict each other"},
        {"variadic", "true", "variadic parameters are not supported"},
        {"variadic", NULL, "variadic is not a boolean"},
        {"default_available", "null", "default_available is not a boolean"},
        {"default_available", "true", "required and default_available contradict each other"},
        {"allows_null", NULL, "allows_null is not a boolean"},
        {"type", "'float'", "type is none of ours"},
        {"type", "null", "type is none of ours"},
        {"type", "'enum'", "enum is not a list of 1 to 64 texts"},
    };
    static const char *const lists[] = {
        "7",
        "'any'",
        "{}",
        "[7]",
        "[null]",
        "[{'name':'a','position':0,'required':false,'variadic':false,'default':'x',"
        "'default_available':true,'type':'int','allows_null':false}]",
        "[{'name':'a','position':0,'required':false,'variadic':false,"
        "'default_available':true,'type':'int','allows_null':false}]",
        "[{'name':'a','position':0,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'enum','allows_null':false,'enum':[]}]",
        "[{'name':'a','position':0,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'enum','allows_null':false,'enum':['a','a']}]",
        "[{'name':'a','position':0,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'enum','allows_null':false,'enum':['a','b c']}]",
        "[{'name':'a','position':0,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'int','allows_null':false},"
        "{'name':'a','position':1,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'int','allows_null':false}]",
        "[{'name':'a','position':0,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'int','allows_null':false},"
        "{'name':'','position':1,'required':true,'variadic':false,'default':null,"
        "'default_available':false,'type':'int','allows_null':false}]",
    };
    hf_mem *mem = mem_new();
    const hf_contract *contract = NULL;
    hf_err err = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_value entries = entry_with(mem, rows[i].key, rows[i].value);

        ck_assert_msg(hf_contract_from_value(mem, entries, &contract, &err) == HF_INVALID, "%s %s",
                      rows[i].key, rows[i].value ? rows[i].value : "missing");
        ck_assert_ptr_null(contract);
        ck_assert_msg(strncmp(err.text, "parameter 0 of a contract: ", 27) == 0, "%s", err.text);
        ck_assert_str_eq(err.text + 27, rows[i].message);
    }
    for (size_t i = 0; i < COUNT(lists); i++)
        ck_assert_msg(hf_contract_from_value(mem, value_of(mem, lists[i]), &contract, &err) ==
                          HF_INVALID,
                      "%s", lists[i]);
    ck_assert_int_eq(hf_contract_from_json(mem, HF_SLICE("[{"), &contract, &err), HF_INVALID);
    ck_assert_ptr_null(contract);
    ck_assert_int_eq(strncmp(err.text, "read a contract: byte ", 22), 0);
    hf_mem_free(mem);
}
END_TEST

/* Members of later versions do not disturb; a required parameter may allow null in this form. */
START_TEST(stored_forms_may_grow)
{
    hf_mem *mem = mem_new();
    const hf_contract *contract = NULL;
    hf_value args = NULL;
    hf_value errors = NULL;

    ck_assert_int_eq(hf_contract_from_value(mem, entry_with(mem, "later", "[1]"), &contract, NULL),
                     HF_OK);
    check_equal(contract, parsed(mem, "a:int"));
    ck_assert_int_eq(
        hf_contract_from_value(mem, entry_with(mem, "allows_null", "true"), &contract, NULL),
        HF_OK);
    ck_assert_int_eq(
        hf_contract_apply(contract, value_of(mem, "[null]"), mem, &args, &errors, NULL), HF_OK);
    check_same(mem, args, "{'a':null}", "null for a required parameter");
    ck_assert_int_eq(hf_contract_apply(contract, NULL, mem, &args, &errors, NULL), HF_OK);
    check_same(mem, errors, "{'a':['The a argument is required.']}", "nothing");
    hf_mem_free(mem);
}
END_TEST

typedef struct apply_row {
    const char *contract;
    const char *args;   /* NULL: none */
    const char *expect; /* what is recorded, or behind a '!' the errors; NULL: nothing */
} apply_row;

static const apply_row apply_rows[] = {
    /* No parameters. */
    {"", NULL, "{}"},
    {"", "null", "{}"},
    {"", "[]", "{}"},
    {"", "{}", "{}"},
    {"", "[1]", "!{'arguments':['Too many arguments: 1 given, at most 0 taken.']}"},
    {"", "{'x':1}", "!{'x':['Unknown argument [x].']}"},
    /* Positional and named arguments, in declared order. */
    {"a:string, b:int", "['x', 2]", "{'a':'x','b':2}"},
    {"a:string, b:int", "{'b':2,'a':'x'}", "{'a':'x','b':2}"},
    {"a:string, b:int", "['x']", "!{'b':['The b argument is required.']}"},
    {"a:string, b:int", NULL,
     "!{'a':['The a argument is required.'],'b':['The b argument is required.']}"},
    {"a:string, b:int", "['x',1,2]",
     "!{'arguments':['Too many arguments: 3 given, at most 2 taken.']}"},
    {"a:string, b:int", "{'a':'x','b':1,'c':2}", "!{'c':['Unknown argument [c].']}"},
    {"a:string, b:int", "{'a':1,'c':2}",
     "!{'a':['The a argument must be of type string.'],'b':['The b argument is required.'],"
     "'c':['Unknown argument [c].']}"},
    {"a:string, b:int", "'x'",
     "!{'arguments':['The arguments must be a list, or an object of named arguments.']}"},
    {"a:string, b:int", "7",
     "!{'arguments':['The arguments must be a list, or an object of named arguments.']}"},
    {"arguments:int", "['x',2]",
     "!{'arguments':['The arguments argument must be of type int.',"
     "'Too many arguments: 2 given, at most 1 taken.']}"},
    /* An object is always the named arguments, also for one object. */
    {"a:object", "{'a':{'k':1}}", "{'a':{'k':1}}"},
    {"a:object", "{'k':1}", "!{'a':['The a argument is required.'],'k':['Unknown argument [k].']}"},
    {"a:object", "[{'k':1}]", "{'a':{'k':1}}"},
    /* Defaults and null. */
    {"a:int=100", NULL, "{'a':100}"},
    {"a:int=100", "[5]", "{'a':5}"},
    {"a:int=100", "[null]", "!{'a':['The a argument cannot be null.']}"},
    {"a:string?", NULL, "{'a':null}"},
    {"a:string?", "[null]", "{'a':null}"},
    {"a:string?=x", "[null]", "{'a':null}"},
    {"a:string?=x", NULL, "{'a':'x'}"},
    {"a:string", "[null]", "!{'a':['The a argument cannot be null.']}"},
    {"a:int=1, b:int", "{'b':2}", "{'a':1,'b':2}"},
    {"sku:string, amount:number, customer:string?", "{'sku':'TEA-1','amount':90}",
     "{'sku':'TEA-1','amount':90,'customer':null}"},
    {"a:any", "[null]", "{'a':null}"},
    {"a:any", NULL, "!{'a':['The a argument is required.']}"},
    /* Types. */
    {"a:string", "['']", "{'a':''}"},
    {"a:string", "[1]", "!{'a':['The a argument must be of type string.']}"},
    {"a:int", "[-9223372036854775808]", "{'a':-9223372036854775808}"},
    {"a:int", "[7.0]", "{'a':7}"},
    {"a:int", "[-0.0]", "{'a':0}"},
    {"a:int", "[9007199254740992.0]", "{'a':9007199254740992}"},
    {"a:int", "[1e16]", "!{'a':['The a argument must be of type int.']}"},
    {"a:int", "[1e300]", "!{'a':['The a argument must be of type int.']}"},
    {"a:int", "[-1e300]", "!{'a':['The a argument must be of type int.']}"},
    {"a:int", "[7.5]", "!{'a':['The a argument must be of type int.']}"},
    {"a:int", "['7']", "!{'a':['The a argument must be of type int.']}"},
    {"a:int", "[true]", "!{'a':['The a argument must be of type int.']}"},
    {"a:number", "[7]", "{'a':7}"},
    {"a:number", "[7.5]", "{'a':7.5}"},
    {"a:number", "[7.0]", "{'a':7.0}"},
    {"a:number", "['7']", "!{'a':['The a argument must be of type number.']}"},
    {"a:bool", "[false]", "{'a':false}"},
    {"a:bool", "[1]", "{'a':true}"},
    {"a:bool", "[0]", "{'a':false}"},
    {"a:bool", "[2]", "!{'a':['The a argument must be of type bool.']}"},
    {"a:bool", "[1.0]", "!{'a':['The a argument must be of type bool.']}"},
    {"a:bool", "['true']", "!{'a':['The a argument must be of type bool.']}"},
    {"a:array", "[[1]]", "{'a':[1]}"},
    {"a:array", "[{}]", "!{'a':['The a argument must be of type array.']}"},
    {"a:object", "[[]]", "!{'a':['The a argument must be of type object.']}"},
    {"a:enum(basic|pro)", "['pro']", "{'a':'pro'}"},
    {"a:enum(basic|pro)", "['Pro']", "!{'a':['The a argument must be of type enum(basic|pro).']}"},
    {"a:enum(basic)", "[1]", "!{'a':['The a argument must be of type enum(basic).']}"},
    {"a:enum(basic)?", "[null]", "{'a':null}"},
    {"a:time", "['2026-04-02T10:11:12.123456Z']", "{'a':'2026-04-02T10:11:12.123456Z'}"},
    {"a:time", "['2026-04-02T10:11:12Z']", "{'a':'2026-04-02T10:11:12Z'}"},
    {"a:time", "['2026-02-30T10:11:12Z']", "!{'a':['The a argument must be of type time.']}"},
    {"a:time", "[1700000000]", "!{'a':['The a argument must be of type time.']}"},
    {"a:duration", "[0]", "{'a':0}"},
    {"a:duration", "[30000.0]", "{'a':30000}"},
    {"a:duration", "[9223372036854775]", "{'a':9223372036854775}"},
    {"a:duration", "[9223372036854776]", "!{'a':['The a argument must be of type duration.']}"},
    {"a:duration", "[-1]", "!{'a':['The a argument must be of type duration.']}"},
    {"a:duration", "['PT30S']", "!{'a':['The a argument must be of type duration.']}"},
    /* One value without a name. */
    {"any", "5", "5"},
    {"any", "{'k':1}", "{'k':1}"},
    {"any", "null", "null"},
    {"any", "[5]", "5"},
    {"any", "[[5]]", "[5]"},
    {"any", "[null]", "null"},
    {"any", NULL, "!{'value':['The value argument is required.']}"},
    {"any", "[]", "!{'value':['The value argument is required.']}"},
    {"any", "[1,2]", "!{'arguments':['Too many arguments: 2 given, at most 1 taken.']}"},
    {"any?", NULL, "null"},
    {"int=3", NULL, "3"},
    {"int=3", "[]", "3"},
    {"int=3", "4", "4"},
    {"int", "null", "!{'value':['The value argument cannot be null.']}"},
    {"int", "'x'", "!{'value':['The value argument must be of type int.']}"},
    /* Undeclared: whatever came. */
    {NULL, NULL, NULL},
    {NULL, "null", "null"},
    {NULL, "[]", "[]"},
    {NULL, "[1,2]", "[1,2]"},
    {NULL, "{'k':1}", "{'k':1}"},
    {NULL, "7", "7"},
};

static void check_row(hf_mem *mem, const hf_contract *contract, const apply_row *row)
{
    bool rejected = row->expect && row->expect[0] == '!';
    hf_value args = NULL;
    hf_value errors = NULL;
    hf_err err = {0};
    char what[300];

    (void)snprintf(what, sizeof(what), "%s with %s", row->contract ? row->contract : "(none)",
                   row->args ? row->args : "nothing");
    ck_assert_msg(
        hf_contract_apply(contract, value_of(mem, row->args), mem, &args, &errors, &err) == HF_OK,
        "%s", what);
    check_same(mem, args, rejected ? NULL : row->expect, what);
    check_same(mem, errors, rejected ? row->expect + 1 : NULL, what);
}

/* Arguments are taken, completed and ordered, or rejected with every reason, by the contract as
   written and by the one that was stored alike. */
START_TEST(arguments_are_validated)
{
    for (size_t i = 0; i < COUNT(apply_rows); i++) {
        hf_mem *mem = mem_new();
        const hf_contract *contract = parsed(mem, apply_rows[i].contract);
        const hf_contract *stored = NULL;

        check_row(mem, contract, &apply_rows[i]);
        ck_assert_int_eq(
            hf_contract_from_json(mem, hf_slice_of(json_of(mem, contract)), &stored, NULL), HF_OK);
        check_row(mem, stored, &apply_rows[i]);
        hf_mem_free(mem);
    }
}
END_TEST

/* Named arguments come out in declared order, not in the order they were given. */
START_TEST(order_is_the_contracts)
{
    hf_mem *mem = mem_new();
    hf_value args = NULL;
    hf_value errors = NULL;

    ck_assert_int_eq(hf_contract_apply(parsed(mem, "b:int, c:int=3, a:int"),
                                       value_of(mem, "{'a':1,'b':2}"), mem, &args, &errors, NULL),
                     HF_OK);
    ck_assert_str_eq(hf_text(mem, args), "{\"b\":2,\"c\":3,\"a\":1}");
    hf_mem_free(mem);
}
END_TEST

/* What already was normalised is taken again unchanged: a repeated command meets no surprise. */
START_TEST(accepted_arguments_are_stable)
{
    for (size_t i = 0; i < COUNT(apply_rows); i++) {
        hf_mem *mem = mem_new();
        const hf_contract *contract = parsed(mem, apply_rows[i].contract);
        hf_value args = NULL;
        hf_value again = NULL;
        hf_value errors = NULL;

        ck_assert_int_eq(hf_contract_apply(contract, value_of(mem, apply_rows[i].args), mem, &args,
                                           &errors, NULL),
                         HF_OK);
        /* A value that is an array would be read as a list of arguments. */
        if (args &&
            (contract->form != HF_CONTRACT_VALUE || hf_value_kind_of(args) != HF_VALUE_ARRAY)) {
            ck_assert_int_eq(hf_contract_apply(contract, args, mem, &again, &errors, NULL), HF_OK);
            ck_assert(hf_value_equal(args, again));
        }
        hf_mem_free(mem);
    }
}
END_TEST

/* A flood of strange names is answered within bounds. */
START_TEST(unknown_names_are_bounded)
{
    hf_mem *mem = mem_new();
    hf_value_list *object = hf_value_object(mem);
    char name[400];
    hf_value args = NULL;
    hf_value errors = NULL;

    for (int i = 0; i < 100; i++) {
        /* Two-byte characters from an odd position on, so that a cut may fall into one. */
        int len = snprintf(name, sizeof(name), "%03d", i);

        for (; len < 301; len += 2)
            memcpy(name + len, "\xC3\xA9", 2);
        hf_value_set(object, hf_slice_from(name, (size_t)len), hf_value_null());
    }
    ck_assert_int_eq(
        hf_contract_apply(parsed(mem, ""), hf_value_finish(object), mem, &args, &errors, NULL),
        HF_OK);
    ck_assert_ptr_null(args);
    ck_assert_uint_eq(hf_len(errors), HF_CONTRACT_UNKNOWN_MAX + 1);
    ck_assert_str_eq(hf_str(errors, "arguments.0", ""), "36 more arguments are unknown.");
    for (size_t i = 0; i < HF_CONTRACT_UNKNOWN_MAX; i++) {
        hf_slice key = {0};
        hf_value messages = NULL;

        ck_assert(hf_value_member(errors, i, &key, &messages));
        ck_assert_uint_eq(key.len, 99);
        ck_assert_uint_lt(hf_len(hf_at(messages, 0)), 130);
    }
    hf_mem_free(mem);
}
END_TEST

/* Who waits for a signal gets true, the value or the list; declared parameters come by name. */
START_TEST(signals_are_received_by_rule)
{
    static const apply_row rows[] = {
        {NULL, "[]", "true"},     {NULL, "[7]", "7"},           {NULL, "[[7]]", "[7]"},
        {NULL, "[1,2]", "[1,2]"}, {NULL, "{'k':1}", "{'k':1}"}, {NULL, "7", "7"},
        {NULL, "[null]", "null"}, {"a:int=1", NULL, "{'a':1}"}, {"a:int", "[7]", "{'a':7}"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_mem *mem = mem_new();
        const hf_contract *contract = parsed(mem, rows[i].contract);
        hf_value args = NULL;
        hf_value errors = NULL;

        ck_assert_int_eq(
            hf_contract_apply(contract, value_of(mem, rows[i].args), mem, &args, &errors, NULL),
            HF_OK);
        check_same(mem, hf_contract_received(args), rows[i].expect, "received");
        hf_mem_free(mem);
    }
}
END_TEST

/* A text long enough to need several blocks of an arena. */
static const char *long_contract(void)
{
    static char text[HF_CONTRACT_TEXT_MAX];
    size_t len = 0;

    for (int i = 0; i < HF_CONTRACT_PARAMS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "%sparameter_%d:enum(basic|pro|word_%050d)?=basic", i ? "," : "", i,
                                i);
    return text;
}

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

static const char *stored_text;
static const hf_contract *kept_contract;
static hf_value kept_args;

static hf_status pass_write(hf_mem *mem, hf_err *err)
{
    return hf_contract_to_value(kept_contract, mem) ? HF_OK : hf_err_nomem(err, "a contract");
}

static hf_status pass_read(hf_mem *mem, hf_err *err)
{
    const hf_contract *contract = NULL;
    hf_status st = hf_contract_from_json(mem, hf_slice_of(stored_text), &contract, err);

    ck_assert_int_eq(contract == NULL, st != HF_OK);
    return st;
}

static hf_status pass_apply(hf_mem *mem, hf_err *err)
{
    hf_value args = NULL;
    hf_value errors = NULL;
    hf_status st = hf_contract_apply(kept_contract, kept_args, mem, &args, &errors, err);

    ck_assert_int_eq((args != NULL) + (errors != NULL), st ? 0 : 1);
    return st;
}

/* The stored form and validation report lost memory and nothing else. */
START_TEST(stored_form_and_validation_survive_lost_memory)
{
    hf_mem *mem = mem_new();

    kept_contract = parsed(mem, long_contract());
    stored_text = json_of(mem, kept_contract);
    hf_lost_memory_each(pass_write);
    hf_lost_memory_each(pass_read);
    kept_args = NULL;
    hf_lost_memory_each(pass_apply);
    kept_args = value_of(mem, "{'parameter_0':1,'parameter_1':'no','x':1,'y':2}");
    hf_lost_memory_each(pass_apply);
    kept_args = value_of(mem, "'x'");
    hf_lost_memory_each(pass_apply);
    kept_contract = parsed(mem, "a:int");
    kept_args = value_of(mem, "[7.0]");
    hf_lost_memory_each(pass_apply);
    hf_mem_free(mem);
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

/* Stored forms that lost or changed bytes are read or refused, never trusted blindly. */
START_TEST(random_stored_forms_never_break)
{
    hf_mem *mem = mem_new();
    hf_rng rng;
    char room[2048];

    hf_rng_init_seeded(&rng, 7);
    for (int i = 0; i < 50000; i++) {
        const char *text = good_rows[hf_rng_below(&rng, COUNT(good_rows))].text;
        const char *json = json_of(mem, parsed(mem, text));
        size_t len = strlen(json);
        const hf_contract *contract = NULL;
        hf_status st;

        ck_assert_uint_lt(len, sizeof(room));
        memcpy(room, json, len);
        for (int j = 0; j < 2; j++)
            room[hf_rng_below(&rng, len)] = json[hf_rng_below(&rng, len)];
        st = hf_contract_from_json(mem, hf_slice_from(room, len), &contract, NULL);
        if (st == HF_OK)
            check_round_trip(mem, contract);
        else
            ck_assert_int_eq(st, HF_INVALID);
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/contract", {good_texts_are_read, 0}, {bad_texts_are_refused, 0},
              {texts_are_bounded, 0}, {type_words_are_unique, 0}, {stored_form_is_golden, 0},
              {stored_form_comes_back, 0}, {bad_stored_forms_are_refused, 0},
              {stored_forms_may_grow, 0}, {arguments_are_validated, 0}, {order_is_the_contracts, 0},
              {accepted_arguments_are_stable, 0}, {unknown_names_are_bounded, 0},
              {signals_are_received_by_rule, 0}, {parse_survives_lost_memory, 0},
              {stored_form_and_validation_survive_lost_memory, 0}, {random_texts_never_break, 300},
              {random_stored_forms_never_break, 300})
