#include "kernels/ops/smear.h"

#include "kernels/ops/expect.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/halo.h"
#include "kernels/run/kernel.h"

smear_level smear_level_thin(const stout_weights *w)
{
    smear_level l = {.outputs = 1, .inputs = 1};
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++) l.staples[0].rho[mu][nu] = w->rho[mu][nu];
    return l;
}

/* Views of links to read, ghosts filled, and the staples number j. */
static smear_links links_in(const field *thin, const field *const *in, const smear_level *l, int j)
{
    smear_links k = {.thin = halo_in(thin), .s = l->staples[j]};
    for (int i = 0; i < l->inputs; i++) {
        expect_kind(in[i], FIELD_LINKS, thin);
        k.from[i] = halo_in(in[i]);
    }
    return k;
}

void smear_exponential(field *const *out, const field *thin, const field *const *in, const smear_level *l)
{
    for (int j = 0; j < l->outputs; j++) {
        expect_kind(thin, FIELD_LINKS, out[j]);
        stout_args args = {.g = field_geom(thin), .l = links_in(thin, in, l, j)};
        FOR_PARITIES(p, out[j])
        {
            args.parity = p;
            args.out = field_out(out[j], p);
            kernel_run(KERNEL_stout, thin, &args, (kernel_work){.n = field_units(thin)});
        }
    }
}

void smear_project(field *const *out, const field *thin, const field *const *in, const smear_level *l, double own)
{
    for (int j = 0; j < l->outputs; j++) {
        expect_kind(thin, FIELD_LINKS, out[j]);
        staples_project_args args = {.g = field_geom(thin), .l = links_in(thin, in, l, j), .own = own};
        FOR_PARITIES(p, out[j])
        {
            args.parity = p;
            args.out = field_out(out[j], p);
            kernel_run(KERNEL_staples_project, thin, &args, (kernel_work){.n = field_units(thin)});
        }
    }
}

/* Number of the field that is the other one in the plane mu, nu; `weight` is zero where the role has not been seen. */
static void set_role(double *weight, unsigned char *output, unsigned char *other, double rho, int j, int links,
                     int other_weighs)
{
    REQUIRE(*weight == 0 && (!other_weighs || *other == links), "links of field %d and %d in one role", *other, links);
    *weight = rho;
    *output = (unsigned char)j;
    *other = (unsigned char)links;
}

/* Roles of the links of input i in the staples of all outputs. */
static smear_roles roles_of(const smear_level *l, int i)
{
    smear_roles r = {.own = i};
    for (int j = 0; j < l->outputs; j++)
        for (int mu = 0; mu < 4; mu++)
            for (int nu = 0; nu < 4; nu++) {
                const smear_staples *s = &l->staples[j];
                if (nu == mu) continue;
                if (s->rho[mu][nu] != 0 && s->across[mu][nu] == i)
                    set_role(&r.rho_across[mu][nu], &r.across[mu][nu], &r.other[mu][nu], s->rho[mu][nu], j,
                             s->side[mu][nu], r.rho_side[mu][nu] != 0);
                if (s->rho[nu][mu] != 0 && s->side[nu][mu] == i)
                    set_role(&r.rho_side[mu][nu], &r.side[mu][nu], &r.other[mu][nu], s->rho[nu][mu], j,
                             s->across[nu][mu], r.rho_across[mu][nu] != 0);
            }
    return r;
}

/* Insertions of links of output j, and the force of thin links in place of that of the output. */
static void insertions_of(field *insertion, field *force, const field *thin, const field *const *in,
                          const smear_level *l, int j)
{
    expect_kind(force, FIELD_MOMENTA, thin);
    stout_back_args args = {.g = field_geom(thin), .l = links_in(thin, in, l, j)};
    FOR_PARITIES(p, force)
    {
        args.parity = p;
        args.force = field_out(force, p);
        args.insertion = field_out(insertion, p);
        kernel_run(KERNEL_stout_back, thin, &args, (kernel_work){.n = field_units(thin)});
    }
}

void smear_exponential_back(field *of_thin, field *const *of_out, field *const *of_in, const field *thin,
                            const field *const *in, const smear_level *l)
{
    field *insertion[SMEAR_FIELDS];
    stout_gather_args args = {.g = field_geom(thin)};
    for (int j = 0; j < l->outputs; j++) {
        insertion[j] = field_scratch(thin);
        insertions_of(insertion[j], of_out[j], thin, in, l, j);
        if (of_out[j] != of_thin) momenta_add(of_thin, 1, of_out[j]);
    }
    for (int j = 0; j < l->outputs; j++) args.insertion[j] = halo_in(insertion[j]);
    for (int i = 0; i < l->inputs; i++) args.from[i] = halo_in(in[i]);
    for (int i = 0; i < l->inputs; i++) {
        expect_kind(of_in[i], FIELD_MOMENTA, thin);
        args.r = roles_of(l, i);
        FOR_PARITIES(p, of_in[i])
        {
            args.parity = p;
            args.force = field_out(of_in[i], p);
            kernel_run(KERNEL_stout_gather, thin, &args, (kernel_work){.n = field_units(thin)});
        }
    }
    for (int j = 0; j < l->outputs; j++) field_destroy(insertion[j]);
}

void smear_stout(field *out, const field *links, const stout_weights *w)
{
    const smear_level l = smear_level_thin(w);
    smear_exponential(&out, links, &links, &l);
}

void smear_stout_back(field *force, const field *links, const stout_weights *w)
{
    const smear_level l = smear_level_thin(w);
    smear_exponential_back(force, &force, &force, links, &links, &l);
}
