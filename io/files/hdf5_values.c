#include "io/files/hdf5_values.h"

#include <stdlib.h>
#include <string.h>

void values_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* UTF-8 text of fixed length, zeros included: what h5py and h5dump show as a string. */
static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_strpad(type, H5T_STR_NULLTERM);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static int put(hid_t where, const char *name, hid_t file_type, hid_t memory_type, const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(where, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    int bad = a < 0 || H5Awrite(a, memory_type, value) < 0;
    if (a >= 0) bad |= H5Aclose(a) < 0;
    H5Sclose(space);
    return bad;
}

int values_put_int(hid_t where, const char *name, int64_t value)
{
    return put(where, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

int values_put_unsigned(hid_t where, const char *name, uint64_t value)
{
    return put(where, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

int values_put_real(hid_t where, const char *name, double value)
{
    return put(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

int values_put_text(hid_t where, const char *name, const char *text)
{
    const hid_t type = text_type(strlen(text) + 1);
    const int bad = put(where, name, type, type, text);
    H5Tclose(type);
    return bad;
}

int values_put_long_text(hid_t where, const char *name, const char *text)
{
    const hid_t type = text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR),
                plist = H5Pcreate(H5P_DATASET_CREATE);
    /* No time of writing in the file: equal values make equal bytes. */
    H5Pset_obj_track_times(plist, 0);
    const hid_t d = H5Dcreate2(where, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    int bad = d < 0 || H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0;
    if (d >= 0) bad |= H5Dclose(d) < 0;
    H5Pclose(plist);
    H5Sclose(space);
    H5Tclose(type);
    return bad;
}

/* Reads an attribute of one value of the class; text of at most `size` bytes, for which memory_type does not count. */
static int get(hid_t where, const char *name, H5T_class_t class, hid_t memory_type, void *value, size_t size)
{
    if (H5Aexists(where, name) <= 0) return 1;
    const hid_t a = H5Aopen(where, name, H5P_DEFAULT);
    if (a < 0) return 1;
    const hid_t space = H5Aget_space(a), type = H5Aget_type(a);
    int bad = H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != class;
    if (!bad && class == H5T_STRING) bad = H5Tis_variable_str(type) || H5Tget_size(type) > size;
    bad = bad || H5Aread(a, class == H5T_STRING ? type : memory_type, value) < 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(a);
    return bad;
}

int values_get_int(hid_t where, const char *name, int64_t *value)
{
    return get(where, name, H5T_INTEGER, H5T_NATIVE_INT64, value, sizeof *value);
}

int values_get_unsigned(hid_t where, const char *name, uint64_t *value)
{
    return get(where, name, H5T_INTEGER, H5T_NATIVE_UINT64, value, sizeof *value);
}

int values_get_real(hid_t where, const char *name, double *value)
{
    return get(where, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value, sizeof *value);
}

int values_get_text(hid_t where, const char *name, char *text, size_t size)
{
    memset(text, 0, size);
    const int bad = get(where, name, H5T_STRING, -1, text, size);
    text[size - 1] = 0;
    return bad;
}

static char *attribute_text(hid_t where, const char *name, hid_t a)
{
    const hid_t type = H5Aget_type(a);
    char *text = NULL;
    if (H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type)) {
        const size_t n = H5Tget_size(type) + 1;
        text = calloc(n, 1);
        if (text && values_get_text(where, name, text, n)) {
            free(text);
            text = NULL;
        }
    }
    H5Tclose(type);
    return text;
}

char *values_get_attribute_text(hid_t where, const char *name)
{
    if (H5Aexists(where, name) <= 0) return NULL;
    const hid_t a = H5Aopen(where, name, H5P_DEFAULT);
    if (a < 0) return NULL;
    char *text = attribute_text(where, name, a);
    H5Aclose(a);
    return text;
}

char *values_get_long_text(hid_t where, const char *name)
{
    char *text = NULL;
    if (H5Lexists(where, name, H5P_DEFAULT) <= 0) return NULL;
    const hid_t d = H5Dopen2(where, name, H5P_DEFAULT);
    if (d < 0) return NULL;
    const hid_t space = H5Dget_space(d), type = H5Dget_type(d);
    if (H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type)) {
        const size_t n = H5Tget_size(type);
        text = calloc(n + 1, 1);
        if (text && H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
            free(text);
            text = NULL;
        }
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(d);
    return text;
}

const char *values_kind_of(hid_t file)
{
    static const struct {
        const char *object, *kind;
    } known[] = {{"checkpoint", "a checkpoint"}, {"links", VALUES_LATTICE}, {".tables", "the history of a run"}};
    static const char *const named[] = {VALUES_TABLES, VALUES_TRANSFORM, VALUES_EIGENVECTORS, VALUES_PROPAGATOR,
                                        VALUES_TRANSFORMATION};
    char *own = values_get_attribute_text(file, VALUES_KIND);
    const char *found = NULL;
    for (size_t i = 0; own && i < sizeof named / sizeof named[0]; i++)
        if (!strcmp(own, named[i])) found = named[i];
    free(own);
    if (found) return found;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (H5Lexists(file, known[i].object, H5P_DEFAULT) > 0) return known[i].kind;
    return NULL;
}
