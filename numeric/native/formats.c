/* What memory holds (item), what is computed in (real), vectors of both, and the way from one to the other.
   Widening is exact. Narrowing rounds once, to nearest and ties to even; infinities and NaN stay what they are.
   Vectors are as wide as the processor's; without any they are arithmetic on a few numbers at a time. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the upper half of a word must come second in memory"
#endif

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

#if defined(EXPTX_FLOAT64)
typedef double item;
typedef double real;
typedef int64_t counted;
#define LANES (BYTES / 8)
#elif defined(EXPTX_FLOAT32)
typedef float item;
typedef float real;
typedef int32_t counted;
#define LANES (BYTES / 4)
#else
typedef uint16_t item;
typedef float real;
typedef int32_t counted;
#define LANES (BYTES / 4)
#define EXPTX_NARROW
#endif

typedef real lanes __attribute__((vector_size(BYTES)));
typedef counted order __attribute__((vector_size(BYTES)));
typedef unsigned char bytes __attribute__((vector_size(BYTES)));

/* Chosen numbers of a and b, counted through both. */
#if defined(__clang__)
#define CHOOSE(order, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CHOOSE(order, a, b, ...) __builtin_shuffle(a, b, (order){__VA_ARGS__})
#endif

#if LANES == 16
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define FIRSTS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define LASTS 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif LANES == 8
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define FIRSTS 0, 8, 1, 9, 2, 10, 3, 11
#define LASTS 4, 12, 5, 13, 6, 14, 7, 15
#elif LANES == 4
#define EVENS 0, 2, 4, 6
#define ODDS 1, 3, 5, 7
#define FIRSTS 0, 4, 1, 5
#define LASTS 2, 6, 3, 7
#else
#define EVENS 0, 2
#define ODDS 1, 3
#define FIRSTS 0, 2
#define LASTS 1, 3
#endif

/* Writes a vector, past the cache if `past`; then the place is a multiple of its size. */
static inline void put(void *into, bytes value, int past)
{
#if defined(__clang__)
    if (past) {
        __builtin_nontemporal_store(value, (bytes *)into);
        return;
    }
#elif BYTES == 64
    typedef long long eight __attribute__((vector_size(64)));
    if (past) {
        __builtin_ia32_movntdq512((eight *)into, (eight)value);
        return;
    }
#elif BYTES == 32
    typedef long long four __attribute__((vector_size(32)));
    if (past) {
        __builtin_ia32_movntdq256((four *)into, (four)value);
        return;
    }
#elif defined(__SSE2__)
    typedef long long two __attribute__((vector_size(16)));
    if (past) {
        __builtin_ia32_movntdq((two *)into, (two)value);
        return;
    }
#endif
    memcpy(into, &value, sizeof value);
}

/* Bytes as they are, whole vectors as by `put`. */
static inline void put_all(item *into, const item *from, int64_t size, int past)
{
    int64_t i = 0;
    for (; i + BYTES <= size; i += BYTES) {
        bytes found;
        memcpy(&found, (const char *)from + i, sizeof found);
        put((char *)into + i, found, past);
    }
    memcpy((char *)into + i, (const char *)from + i, (size_t)(size - i));
}

#if !defined(EXPTX_NARROW)

static inline real widened(item value) { return value; }
static inline item narrowed(real value) { return value; }

static inline lanes load(const item *from)
{
    lanes found;
    memcpy(&found, from, sizeof found);
    return found;
}

static inline void load_two(const item *from, lanes *a, lanes *b)
{
    *a = load(from);
    *b = load(from + LANES);
}

static inline void load_pairs(const item *from, lanes x[2])
{
    const lanes a = load(from), b = load(from + LANES);
    x[0] = CHOOSE(order, a, b, EVENS);
    x[1] = CHOOSE(order, a, b, ODDS);
}

static inline void store_two(lanes a, lanes b, item *into, int past)
{
    put(into, (bytes)a, past);
    put(into + LANES, (bytes)b, past);
}

static inline void store_pairs(const lanes y[2], item *into, int past)
{
    store_two(CHOOSE(order, y[0], y[1], FIRSTS), CHOOSE(order, y[0], y[1], LASTS), into, past);
}

