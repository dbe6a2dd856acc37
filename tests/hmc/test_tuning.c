/* The tuner's file of hmc/assemble/tuning.h: what is measured is kept and read back; a file that is not there, makes no sense,
 * is no file or is of another machine is spoken of, and only the last is gone on without. */
#include "hmc/assemble/tuning.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "kernels/lattice/comm.h"
#include "kernels/run/tune.h"
#include "tests/check.h"

static char here[] = "a machine", elsewhere[] = "another machine";
static char folder[] = "/tmp/plaq-tuning-XXXXXX", path[64];

static double third_is_best(int way, void *of)
{
    (void)of;
    return way == 3 ? 1e-6 : 2e-6;
}

static int choice(void)
{
    const tune_key key = {KERNEL_hop, PREC_HALF, {8, 8, 8, 8}, 5, 1};
    return tune_choice(&key, comm_world(), 5, third_is_best, NULL);
}

static void open_file(void *machine)
{
    tuning_open(TUNE_FILE, path, machine);
}

static void open_to_measure(void *machine)
{
    tuning_open(TUNE_MEASURE, path, machine);
}

static void append(const char *line)
{
    FILE *f = fopen(path, "a");
    REQUIRE(f, "cannot write %s", path);
    fputs(line, f);
    fclose(f);
}

static void measure_and_keep(void)
{
    tuning_open(TUNE_MEASURE, path, here);
    CHECK_INT(choice(), 3);
    tuning_close();
    open_file(here);
    CHECK_INT(choice(), 3);
    tuning_close();
}

static void measure_for_nothing(void)
{
    tuning_open(TUNE_MEASURE, path, here);
    CHECK_INT(choice(), 3);
    tuning_discard();
    tuning_close();
    CHECK_USER_ERROR(open_file, here, "make one with tune = measure");
}

static void test_bad_files(void)
{
    char message[256];
    open_file(elsewhere);
    CHECK_INT(choice(), TUNE_BY_RULE);
    append("hop half 8.8.8.8 5 1 3\n");
    snprintf(message, sizeof message, "tuning file %s, line 3: not a case", path);
    CHECK_USER_ERROR(open_file, here, message);
    CHECK_USER_ERROR(open_to_measure, here, message);
    CHECK_USER_ERROR(open_file, here, "remove the file");
    remove(path);
    CHECK_USER_ERROR(open_file, here, "make one with tune = measure");
    append("trajectory\tfile\n");
    CHECK_USER_ERROR(open_to_measure, here, "the file is a text, and is not replaced");
    remove(path);
    REQUIRE(mkdir(path, 0700) == 0, "cannot make %s", path);
    CHECK_USER_ERROR(open_file, here, "remove it, or name another one as tune_file");
    rmdir(path);
    tuning_open(TUNE_ESTIMATE, path, here);
    CHECK_INT(choice(), TUNE_BY_RULE);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    REQUIRE(mkdtemp(folder), "cannot make %s", folder);
    snprintf(path, sizeof path, "%s/tuned.txt", folder);
    measure_for_nothing();
    measure_and_keep();
    test_bad_files();
    rmdir(folder);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
