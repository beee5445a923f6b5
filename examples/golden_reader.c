/* Checks a + alpha * b in float32 against a golden file; docs/golden.md describes it. Case and alpha: see manifest.json.
 *   conform golden write DIR smoke --id 'smoke_add/float32/typical/contiguous'
 *   cc -O2 -ffp-contract=off golden_reader.c -lm
 *   ./a.out DIR/elementwise.safetensors smoke_add/float32/typical/contiguous 2 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *header;
static FILE *file;
static long data_at, count = -1; /* elements; this reader broadcasts nothing */

static void *tensor(const char *id, const char *what, int reading, const char *part, long item) { /* NULL: none */
    char key[512], alternative[32] = "", *at; long begin, end;
    if (reading > 0) snprintf(alternative, sizeof alternative, ".or.%d", reading);
    snprintf(key, sizeof key, "\"%s#%s%s%s\":", id, what, alternative, part);
    if (!(at = strstr(header, key)) || !(at = strstr(at, "\"data_offsets\":["))) return NULL;
    if (sscanf(at, "\"data_offsets\":[%ld,%ld]", &begin, &end) != 2 || begin < 0 || end < begin) return NULL;
    if (count < 0) count = (end - begin) / item;
    void *data = count == (end - begin) / item ? malloc(end - begin + 1) : NULL;
    if (!data || fseek(file, data_at + begin, SEEK_SET) || (long)fread(data, item, count, file) != count) return NULL;
    return data;
}

static double ulp(double hi, double lo) { /* of float32: 24 bits, exponents from -126 to 127 */
    int e;
    double fraction = frexp(fabs(hi), &e);
    e -= 1 + (fraction == 0.5 && lo != 0 && signbit(lo) != signbit(hi)); /* hi + lo lies below a power of two */
    return ldexp(1, (hi == 0 || e < -126 ? -126 : e > 127 ? 127 : e) - 23);
}

static int is_right(float actual, float golden, double bound, double hi, double lo, int sign_is_free) {
    if (isinf(bound)) return 1; /* nothing is asked */
    if (isnan(actual) || isnan(golden)) return isnan(actual) && isnan(golden);
    if (actual == 0 && golden == 0 && !sign_is_free && signbit(actual) != signbit(golden)) return 0;
    if (actual == golden || bound <= 0.5) return actual == golden; /* 0.5 of kind ulp: correctly rounded */
    double counted = isinf(actual) ? copysign(ldexp(1, 128), actual) : actual; /* overflow: the number after the last */
    if (fabs(hi) >= ldexp(1, 128)) hi = copysign(ldexp(1, 128), hi), lo = 0;
    return fabs((counted - hi) - lo) <= bound * ulp(hi, lo);
}

int main(int argc, char **argv) {
    unsigned long long length;
    if (argc != 4 || !(file = fopen(argv[1], "rb")) || fread(&length, 8, 1, file) != 1 || length > 100000000) return 2;
    if (!(header = calloc(length + 1, 1)) || fread(header, 1, length, file) != length) return 2;
    data_at = 8 + length;
    float *a = tensor(argv[2], "self", 0, "", 4), *b = tensor(argv[2], "other", 0, "", 4), *c;
    char *right = a && b ? calloc(count + 1, 1) : NULL;
    for (int k = 0; right && (c = tensor(argv[2], "out.0", k, "", 4)) != NULL; k++) { /* any reading may be met */
        double *bound = tensor(argv[2], "out.0", k, ".bound", 8), *hi = tensor(argv[2], "out.0", k, ".hi", 8);
        double *lo = tensor(argv[2], "out.0", k, ".lo", 8);
        char *is_free = tensor(argv[2], "out.0", k, ".zero_sign_free", 1);
        for (long i = 0; bound && hi && i < count; i++)
            right[i] |= is_right(a[i] + strtof(argv[3], 0) * b[i], c[i], bound[i], hi[i], lo ? lo[i] : 0, is_free && is_free[i]);
    }
    long found = 0;
    for (long i = 0; right && i < count; i++) found += right[i];
    return !right || printf("%ld of %ld elements are right\n", found, count) < 0 ? 2 : found != count;
}
