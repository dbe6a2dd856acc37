#include "io/history/fifth_hdf5.h"

#include <stdio.h>
#include <string.h>

#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "kernels/lattice/comm.h"

static const char *const names[2] = {"upper", "lower"};

static int put_matrix(hid_t file, int c, const fifth_matrix *T)
{
    const hsize_t n[2] = {(hsize_t)T->Ls, (hsize_t)T->from};
    double numbers[DOMAINWALL_SLICES * DOMAINWALL_SLICES];
    for (int s = 0; s < T->Ls; s++)
        for (int t = 0; t < T->from; t++) numbers[s * T->from + t] = T->of[c][s][t];
    const hid_t space = H5Screate_simple(2, n, NULL);
    const hid_t d = H5Dcreate2(file, names[c], H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int bad = d < 0 || H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
    if (d >= 0) bad |= H5Dclose(d) < 0;
    H5Sclose(space);
    return bad;
}

/* Reads the matrix of chirality c; that of chirality 1 must have the extents of chirality 0. */
static int get_matrix(hid_t file, int c, fifth_matrix *T)
{
    hsize_t n[2] = {0, 0};
    double numbers[DOMAINWALL_SLICES * DOMAINWALL_SLICES];
    if (H5Lexists(file, names[c], H5P_DEFAULT) <= 0) return 1;
    const hid_t d = H5Dopen2(file, names[c], H5P_DEFAULT), space = H5Dget_space(d);
    int bad = H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, n, NULL) != 2;
    for (int k = 0; k < 2; k++) bad = bad || n[k] < 1 || n[k] > DOMAINWALL_SLICES;
    bad = bad || (c == 1 && ((int)n[0] != T->Ls || (int)n[1] != T->from));
    bad = bad || H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
    H5Sclose(space);
    H5Dclose(d);
    if (bad) return 1;
    T->Ls = (int)n[0];
    T->from = (int)n[1];
    for (int s = 0; s < T->Ls; s++)
        for (int t = 0; t < T->from; t++) T->of[c][s][t] = numbers[s * T->from + t];
    return 0;
}

static int write_here(const char *path, const fifth_matrix *T, double mu, const char *quark, const char *program,
                      char *message, size_t size)
{
    values_silence();
    image *m = image_create();
    int bad = !m;
    for (int c = 0; c < 2 && !bad; c++) bad = put_matrix(image_file(m), c, T);
    bad = bad || values_put_text(image_file(m), VALUES_KIND, VALUES_TRANSFORM);
    bad = bad || values_put_real(image_file(m), "mu", mu);
    bad = bad || values_put_text(image_file(m), "quark", quark);
    bad = bad || values_put_text(image_file(m), "program", program);
    if (!bad) return image_write(m, path, message, size);
    if (m) image_close(m);
    snprintf(message, size, "%s: the HDF5 library cannot make the file", path);
    return -1;
}

static int read_here(const char *path, fifth_matrix *T, double *mu, char *quark, size_t bytes, char *message,
                     size_t size)
{
    int bad = 0;
    values_silence();
    image *m = image_of_kind(path, VALUES_TRANSFORM, &bad, message, size);
    if (!m) return bad;
    memset(T, 0, sizeof *T);
    bad = get_matrix(image_file(m), 0, T) || get_matrix(image_file(m), 1, T) ||
          values_get_real(image_file(m), "mu", mu) || values_get_text(image_file(m), "quark", quark, bytes);
    image_close(m);
    if (bad) snprintf(message, size, "%s: " VALUES_TRANSFORM " without all of its values", path);
    return bad;
}

int fifth_write(const char *path, const fifth_matrix *T, double mu, const char *quark, const char *program,
                char *message, size_t size)
{
    int bad = comm_rank() == 0 ? write_here(path, T, mu, quark, program, message, size) : 0;
    comm_bcast(&bad, sizeof bad);
    comm_bcast(message, size);
    return bad;
}

int fifth_read(const char *path, fifth_matrix *T, double *mu, char *quark, size_t bytes, char *message, size_t size)
{
    int bad = comm_rank() == 0 ? read_here(path, T, mu, quark, bytes, message, size) : 0;
    comm_bcast(&bad, sizeof bad);
    comm_bcast(message, size);
    comm_bcast(T, sizeof *T);
    comm_bcast(mu, sizeof *mu);
    comm_bcast(quark, bytes);
    return bad;
}
