/* Part of test_links.c: files with a flipped bit, cut short, continued, empty or foreign. Each must be found. */

/* Marks bytes of free text, which nothing guards: 1 in the mask. */
static void mark(char *mask, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) mask[i] = 1;
}

static void mark_nersc(const bytes *b, size_t header, int bits, char *mask)
{
    if (strstr((char *)b->p, "\nHEADER_CRC32 = ")) return;

    static const char *const free_text[] = {"ENSEMBLE_", "SEQUENCE_NUMBER", "CREATOR", "CREATION_DATE", "ARCHIVE_DATE"};
    for (size_t at = 0; at < header;) {
        const char *line = (char *)b->p + at;
        const size_t n = strcspn(line, "\n"), value = strcspn(line, "=") + 2;
        for (size_t k = 0; k < sizeof free_text / sizeof free_text[0]; k++)
            if (!strncmp(line, free_text[k], strlen(free_text[k]))) mark(mask, at + value, at + n);
        /* Digits below the rounding of the links, and the case of a lone letter, which is free. */
        if (bits == 32 && (!strncmp(line, "LINK_TRACE", 10) || !strncmp(line, "PLAQUETTE", 9)))
            mark(mask, at + n - 3, at + n);
        size_t letters = 0;
        for (size_t k = value; k < n; k++) letters += line[k] >= 'a';
        if (!strncmp(line, "CHECKSUM", 8) && letters == 1)
            for (size_t k = value; k < n; k++)
                if (line[k] >= 'a') mark(mask, at + k, at + k + 1);
        at += n + 1;
    }
}

static uint64_t load_big(const unsigned char *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

/* Marks free text, and 2 where the links are. */
static void mark_lime(const bytes *b, char *mask)
{
    static const char *const free_text[] = {"scidac-file-xml", "scidac-record-xml", "ildg-data-lfn",
                                            "xlf-info",        "grid-format",       "FieldNormMetaData"};
    for (size_t at = 0; at < b->n;) {
        const char *type = (char *)b->p + at + 16, *data = (char *)b->p + at + 144;
        const size_t n = (size_t)load_big(b->p + at + 8);
        for (size_t k = 0; k < sizeof free_text / sizeof free_text[0]; k++)
            if (!strcmp(type, free_text[k])) mark(mask, at + 144, at + 144 + n);
        const char *date = strstr(type, "private-record") ? strstr(data, "<date>") : NULL;
        if (date) mark(mask, at + 144 + (size_t)(date - data) + 6, at + 144 + (size_t)(strstr(data, "</date>") - data));
        if (strstr(type, "binary-data")) memset(mask + at + 144, 2, n);
        at += 144 + (n + 7) / 8 * 8;
    }
}

/* 0 structure, 1 free text or unguarded parameters, 2 links. */
static char *regions(const bytes *b, const check_report *r)
{
    char *mask = calloc(b->n, 1);
    const char *format = r->info.format;
    const size_t links = (size_t)(r->info.size[0] * r->info.size[1] * r->info.size[2] * r->info.size[3]) * 24 *
                         (size_t)(r->info.rows * r->info.precision_bits / 8);
    const size_t header = b->n - links;
    if (!strcmp(format, "ildg") || !strcmp(format, "scidac")) {
        mark_lime(b, mask);
    } else if (!strcmp(format, "hdf5")) {
        const char *without = strstr((char *)b->p, "without = ");
        memset(mask + strtoul(without + 10, NULL, 10), 2, links);
    } else {
        memset(mask + header, 2, links);
        if (!strcmp(format, "nersc")) mark_nersc(b, header, r->info.precision_bits, mask);
        if (!strcmp(format, "milc")) mark(mask, 20, 84);
        if (!strcmp(format, "milc-old")) mark(mask, 20, 28);
        /* The last digits of a sum depend on its order. */
        if (!strcmp(format, "openqcd")) mark(mask, 16, 18);
    }
    return mask;
}

/* How many of n flips in the region are found. `all` goes through every bit instead. */
static int flips_found(const char *path, const bytes *b, const char *mask, int region, int n, int all)
{
    int found = 0;
    check_report r;
    uint64_t draw = 88172645463325252u;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i / 8;
        int bit = i % 8;
        if (!all) do {
                draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
                at = draw / 8 % b->n, bit = (int)(draw % 8);
            } while (mask[at] != region);
        if (mask[at] != region) {
            found++;
            continue;
        }
        unsigned char flipped = b->p[at] ^ (unsigned char)(1 << bit);
        if (comm_rank() == 0) {
            FILE *f = fopen(path, "r+b");
            fseek(f, (long)at, SEEK_SET);
            fputc(flipped, f);
            fclose(f);
        }
        comm_barrier();
        const int bad = links_check(path, NULL, &r) != CHECK_WHOLE;
        found += bad;
        if (!bad && comm_rank() == 0 && region == 0)
            printf("%s: byte %zu %02x -> %02x is not found\n", path, at, b->p[at], flipped);
        if (bad) CHECK(r.message[0] && strstr(r.message, path));
        if (comm_rank() == 0) {
            FILE *f = fopen(path, "r+b");
            fseek(f, (long)at, SEEK_SET);
            fputc(b->p[at], f);
            fclose(f);
        }
        comm_barrier();
    }
    return found;
}

