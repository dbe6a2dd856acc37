/* Exact sums of each lane by itself, in double: lanes of one vector may belong to different time slices, and the bin of a sum
 * depends on its own addends alone. With one lane they are the sums of all other kernels. */
#if PLAQ_SIMD

typedef struct {
    vreal fold[3], magic[3], limit;
    int bin[W], broken[W], count;
    exact_sum whole[W];
} T(lane_sum);

FN void T(lane_sum_bin)(T(lane_sum) * s, int lane, int bin)
{
    s->bin[lane] = bin;
    s->limit[lane] = exact_limit(bin);
    for (int i = 0; i < 3; i++) s->magic[i][lane] = 6755399441055744.0 * exact_unit(bin - 1 - i);
}

FN void T(lane_sum_open)(T(lane_sum) * s)
{
    s->count = 0;
    for (int i = 0; i < 3; i++) s->fold[i] = vset(0);
    for (int l = 0; l < W; l++) {
        s->broken[l] = 0;
        s->whole[l] = exact_zero();
        T(lane_sum_bin)(s, l, EXACT_BIN_MIN);
    }
}

static __attribute__((noinline, unused)) void T(lane_sum_flush)(T(lane_sum) * s)
{
    for (int l = 0; l < W; l++) {
        exact_sum lane = {s->bin[l], s->broken[l], {0, 0, 0}};
        for (int i = 0; i < 3; i++) lane.fold[i] = (int64_t)(s->fold[i][l] / exact_unit(s->bin[l] - 1 - i));
        exact_merge(&s->whole[l], &lane);
    }
    for (int i = 0; i < 3; i++) s->fold[i] = vset(0);
    s->count = 0;
}

/* Raises the bins of lanes whose addend is too large, and takes addends that break a sum out of x. */
static __attribute__((noinline, unused)) vreal T(lane_sum_make_room)(T(lane_sum) * s, vreal x)
{
    T(lane_sum_flush)(s);
    for (int l = 0; l < W; l++) {
        const double a = __builtin_fabs(x[l]);
        if (!(a < exact_limit(EXACT_BIN_MAX))) {
            s->broken[l] = 1;
            x[l] = 0;
        } else if (!(a < s->limit[l])) {
            T(lane_sum_bin)(s, l, exact_bin(a));
        }
    }
    return x;
}

FN int T(lanes_below)(vreal x, vreal limit)
{
    const vindex below = vabs(x) < limit;
#if defined(__AVX512F__) && W == 8
    return _mm512_movepi64_mask((__m512i)below) == 0xFF;
#elif defined(__AVX__) && W == 4
    return _mm256_movemask_pd((__m256d)below) == 0xF;
#else
    int all = 1;
    for (int l = 0; l < W; l++) all &= below[l] != 0;
    return all;
#endif
}

FN void T(lane_sum_add)(T(lane_sum) * s, vreal x)
{
    /* 2^20 addends of 32 bits fill the 53 bits of a fold. */
    if (s->count == 1 << 20) T(lane_sum_flush)(s);
    if (!T(lanes_below)(x, s->limit)) x = T(lane_sum_make_room)(s, x);
    s->count++;
    UNROLL for (int i = 0; i < 3; i++)
    {
        const vreal t = (x + s->magic[i]) - s->magic[i];
        s->fold[i] += t;
        x -= t;
    }
}

/* The sum of a lane, once all is added. */
FN exact_sum T(lane_sum_of)(T(lane_sum) * s, int lane)
{
    exact_sum whole;
    if (s->count) T(lane_sum_flush)(s);
    whole = s->whole[lane];
    whole.broken |= s->broken[lane];
    return whole;
}

#else

typedef vexact T(lane_sum);

FN void T(lane_sum_open)(T(lane_sum) * s)
{
    T(exact_open)(s);
}

FN void T(lane_sum_add)(T(lane_sum) * s, vreal x)
{
    T(exact_deposit)(s, x);
}

FN exact_sum T(lane_sum_of)(T(lane_sum) * s, int lane)
{
    exact_sum whole;
    (void)lane;
    T(exact_flush)(s);
    whole = s->whole;
    whole.broken |= s->broken;
    return whole;
}

#endif
