/* The commands of the program: `plaq NAME ...`. A command is one line of commands.def and one function. */
#ifndef PLAQ_COMMANDS_H
#define PLAQ_COMMANDS_H

/* Exit status: 0 success; 1 a check or comparison failed; 2 a user error; 3 an internal error; 4 a run that had to
 * stop. */
#define EXIT_CHECK_FAILED 1
#define EXIT_RUN_STOPPED 4

typedef struct {
    const char *name, *usage, *help;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status. Collective */
} command;

/* Commands by number, null after the last. */
const command *command_number(int i);

/* Arguments sorted: flags that start with "--", words section.key=value, and the rest, each in order. An unknown flag
 * is a user error that names the known ones, as is a number of other arguments outside [least, most] (most < 0: any).
 */
typedef struct {
    int nplain, noverride;
    char **plain;
    const char **overrides;
} plain_arguments;

typedef struct {
    const char *name;   /* "--json" */
    int *given;         /* set to 1 */
    const char **value; /* where the value goes; null for a flag without one */
    const char *help;
} command_flag;

plain_arguments command_arguments(int argc, char **argv, const command_flag *flags, int nflags, int least, int most);
void command_arguments_free(plain_arguments *a);

#endif
