/* json_number.c: decimal text to numbers and back. Numbers of everyday size are converted by exact
   integer arithmetic; the rest goes through strtod and snprintf, which are given and read digits
   only, so that the decimal point of the locale never matters. */
#include "base/json_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum {
    POWER_EXACT_MAX = 22,     /* 10^22 is the largest power of ten that is an exact double */
    POWER_FIVE_MAX = 27,      /* 5^27 is the largest power of five that fits 64 bits */
    DIGITS_MAX = 17,          /* enough for every double */
    DIGITS_UNIQUE = 15,       /* decimals of that many digits survive a trip through a double */
    MANTISSA_DIGITS_MAX = 19, /* always fit 64 bits */
    EXPONENT_CLAMP = 1000000, /* beyond every double, far from overflow */
    PHP_POINT_MAX = 17,       /* PHP changes to exponents beyond this many digits, */
    PHP_POINT_MIN = -3,       /* and below this many zeros behind the point */
    ES6_POINT_MAX = 21,       /* ECMAScript's two limits */
    ES6_POINT_MIN = -5
};

_Static_assert(FLT_EVAL_METHOD == 0, "the shortcuts need doubles that round after each operation");

/* 0.d1d2d3... * 10^point */
typedef struct decimal {
    char digits[DIGITS_MAX];
    int count;
    int point;
} decimal;

