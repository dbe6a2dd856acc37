/* The input file: what is read, and every way to refuse it, each with its place. */
#include "io/input/ini.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>

typedef struct {
    double beta;
    int steps;
    int action;
    char note[PARAM_STRING_SIZE];
} gauge;

typedef struct {
    double kappa, mass;
    int size[4];
} fermion;

static const param gauge_table[] = {
    {"beta", PARAM_REAL, offsetof(gauge, beta), NULL, "(0,inf)", "", "inverse coupling 6/g^2", 1},
    {"steps", PARAM_INT, offsetof(gauge, steps), "10", "[1,inf)", "", "steps", 0},
    {"action", PARAM_CHOICE, offsetof(gauge, action), "wilson", "wilson|symanzik", "", "action", 1},
    {"note", PARAM_STRING, offsetof(gauge, note), "", NULL, "", "free text", 0},
};
static const param fermion_table[] = {
    {"kappa", PARAM_REAL, offsetof(fermion, kappa), "0.125", "(0,1)", "", "hopping parameter", 1},
    {"mass", PARAM_REAL, offsetof(fermion, mass), "0", NULL, "", "bare mass", 1},
    {"size", PARAM_INT4, offsetof(fermion, size), "4.4.4.4", "[1,inf)", "", "extents", 1},
};
static const param_section gauge_section = {"gauge", 0, gauge_table, 4, sizeof(gauge), "gauge action", NULL};
static const param_section fermion_section = {"fermion", 1, fermion_table, 3, sizeof(fermion), "a fermion", NULL};
static const param_section *const known[] = {&gauge_section, &fermion_section};

static char folder[] = "/tmp/plaq_ini_XXXXXX", path[64];

typedef struct {
    const char *text; /* of the file */
    const char *word; /* an override, or NULL */
} input_case;

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fwrite(text, 1, size, file) == size && !fclose(file), "cannot write %s", path);
}

/* All that a command does with its input file. */
static void read_all(void *arg)
{
    const input_case *c = (const input_case *)arg;
    gauge g;
    write_file(c->text, strlen(c->text));
    ini_input *in = ini_read(path, c->word != NULL, &c->word);
    ini_fill(in, &gauge_section, NULL, &g);
    ini_check_all_used(in, known, 2);
    ini_free(in);
}

#define LONG "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void read_path(void *arg)
{
    ini_free(ini_read((const char *)arg, 0, NULL));
}

static void test_good(void)
{
    const char *text = "\xef\xbb\xbf# a comment\n"
                       "; another, longer than any line that inih would take: ...................................."
                       "..........................................................................................."
                       "..............................\n"
                       "[gauge]\r\n"
                       "beta = 5.7 # comment\r\n"
                       "   note: a#b;c = d  ; comment\n"
                       "\n"
                       " [fermion.light]\n"
                       "    kappa = 0.13\n"
                       "    size=4.4.4.8\n"
                       "[fermion.strange-2]\n"
                       "[fermion.empty]\n"
                       "mass = -1e-3"; /* no newline at the end */
    write_file(text, strlen(text));
    const char *words[] = {"gauge.steps=3", "fermion.light.kappa = 0.14 ", "gauge.steps=4", "gauge.action=symanzik"};
    ini_input *in = ini_read(path, 4, words);
    gauge g;
    fermion f;
    ini_fill(in, &gauge_section, NULL, &g);
    CHECK_NEAR(g.beta, 5.7, 0);
    CHECK_STR(g.note, "a#b;c = d");
    CHECK_INT(g.steps, 4);
    CHECK_INT(g.action, 1);
    const char *names[4];
    CHECK_INT(ini_instances(in, "fermion", names, 4), 3);
    CHECK_STR(names[0], "light");
    CHECK_STR(names[1], "strange-2");
    CHECK_STR(names[2], "empty");
    CHECK_INT(ini_instances(in, "gauge", names, 4), 0);
    ini_fill(in, &fermion_section, "light", &f);
    CHECK_NEAR(f.kappa, 0.14, 0);
    CHECK_INT(f.size[3], 8);
    ini_fill(in, &fermion_section, "strange-2", &f);
    CHECK_NEAR(f.kappa, 0.125, 0);
    ini_check_all_used(in, known, 2);

    char place[128];
    snprintf(place, sizeof place, "%s:9", path);
    CHECK_STR(ini_where(in, "fermion", "light", "size"), place);
    snprintf(place, sizeof place, "%s:7", path);
    CHECK_STR(ini_where(in, "fermion", "light", "mass"), place);
    CHECK_STR(ini_where(in, "fermion", "charm", "mass"), path);
    CHECK_STR(ini_where(in, "gauge", NULL, "steps"), "command line: gauge.steps=4");
    CHECK(ini_given(in, "fermion", "light", "kappa"));
    CHECK(!ini_given(in, "fermion", "light", "mass"));
    CHECK(ini_given(in, "gauge", NULL, "action"));
    CHECK(ini_has_section(in, "fermion", "empty"));
    CHECK(!ini_has_section(in, "fermion", "full"));
    ini_free(in);
}

