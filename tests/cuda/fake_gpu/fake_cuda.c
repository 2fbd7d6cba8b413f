/* A CUDA driver for tests, on machines without one: device memory is the host's, and a launch calls back with the kernel's name and its
 * parameters, which it reads from the PTX. It knows contexts and streams well enough to see them mixed up, and fails where a test asks for it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, DEVICES = 2, MOST = 256 };
typedef struct { char name[128]; int count; unsigned char size[MOST]; int device; } Function;
typedef struct { char *text; int device; } Module;
typedef void (*Launched)(const char *name, int device, const uint32_t *grid, const uint32_t *block, uint64_t stream, int count, const uint64_t *parameters);

static int contexts[DEVICES];
static __thread int *current;
static Launched launched;
static char failing[64];
static int failure, capturing, driver_version = 12080, threads_per_block = 1024, capability = 90;
static long live, loads, waits, orders, retained;

/* What tests say and ask. */
void fake_on_launch(Launched f) { launched = f; }
void fake_fail(const char *function, int code) { snprintf(failing, sizeof failing, "%s", function); failure = code; }
void fake_set(const char *what, int value) {
    if (!strcmp(what, "capturing")) capturing = value;
    if (!strcmp(what, "driver_version")) driver_version = value;
    if (!strcmp(what, "threads_per_block")) threads_per_block = value;
    if (!strcmp(what, "capability")) capability = value;
}
long fake_count(const char *what) {
    if (!strcmp(what, "live")) return live;
    if (!strcmp(what, "loads")) return loads;
    if (!strcmp(what, "waits")) return waits;
    if (!strcmp(what, "orders")) return orders;
    if (!strcmp(what, "retained")) return retained;
    return -1;
}
int fake_current(void) { return current ? (int)(current - contexts) : -1; }
void fake_make_current(int device) { current = device < 0 ? NULL : &contexts[device]; }

#define FAILS(name) if (failure && !strcmp(failing, name)) { int code = failure; failure = 0; return code; }

int cuInit(unsigned flags) { (void)flags; FAILS("cuInit"); return OK; }
int cuDriverGetVersion(int *version) { *version = driver_version; return OK; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal < DEVICES ? OK : 101; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 1: case 2: case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = 2147483647; break;
    case 6: *value = 65535; break;
    case 7: *value = 16; break; /* fewer than any GPU has along z, so that batches are cut in the tests */
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    default: return INVALID;
    }
    if (attribute == 1) *value = 1024;
    return OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { retained++; *context = &contexts[device]; return OK; }
int cuCtxGetCurrent(void **context) { *context = current; return OK; }
int cuCtxSetCurrent(void *context) { current = context; return OK; }
int cuGetErrorString(int code, const char **text) {
    *text = code == 700 ? "an illegal memory access was encountered" : code == 2 ? "out of memory" : "the words of the driver";
    return OK;
}
int cuModuleLoadData(void **module, const void *image) {
    FAILS("cuModuleLoadData");
    if (!current) return 201;
    Module *made = malloc(sizeof *made);
    made->text = strdup(image);
    made->device = fake_current();
    *module = made;
    loads++;
    return OK;
}
int cuModuleGetFunction(Function **function, Module *module, const char *name) {
    char entry[160];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *at = strstr(module->text, entry);
    if (!at) return 500;
    Function *made = calloc(1, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    made->device = module->device;
    const char *end = strchr(at + strlen(entry), ')');
    while ((at = strstr(at, ".param .")) && at < end) {
        at += 8;
        made->size[made->count++] = atoi(at + 1) / 8;
    }
    *function = made;
    return OK;
}
int cuFuncGetAttribute(int *value, int attribute, Function *function) {
    (void)function;
    *value = attribute == 0 ? threads_per_block : attribute == 4 ? 65536 / threads_per_block : 0;
    return OK;
}
int cuStreamIsCapturing(void *stream, int *status) { (void)stream; *status = capturing; return OK; }
int cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra) {
    (void)shared, (void)extra;
    FAILS("cuLaunchKernel");
    if (fake_current() != f->device) return 201;
    uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    uint64_t values[MOST] = {0};
    for (int i = 0; i < f->count; i++) memcpy(&values[i], parameters[i], f->size[i]);
    if (launched) launched(f->name, f->device, grid, block, (uint64_t)stream, f->count, values);
    return OK;
}
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) {
    (void)stream;
    FAILS("cuMemAllocAsync");
    if (!current) return 201;
    *address = (uint64_t)malloc(bytes);
    live++;
    return OK;
}
int cuMemFreeAsync(uint64_t address, void *stream) { (void)stream; free((void *)address); live--; return OK; }
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream) { (void)stream; memset((void *)address, value, bytes); return OK; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) { (void)stream; memcpy((void *)to, (void *)from, bytes); return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) { (void)stream; memcpy((void *)to, from, bytes); return OK; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) { (void)stream; memcpy(to, (void *)from, bytes); return OK; }
int cuStreamSynchronize(void *stream) { (void)stream; FAILS("cuStreamSynchronize"); waits++; return OK; }
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = &orders; return OK; }
int cuEventRecord(void *event, void *stream) { (void)event, (void)stream; return OK; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { (void)stream, (void)event, (void)flags; orders++; return OK; }
int cuEventDestroy_v2(void *event) { (void)event; return OK; }
