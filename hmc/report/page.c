#include "hmc/report/page.h"

#include <string.h>

static const char style[] =
    ":root{color-scheme:light "
    "dark;--back:#fcfcfb;--card:#fff;--ink:#1d1f23;--soft:#5b616b;--line:#dcdee2;--shade:#eceef1;"
    "--c0:#2a6fbb;--c1:#c8701a;--c2:#2b8757;--c3:#97459c;--c4:#b5484a;--c5:#6b7280}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#15171a;--card:#1d2024;--ink:#e7e9ec;--soft:#a2a8b2;--line:#363b42;"
    "--shade:#262a30;--c0:#6aa9ec;--c1:#f0a860;--c2:#6cc496;--c3:#cf8fd4;--c4:#e88a8b;--c5:#a3a9b3}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:1240px;padding:1rem 1.2rem 3rem;background:var(--back);"
    "color:var(--ink);font:15px/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.45rem;margin:.4rem 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2rem 0 .6rem}"
    "p{margin:.3rem 0}.soft{color:var(--soft)}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(158px,1fr));gap:.7rem;margin:1rem 0}"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem}"
    ".tile b{display:block;font-size:1.05rem;font-weight:600}.tile span{color:var(--soft);"
    "font-size:.85rem;display:block}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:.8rem}"
    "figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem;min-width:0}"
    "figcaption{font-weight:600;font-size:.92rem;margin-bottom:.2rem}svg{display:block;width:100%;height:auto}"
    "svg svg{width:auto}svg text{fill:var(--soft);font-size:12px}svg .axis{font-size:12px}\n"
    ".grid{stroke:var(--line);stroke-width:.7}.frame{fill:none;stroke:var(--line)}.shade{fill:var(--shade)}"
    ".mark{stroke:var(--soft);stroke-dasharray:2 3}.level{stroke:var(--soft);stroke-dasharray:5 3}"
    ".bar{fill:var(--c0);fill-opacity:.65}.band{fill:var(--c1);fill-opacity:.3}.mean{stroke:var(--c1);stroke-width:1}"
    ".warning{border-left:4px solid var(--c4);padding:.4rem .8rem;background:var(--card)}\n"
    ".s0,.s1,.s2,.s3,.s4,.s5{fill:none;stroke-width:1.2;stroke-linejoin:round}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}"
    ".s5{stroke:var(--c5)}.d0{fill:var(--c0)}.d1{fill:var(--c1)}.d2{fill:var(--c2)}.d3{fill:var(--c3)}"
    ".d4{fill:var(--c4)}.d5{fill:var(--c5)}\n"
    ".legend{font-size:.82rem;color:var(--soft);margin:.2rem 0 0}.legend span{margin-right:.9rem;white-space:nowrap}"
    ".legend i{display:inline-block;width:.9em;height:.25em;border-radius:2px;margin-right:.35em;vertical-align:middle}"
    ".k0{background:var(--c0)}.k1{background:var(--c1)}.k2{background:var(--c2)}.k3{background:var(--c3)}"
    ".k4{background:var(--c4)}.k5{background:var(--c5)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}"
    "th{color:var(--soft);font-weight:600}.text{text-align:left}td.text{white-space:pre-line}"
    "th:first-child,td:first-child{padding-left:0}\n"
    "details{margin:.5rem 0}summary{cursor:pointer;color:var(--c0)}pre{overflow-x:auto;font-size:.82rem;"
    "background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem}"
    "ul{margin:.3rem 0;padding-left:1.2rem}li{margin:.25rem 0;max-width:80ch}\n";

void page_escape(param_text *out, const char *text)
{
    for (const char *c = text; *c; c++) switch (*c) {
        case '&': param_text_add(out, "&amp;"); break;
        case '<': param_text_add(out, "&lt;"); break;
        case '>': param_text_add(out, "&gt;"); break;
        case '"': param_text_add(out, "&quot;"); break;
        default: param_text_add(out, "%c", *c);
        }
}

static void element(param_text *out, const char *open, const char *text, const char *close)
{
    param_text_add(out, "%s", open);
    page_escape(out, text);
    param_text_add(out, "%s", close);
}

void page_begin(param_text *out, const char *title)
{
    param_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    element(out, "<title>", title, "</title>\n");
    param_text_add(out, "<style>\n%s</style></head>\n<body>\n", style);
    element(out, "<h1>", title, "</h1>\n");
}

void page_end(param_text *out)
{
    param_text_add(out, "</body></html>\n");
}

void page_heading(param_text *out, const char *title)
{
    element(out, "<h2>", title, "</h2>\n");
}

void page_figures(param_text *out)
{
    param_text_add(out, "<div class=\"figures\">\n");
}

void page_figures_end(param_text *out)
{
    param_text_add(out, "</div>\n");
}

void page_tiles(param_text *out)
{
    param_text_add(out, "<div class=\"tiles\">\n");
}

void page_tile(param_text *out, const char *name, const char *value, const char *more)
{
    element(out, "<div class=\"tile\"><span>", name, "</span>");
    element(out, "<b>", value, "</b>");
    if (more) element(out, "<span>", more, "</span>");
    param_text_add(out, "</div>\n");
}

void page_tiles_end(param_text *out)
{
    param_text_add(out, "</div>\n");
}

void page_table(param_text *out, const char *const *titles)
{
    param_text_add(out, "<div class=\"wide\"><table><thead><tr>");
    for (int i = 0; titles[i]; i++) {
        const int is_text = titles[i][0] == '<';
        element(out, is_text ? "<th class=\"text\">" : "<th>", titles[i] + is_text, "</th>");
    }
    param_text_add(out, "</tr></thead>\n<tbody>\n");
}

void page_row(param_text *out, const char *const *titles, const char *const *cells)
{
    param_text_add(out, "<tr>");
    for (int i = 0; titles[i]; i++)
        element(out, titles[i][0] == '<' ? "<td class=\"text\">" : "<td>", cells[i], "</td>");
    param_text_add(out, "</tr>\n");
}

void page_table_end(param_text *out)
{
    param_text_add(out, "</tbody></table></div>\n");
}

void page_list(param_text *out, const char *lines)
{
    param_text_add(out, "<ul>\n");
    for (const char *at = lines; at && *at;) {
        const int n = (int)strcspn(at, "\n");
        param_text line = {0};
        param_text_add(&line, "%.*s", n, at);
        element(out, "<li>", line.data, "</li>\n");
        param_text_free(&line);
        at += n + (at[n] == '\n');
    }
    param_text_add(out, "</ul>\n");
}

void page_verbatim(param_text *out, const char *text)
{
    element(out, "<pre>", text, "</pre>\n");
}

void page_fold(param_text *out, const char *title)
{
    element(out, "<details><summary>", title, "</summary>\n");
}

void page_fold_end(param_text *out)
{
    param_text_add(out, "</details>\n");
}
