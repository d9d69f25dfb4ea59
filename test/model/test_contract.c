/* test_contract.c: the words of types, arguments held against contracts, and what a run that waits
   receives of them. */
#include <stdio.h>
#include <string.h>

#include "lib/lost_memory.h"
#include "model/contract_texts.h"

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

HF_SUITE_MAIN("model/contract", {type_words_are_unique, 0}, {arguments_are_validated, 0},
              {order_is_the_contracts, 0}, {accepted_arguments_are_stable, 0},
              {unknown_names_are_bounded, 0}, {signals_are_received_by_rule, 0},
              {stored_form_and_validation_survive_lost_memory, 0})
