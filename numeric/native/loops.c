/* Every token of every head, in tiles that threads take one after the other. */

#define INLINED static inline __attribute__((always_inline))

enum {
    TOKENS = 1024,  /* of a tile: their table rows stay in the cache while the heads go by */
    GRAIN = 32768,  /* features of a tile, or more: what is worth a thread's while */
    TOGETHER = 4,   /* heads that read one table row while it is in the cache nearest to the core */
    MOST_TABLES = TABLES ? TABLES : 1,
    PARTS = 2       /* tensors of one call, e.g. queries and keys */
};

typedef struct {
    int64_t batch, heads, time, blocks, tail;
    int64_t from[4], into[4];  /* strides in items: batch, head, token, feature */
    int64_t table[TABLES][3];  /* strides: batch, row, column */
    int64_t ids[2];            /* strides of the row numbers: batch, token */
    int64_t rows;              /* that row numbers may name */
    int64_t past;              /* write past the cache, unless in place or not at whole lines */
    int64_t alike;             /* x and y have the same strides */
    int64_t from_span, into_span, table_span[TABLES];  /* bytes */
} shape;

typedef struct {
    const shape *shape;
    const item *from;
    item *into;
    int64_t tokens, heads;  /* of a tile */
    int64_t tiles;          /* of this and all earlier parts */
} part;

typedef struct {
    part parts[PARTS];
    const int64_t *ids;
    const real *tables[MOST_TABLES];
    int64_t together;  /* tiles that a thread takes at once: small ones are not worth their while */
    int64_t apart[8];  /* so that what is counted shares no cache line with what is read */
    int64_t next;      /* the first tile that no thread has taken */
} work;

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }

/* Where coordinate j of a block stands in a row. */
static inline int64_t at(const shape *s, int64_t block, int64_t j)
{
    return INTERLEAVED ? INPUTS * block + j : block + j * s->blocks;
}

/* count <= LANES blocks from `first`, wherever they and their table entries stand. */
static void few_blocks(const shape *s, const item *from, item *into, const real *const *table, int64_t first,
                       int64_t count)
{
    real gathered[INPUTS + TABLES][LANES] = {{0}}, turned[INPUTS][LANES];
    lanes x[INPUTS + TABLES], y[INPUTS];
    for (int64_t i = 0; i < count; ++i) {
        for (int j = 0; j < INPUTS; ++j)
            gathered[j][i] = widened(from[at(s, first + i, j) * s->from[3]]);
        for (int k = 0; k < TABLES; ++k)
            gathered[INPUTS + k][i] = table[k][(first + i) * s->table[k][2]];
    }
    memcpy(x, gathered, sizeof x);
    turn(x, x + INPUTS, y);
    memcpy(turned, y, sizeof y);
    for (int64_t i = 0; i < count; ++i)
        for (int j = 0; j < INPUTS; ++j)
            into[at(s, first + i, j) * s->into[3]] = narrowed(turned[j][i]);
}

static inline void load_tables(const real *const *table, int64_t first, lanes *t)
{
    for (int k = 0; k < TABLES; ++k)
        memcpy(t + k, table[k] + first, sizeof t[k]);
}

/* Blocks that fill a vector, read but not turned yet. */
typedef struct {
    lanes x[INPUTS], t[MOST_TABLES];
} group;

#if INTERLEAVED && INPUTS == 2
#define DENSE
enum { STEP = LANES };

INLINED void take(const shape *s, const item *from, const real *const *table, int64_t first, group *g)
{
    (void)s;
    load_pairs(from + 2 * first, g->x);
    load_tables(table, first, g->t);
}

INLINED void give(const shape *s, item *into, int64_t first, const group *g, int past)
{
    lanes y[2];
    (void)s;
    turn(g->x, g->t, y);
    store_pairs(y, into + 2 * first, past);
}

/* STEP blocks from `first`. */
INLINED void one_step(const shape *s, const item *from, item *into, const real *const *table, int64_t first, int past)
{
    group g;
    take(s, from, table, first, &g);
    give(s, into, first, &g, past);
}
#elif !INTERLEAVED
#define DENSE
enum { STEP = 2 * LANES };

INLINED void take(const shape *s, const item *from, const real *const *table, int64_t first, group *g)
{
    for (int j = 0; j < INPUTS; ++j)
        g->x[j] = load(from + first + j * s->blocks);
    load_tables(table, first, g->t);
}

INLINED void give(const shape *s, item *into, int64_t first, const group *g, int past)
{
    lanes y[INPUTS];
    turn(g->x, g->t, y);
    for (int j = 0; j < INPUTS; ++j)
        store(y[j], into + first + j * s->blocks, past);
}

