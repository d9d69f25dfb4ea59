/* contract_parse.c: the text of a contract, as authors write it (contract.h has the grammar). A
   mistake is answered with its position and what was expected there; nothing is guessed. A default
   is kept exactly as its stored form reads, so that code and history never disagree about it. */
#include "model/contract.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"

/* A default nests less deep than a value may, since it is put into snapshots that add levels. */
enum { DEFAULT_DEPTH_MAX = 32 };

#define TYPES_EXPECTED                                                                             \
    "a type (string, int, number, bool, array, object, any, enum(a|b), time or duration)"

typedef struct parser {
    hf_mem *mem;
    hf_slice text;
    size_t at; /* bytes read */
    hf_err *err;
} parser;

/* The next character, or NUL at the end; the text itself has none. */
static char peek(const parser *p)
{
    return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

static void skip_space(parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r')
        p->at++;
}

/* Moves over `c`, and over white space in front of it. */
static bool take(parser *p, char c)
{
    skip_space(p);
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static bool at_end(parser *p)
{
    skip_space(p);
    return p->at == p->text.len;
}

static hf_status expected(const parser *p, const char *what)
{
    char c = peek(p);

    if (c == '\0')
        return hf_err_set(p->err, HF_INVALID, "position %zu: expected %s, found the end", p->at + 1,
                          what);
    if (c > ' ' && c < 0x7F)
        return hf_err_set(p->err, HF_INVALID, "position %zu: expected %s, found '%c'", p->at + 1,
                          what, c);
    return hf_err_set(p->err, HF_INVALID, "position %zu: expected %s, found byte 0x%02X", p->at + 1,
                      what, (unsigned)(unsigned char)c);
}

/* The longest run of characters that `valid` takes one by one. */
static hf_slice take_word(parser *p, bool (*valid)(hf_slice))
{
    size_t start = p->at;

    while (p->at < p->text.len && valid(hf_slice_from(p->text.ptr + p->at, 1)))
        p->at++;
    return hf_slice_from(p->text.ptr + start, p->at - start);
}

/* A name's characters; a digit is refused in front only, by hf_param_name_valid. */
static bool name_character(hf_slice one)
{
    return hf_param_name_valid(one) || (one.ptr[0] >= '0' && one.ptr[0] <= '9');
}

static hf_status copy_text(parser *p, hf_slice text, hf_slice *out_copy)
{
    char *copy = hf_mem_text(p->mem, text);

    if (!copy)
        return hf_err_nomem(p->err, "a contract");
    *out_copy = hf_slice_from(copy, text.len);
    return HF_OK;
}

/* -- the parts of a parameter */

static hf_status parse_choice(parser *p, hf_slice *choices, size_t count)
{
    size_t start;
    hf_slice word;

    skip_space(p);
    start = p->at;
    word = take_word(p, hf_param_word_valid);
    if (word.len == 0)
        return expected(p, "one of the enum's words");
    if (count == HF_CONTRACT_CHOICES_MAX)
        return hf_err_set(p->err, HF_INVALID, "position %zu: expected at most %d words in an enum",
                          start + 1, HF_CONTRACT_CHOICES_MAX);
    if (!hf_param_word_valid(word))
        return hf_err_set(p->err, HF_INVALID, "position %zu: expected a word of at most %d bytes",
                          start + 1, HF_CONTRACT_WORD_MAX);
    for (size_t i = 0; i < count; i++) {
        if (hf_slice_equal(choices[i], word))
            return hf_err_set(p->err, HF_INVALID,
                              "position %zu: expected another word, %.*s is there already",
                              start + 1, (int)word.len, word.ptr);
    }
    return copy_text(p, word, &choices[count]);
}

/* "(a|b)" behind the word enum. */
static hf_status parse_choices(parser *p, hf_param *param)
{
    hf_slice found[HF_CONTRACT_CHOICES_MAX];
    hf_slice *choices;
    size_t count = 0;

    if (!take(p, '('))
        return expected(p, "'(' and the enum's words");
    do {
        hf_status st = parse_choice(p, found, count);

        if (st)
            return st;
        count++;
    } while (take(p, '|'));
    if (!take(p, ')'))
        return expected(p, "'|' or ')'");
    choices = hf_mem_array(p->mem, count, sizeof(*choices));
    if (!choices)
        return hf_err_nomem(p->err, "the words of an enum");
    memcpy(choices, found, count * sizeof(*choices));
    param->choices = choices;
    param->choice_count = count;
    return HF_OK;
}

/* Moves to the comma behind a default, or to the end: commas in brackets or quotes belong to it. */
static hf_slice take_default(parser *p)
{
    size_t start = p->at;
    size_t depth = 0;
    bool quoted = false;

    for (; p->at < p->text.len; p->at++) {
        char c = p->text.ptr[p->at];

        if (quoted && c == '\\' && p->at + 1 < p->text.len)
            p->at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && (c == ']' || c == '}') && depth > 0)
            depth--;
        else if (!quoted && c == ',' && depth == 0)
            break;
    }
    return hf_slice_trim(hf_slice_from(p->text.ptr + start, p->at - start));
}

static bool takes_bare_word(hf_param_type type)
{
    return type == HF_PARAM_STRING || type == HF_PARAM_ENUM || type == HF_PARAM_TIME;
}

/* Reads a literal and what its canonical text reads as: that is the value the stored form has. */
static hf_status read_literal(parser *p, hf_slice literal, hf_value *out_value)
{
    const hf_json_limits limits = {.depth_max = DEFAULT_DEPTH_MAX};
    hf_buf buf = {0};
    hf_status st = hf_json_read(p->mem, literal, &limits, out_value, p->err);

    if (st)
        goto done;
    hf_json_write_canonical(&buf, *out_value);
    if (!hf_buf_ok(&buf)) {
        st = hf_err_nomem(p->err, "a default");
        goto done;
    }
    st = hf_json_read(p->mem, hf_buf_slice(&buf), &limits, out_value, p->err);
done:
    hf_buf_fini(&buf);
    if (st == HF_TOOBIG)
        st = hf_err_set(p->err, HF_INVALID, "it nests deeper than %d levels", DEFAULT_DEPTH_MAX);
    return st;
}

/* What stands behind '='. */
static hf_status parse_default(parser *p, hf_param *param)
{
    hf_value value = NULL;
    hf_slice literal;
    hf_status st = HF_OK;
    size_t start;

    skip_space(p);
    start = p->at;
    literal = take_default(p);
    if (literal.len == 0) {
        p->at = start;
        return expected(p, "a default");
    }
    if (takes_bare_word(param->type) && hf_param_word_valid(literal) &&
        !hf_slice_equal(literal, HF_SLICE("null"))) {
        value = hf_value_string(p->mem, literal);
        if (!value)
            return hf_err_nomem(p->err, "a default");
    } else {
        st = read_literal(p, literal, &value);
    }
    if (!st)
        st = hf_param_take(param, value, p->mem, &param->fallback, p->err);
    if (st == HF_NOMEM)
        return st;
    if (st)
        return hf_err_because(p->err, st, "position %zu: expected a default of type %s", start + 1,
                              hf_param_type_text(param->type));
    if (!param->fallback && hf_value_kind_of(value) == HF_VALUE_NULL)
        return hf_err_set(p->err, HF_INVALID,
                          "position %zu: expected a default that is not null, or '?' behind the "
                          "type",
                          start + 1);
    if (!param->fallback)
        return hf_err_set(p->err, HF_INVALID, "position %zu: expected a default of type %s",
                          start + 1, hf_param_type_text(param->type));
    return HF_OK;
}

/* "type?=default" */
static hf_status parse_type(parser *p, hf_param *param)
{
    size_t start;
    hf_slice word;
    hf_status st = HF_OK;

    skip_space(p);
    start = p->at;
    word = take_word(p, name_character);
    if (!hf_param_type_parse(word, &param->type)) {
        p->at = start;
        return expected(p, TYPES_EXPECTED);
    }
    param->allows_null = param->type == HF_PARAM_ANY;
    if (param->type == HF_PARAM_ENUM)
        st = parse_choices(p, param);
    if (st)
        return st;
    if (take(p, '?')) {
        param->allows_null = true;
        param->fallback = hf_value_null();
    }
    if (take(p, '='))
        st = parse_default(p, param);
    return st;
}

/* "name:" in front of a type. */
static hf_status parse_name(parser *p, hf_param *params, size_t count)
{
    size_t start;
    hf_slice name;

    skip_space(p);
    start = p->at;
    name = take_word(p, name_character);
    if (!hf_param_name_valid(name)) {
        p->at = start;
        return expected(p, name.len > HF_CONTRACT_WORD_MAX ? "a name of at most 64 bytes"
                                                           : "the name of a parameter");
    }
    for (size_t i = 0; i < count; i++) {
        if (hf_slice_equal(params[i].name, name))
            return hf_err_set(p->err, HF_INVALID,
                              "position %zu: expected another name, %.*s is there already",
                              start + 1, (int)name.len, name.ptr);
    }
    if (!take(p, ':'))
        return expected(p, "':' and a type behind the name");
    return copy_text(p, name, &params[count].name);
}

/* -- whole contracts */

/* Whether the text is "type?=default": it begins with a type's word that no colon follows. */
static bool is_unnamed(const parser *p)
{
    parser ahead = *p;
    hf_param_type ignored;

    skip_space(&ahead);
    return hf_param_type_parse(take_word(&ahead, name_character), &ignored) && !take(&ahead, ':');
}

static hf_status parse_named(parser *p, hf_param *params, size_t *out_count)
{
    size_t count = 0;

    if (at_end(p))
        return HF_OK;
    do {
        hf_status st;

        if (count == HF_CONTRACT_PARAMS_MAX)
            return hf_err_set(p->err, HF_INVALID, "position %zu: expected at most %d parameters",
                              p->at + 1, HF_CONTRACT_PARAMS_MAX);
        st = parse_name(p, params, count);
        if (!st)
            st = parse_type(p, &params[count]);
        if (st)
            return st;
        count++;
    } while (take(p, ','));
    if (!at_end(p))
        return expected(p, "',' or the end");
    *out_count = count;
    return HF_OK;
}

static hf_status parse_unnamed(parser *p, hf_param *params, size_t *out_count)
{
    hf_status st = parse_type(p, &params[0]);

    if (st)
        return st;
    if (!at_end(p))
        return expected(p, "the end, as a value without a name stands alone");
    *out_count = 1;
    return HF_OK;
}

hf_status hf_contract_parse(hf_mem *mem, const char *text, const hf_contract **out_contract,
                            hf_err *err)
{
    parser p = {.mem = mem, .text = hf_slice_of(text), .err = err};
    hf_param found[HF_CONTRACT_PARAMS_MAX] = {0};
    hf_contract_form form = HF_CONTRACT_UNDECLARED;
    hf_contract *contract;
    hf_param *params = NULL;
    size_t count = 0;
    hf_status st = HF_OK;

    *out_contract = NULL;
    if (p.text.len > HF_CONTRACT_TEXT_MAX)
        return hf_err_set(err, HF_INVALID, "a contract has %zu bytes; at most %d are allowed",
                          p.text.len, HF_CONTRACT_TEXT_MAX);
    if (text && is_unnamed(&p)) {
        form = HF_CONTRACT_VALUE;
        st = parse_unnamed(&p, found, &count);
    } else if (text) {
        form = HF_CONTRACT_NAMED;
        st = parse_named(&p, found, &count);
    }
    if (st)
        return st;
    contract = hf_mem_alloc(mem, sizeof(*contract));
    if (contract && count > 0)
        params = hf_mem_array(mem, count, sizeof(*params));
    if (!contract || (count > 0 && !params))
        return hf_err_nomem(err, "a contract");
    if (count > 0)
        memcpy(params, found, count * sizeof(*params));
    *contract = (hf_contract){.form = form, .params = params, .count = count};
    *out_contract = contract;
    return HF_OK;
}