static void expect_damaged(const char *path, const unsigned char *p, size_t n)
{
    check_report r;
    save(path, p, n);
    CHECK_INT(links_check(path, NULL, &r), CHECK_DAMAGED);
    CHECK_HAS(r.message, path);
}

/* least: how many of 100 flips in the links must be found. */
static void damage(const char *from, int least)
{
    check_report r;
    const char *path = in_folder("damaged");
    const bytes b = load(from);
    CHECK(b.p != NULL);
    if (!b.p) return;
    save(path, b.p, b.n);
    CHECK_INT(links_check(path, NULL, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    char *mask = regions(&b, &r);
    /* How many of each kind; PLAQ_CAMPAIGN asks for more. */
    const int flips = getenv("PLAQ_CAMPAIGN") ? atoi(getenv("PLAQ_CAMPAIGN")) : 60;
    const int found = flips_found(path, &b, mask, 2, flips, 0);
    if (comm_rank() == 0) printf("%s (%s): %d of %d flips in the links found\n", from, r.info.format, found, flips);
    CHECK(100 * found >= least * flips);
    CHECK_INT(flips_found(path, &b, mask, 0, flips, 0), flips);
    if (getenv("PLAQ_CAMPAIGN")) {
        const int bits = 32000;
        CHECK_INT(flips_found(path, &b, mask, 0, bits, 1), bits);
    }
    for (int i = 0; i < flips; i++) {
        const size_t cut = (size_t)(random_unit() * (double)b.n);
        save(path, b.p, cut);
        const check_verdict verdict = links_check(path, NULL, &r);
        if (verdict == CHECK_WHOLE && comm_rank() == 0) printf("%s: whole though cut to %zu bytes\n", from, cut);
        CHECK(verdict != CHECK_WHOLE);
    }
    const size_t cuts[] = {0, 1, 3, 20, 100, 511, 513, 2000, b.n / 2, b.n - 8, b.n - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) expect_damaged(path, b.p, cuts[i]);
    unsigned char *longer = calloc(b.n + 600, 1);
    memcpy(longer, b.p, b.n);
    expect_damaged(path, longer, b.n + 1);
    expect_damaged(path, longer, b.n + 600);
    free(longer);
    free(mask);
    free(b.p);
}

static void test_foreign(void)
{
    static const char *const texts[] = {"hello, world\n",
                                        "BEGIN_HEADER\n",
                                        "BEGIN_HEADER\nx\nEND_HEADER\n",
                                        "BEGIN_HEADER\n = \nEND_HEADER\n",
                                        "\x89HDF\r\n\x1a\n",
                                        "Eg\x89\xab",
                                        "plaq sealed HDF5 file, seal version 1\nbytes = 5\n"};
    check_report r;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_damaged(in_folder("foreign"), (const unsigned char *)texts[i], strlen(texts[i]));
    CHECK_INT(links_check(in_folder("missing"), NULL, &r), CHECK_UNCHECKED);
    CHECK_HAS(r.message, "No such file");
    CHECK_INT(links_check(folder, NULL, &r), CHECK_UNCHECKED);
    CHECK_HAS(r.message, "a directory, not a regular file");
    CHECK_INT(links_check("/dev/zero", NULL, &r), CHECK_UNCHECKED);
    CHECK_HAS(r.message, "a device, not a regular file");
    if (comm_rank() == 0) CHECK_INT(mkfifo(in_folder("fifo"), 0600), 0);
    comm_barrier();
    CHECK_INT(links_check(in_folder("fifo"), NULL, &r), CHECK_UNCHECKED);
    CHECK_HAS(r.message, "a FIFO, not a regular file");
    unsigned char noise[4096];
    random_state = 5;
    for (int k = 0; k < 20; k++) {
        for (size_t i = 0; i < sizeof noise; i++) noise[i] = (unsigned char)(random_unit() * 256);
        expect_damaged(in_folder("foreign"), noise, sizeof noise);
    }
}

/* Bytes of the file that a message quotes: what is no text is escaped, what is stays. */
static void test_messages(void)
{
    static const char text[] = "BEGIN_HEADER\n\033[2J\xff\xc2\x9b gr\xc3\xbc\xc3\x9f\nEND_HEADER\n";
    check_report r;
    save(in_folder("quoted"), (const unsigned char *)text, sizeof text - 1);
    CHECK_INT(links_check(in_folder("quoted"), NULL, &r), CHECK_DAMAGED);
    CHECK_HAS(r.message, "\\x1b[2J\\xff\\xc2\\x9b gr\xc3\xbc\xc3\x9f");
}

/* Lattices that files may have and that plaq does not: no fault of the file. */
static void test_odd_extent(void)
{
    char header[512];
    check_report r;
    static unsigned char links[3 * 4 * 4 * 4 * 4 * 18 * 8];
    const int n = snprintf(header, sizeof header,
                           "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE_3x3\nDIMENSION_1 = 3\nDIMENSION_2 = 4\n"
                           "DIMENSION_3 = 4\nDIMENSION_4 = 4\nCHECKSUM = 0\nLINK_TRACE = 0.0\nPLAQUETTE = 0.0\n"
                           "FLOATING_POINT = IEEE64BIG\nEND_HEADER\n");
    unsigned char *p = calloc(sizeof header + sizeof links, 1);
    memcpy(p, header, (size_t)n);
    save(in_folder("odd"), p, (size_t)n + sizeof links);
    free(p);
    CHECK_INT(links_check(in_folder("odd"), NULL, &r), CHECK_UNCHECKED);
    CHECK_HAS(r.message, "the lattice is 3.4.4.4, even extents are allowed");
    CHECK(r.header_ok && !r.links_read);
}

/* A number that is NaN is found on reading, whatever the checksum says. */
static void test_nan(void)
{
    field *u = field_of(small);
    fill_random(u);
    const int *l = u->lat->local;
    double *slice = malloc(72 * sizeof(double) * (size_t)(l[0] * l[1] * l[2]));
    field_export(u, 0, slice);
    if (comm_rank() == 0) slice[5] = NAN;
    field_import(u, 0, slice);
    free(slice);
    CHECK_INT(links_write(u, in_folder("nan.h5"), "hdf5", NULL, message, sizeof message), 0);
    CHECK_INT(links_read(u, in_folder("nan.h5"), NULL, message, sizeof message), LINKS_NOT_FINITE);
    CHECK_HAS(message, "NaN");
    check_report r;
    CHECK_INT(links_check(in_folder("nan.h5"), NULL, &r), CHECK_DAMAGED);
    CHECK_INT(r.info.nonfinite, 1);
    drop(u);
}

static void test_damage(int samples_there)
{
    field *u = field_of(small);
    fill_random(u);
    const links_meta meta = meta_of(u);
    static const char *const written[] = {"ildg", "nersc", "hdf5"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(links_write(u, in_folder(written[i]), written[i], &meta, message, sizeof message), 0);
        damage(in_folder(written[i]), 100);
    }
    write_nersc(in_folder("rows2"), u, u, 2, 4, 0);
    damage(in_folder("rows2"), 100);
    write_openqcd(in_folder("openqcd"), u, 0);
    damage(in_folder("openqcd"), 80);
    write_old(in_folder("old"), u, 1);
    damage(in_folder("old"), 75);
    write_milc(in_folder("milc"), u, 0);
    damage(in_folder("milc"), 100);
    const bytes others[3] = {tmlqcd(u, plaquette(u)), grid(u, plaquette(u), links_trace(u)), scidac(u)};
    for (int i = 0; i < 3; i++) {
        save(in_folder("other"), others[i].p, others[i].n);
        free(others[i].p);
        damage(in_folder("other"), 100);
    }
    drop(u);
    test_foreign();
    test_messages();
    test_odd_extent();
    test_nan();
    static const struct {
        const char *name;
        int least;
    } from_others[] = {{"lat.sample.l4444", 100},        {"lat.sample.l4448", 100},   {"lat.sample.l4444.ildg", 100},
                       {"lat.sample.l4444.scidac", 100}, {"chroma.t_nersc.cfg", 100}, {"lat.sample.inst", 60},
                       {"qlua.random-gauge.lime", 100}};
    for (size_t i = 0; i < sizeof from_others / sizeof from_others[0] && samples_there; i++)
        damage(data_path(from_others[i].name), from_others[i].least);
}
