/* Pages of HTML that need no other file and no network: head with style, sections, tables. The style is light or dark as
 * the browser prefers, and for narrow and wide windows. Texts that come from elsewhere are escaped. Local. */
#ifndef PLAQ_PAGE_H
#define PLAQ_PAGE_H

#include "kernels/base/param.h"

void page_begin(param_text *out, const char *title);
void page_end(param_text *out);

/* A text with & < > " as entities. */
void page_escape(param_text *out, const char *text);

/* A heading; pictures side by side, where there is room, between page_figures() and page_figures_end(). */
void page_heading(param_text *out, const char *title);
void page_figures(param_text *out);
void page_figures_end(param_text *out);

/* A number that is seen first, with its name and what to say of it (or NULL). Between page_tiles() and page_tiles_end(). */
void page_tiles(param_text *out);
void page_tile(param_text *out, const char *name, const char *value, const char *more);
void page_tiles_end(param_text *out);

/* A table of cells, escaped. Titles end with NULL; those that begin with '<' are of columns of text, set to the left, and
 * the others of numbers. A row has as many cells as there are titles. */
void page_table(param_text *out, const char *const *titles);
void page_row(param_text *out, const char *const *titles, const char *const *cells);
void page_table_end(param_text *out);

/* A list of the lines of a text; text as it is; both behind a title to click on, between these. */
void page_list(param_text *out, const char *lines);
void page_verbatim(param_text *out, const char *text);
void page_fold(param_text *out, const char *title);
void page_fold_end(param_text *out);

#endif