/* Values of several lines, longer than inih takes at once; a backslash inside a word continues nothing. */
static void test_continued(void)
{
    const char *text = "[gauge]\nbeta = \\\n 5.7\nnote = " LONG " a\\b\\ \\ # comment\n  " LONG " \\\r\n    [end]\n"
                       "[fermion.light]\nmass = 0.5\n";
    write_file(text, strlen(text));
    ini_input *in = ini_read(path, 0, NULL);
    gauge g;
    fermion f;
    ini_fill(in, &gauge_section, NULL, &g);
    CHECK_NEAR(g.beta, 5.7, 0);
    CHECK_STR(g.note, LONG " a\\b\\ " LONG " [end]");
    ini_fill(in, &fermion_section, "light", &f);
    CHECK_NEAR(f.mass, 0.5, 0);
    ini_check_all_used(in, known, 2);
    ini_free(in);
}

static void test_no_file(void)
{
    const char *words[] = {"gauge.beta=6"};
    gauge g;
    ini_input *in = ini_read(NULL, 1, words);
    ini_fill(in, &gauge_section, NULL, &g);
    CHECK_NEAR(g.beta, 6, 0);
    ini_check_all_used(in, known, 2);
    ini_free(in);
}

static void refuse(const char *text, const char *word, const char *expected)
{
    input_case c = {text, word};
    CHECK_USER_ERROR(read_all, &c, expected);
}

static void test_bad_text(void)
{
    refuse("[gauge\nbeta = 1\n", NULL, ".ini:1: '[gauge' is not a section");
    refuse("[gauge] beta = 1\n", NULL, ".ini:1: '[gauge] beta = 1' is not a section");
    refuse("\n[]\n", NULL, ".ini:2: '[]' is not a section");
    refuse("[ga uge]\n", NULL, ".ini:1: '[ga uge]' is not a section");
    refuse("[fermion.a.b]\n", NULL, "is not a section");
    refuse("[fermion.]\n", NULL, "is not a section");
    refuse("[gauge]\n\nbeta 5.7\n", NULL, ".ini:3: 'beta 5.7' is neither a section, a comment nor key = value");
    refuse("[gauge]\n = 5.7\n", NULL, ".ini:2: '' is not a key");
    refuse("[gauge]\nbe ta = 5.7\n", NULL, ".ini:2: 'be ta' is not a key");
    refuse("beta = 5.7\n", NULL, ".ini:1: key 'beta' stands before the first [section]");
    refuse("[gauge]\nbeta=1\nnote=\n  beta = 2\n", NULL, ".ini:4: key 'beta' of [gauge] is given twice, first at ");
    refuse("[gauge]\nbeta=1\n[gauge]\n", NULL, ".ini:3: section [gauge] is given twice, first at ");
    refuse("[gauge]\nnote = " LONG LONG LONG "\n", NULL, ".ini:2: the line has 211 letters, allowed are ");
    refuse("[gauge]\nbeta = 1\nnote = a \\\n" LONG LONG LONG "\n", NULL,
           ".ini:4: the line has 204 letters, allowed are 190; end");
    refuse("[gauge]\nbeta = 1\nnote = a \\\n\n[fermion.a]\n", NULL,
           ".ini:4: the line that continues the value of note is empty");
    refuse("[gauge]\nbeta = 1\nnote = a \\\n", NULL, ".ini:3: no line continues the value of note after \\");
    refuse("[gauge]\nbeta = 1\nnote = a \\\nsteps = 2\nsteps = 1 \\\n 2\n", NULL,
           ".ini:5: [gauge] steps: '1 2' is not an integer");
    refuse("[gauge]\n" LONG "=1\n", NULL, ".ini:2: the key '" LONG "' has more than 47 letters");
    refuse("[gauge]\nbeta = 1\nnote = caf\xe9\n", NULL,
           ".ini:3: 'note = caf' is followed by the byte \\xe9, which is not UTF-8");
    refuse("[" LONG "]\n", NULL, ".ini:1: the section name '" LONG "' has more than 47 letters");
}

