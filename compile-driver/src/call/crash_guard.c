/* Calls an entry point so that a crash in it returns here, and a failed check of the function's.
 *
 * A crash is a signal that the code itself raises: a segmentation fault (also where the stack ends), a bus error, an arithmetic or illegal
 * instruction. Signals that other programs send, and crashes outside of such calls, go where they went before: to the handler
 * that was there, or to the default action. An abort is not caught: it is what the code asks for.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNALS 4

static const int numbers[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction earlier[SIGNALS];

/* Where a crash of this thread returns to, innermost call. */
static __thread sigjmp_buf *escape;

/* Where a failed check of this thread returns to, innermost call. */
static __thread sigjmp_buf *stop;

/* What a call gives for a failed check: no signal has this number. */
#define FAILED_CHECK 1000

static void pass_on(const struct sigaction *action, int number, siginfo_t *info, void *context) {
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(number, info, context);
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    sigaction(number, action, NULL);
    /* A crash comes again when the instruction is repeated; what another program sent does not. */
    if (info->si_code <= 0) raise(number);
  } else {
    action->sa_handler(number);
  }
}

static void on_crash(int number, siginfo_t *info, void *context) {
  sigjmp_buf *target = escape;
  if (target && info->si_code > 0) {
    escape = NULL;
    siglongjmp(*target, number);
  }
  for (int i = 0; i < SIGNALS; i++) {
    if (numbers[i] == number) pass_on(&earlier[i], number, info, context);
  }
}

/* Installs the handlers. Called once. */
void ffgrad_guard_install(void) {
  /* SA_NODEFER: the jump leaves the handler without a return, and the signal must not stay blocked. */
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  action.sa_sigaction = on_crash;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < SIGNALS; i++) sigaction(numbers[i], &action, &earlier[i]);
}

/* Leaves the call. A derivative comes here where the function would throw or end; in a thread without such a call it goes on. */
void ffgrad_failed_check(void) {
  sigjmp_buf *target = stop;
  if (!target) return;
  stop = NULL;
  siglongjmp(*target, FAILED_CHECK);
}

/* Calls `entry`. The signal of its crash where `crashes` are to be caught, FAILED_CHECK where it came to one and `checks` are, or 0 where it
 * returned and left its status. */
int32_t ffgrad_guarded_call(int32_t (*entry)(void *const *), void *const *arguments, int32_t *status, int32_t crashes, int32_t checks) {
  sigjmp_buf here;
  sigjmp_buf *outer = escape;
  sigjmp_buf *outer_stop = stop;
  int number = sigsetjmp(here, 0);
  if (number == 0) {
    if (crashes) escape = &here;
    stop = checks ? &here : NULL;
    *status = entry(arguments);
  }
  escape = outer;
  stop = outer_stop;
  return number;
}