static inline void store(lanes value, item *into, int past) { put(into, (bytes)value, past); }

#else

typedef uint32_t words __attribute__((vector_size(BYTES)));
typedef uint16_t halves __attribute__((vector_size(BYTES)));
typedef uint16_t some_halves __attribute__((vector_size(BYTES / 2)));
typedef union {
    uint32_t bits;
    float value;
} word;

/* Halves of words: the upper ones of two vectors, and those of one vector as upper ones above nothing. */
#if LANES == 16
#define UPPER ODDS, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63
#define FIRST_HALVES \
    0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, \
    8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47
#define LAST_HALVES \
    0, 48, 1, 49, 2, 50, 3, 51, 4, 52, 5, 53, 6, 54, 7, 55, \
    8, 56, 9, 57, 10, 58, 11, 59, 12, 60, 13, 61, 14, 62, 15, 63
#elif LANES == 8
#define UPPER ODDS, 17, 19, 21, 23, 25, 27, 29, 31
#define FIRST_HALVES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define LAST_HALVES 0, 24, 1, 25, 2, 26, 3, 27, 4, 28, 5, 29, 6, 30, 7, 31
#else
#define UPPER ODDS, 9, 11, 13, 15
#define FIRST_HALVES 0, 8, 1, 9, 2, 10, 3, 11
#define LAST_HALVES 0, 12, 1, 13, 2, 14, 3, 15
#endif

static inline words load_words(const item *from)
{
    some_halves found;
    memcpy(&found, from, sizeof found);
    return __builtin_convertvector(found, words);
}

#if defined(EXPTX_BFLOAT16)

static inline real widened(item half)
{
    const word w = {(uint32_t)half << 16};
    return w.value;
}

static inline item narrowed(real value)
{
    word w;
    w.value = value;
    const uint32_t rounded = w.bits + 0x7fff + (w.bits >> 16 & 1), quiet = w.bits | 0x400000;
    return (item)(((w.bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded) >> 16);
}

static inline lanes load(const item *from) { return (lanes)(load_words(from) << 16); }

static inline void load_two(const item *from, lanes *a, lanes *b)
{
    const halves nothing = {0};
    halves found;
    memcpy(&found, from, sizeof found);
    *a = (lanes)CHOOSE(halves, nothing, found, FIRST_HALVES);
    *b = (lanes)CHOOSE(halves, nothing, found, LAST_HALVES);
}

/* Rounded to the upper half of each word; what is below does not count. */
static inline words rounded(lanes value)
{
    const words bits = (words)value, nan = (words)(value != value);
    const words near = bits + 0x7fff + (bits >> 16 & 1);
    return (near & ~nan) | ((bits | 0x400000) & nan);
}

static inline void load_pairs(const item *from, lanes x[2])
{
    words both;
    memcpy(&both, from, sizeof both);
    x[0] = (lanes)(both << 16);
    x[1] = (lanes)(both & 0xffff0000);
}

#if defined(__AVX512BF16__) && BYTES == 64
#define ROUNDS
#endif

#if defined(ROUNDS)
/* The processor's own rounding takes subnormal numbers for 0; whether there are any. */
static inline int any_subnormal(lanes value)
{
    uint16_t found;
    __asm__("vfpclassps $0x20, %1, %0" : "=k"(found) : "v"(value));
    return found;
}
#endif

/* The numbers of a, then of b. */
static inline bytes both(lanes a, lanes b)
{
#if defined(ROUNDS)
    if (__builtin_expect(!(any_subnormal(a) | any_subnormal(b)), 1)) {
        bytes found;
        __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(found) : "v"(a), "v"(b));
        return found;
    }
#endif
    return (bytes)CHOOSE(halves, (halves)rounded(a), (halves)rounded(b), UPPER);
}

static inline void store_two(lanes a, lanes b, item *into, int past) { put(into, both(a, b), past); }

static inline void store_pairs(const lanes y[2], item *into, int past)
{
    const halves found = (halves)both(y[0], y[1]);
    put(into, (bytes)CHOOSE(halves, found, found, FIRSTS, LASTS), past);
}

