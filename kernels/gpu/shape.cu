/* The tuner's trials: a kernel in every shape of blocks, its output in memory of its own, without messages. */
#include <stddef.h>
#include <string.h>

#include "kernels/base/pool.h"
#include "kernels/family/clover.h"
#include "kernels/family/domainwall.h"
#include "kernels/family/gauge.h"
#include "kernels/family/smear.h"
#include "kernels/family/staggered.h"
#include "kernels/family/wilson.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/shape.cuh"
#include "kernels/gpu/tile.cuh"
#include "kernels/run/tune.h"

#define TRIAL_CALLS 5
#define ARGS_MAX 32768

/* Kernels with a choice: where their arguments hold the output and the geometry. Outputs are no larger than the field
 * that kernel_run() is given. */
typedef struct {
    kernel_id id;
    size_t bytes, out, geometry;
    long special; /* offset of the variant, of kernels that make links; else -1 */
} shaped_kernel;

#define SHAPED(name, output)                                                                                           \
    {                                                                                                                  \
        KERNEL_##name, sizeof(name##_args), offsetof(name##_args, output), offsetof(name##_args, g), -1                \
    }
/* Link kernels do not read what they write, but for the output that is named. */
#define SHAPED_LINKS(name, output)                                                                                     \
    {                                                                                                                  \
        KERNEL_##name, sizeof(name##_args), offsetof(name##_args, output), offsetof(name##_args, g),                   \
            (long)offsetof(name##_args, special)                                                                       \
    }
static const shaped_kernel shaped[] = {
    SHAPED(hop, out),
    SHAPED(hop_doublet, out),
    {KERNEL_hop_fifth, sizeof(hop_fifth_args), offsetof(hop_fifth_args, hop.out), offsetof(hop_fifth_args, hop.g), -1},
    SHAPED(gauge_force, momenta),
    SHAPED(parallelogram_force, momenta),
    SHAPED(clover_force, momenta),
    SHAPED(field_strength, out),
    SHAPED(stout, out),
    SHAPED(stout_gather, force),
    SHAPED(staggered_hop, out),
    SHAPED(long_links, out),
    SHAPED(long_back, out),
    SHAPED_LINKS(staples, out[1]),
    SHAPED_LINKS(staples_core, out[1]),
    SHAPED_LINKS(staples_sum, out)};

int gpu_shape_count(void)
{
    return SHAPES;
}

static const shaped_kernel *find(kernel_id id)
{
    for (const shaped_kernel &s : shaped)
        if (s.id == id) return &s;
    return NULL;
}

typedef struct {
    gpu_device dev;
    gpu_launcher launch;
    const field *like;
    const shaped_kernel *kernel;
    const void *args;
    const kernel_work *work;
} trial;

static float timed(const gpu_device *dev, gpu_launcher launch, const void *args, const int *list, long n)
{
    cudaEvent_t start, stop;
    float milliseconds;
    if (n == 0) return 0;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    launch(dev, args, list, n);
    CUDA(cudaEventRecord(start, dev->stream));
    for (int i = 0; i < TRIAL_CALLS; i++) launch(dev, args, list, n);
    CUDA(cudaEventRecord(stop, dev->stream));
    gpu_wait(dev->stream, "the tuner's kernels");
    CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    return milliseconds;
}

/* The result of a trial stands alone, where that of a call is some right-hand sides of a larger block. */
static void stand_alone(view *out, const field *like)
{
    const long alone = (long)like->groups * like->reals;
    if (like->stride == like->reals || like->stride == alone) return;
    out->stride = alone;
    out->scale_groups = like->groups;
}

static double seconds(int way, void *of)
{
    trial *t = (trial *)of;
    const size_t bytes = t->like->bytes, scale_bytes = t->like->scale_bytes;
    alignas(16) char args[ARGS_MAX];
    REQUIRE(t->kernel->bytes <= sizeof args, "arguments of %zu bytes", t->kernel->bytes);
    memcpy(args, t->args, t->kernel->bytes);
    view *out = (view *)(args + t->kernel->out);
    stand_alone(out, t->like);
    out->data = pool_take(PLACE_DEVICE, bytes);
    if (scale_bytes) out->scale = (float *)pool_take(PLACE_DEVICE, scale_bytes);
    /* A hop that is an exchange stands for its interior. */
    if (t->work->pack) ((hop_args *)args)->interior = 1;
    t->dev.way = way;
    const float milliseconds = timed(&t->dev, t->launch, args, t->work->pack ? NULL : t->work->list, t->work->n);
    if (scale_bytes) pool_give(PLACE_DEVICE, out->scale, scale_bytes);
    pool_give(PLACE_DEVICE, out->data, bytes);
    return 1e-3 * milliseconds / TRIAL_CALLS;
}

/* True if the arguments begin with those of a hop. */
static bool hops(kernel_id id)
{
    return id == KERNEL_hop || id == KERNEL_hop_doublet || id == KERNEL_hop_fifth;
}

/* Variant number, which tells apart cases of one kernel on one lattice by what the kernel is asked. */
static int variant_of(kernel_id id, const void *args, long special)
{
    if (special >= 0) return *(const int *)((const char *)args + special);
    if (id == KERNEL_gauge_force) {
        const double *c1 = ((const gauge_force_args *)args)->c1;
        return c1[0] != 0 || c1[1] != 0 || c1[2] != 0;
    }
    if (id == KERNEL_staggered_hop) return ((const staggered_hop_args *)args)->far_reals;
    if (!hops(id)) return 0;
    const hop_args *a = (const hop_args *)args;
    return ((a->block[0] != 0) * 8 + a->form) * 32 + a->link_reals;
}

int gpu_way(const gpu_device *dev, gpu_launcher launch, kernel_id id, const field *like, const void *args,
            const kernel_work *work)
{
    const shaped_kernel *kernel = find(id);
    /* Sites on a list have no boxes, except where it is the interior of a hop, or all of one that is an exchange. */
    const int boxed = !work->list || work->pack || (hops(id) && ((const hop_args *)args)->interior);
    if (!kernel || !boxed) return TUNE_BY_RULE;
    const geom *g = (const geom *)((const char *)args + kernel->geometry);
    const tune_key key = tune_case(id, like->prec, g, variant_of(id, args, kernel->special), like->groups);
    trial t = {*dev, launch, like, kernel, args, work};
    return tune_choice(&key, like->lat->group, SHAPES, seconds, &t);
}