/* STEP blocks from `first`: two vectors, of which halves of words fill one in memory. */
INLINED void one_step(const shape *s, const item *from, item *into, const real *const *table, int64_t first, int past)
{
    group g[2];
    lanes y[2][INPUTS];
    for (int j = 0; j < INPUTS; ++j)
        load_two(from + first + j * s->blocks, &g[0].x[j], &g[1].x[j]);
    for (int half = 0; half < 2; ++half) {
        load_tables(table, first + half * LANES, g[half].t);
        turn(g[half].x, g[half].t, y[half]);
    }
    for (int j = 0; j < INPUTS; ++j)
        store_two(y[0][j], y[1][j], into + first + j * s->blocks, past);
}
#endif

#if defined(DENSE)
/* A row whose features are neighbours. Where vectors do not divide it, the last one is shifted back over blocks that
   are turned twice from the same numbers: it is read before any of them is overwritten. */
INLINED void dense_row(const shape *s, const item *from, item *into, const real *const *table, int past)
{
    const int64_t rest = s->blocks % LANES, last = s->blocks - LANES;
    int64_t first = 0;
    group g, shifted = {{{0}}, {{0}}};
    if (rest && last > 0)
        take(s, from, table, last, &shifted);
    for (; first + STEP <= s->blocks; first += STEP)
        one_step(s, from, into, table, first, past);
    if (first + LANES <= s->blocks) {
        take(s, from, table, first, &g);
        give(s, into, first, &g, past);
    }
    if (rest && last > 0)
        give(s, into, last, &shifted, 0);
    else if (rest)
        few_blocks(s, from, into, table, 0, rest);
}
#endif

INLINED void one_row(const shape *s, const item *from, item *into, const real *const *table, int dense, int past)
{
    const int64_t width = INPUTS * s->blocks;
    (void)dense;
    (void)past;
#if defined(DENSE)
    if (dense) {
        dense_row(s, from, into, table, past);
        if (s->tail && into != from)
            put_all(into + width, from + width, s->tail * (int64_t)sizeof(item), past);
        return;
    }
#endif
    for (int64_t first = 0; first < s->blocks; first += LANES)
        few_blocks(s, from, into, table, first, smaller(LANES, s->blocks - first));
    for (int64_t i = width; i < width + s->tail; ++i)
        into[i * s->into[3]] = from[i * s->from[3]];
}

/* Features, and the entries of table rows, are neighbours. */
static int is_dense(const shape *s)
{
    int dense = s->from[3] == 1 && s->into[3] == 1;
    for (int k = 0; k < TABLES; ++k)
        dense = dense && s->table[k][2] == 1;
    return dense;
}

static int heads_are_near(const shape *s) { return s->from[1] < s->from[2]; }

INLINED void one_tile_as(const work *w, const part *p, int64_t unit, int dense, int past)
{
    const shape *const s = p->shape;
    const int64_t groups = pieces(s->heads, p->heads), tiles = pieces(s->time, p->tokens);
    const int64_t batch = unit / (tiles * groups), token = unit / groups % tiles * p->tokens;
    const int64_t head = unit % groups * p->heads;
    const int64_t tokens = smaller(p->tokens, s->time - token), heads = smaller(p->heads, s->heads - head);
    for (int64_t t = token; t < token + tokens; ++t) {
        const int64_t row = w->ids ? w->ids[batch * s->ids[0] + t * s->ids[1]] : t;
        const real *table[MOST_TABLES];
        for (int k = 0; k < TABLES; ++k)
            table[k] = w->tables[k] + batch * s->table[k][0] + row * s->table[k][1];
        const item *from = p->from + batch * s->from[0] + head * s->from[1] + t * s->from[2];
        item *into = p->into + batch * s->into[0] + head * s->into[1] + t * s->into[2];
        for (int64_t h = 0; h < heads; ++h, from += s->from[1], into += s->into[1])
            one_row(s, from, into, table, dense, past);
    }
}

static void one_tile(const work *w, const part *p, int64_t unit)
{
    const shape *const s = p->shape;
    if (!is_dense(s))
        one_tile_as(w, p, unit, 0, 0);
    else if (s->past && p->from != p->into && (uintptr_t)p->into % 64 == 0)
        one_tile_as(w, p, unit, 1, 1);
    else
        one_tile_as(w, p, unit, 1, 0);
}

static void take_tiles(void *shared)
{
    work *const w = shared;
    const int64_t tiles = w->parts[PARTS - 1].tiles, together = w->together;
    int64_t unit;
    while ((unit = __atomic_fetch_add(&w->next, together, __ATOMIC_RELAXED)) < tiles) {
        const int64_t end = smaller(unit + together, tiles);
        for (int i = 0; i < PARTS; ++i) {
            const int64_t earlier = i ? w->parts[i - 1].tiles : 0;
            for (; unit < smaller(end, w->parts[i].tiles); ++unit)
                one_tile(w, w->parts + i, unit - earlier);
        }
    }
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/* The team of threads that the process has already (GNU OpenMP's), or none. */
typedef void team_function(void (*)(void *), void *, unsigned, unsigned);
static team_function *team;

static void leave_team(void) { team = 0; }

/* After a fork the team's threads are not there, and GNU OpenMP would wait for them for ever. */
void exptx_join_team(team_function *given)
{
    static int registered;
    if (!registered++)
        pthread_atfork(0, 0, leave_team);
    team = given;
}

static void *thread(void *shared)
{
    take_tiles(shared);
    return 0;
}

static void run_together(work *w, int64_t threads)
{
    enum { MOST = 256 };
    pthread_t started[MOST];
    int64_t count = 0;
    if (threads > 1 && team) {
        team(take_tiles, w, (unsigned)threads, 0);
        return;
    }
    while (count < MOST && count + 1 < threads && !pthread_create(started + count, 0, thread, w))
        ++count;
    take_tiles(w);
    while (count)
        pthread_join(started[--count], 0);
}

static int touch(const void *a, int64_t a_span, const void *b, int64_t b_span)
{
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)b_span && (uintptr_t)b < (uintptr_t)a + (uintptr_t)a_span;
}

