/* The commands of the program: `plaq NAME ...`. A command is one line of commands.def and one function. */
#ifndef PLAQ_COMMANDS_H
#define PLAQ_COMMANDS_H

#include <stddef.h>

#include "io/links/links.h"

/* Exit status: 0 success; 1 a check or comparison failed; 2 a user error; 3 an internal error; 4 a run that had to
 * stop; 5 and 6 are in kernels/base/error.h; 7 an odd lattice file, found by plaq check. */
#define EXIT_CHECK_FAILED 1
#define EXIT_RUN_STOPPED 4
#define EXIT_ODD_FILE 7

/* Exit status for users, on two lines. */
#define EXIT_STATUS_TEXT                                                                                               \
    "0 success, 1 a check failed, 2 an error in the input, 3 an internal error,\n"                                     \
    "4 a run that had to stop (its message says why; the last checkpoint stands), 5 a rank hung, 6 a GPU failed."

typedef struct {
    const char *name;
    int overrides; /* takes words section.key=value */
    const char *usage, *help;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status. Collective */
} command;

/* Commands by number, null after the last. */
const command *command_number(int i);
/* The command of this name, or null. */
const command *command_named(const char *name);

/* Called first in main(): remembers the name of the program and the time. */
void commands_begin(const char *program);
const char *command_program(void);
/* Seconds since then. Local. */
double command_age(void);
/* Writes what standard output still holds. Returns 0 if its reader has gone, as `head` does when it has seen enough, else 1;
 * any other failure to write is a user error. Collective; called last. */
int command_check_output(void);

/* Arguments sorted: flags that start with "--", words section[.name].key=value for commands that take them (unless
 * there is a file of that name), and the rest, each in order. An unknown flag is a user error that names the known
 * ones, as is a number of other arguments outside [least, most] (most < 0: any). Collective. */
typedef struct {
    int nplain, noverride;
    char **plain;
    const char **overrides;
} plain_arguments;

typedef struct {
    const char *name;   /* "--json" */
    int *given;         /* set to 1 */
    const char **value; /* value of the flag goes here; null for a flag without one */
    const char *help;
} command_flag;

/* The option that gives the size of LIME files without one. */
#define FLAG_SIZE(text)                                                                                                \
    {                                                                                                                  \
        "--size", NULL, text, "X.Y.Z.T of a LIME file that does not say its size"                                      \
    }
/* The option of every command that reads configurations. */
#define FLAG_IGNORE_RECORDED(given)                                                                                    \
    {                                                                                                                  \
        "--ignore-recorded", given, NULL,                                                                              \
            "go on although plaquette or link trace of a file differ from those that it records"                       \
    }
/* The option of every command whose kernels can be profiled. */
#define FLAG_PROFILE(given)                                                                                            \
    {                                                                                                                  \
        "--profile", given, NULL, "what each kernel took, calls an iteration of a solver, copies to and from a GPU"    \
    }

plain_arguments command_arguments(int argc, char **argv, const command_flag *flags, int nflags, int least, int most);
void command_arguments_free(plain_arguments *a);
/* Word number `i` of a list with commas; 0 when there are fewer. */
int command_list_word(const char *list, int i, char *word, size_t size);
/* True if a list has the name or its group; a null list has every name. */
int command_listed(const char *list, const char *name, const char *group);
/* A word of the list behind a flag that is none of the n known ones is a user error that names the nearest. */
void command_check_words(const char *command, const char *flag, const char *list, const char *const *known, int n);
struct parameters;
/* Sets the log level that [run] log names, from now on. */
void command_set_log(const struct parameters *p);
/* The device of an option --device: cpu or gpu as given; without it gpu where every rank finds one, else cpu. Collective. */
const char *command_device(const char *given);
/* Number of the one word behind a flag among the n known ones; any other text is a user error. */
int command_choice(const char *command, const char *flag, const char *text, const char *const *known, int n);
/* The whole number behind a flag, from `low` to `high`, or a user error; `none` where there is no text. */
int command_integer(const char *command, const char *flag, const char *text, int low, int high, int none);
/* Metadata of a lattice file that is made of the one of `info`, whose texts they share: trajectory number, label, parameters, and
 * this program. Plaquette and logical file name are left to the command. */
links_meta command_meta(const links_info *info);
/* Warns of these metadata where files of the format have no place for them. */
void command_warn_of_loss(const links_info *info, const links_meta *meta, const char *format);
/* The format to write a lattice file in: as asked behind --format, which may be null, or by the ending of its name. */
const char *command_format(const char *command, const char *path, const char *asked);
/* Extents behind --size of this command; zeros where there are none. */
void command_size(const char *command, const char *text, int size[4]);
/* The number behind --ranks of this command; 0 where there is none. */
int command_ranks(const char *text, const char *command);

#endif
