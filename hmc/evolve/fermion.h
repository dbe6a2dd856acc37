/* Kinds of fermions: what [fermion.NAME] sections of the input make. A kind is one line of fermions.def and a table. */
#ifndef PLAQ_FERMION_H
#define PLAQ_FERMION_H

#include "hmc/memory.h"
#include "hmc/simulation.h"

/* Bytes that are taken for a moment beside all that stays: in a force, in the action, in the force of NAME.det. */
typedef struct {
    size_t force, value, determinant;
} fermion_moments;

typedef struct {
    const char *name, *help;
    /* Makes the operator and adds the actions of fermion `number` to s, with simulation_add(). */
    void (*create)(simulation *s, int number);
    /* Books the fields that stay, and tells the others. */
    fermion_moments (*memory)(ledger *m, const parameters *p, const fermion_params *f);
    /* Floating-point operations per site of one force whose solve takes so many iterations. */
    double (*force_flops)(const fermion_params *f, double iterations);
} fermion_kind;

/* Kinds by number, null after the last; and by name. */
const fermion_kind *fermion_kind_number(int i);
const fermion_kind *fermion_kind_find(const char *name);

#endif