/* Whether some memory is written that is also read or written otherwise, as far as ranges show. */
static int parts_touch(const work *w, int count)
{
    for (int i = 0; i < count; ++i) {
        const part *const p = w->parts + i;
        for (int k = 0; k < TABLES; ++k)
            if (touch(p->into, p->shape->into_span, w->tables[k], p->shape->table_span[k]))
                return 1;
        for (int j = 0; j < count; ++j) {
            const part *const q = w->parts + j;
            const int in_place = i == j && p->from == p->into && p->shape->alike;
            if (!in_place && touch(p->into, p->shape->into_span, q->from, q->shape->from_span))
                return 1;
            if (i != j && touch(p->into, p->shape->into_span, q->into, q->shape->into_span))
                return 1;
        }
    }
    return 0;
}

/* Whether a tensor that is not empty has no memory. */
static int memory_is_missing(const work *w, int count)
{
    int missing = 0;
    for (int i = 0; i < count; ++i) {
        const part *const p = w->parts + i;
        missing |= (p->shape->from_span && !p->from) || (p->shape->into_span && !p->into);
        for (int k = 0; k < TABLES; ++k)
            missing |= p->shape->table_span[k] && !w->tables[k];
    }
    return missing;
}

static int64_t first_outside(const shape *s, const int64_t *ids)
{
    for (int64_t b = 0; b < (s->ids[0] ? s->batch : 1); ++b)
        for (int64_t t = 0; t < s->time; ++t) {
            const int64_t row = ids[b * s->ids[0] + t * s->ids[1]];
            if (row < 0 || row >= s->rows)
                return 1 + b * s->time + t;
        }
    return 0;
}

/* Of a tile; none where there is nothing to turn. */
static int64_t features(const part *p)
{
    return p->shape ? p->heads * p->tokens * (INPUTS * p->shape->blocks + p->shape->tail) : 0;
}

static int64_t add_part(part *p, const shape *s, const item *from, item *into, int64_t earlier)
{
    const int64_t width = INPUTS * s->blocks + s->tail;
    p->shape = s;
    p->from = from;
    p->into = into;
    if (!s->batch || !s->heads || !s->time || !width)
        return p->tiles = earlier;
    if (heads_are_near(s)) {
        p->heads = smaller(s->heads, pieces(GRAIN, width));
        p->tokens = smaller(s->time, pieces(GRAIN, p->heads * width));
    } else {
        p->tokens = smaller(s->time, TOKENS);
        p->heads = smaller(s->heads, larger(TOGETHER, pieces(GRAIN, p->tokens * width)));
    }
    p->tiles = earlier + s->batch * pieces(s->time, p->tokens) * pieces(s->heads, p->heads);
    return p->tiles;
}

/* Writes `into` for one tensor, or for two if `second` is given, and returns 0; or writes nothing and returns
   TOUCHING where ranges of memory overlap, unless `checked`, WITHOUT_MEMORY, or 1 + the place of a row number
   that lies outside the tables. */
int64_t exptx_run(const shape *first, const item *from, item *into, const shape *second, const item *from_second,
                  item *into_second, const int64_t *ids, int64_t threads, int64_t checked TABLE_PARAMETERS)
{
    enum { TOUCHING = -1, WITHOUT_MEMORY = -2 };
    work w = {.ids = ids, .tables = {TABLE_NAMES}};
    int64_t tiles = add_part(w.parts, first, from, into, 0);
    if (second)
        tiles = add_part(w.parts + 1, second, from_second, into_second, tiles);
    else
        w.parts[1].tiles = tiles;
    w.together = larger(1, GRAIN / larger(1, larger(features(w.parts), features(w.parts + 1))));
    if (memory_is_missing(&w, second ? 2 : 1))
        return WITHOUT_MEMORY;
    if (!checked && parts_touch(&w, second ? 2 : 1))
        return TOUCHING;
    const int64_t outside = ids ? first_outside(first, ids) : 0;
    if (outside)
        return outside;
    run_together(&w, smaller(threads, pieces(tiles, w.together)));
    return 0;
}
