/* test_contract_json.c: the stored form of contracts, there and back, and damaged ones. */
#include <string.h>

#include "base/rng.h"
#include "model/contract_texts.h"

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

HF_SUITE_MAIN("model/contract_json", {stored_form_is_golden, 0}, {stored_form_comes_back, 0},
              {bad_stored_forms_are_refused, 0}, {stored_forms_may_grow, 0},
              {random_stored_forms_never_break, 300})