static void test_bad_values(void)
{
    refuse("[gauge]\nbta = 5.7\n", NULL,
           ".ini:2: unknown key 'bta' in [gauge]; did you mean 'beta'? (keys: beta, steps,");
    refuse("[gauge]\nbeta=1\n[fermion.l]\nkapa = 5.7\n", NULL,
           ".ini:4: unknown key 'kapa' in [fermion.l]; did you mean 'kappa'? (keys: kappa, mass, size)");
    refuse("[gauge]\nbeta=1\nzzzzz=1\n", NULL, ".ini:3: unknown key 'zzzzz' in [gauge] (keys: ");
    refuse("[gauge]\nbeta = abc\n", NULL, ".ini:2: [gauge] beta: 'abc' is not a real number; allowed: real > 0");
    refuse("[gauge]\nbeta = -1\n", NULL, ".ini:2: [gauge] beta: '-1' is out of range; allowed: real > 0");
    refuse("[gauge]\nbeta =\n", NULL, ".ini:2: [gauge] beta: the value is empty; allowed: real > 0");
    refuse("[gauge]\nbeta=1\nsteps = 1.5\n", NULL, ".ini:3: [gauge] steps: '1.5' is not an integer");
    refuse("[gauge]\nbeta=1\naction = wilsn\n", NULL,
           ".ini:3: [gauge] action: 'wilsn' is unknown; allowed: wilson or symanzik; did you mean 'wilson'?");
    refuse("[gauge]\nbeta=1\n[fermion.l]\nsize = 4.4.4\n", NULL, ".ini:4: [fermion.l] size: '4.4.4' is not four");
    refuse("\n[gauge]\n", NULL, ".ini:2: [gauge] needs the key 'beta' (inverse coupling 6/g^2); allowed: real > 0");
    refuse("", NULL, ".ini: [gauge] needs the key 'beta'");
}

/* All mistakes of a text in one message, each once, with the number of them; of many, the first twenty. */
static void test_several(void)
{
    char many[2048] = "[gauge]\nbeta = 1\n";
    refuse("[gauge]\nbta = 5.7\nsteps = x\n[gague]\nnonsense\n[fermion.l]\nkappa = 2\n", "fermion.l.mass=y",
           "6 errors in the input:\n");
    refuse("[gauge]\nbta = 5.7\nsteps = x\n", NULL, "2 errors in the input:\n  ");
    refuse("[gauge]\nbta = 5.7\nsteps = x\n", NULL, ".ini:3: [gauge] steps: 'x' is not an integer");
    refuse("[gauge]\nbta = 5.7\nsteps = x\n", NULL, ".ini:2: unknown key 'bta' in [gauge]");
    /* What stands under a bad heading is of no known section. */
    refuse("[gauge]\nbeta = 1\n[ga uge]\nnonsense\nx = 1\n", NULL, "plaq: error: /tmp");
    for (int i = 0; i < 30; i++) snprintf(many + strlen(many), sizeof many - strlen(many), "x%d = 1\n", i);
    refuse(many, NULL, "30 errors in the input; the first 20:\n");
    refuse(many, NULL, ".ini:22: unknown key 'x19'");
}