static inline void store(lanes value, item *into, int past)
{
    const some_halves found = __builtin_convertvector(rounded(value) >> 16, some_halves);
    (void)past;
    memcpy(into, &found, sizeof found);
}

#else

static inline real widened(item half)
{
    const uint32_t magnitude = half & 0x7fff;
    word w;
    if (magnitude < 0x400) /* subnormal: a multiple of 2^-24 */
        w.value = (float)(int32_t)magnitude * 0x1p-24f;
    else
        w.bits = (magnitude << 13) + (magnitude < 0x7c00 ? 112u << 23 : 224u << 23);
    w.bits |= (uint32_t)(half & 0x8000) << 16;
    return w.value;
}

static inline item narrowed(real value)
{
    word w;
    w.value = value;
    const uint32_t sign = w.bits >> 16 & 0x8000, magnitude = w.bits & 0x7fffffff;
    uint32_t found;
    if (magnitude > 0x7f800000) /* NaN */
        found = 0x7e00 | (magnitude >> 13 & 0x3ff);
    else if (magnitude >= 0x47800000) /* 2^16 and more */
        found = 0x7c00;
    else if (magnitude >= 0x38800000) /* 2^-14 and more; a carry may lead to infinity */
        found = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    else { /* subnormal: 1/2 has neighbours 2^-24 apart, so adding it rounds */
        w.bits = magnitude;
        w.value += 0.5f;
        found = w.bits - 0x3f000000;
    }
    return (item)(sign | found);
}

#if BYTES == 64
typedef short some_shorts __attribute__((vector_size(BYTES / 2)));

static inline lanes load(const item *from)
{
    some_shorts found;
    memcpy(&found, from, sizeof found);
    return __builtin_ia32_vcvtph2ps512_mask(found, (lanes){0}, 0xffff, 4);
}

static inline some_halves rounded(lanes value)
{
    return (some_halves)__builtin_ia32_vcvtps2ph512_mask(value, 4, (some_shorts){0}, 0xffff);
}
#elif BYTES == 32 && defined(__F16C__)
typedef short some_shorts __attribute__((vector_size(BYTES / 2)));

static inline lanes load(const item *from)
{
    lanes wide;
#if defined(__clang__)
    typedef _Float16 eight_halves __attribute__((vector_size(BYTES / 2)));
    eight_halves found;
    memcpy(&found, from, sizeof found);
    wide = __builtin_convertvector(found, lanes);
#else
    some_shorts found;
    memcpy(&found, from, sizeof found);
    wide = __builtin_ia32_vcvtph2ps256(found);
#endif
    return wide;
}

static inline some_halves rounded(lanes value) { return (some_halves)__builtin_ia32_vcvtps2ph256(value, 4); }
#else
static inline lanes load(const item *from)
{
    real wide[LANES];
    for (int i = 0; i < LANES; ++i)
        wide[i] = widened(from[i]);
    lanes found;
    memcpy(&found, wide, sizeof found);
    return found;
}

static inline some_halves rounded(lanes value)
{
    item narrow[LANES];
    for (int i = 0; i < LANES; ++i)
        narrow[i] = narrowed(value[i]);
    some_halves found;
    memcpy(&found, narrow, sizeof found);
    return found;
}
#endif

static inline void store(lanes value, item *into, int past)
{
    const some_halves found = rounded(value);
    (void)past;
    memcpy(into, &found, sizeof found);
}

static inline void load_two(const item *from, lanes *a, lanes *b)
{
    *a = load(from);
    *b = load(from + LANES);
}

static inline void load_pairs(const item *from, lanes x[2])
{
    const lanes a = load(from), b = load(from + LANES);
    x[0] = CHOOSE(order, a, b, EVENS);
    x[1] = CHOOSE(order, a, b, ODDS);
}

static inline void store_two(lanes a, lanes b, item *into, int past)
{
    const some_halves parts[2] = {rounded(a), rounded(b)};
    bytes found;
    memcpy(&found, parts, sizeof found);
    put(into, found, past);
}

static inline void store_pairs(const lanes y[2], item *into, int past)
{
    store_two(CHOOSE(order, y[0], y[1], FIRSTS), CHOOSE(order, y[0], y[1], LASTS), into, past);
}

#endif
#endif
