#include "hmc/quarks/quark_links.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/error.h"

/* ---- smeared links ---- */

typedef struct {
    char links[PARAM_STRING_SIZE];
    link_settings settings; /* settings of the section [links.NAME] */
} smearing_keys;

static const param smearing_table[] = {
    {"links", PARAM_NAME, offsetof(smearing_keys, links), "", "links", NULL,
     "[links.NAME] of the smeared links that the whole operator is made of; empty: the links of the ensemble", 1},
};

const param_section smearing_part = PARAM_PART("quark", "smeared links", smearing_keys, smearing_table);

/* ---- angles of the boundary ---- */

typedef struct {
    char text[PARAM_WORDS_SIZE];
    double theta[4];
} twist_keys;

static const param twist_table[] = {
    {"theta", PARAM_WORDS, offsetof(twist_keys, text), "0 0 0 0", NULL, NULL,
     "angles x y z t of twisted boundary conditions, psi(x + L e) = e^(i theta) psi(x), on top of time_boundary; that "
     "of t "
     "is L_t times an imaginary chemical potential. Links are multiplied with e^(i theta / L), so a momentum p is p + "
     "theta / L, and that of a meson is the difference of its quarks' angles / L",
     1},
};

const param_section twist_part = PARAM_PART("quark", "angles", twist_keys, twist_table);

static void read_theta(const ini_input *in, const named_quark *q, twist_keys *k)
{
    static const param angle = {"theta", PARAM_REAL, 0, NULL, NULL, NULL, "", 0};
    char word[PARAM_WORDS_SIZE], text[4][PARAM_TEXT_SIZE];
    int n = 0, bad = 0;
    for (; param_word(k->text, n, word, sizeof word); n++) {
        bad = bad || n > 3 || param_real(word, &k->theta[n]);
        if (!bad) param_format(&angle, &k->theta[n], text[n], sizeof text[n]);
    }
    if (bad || n != 4)
        user_error("%s: theta = %s of [quark.%s] is not four angles x y z t, such as 0.5 0 0 0",
                   ini_where(in, "quark", q->name, "theta"), k->text, q->name);
    /* Spelling made unique: ensembles are compared by the text. */
    snprintf(k->text, sizeof k->text, "%.100s %.100s %.100s %.100s", text[0], text[1], text[2], text[3]);
}

const double *theta_of(const quark_params *q)
{
    static const double none[4];
    const twist_keys *k = quark_keys(q, &twist_part);
    return k ? k->theta : none;
}

void quark_describe_theta(const quark_params *q, char *text, size_t size)
{
    const double *t = theta_of(q);
    const size_t n = strlen(text);
    if (t[0] == 0 && t[1] == 0 && t[2] == 0 && t[3] == 0) return;
    snprintf(text + n, size - n, ", theta %.4g %.4g %.4g %.4g", t[0], t[1], t[2], t[3]);
}

int quark_same_links(const quark_params *q, const quark_params *r)
{
    const double *t = theta_of(q), *u = theta_of(r);
    int same = !strcmp(smearing_name(q), smearing_name(r));
    for (int mu = 0; mu < 4; mu++) same = same && t[mu] == u[mu];
    return same;
}

/* ---- both ---- */

void quark_complete_links(const ini_input *in, named_quark *q, const named_links *links, int n)
{
    smearing_keys *k = quark_keys(&q->p, &smearing_part);
    twist_keys *twist = quark_keys(&q->p, &twist_part);
    if (twist) read_theta(in, q, twist);
    for (int i = 0; k && i < n; i++)
        if (!strcmp(links[i].name, k->links)) k->settings = links[i].p;
}

const link_settings *smearing_of(const quark_params *q)
{
    const smearing_keys *k = quark_keys(q, &smearing_part);
    return k && k->links[0] ? &k->settings : NULL;
}

const char *smearing_name(const quark_params *q)
{
    const smearing_keys *k = quark_keys(q, &smearing_part);
    return k && k->links[0] ? k->links : "thin";
}

link_map *quark_map(const field *links, const quark_params *q, fermion *const *others, int n)
{
    return fermion_link_map(links, smearing_of(q), theta_of(q), others, n);
}

/* ---- storage ---- */

#define LINK_REALS(X) X(LINK_REALS_18, "18") X(LINK_REALS_12, "12")
enum { LINK_REALS(PARAM_CONSTANT) };

typedef struct {
    int reals;
} link_reals_keys;

static const param link_reals_table[] = {
    {"link_reals", PARAM_CHOICE, offsetof(link_reals_keys, reals), "12", PARAM_RANGE(LINK_REALS), "reals",
     "storage of links in solvers: whole, or two rows with the third computed, which moves less", 0},
};

const param_section link_reals_part = PARAM_PART("quark", "links", link_reals_keys, link_reals_table);

field_kind link_storage_of(const quark_params *q)
{
    const link_reals_keys *k = quark_keys(q, &link_reals_part);
    return k && k->reals != LINK_REALS_18 ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
}
