/* GSL's error handler, which carries no derivative.
 *
 * Source: GSL's reference manual, "Error Handling".
 */
#include <ffgrad/derivatives.h>

FFGRAD_REPLACES(gsl_error, ffgrad_gsl_error)
FFGRAD_REPLACES(gsl_set_error_handler, ffgrad_gsl_set_error_handler)
FFGRAD_REPLACES(gsl_set_error_handler_off, ffgrad_gsl_set_error_handler_off)
FFGRAD_REPLACES(gsl_strerror, ffgrad_gsl_strerror)

/* Functions and constant texts: their addresses are integers here, because no memory of the program is stored. */
typedef void handler(const char *, const char *, int, int);
#define KEPT_NOWHERE __attribute__((noescape))
extern void gsl_error(const char *KEPT_NOWHERE, const char *KEPT_NOWHERE, int, int);
extern long gsl_set_error_handler(long);
extern long gsl_set_error_handler_off(void);
extern long gsl_strerror(int);

void ffgrad_gsl_error(const char *reason, const char *file, int line, int code) { gsl_error(reason, file, line, code); }
void ffgrad_gsl_error_fwd(const char *reason, const char *unused, const char *file, const char *unused2, int line, int code) {
  ffgrad_gsl_error(reason, file, line, code);
}
void ffgrad_gsl_error_rev(const char *reason, const char *unused, const char *file, const char *unused2, int line, int code) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_error, ffgrad_gsl_error_fwd, ffgrad_gsl_error_rev);

/* One function for the three that return an address: sets a handler (0), turns it off (1), says a code's text (2). */
long ffgrad_gsl_handler(int what, long value) {
  return what == 0 ? gsl_set_error_handler(value) : what == 1 ? gsl_set_error_handler_off() : gsl_strerror((int)value);
}
long ffgrad_gsl_handler_fwd(int what, long value) { return ffgrad_gsl_handler(what, value); }
void ffgrad_gsl_handler_rev(int what, long value) {}
FFGRAD_DERIVATIVES(ffgrad_gsl_handler, ffgrad_gsl_handler_fwd, ffgrad_gsl_handler_rev);

handler *ffgrad_gsl_set_error_handler(handler *new) { return (handler *)ffgrad_gsl_handler(0, (long)new); }
handler *ffgrad_gsl_set_error_handler_off(void) { return (handler *)ffgrad_gsl_handler(1, 0); }
const char *ffgrad_gsl_strerror(int code) { return (const char *)ffgrad_gsl_handler(2, code); }
