/* noise: random numbers of modulus one on a time slice, the same in every component, times a plane wave exp(i p.x). With one propagator
 * of p and one at rest a meson has the momentum p. The mean over noise of the product of two
 * columns is the sum over point sources of the slice (M. Foster and C. Michael, Phys. Rev. D 59 (1999) 074503), for every pair
 * of gamma matrices, for spins and colours have columns of their own. */
#include "hmc/sources/source.h"

#include <math.h>
#include <string.h>

#include "kernels/lattice/philox.h"
#include "kernels/lattice/purpose.h"

#define NOISE_NUMBERS(X) X(NOISE_NUMBERS_Z2, "z2") X(NOISE_NUMBERS_Z4, "z4")
enum { NOISE_NUMBERS(PARAM_CONSTANT) };

typedef struct {
    int time, number, momentum[4];
    int numbers;
} noise_keys;

static double complex value(const source_params *s, const int x[4], const int size[4], uint64_t seed)
{
    const noise_keys *k = SOURCE_OWN(noise_keys, s);
    uint64_t site = 0;
    for (int d = 3; d >= 0; d--) site = site * (uint64_t)size[d] + (uint64_t)x[d];
    uint32_t word[4] = {(uint32_t)site, (uint32_t)(site >> 32), (uint32_t)k->number, RANDOM_WALL};
    philox(word, (uint32_t)seed, (uint32_t)(seed >> 32));
    const double re = word[0] >> 31 ? -1 : 1, im = word[1] >> 31 ? -1 : 1;
    const double complex number = k->numbers == NOISE_NUMBERS_Z4 ? M_SQRT1_2 * (re + I * im) : re;
    const int *n = k->momentum;
    return n[0] || n[1] || n[2] ? number * source_wave(n, x, size) : number;
}

static const param own[] = {
    {"time", PARAM_INT, SOURCE_KEY(noise_keys, time), "0", "[0,inf)", "a", "the time slice", 0},
    {"numbers", PARAM_CHOICE, SOURCE_KEY(noise_keys, numbers), "z2", PARAM_RANGE(NOISE_NUMBERS), NULL,
     "z2: +-1; z4: (+-1 +- i) / sqrt 2", 0},
    {"number", PARAM_INT, SOURCE_KEY(noise_keys, number), "0", "[0,inf)", NULL,
     "which of the vectors that [run] seed and the configuration make; sources of different number are independent", 0},
    {"momentum", PARAM_INT4, SOURCE_KEY(noise_keys, momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the plane wave exp(i p.x); a meson of propagators from this source and from the same noise at "
     "rest has this "
     "momentum alone",
     0},
};
static const param_section part = PARAM_PART("source", "noise", source_params, own);

const source_kind source_kind_noise = {
    .name = "noise",
    .help = "random numbers on all sites of a time slice, the same in every component, for mesons",
    .own = &part,
    .later = "momentum",
    .noise = 1,
    .value = value};