static void test_bad_sections(void)
{
    refuse(
        "[gauge]\nbeta=1\n[fermoin.light]\n", NULL,
        ".ini:3: unknown section [fermoin.light]; did you mean '[fermion.light]'? (sections: [gauge], [fermion.NAME])");
    refuse("[gauge]\nbeta=1\n[gague]\nbeta=1\n", NULL, ".ini:3: unknown section [gague]; did you mean '[gauge]'?");
    refuse("[gauge]\nbeta=1\n[zzzzz]\n", NULL, ".ini:3: unknown section [zzzzz] (sections: ");
    refuse("[gauge]\nbeta=1\n[fermion]\n", NULL, ".ini:3: section [fermion] needs a name: [fermion.NAME]");
    refuse("[gauge]\nbeta=1\n[gauge.a]\n", NULL, ".ini:3: section [gauge.a] takes no name: [gauge]");
}

static void test_bad_overrides(void)
{
    const char *good = "[gauge]\nbeta = 1\n[fermion.light]\n";
    refuse(good, "gauge.beta=x", "command line: gauge.beta=x: [gauge] beta: 'x' is not a real number");
    refuse(good, "gauge.bta=1", "command line: gauge.bta=1: unknown key 'bta' in [gauge]; did you mean 'beta'?");
    refuse(good, "gague.beta=1", "command line: gague.beta=1: unknown section [gague]; did you mean '[gauge]'?");
    refuse(good, "fermion.ligth.kappa=.1", "there is no section [fermion.ligth] in ");
    refuse(good, "fermion.ligth.kappa=.1", ".ini; did you mean 'fermion.light'?");
    refuse(good, "gauge.beta", "'gauge.beta' is not of the form section.key=value");
    refuse(good, "beta=1", "'beta=1' is not of the form section.key=value");
    refuse(good, "a.b.c.d=1", "'a.b.c.d=1' is not of the form section.key=value");
    refuse(good, ".beta=1", "is not of the form section.key=value");
    refuse(good, "gauge.=1", "is not of the form section.key=value");
    refuse(good, "", "is not of the form section.key=value");
}

static void too_many_instances(void *arg)
{
    const char *names[1];
    ini_instances((const ini_input *)arg, "fermion", names, 1);
}

static void test_bad_files(void)
{
    char missing[96], fifo[96], device[] = "/dev/zero";
    snprintf(missing, sizeof missing, "%s/none", folder);
    CHECK_USER_ERROR(read_path, missing, "/none': No such file or directory");
    CHECK_USER_ERROR(read_path, folder, "': a directory, not a regular file");
    CHECK_USER_ERROR(read_path, device, "': a device, not a regular file");
    /* Nobody writes to it: to open it would be to hang. */
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    CHECK_INT(mkfifo(fifo, 0600), 0);
    CHECK_USER_ERROR(read_path, fifo, "': a FIFO, not a regular file");
    remove(fifo);
    write_file("[gauge]\nbe\0ta = 1\n", 18);
    CHECK_USER_ERROR(read_path, path, "is not an input file: it contains a zero byte at offset 10");
    char *big = (char *)malloc((1 << 20) + 1);
    memset(big, '\n', (1 << 20) + 1);
    write_file(big, (1 << 20) + 1);
    CHECK_USER_ERROR(read_path, path, "is not an input file: it is larger than 1048576 bytes");
    free(big);
    write_file("", 0);
    if (geteuid() != 0) { /* root reads everything */
        chmod(path, 0);
        CHECK_USER_ERROR(read_path, path, "': Permission denied");
        chmod(path, 0600);
    }
    write_file("[fermion.a]\n[fermion.b]\n", 24);
    ini_input *in = ini_read(path, 0, NULL);
    CHECK_USER_ERROR(too_many_instances, in,
                     ".ini:2: section [fermion.b] is one too many: allowed are 1 [fermion.NAME]");
    ini_free(in);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    REQUIRE(mkdtemp(folder), "cannot make %s", folder);
    snprintf(path, sizeof path, "%s/test.ini", folder);
    test_good();
    test_continued();
    test_no_file();
    test_bad_text();
    test_bad_values();
    test_bad_sections();
    test_several();
    test_bad_overrides();
    test_bad_files();
    remove(path);
    rmdir(folder);
    int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