static const double power_exact[POWER_EXACT_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t power_five[POWER_FIVE_MAX + 1] = {UINT64_C(1),
                                                        UINT64_C(5),
                                                        UINT64_C(25),
                                                        UINT64_C(125),
                                                        UINT64_C(625),
                                                        UINT64_C(3125),
                                                        UINT64_C(15625),
                                                        UINT64_C(78125),
                                                        UINT64_C(390625),
                                                        UINT64_C(1953125),
                                                        UINT64_C(9765625),
                                                        UINT64_C(48828125),
                                                        UINT64_C(244140625),
                                                        UINT64_C(1220703125),
                                                        UINT64_C(6103515625),
                                                        UINT64_C(30517578125),
                                                        UINT64_C(152587890625),
                                                        UINT64_C(762939453125),
                                                        UINT64_C(3814697265625),
                                                        UINT64_C(19073486328125),
                                                        UINT64_C(95367431640625),
                                                        UINT64_C(476837158203125),
                                                        UINT64_C(2384185791015625),
                                                        UINT64_C(11920928955078125),
                                                        UINT64_C(59604644775390625),
                                                        UINT64_C(298023223876953125),
                                                        UINT64_C(1490116119384765625),
                                                        UINT64_C(7450580596923828125)};

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static bool byte_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- reading */

/* What the scan has seen of a number. */
typedef struct number_scan {
    const char *start; /* the first digit */
    const char *end;
    uint64_t mantissa; /* the first MANTISSA_DIGITS_MAX significant digits */
    int digits;        /* in the mantissa */
    bool cut;          /* there were more digits */
    int exponent;      /* of the whole run of digits, written without a point */
    int written;       /* exponent as written */
    bool is_double;    /* has a fraction or an exponent */
} number_scan;

static const char *scan_digits(number_scan *scan, const char *at)
{
    for (; byte_is_digit(*at); at++) {
        if (scan->digits < MANTISSA_DIGITS_MAX) {
            scan->mantissa = scan->mantissa * 10 + (uint64_t)(*at - '0');
            scan->digits += scan->mantissa != 0;
        } else {
            scan->cut = true;
        }
    }
    return at;
}

static bool scan_exponent(number_scan *scan, const char *at)
{
    bool negative = *at == '-';
    int number = 0;

    if (*at == '-' || *at == '+')
        at++;
    scan->end = at;
    if (!byte_is_digit(*at))
        return false;
    for (; byte_is_digit(*at); at++)
        number = number < EXPONENT_CLAMP ? number * 10 + (*at - '0') : EXPONENT_CLAMP;
    scan->written = negative ? -number : number;
    scan->end = at;
    return true;
}

/* The grammar of RFC 8259 behind the sign. On failure scan->end is the offending byte. */
static bool scan_number(number_scan *scan)
{
    const char *at = scan->start;
    const char *fraction;

    scan->end = at;
    if (!byte_is_digit(*at))
        return false;
    at = *at == '0' ? at + 1 : scan_digits(scan, at);
    scan->end = at;
    if (byte_is_digit(*at))
        return false; /* a leading zero */
    if (*at == '.') {
        fraction = at + 1;
        at = scan_digits(scan, fraction);
        scan->end = at;
        scan->is_double = true;
        if (at == fraction)
            return false;
        scan->exponent = fraction - at > -EXPONENT_CLAMP ? (int)(fraction - at) : -EXPONENT_CLAMP;
    }
    if (*at == 'e' || *at == 'E') {
        scan->is_double = true;
        if (!scan_exponent(scan, at + 1))
            return false;
    }
    return true;
}

/* All digits without a point, then the exponent that makes up for it: strtod rounds correctly. */
static double scan_convert(const number_scan *scan)
{
    char text[HF_JSON_NUMBER_MAX + 32];
    size_t len = 0;

    for (const char *at = scan->start; at < scan->end && *at != 'e' && *at != 'E'; at++) {
        if (*at != '.')
            text[len++] = *at;
    }
    (void)snprintf(text + len, sizeof(text) - len, "e%d", scan->exponent + scan->written);
    return strtod(text, NULL);
}

static double scan_double(const number_scan *scan)
{
    int exponent = scan->exponent + scan->written;

    if (!scan->cut && scan->mantissa <= (UINT64_C(1) << 53)) {
        if (scan->mantissa == 0)
            return 0.0;
        /* Both operands are exact, so the one rounding is the right one (Clinger). */
        if (exponent >= 0 && exponent <= POWER_EXACT_MAX)
            return (double)scan->mantissa * power_exact[exponent];
        if (exponent < 0 && exponent >= -POWER_EXACT_MAX)
            return (double)scan->mantissa / power_exact[-exponent];
    }
    return scan_convert(scan);
}

hf_json_number_end hf_json_number_read(const char *at, hf_json_number *out_number)
{
    bool negative = *at == '-';
    number_scan scan = {.start = at + negative};
    bool good = scan_number(&scan);
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    double number;

    out_number->end = scan.end;
    if (!good)
        return HF_JSON_NUMBER_MALFORMED;
    if (!scan.is_double && !scan.cut && scan.mantissa <= limit && !(negative && !scan.mantissa)) {
        out_number->integer = negative ? (int64_t)(0 - scan.mantissa) : (int64_t)scan.mantissa;
        return HF_JSON_NUMBER_INT;
    }
    if (scan.end - at > HF_JSON_NUMBER_MAX)
        return HF_JSON_NUMBER_LONG;
    number = scan_double(&scan);
    if (!isfinite(number))
        return HF_JSON_NUMBER_RANGE;
    out_number->number = negative ? -number : number;
    return HF_JSON_NUMBER_DOUBLE;
}

/* ---- writing */

/* Writes `number` so that it ends before `end`; returns where it starts. */
static char *digits_put_back(uint64_t number, char *end)
{
    while (number >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (number % 100), 2);
        number /= 100;
    }
    if (number >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * number, 2);
    } else {
        *--end = (char)('0' + number);
    }
    return end;
}

/* The digits of `mantissa` * 10^exponent, without zeros at the end. */
static void decimal_set(decimal *out, uint64_t mantissa, int exponent)
{
    char text[20];
    char *end = text + sizeof(text);
    char *start = digits_put_back(mantissa, end);
    int count = (int)(end - start);

    out->point = count + exponent;
    while (count > 1 && start[count - 1] == '0')
        count--;
    HF_ASSERT(count <= DIGITS_MAX);
    memcpy(out->digits, start, (size_t)count);
    out->count = count;
}

/* A 128-bit product. */
typedef struct wide {
    uint64_t high;
    uint64_t low;
} wide;

