/* Local sections: code that one rank runs alone, such as the line of JSON that rank 0 prints.
 *
 *   local_begin("a line of JSON");
 *   ...                              collective calls in here are a fault
 *   local_end();
 *
 * A collective call that one rank makes alone hangs, or meets a call of another kind on the other ranks and breaks the
 * run. Collective calls ask local_check(), which ends the program with a fault inside a local section. The fault shows on
 * one rank as on many, so that a test on one rank finds it. Sections do not nest. Local. */
#ifndef PLAQ_LOCAL_H
#define PLAQ_LOCAL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a section; the text `what` names it, and lives until its end. */
void local_begin(const char *what);
void local_end(void);
/* The name of the section that this rank is in; null outside of sections. */
const char *local_section(void);
/* Called by collective functions: a fault inside a section. The text names the function. */
void local_check(const char *what);

#ifdef __cplusplus
}
#endif
#endif
