#include "hmc/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/log.h"
#include "kernels/kernels.h"
#include "kernels/lattice/halo.h"

const char *report_duration(double seconds, char text[32])
{
    const long s = seconds > 0 ? lround(seconds) : 0;
    if (s >= 86400) snprintf(text, 32, "%ldd %02ld:%02ld:%02ld", s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
    else snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

const char *report_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;
    while (bytes >= 1024 && u < 5) {
        bytes /= 1024;
        u++;
    }
    snprintf(text, 32, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
    return text;
}

/* ---- the profile ---- */

typedef struct {
    char name[48];
    kernel_count count;
} profile_line;

static int by_time(const void *a, const void *b)
{
    const double x = ((const profile_line *)a)->count.seconds, y = ((const profile_line *)b)->count.seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

void report_profile(double seconds, double io_seconds)
{
    profile_line lines[KERNEL_COUNT * PREC_COUNT];
    int n = 0;
    double in_kernels = 0, halo_bytes, halo_seconds;
    for (int k = 0; k < KERNEL_COUNT; k++)
        for (int p = 0; p < PREC_COUNT; p++) {
            const kernel_count c = kernel_counted((kernel_id)k, (precision)p);
            if (c.calls == 0) continue;
            snprintf(lines[n].name, sizeof lines[n].name, "%s, %s", kernel_infos[k].name, precision_names[p]);
            lines[n++].count = c;
            in_kernels += c.seconds;
        }
    qsort(lines, (size_t)n, sizeof *lines, by_time);
    halo_counted(&halo_bytes, &halo_seconds);
    log_info("%-26s %10s %10s %9s %9s %7s", "profile", "calls", "seconds", "GF/s", "GB/s", "share");
    for (int i = 0; i < n; i++) {
        const kernel_count *c = &lines[i].count;
        const double per = c->seconds > 0 ? 1e-9 / c->seconds : 0;
        log_info("  %-24s %10ld %10.3f %9.2f %9.2f %6.1f%%", lines[i].name, c->calls, c->seconds, c->flops * per,
                 c->bytes * per, 100 * c->seconds / seconds);
    }
    log_info("  %-24s %10s %10.3f %9s %9.2f %6.1f%%", "halos, waiting", "", halo_seconds, "",
             halo_seconds > 0 ? 1e-9 * halo_bytes / halo_seconds : 0, 100 * halo_seconds / seconds);
    log_info("  %-24s %10s %10.3f %9s %9s %6.1f%%", "files", "", io_seconds, "", "", 100 * io_seconds / seconds);
    const double rest = seconds - in_kernels - halo_seconds - io_seconds;
    log_info("  %-24s %10s %10.3f %9s %9s %6.1f%%", "all else", "", rest, "", "", 100 * rest / seconds);
}

/* ---- memory ---- */

typedef struct {
    const lattice *lat;
    place where;
    size_t now, peak;
} ledger;

static size_t bytes_of(const ledger *m, field_kind kind, precision prec, parity par)
{
    return field_bytes(m->lat, kind, prec, par, 1, m->where);
}

/* Fields that come and stay; and fields that are there for a moment beside all that stay. */
static void stay(ledger *m, double count, field_kind kind, precision prec, parity par)
{
    m->now += (size_t)(count * (double)bytes_of(m, kind, prec, par));
    if (m->now > m->peak) m->peak = m->now;
}

static void moment(ledger *m, size_t bytes)
{
    if (m->now + bytes > m->peak) m->peak = m->now + bytes;
}

static int uses_mixed(const parameters *p, const char *solver, precision *inner)
{
    for (int i = 0; i < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].name, solver) && !strcmp(p->solvers[i].p.type, "cg_mixed")) {
            *inner = precision_named(p->solvers[i].p.inner_precision);
            return 1;
        }
    return 0;
}

static void count_fermion(ledger *m, const parameters *p, const fermion_params *f)
{
    const int symmetric = !strcmp(f->schur, "symmetric"), clover = f->c_sw != 0;
    const char *solvers[2] = {f->solver, f->action_solver};
    int used[PREC_COUNT] = {1, 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        precision inner;
        if (uses_mixed(p, solvers[i], &inner)) used[inner] = 1;
    }
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        if (!used[prec]) continue;
        const int whole = !strcmp(f->link_reals, "18");
        if (prec != PREC_DOUBLE || !whole) stay(m, 1, whole ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, prec, PARITY_BOTH);
        if (clover) stay(m, 2, FIELD_CLOVER, prec, PARITY_EVEN);
        stay(m, symmetric ? 3 : 2, FIELD_SPINOR, prec, PARITY_EVEN); /* work of the Schur and normal operators */
    }
    stay(m, 1, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN); /* phi */
}

/* The largest of what is there for a moment: a solve, or the assembly of a force. */
static void count_moments(ledger *m, const parameters *p)
{
    const size_t spinor = bytes_of(m, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    const size_t tensor = bytes_of(m, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH);
    size_t solve = 0, force = 0;
    for (int i = 0; i < p->nfermions; i++) {
        const fermion_params *f = &p->fermions[i].p;
        precision inner = PREC_DOUBLE;
        const int mixed = uses_mixed(p, f->solver, &inner) || uses_mixed(p, f->action_solver, &inner);
        const size_t low = mixed ? 5 * bytes_of(m, FIELD_SPINOR, inner, PARITY_EVEN) : 0;
        const size_t mine = 3 * spinor + low,
                     assembly = (6 + !strcmp(f->schur, "symmetric")) * spinor + (f->c_sw != 0 ? tensor : 0);
        if (mine > solve) solve = mine;
        if (assembly > force) force = assembly;
    }
    moment(m, solve);
    moment(m, force);
}

size_t report_memory(const parameters *p, const lattice *lat, place where)
{
    ledger m = {lat, where, 0, 0};
    int together = 0, gradient = 0;
    for (int l = 0; l < p->nlevels; l++) {
        char word[128];
        together = together || param_word(p->levels[l].actions, 1, word, sizeof word);
        gradient = gradient || !strcmp(p->levels[l].scheme, "force_gradient");
    }
    for (int i = 0; i < p->nfermions; i++) together = together || p->fermions[i].p.c_sw != 0;
    stay(&m, 2 + gradient, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
    stay(&m, 2 + together, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH);
    for (int i = 0; i < p->nfermions; i++) count_fermion(&m, p, &p->fermions[i].p);
    count_moments(&m, p);
    return m.peak;
}

/* ---- cost ---- */

double report_flops(const parameters *p, double iterations)
{
    double volume = 1, flops = 0, visits = 1;
    for (int d = 0; d < 4; d++) volume *= p->lattice.size[d];
    for (int l = 0; l < p->nlevels; l++) {
        const char *s = p->levels[l].scheme;
        const double kicks = !strcmp(s, "leapfrog") ? 1 : !strcmp(s, "omelyan2") ? 2 : !strcmp(s, "omelyan4") ? 5 : 3;
        const double drifts = !strcmp(s, "leapfrog") ? 1 : !strcmp(s, "omelyan4") ? 5 : 2;
        const double forces = visits * p->levels[l].steps * kicks;
        char word[128];
        for (int w = 0; param_word(p->levels[l].actions, w, word, sizeof word); w++) {
            if (!strcmp(word, "gauge")) flops += forces * volume * (gauge_params_c1(&p->gauge) != 0 ? 66000 : 11600);
            else if (!strstr(word, ".det"))
                flops += forces * volume * (iterations * 0.5 * 2 * (2 * 1320 + 2 * 504) + 60000);
        }
        visits *= p->levels[l].steps * drifts;
    }
    return flops;
}