static wide wide_product(uint64_t a, uint64_t b)
{
    uint64_t a_low = a & UINT32_MAX;
    uint64_t a_high = a >> 32;
    uint64_t b_low = b & UINT32_MAX;
    uint64_t b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (middle & UINT32_MAX);

    return (wide){.high = a_high * b_high + (middle >> 32) + (other >> 32),
                  .low = other << 32 | (low & UINT32_MAX)};
}

/* from / 2^shift for 0 < shift < 64; *out_rest is what the division leaves, in the high bits. */
static uint64_t wide_shift(wide from, int shift, uint64_t *out_rest)
{
    *out_rest = from.low << (64 - shift);
    return from.high << (64 - shift) | from.low >> shift;
}

/* Of the multiples of 10^zeros, the one nearest to whole + rest / 2^64, divided by 10^zeros; of two
   equally near ones the even one. */
static uint64_t decimal_nearest(uint64_t whole, uint64_t rest, int zeros)
{
    const uint64_t half = UINT64_C(1) << 63;
    uint64_t power = (uint64_t)power_exact[zeros];
    uint64_t below = whole / power;
    uint64_t left = whole % power;
    bool tie;
    bool up;

    if (zeros == 0) {
        tie = rest == half;
        up = rest > half;
    } else {
        tie = left == power / 2 && rest == 0;
        up = left > power / 2 || (left == power / 2 && rest > 0);
    }
    return below + (tie ? (below & 1) : up);
}

/* The shortest decimal by exact arithmetic, for 2^-36 <= number < 2^53. The doubles around `number`
   bound an interval of reals that read back as it. Everything is scaled by 10^places so that the
   interval holds whole numbers of 17 or 18 digits, of which the one with most zeros at its end is
   wanted, and the nearest to `number` of those. */
static bool decimal_exact(double number, decimal *out)
{
    const uint64_t hidden = UINT64_C(1) << 52;
    uint64_t bits;
    uint64_t mantissa;
    uint64_t low, low_rest, high, high_rest, whole, rest;
    bool closed; /* the ends of the interval round to `number` too */
    int binary, power, places, shift;
    int zeros = 0;

    memcpy(&bits, &number, sizeof(bits));
    binary = (int)(bits >> 52) - 1023;
    if (binary < -36 || binary > 52)
        return false;
    mantissa = (bits & (hidden - 1)) | hidden;
    closed = mantissa % 2 == 0;
    power = binary * 30103 / 100000 - (binary < 0); /* floor of the decimal exponent */
    places = DIGITS_MAX - 1 - power;
    shift = 54 - binary - places;
    HF_ASSERT(places >= 0 && places <= POWER_FIVE_MAX && shift > 0 && shift < 64);
    whole = wide_shift(wide_product(4 * mantissa, power_five[places]), shift, &rest);
    /* Below a power of two the next double is only half as far away. */
    low = wide_shift(wide_product(4 * mantissa - (mantissa == hidden ? 1 : 2), power_five[places]),
                     shift, &low_rest);
    high = wide_shift(wide_product(4 * mantissa + 2, power_five[places]), shift, &high_rest);
    low += low_rest || !closed;
    high -= !high_rest && !closed;
    while (high / 10 * 10 >= low && zeros < DIGITS_MAX) {
        low = (low + 9) / 10;
        high /= 10;
        zeros++;
    }
    whole = decimal_nearest(whole, rest, zeros);
    whole = whole < low ? low : whole > high ? high : whole;
    decimal_set(out, whole, zeros - places);
    return true;
}

/* `number` rounded to `count` digits. The byte or bytes between the first digit and the others are
   the locale's point and are skipped. */
static void decimal_round(double number, int count, decimal *out)
{
    char text[64];
    const char *at = text;

    (void)snprintf(text, sizeof(text), "%.*e", count - 1, number);
    out->count = 0;
    for (; *at && *at != 'e'; at++) {
        if (byte_is_digit(*at) && out->count < count)
            out->digits[out->count++] = *at;
    }
    HF_ASSERT(out->count == count && *at == 'e');
    out->point = (int)strtol(at + 1, NULL, 10) + 1;
}

static double decimal_value(const decimal *from)
{
    char text[DIGITS_MAX + 16];

    memcpy(text, from->digits, (size_t)from->count);
    (void)snprintf(text + from->count, sizeof(text) - (size_t)from->count, "e%d",
                   from->point - from->count);
    return strtod(text, NULL);
}

