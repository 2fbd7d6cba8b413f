// `stop`, `error stop`, `call exit` and `call abort` of Fortran as exceptions: a library must not end its user's process.
//
// Source: flang-rt's stop.h (what the compiler passes); the text is what the statement prints, Fortran 2018, 11.4.
#include <ffgrad/derivatives.h>

extern "C" int snprintf(char *, decltype(sizeof 0), const char *, ...);

// As the C++ library has it; its headers may not be there.
namespace std {
class exception {
public:
  virtual ~exception();
  virtual const char *what() const noexcept;
};
} // namespace std

namespace {
struct Stopped final : std::exception {
  char text[200];
  ~Stopped() override = default;
  const char *what() const noexcept override { return text; }
};

[[noreturn]] void stop(const char *kind, int code, const char *words, int length) {
  Stopped stopped;
  if (words)
    snprintf(stopped.text, sizeof stopped.text, "%s %.*s", kind, length, words);
  else
    snprintf(stopped.text, sizeof stopped.text, code ? "%s %d" : "%s", kind, code);
  throw stopped;
}
} // namespace

extern "C" {
FFGRAD_REPLACES(_FortranAStopStatement, ffgrad_stop_statement)
[[noreturn]] void ffgrad_stop_statement(int code, bool is_error, bool) {
  stop(is_error ? "ERROR STOP" : "STOP", code, nullptr, 0);
}

FFGRAD_REPLACES(_FortranAStopStatementText, ffgrad_stop_text)
[[noreturn]] void ffgrad_stop_text(const char *words, decltype(sizeof 0) length, bool is_error, bool) {
  stop(is_error ? "ERROR STOP" : "STOP", 0, words, length < 150 ? (int)length : 150);
}

FFGRAD_REPLACES(_FortranAReportFatalUserError, ffgrad_stop_fatal)
/* What flang finds wrong at run time: the variable of an assigned GOTO has no label. */
[[noreturn]] void ffgrad_stop_fatal(const char *words, const char *, int) {
  int length = 0;
  while (length < 150 && words[length]) length++;
  stop("fatal error:", 0, words, length);
}

FFGRAD_REPLACES(_FortranAExit, ffgrad_stop_exit)
[[noreturn]] void ffgrad_stop_exit(int code) { stop("EXIT", code, nullptr, 0); }

FFGRAD_REPLACES(_FortranAAbort, ffgrad_stop_abort)
[[noreturn]] void ffgrad_stop_abort(void) { stop("ABORT", 0, nullptr, 0); }
}
