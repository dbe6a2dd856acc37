/* Inputs of earlier forms: what to write now for their keys. */
#include <string.h>

#include "hmc/assemble/parameters.h"
#include "kernels/base/error.h"

/* Keys of [fermion.NAME], which was a quark and its action in one: the sections that have them now. */
static const struct {
    const char *key, *now;
} earlier_keys[] = {
    {"kind", "[quark] kind = wilson_clover, twisted_mass, staggered or mobius, and [action] kind = two_flavours, "
             "four_flavours, rational or eofa"},
    {"mass", "[quark]"},
    {"kappa", "[quark]"},
    {"c_sw", "[quark]"},
    {"schur", "[quark]"},
    {"parity", "[quark]"},
    {"links", "[quark]"},
    {"link_reals", "[quark]"},
    {"u0", "[quark]"},
    {"naik_epsilon", "[quark]"},
    {"long_reals", "[quark]"},
    {"Ls", "[quark]"},
    {"M5", "[quark]"},
    {"b5", "[quark]"},
    {"c5", "[quark]"},
    {"ratio_to",
     "[action] masses or kappas: those of the chain of heavier quarks, which need no sections of their own"},
    {"with", "[action], where names are those of quarks"},
    {"measured_only", "no key: a quark that no [action.NAME] names is measured only; its solver is [quark] solver"},
};

/* The message says what to write for every key of the first such section. */
static void refuse_fermions(const ini_input *in)
{
    const char *names[MAX_NAMED];
    param_text text = {0};
    if (names_of(in, "fermion", names) == 0) return;
    for (size_t k = 0; k < sizeof earlier_keys / sizeof earlier_keys[0]; k++)
        if (ini_given(in, "fermion", names[0], earlier_keys[k].key))
            param_text_add(&text, "\n  %s: %s", earlier_keys[k].key, earlier_keys[k].now);
    user_error(
        "%s: [fermion.%s] is of an earlier form of the input; it is two sections now, [quark.%s] and, with the key "
        "quark = %s, [action.%s]:%s\n  all other keys: [action]; the key fermion of [measure.NAME] is now quark",
        ini_where(in, "fermion", names[0], ""), names[0], names[0], names[0], names[0], text.data ? text.data : "");
}

/* Keys of [measure.NAME] that sections of their own have now. */
static void refuse_measurements(ini_input *in)
{
    static const struct {
        const char *kinds, *key, *now;
    } earlier[] = {
        {"pion mesons", "quark", "[propagator.NAME] quark; the measurement names it by the key propagator"},
        {"pion mesons", "solver", "[propagator.NAME] solver"},
        {"pion mesons", "error_estimate", "[propagator.NAME] error_estimate"},
        {"mesons", "quark_2", "the quark of a [propagator.NAME], which propagator_2 names"},
        {"mesons", "solver_2", "the solver of that propagator"},
        {"mesons", "source_smearing", "[source.NAME] smearing, which names a [smearing.NAME]"},
        {"mesons", "sink_smearing", "[propagator.NAME] sink_smearing, which names a [smearing.NAME]"},
        {"mesons", "width", "[smearing.NAME]"},
        {"mesons", "smearing_steps", "[smearing.NAME] steps"},
        {"mesons", "smearing_links", "[smearing.NAME] links"},
        {"staggered_mesons", "shape", "[source.NAME] kind = point or corner, which source names"},
    };
    const char *names[MAX_NAMED];
    int found = 0;
    for (int i = names_of(in, "measure", names) - 1; i >= 0; i--)
        for (size_t k = 0; k < sizeof earlier / sizeof earlier[0]; k++) {
            const char *kind = ini_text(in, "measure", names[i], "kind");
            if (!kind || !param_has_word(earlier[k].kinds, kind) || !ini_given(in, "measure", names[i], earlier[k].key))
                continue;
            ini_mistake(in, "%s: [measure.%s] %s is of an earlier form of the input; it is now: %s",
                        ini_where(in, "measure", names[i], earlier[k].key), names[i], earlier[k].key, earlier[k].now);
            found = 1;
        }
    for (int i = names_of(in, "measure", names) - 1; i >= 0; i--) {
        const char *place = ini_text(in, "measure", names[i], "source");
        if (!place || !strchr(place, '.') || strspn(place, "0123456789.") < strlen(place)) continue;
        ini_mistake(in,
                    "%s: [measure.%s] source = %s is of an earlier form of the input; it is now: [source.NAME] place, "
                    "which a propagator, or source = NAME of residual_mass and staggered_mesons, names",
                    ini_where(in, "measure", names[i], "source"), names[i], place);
        found = 1;
    }
    if (found) ini_judge(in);
}

void parameters_refuse_earlier(ini_input *in)
{
    refuse_fermions(in);
    refuse_measurements(in);
}