/* The next larger decimal of as many digits. */
static void decimal_step(decimal *number)
{
    int at = number->count - 1;

    while (at >= 0 && number->digits[at] == '9')
        number->digits[at--] = '0';
    if (at >= 0) {
        number->digits[at]++;
        return;
    }
    number->digits[0] = '1';
    number->point++;
}

/* Is there a decimal of `count` digits that reads back as `number`? */
static bool decimal_try(double number, int count, decimal *out)
{
    int exponent;

    decimal_round(number, count, out);
    if (decimal_value(out) == number)
        return true;
    /* Below a power of two doubles lie twice as close, so that the nearest decimal may miss on that
       side while the next one above still reads back. */
    if (frexp(number, &exponent) != 0.5)
        return false;
    decimal_step(out);
    return decimal_value(out) == number;
}

static void decimal_shortest(double number, decimal *out)
{
    int count = number < DBL_MIN ? 1 : DIGITS_UNIQUE;

    if (number < 0x1p53 && number == (double)(uint64_t)number) {
        decimal_set(out, (uint64_t)number, 0);
        return;
    }
    if (decimal_exact(number, out))
        return;
    while (count < DIGITS_MAX && !decimal_try(number, count, out))
        count++;
    if (count == DIGITS_MAX)
        decimal_round(number, DIGITS_MAX, out);
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
}

static char *text_add(char *at, const char *from, int len)
{
    memcpy(at, from, (size_t)len);
    return at + len;
}

static char *zeros_add(char *at, int count)
{
    memset(at, '0', (size_t)count);
    return at + count;
}

/* d.ddde+x. PHP writes ".0" where there is one digit only; ECMAScript writes no point. */
static char *decimal_put_exponent(const decimal *from, bool pad, char *at)
{
    int exponent = from->point - 1;
    char digits[4];
    char *end = digits + sizeof(digits);
    char *start = digits_put_back((uint64_t)(exponent < 0 ? -exponent : exponent), end);

    *at++ = from->digits[0];
    if (from->count > 1) {
        *at++ = '.';
        at = text_add(at, from->digits + 1, from->count - 1);
    } else if (pad) {
        at = text_add(at, ".0", 2);
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    return text_add(at, start, (int)(end - start));
}

static char *decimal_put(const decimal *from, bool fraction, char *at)
{
    if (from->point <= 0) {
        at = text_add(at, "0.", 2);
        at = zeros_add(at, -from->point);
        return text_add(at, from->digits, from->count);
    }
    if (from->point >= from->count) {
        at = text_add(at, from->digits, from->count);
        at = zeros_add(at, from->point - from->count);
        return fraction ? text_add(at, ".0", 2) : at;
    }
    at = text_add(at, from->digits, from->point);
    *at++ = '.';
    return text_add(at, from->digits + from->point, from->count - from->point);
}

size_t hf_json_int_put(int64_t integer, char *out_text)
{
    char text[20];
    char *end = text + sizeof(text);
    char *start = digits_put_back(integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer, end);

    if (integer < 0)
        *--start = '-';
    memcpy(out_text, start, (size_t)(end - start));
    return (size_t)(end - start);
}

size_t hf_json_double_put(double number, hf_json_number_style style, char *out_text)
{
    bool php = style == HF_JSON_NUMBER_PHP;
    bool fraction = style != HF_JSON_NUMBER_ES6;
    char *at = out_text;
    decimal shortest;

    HF_ASSERT(isfinite(number));
    if (signbit(number) && (fraction || number != 0.0))
        *at++ = '-';
    number = fabs(number);
    decimal_shortest(number, &shortest);
    if (shortest.point > (php ? PHP_POINT_MAX : ES6_POINT_MAX) ||
        shortest.point < (php ? PHP_POINT_MIN : ES6_POINT_MIN))
        at = decimal_put_exponent(&shortest, php, at);
    else
        at = decimal_put(&shortest, fraction, at);
    return (size_t)(at - out_text);
}
