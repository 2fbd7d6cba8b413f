// The runtime of lowered exceptions. `runtime.ll` is made of it:
//
//     clang++ -std=c++17 -stdlib=libstdc++ -O1 -fPIC -S -emit-llvm runtime.cpp
//
// without metadata, attribute groups of the target and the list of used functions, and with `ffgrad.eh.` for `ffgrad_eh_`. The header of a thrown object is libstdc++'s, on 64-bit machines:
// objects that the lowered code allocates have one of the same form, with a class of its own.
#include <typeinfo>
#include <exception>
extern "C" {
void *__cxa_begin_catch(void *); void __cxa_end_catch();
void *__cxa_allocate_exception(unsigned long); void __cxa_throw(void *, void *, void (*)(void *)) __attribute__((noreturn));
void current_exception(void **) __asm__("_ZSt17current_exceptionv");
void release(void **) noexcept __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
[[noreturn]] void rethrow_exception(void **) __asm__("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");
[[noreturn]] void throw_runtime_error(const char *) __asm__("_ZSt21__throw_runtime_errorPKc");
}
namespace {
struct Header { void *type; void (*destroy)(void *); void *unexpected, *terminate; Header *next; int count, selector; void *action, *lsda, *temp; void *adjusted; unsigned long exception_class; void *cleanup, *p1, *p2; };
static_assert(sizeof(Header) == 112);
const unsigned long OURS = 0x6666677261644548ul;
Header *header(void *p) { return reinterpret_cast<Header *>(static_cast<char *>(p) - 112); }
thread_local Header *current;
void *object(Header *h) { return h + 1; }
}
extern "C" {
__attribute__((used)) void *ffgrad_eh_take(void *raw) {
  __cxa_begin_catch(raw);
  void *held = nullptr;
  current_exception(&held);
  __cxa_end_catch();
  if (!held) std::terminate();
  return held;
}
__attribute__((used)) void ffgrad_eh_prepare(void *p, void *type) {
  Header *h = header(p);
  __builtin_memset(h, 0, sizeof *h);
  h->type = type; h->exception_class = OURS;
}
__attribute__((used)) int ffgrad_eh_match(void *p, void *wanted, int id, int before) {
  if (before) return before;
  Header *h = header(p);
  void *thrown = p;
  void ***type = static_cast<void ***>(h->type);
  if (reinterpret_cast<bool (*)(void *)>((*type)[2])(type)) thrown = *static_cast<void **>(p);
  if (wanted) {
    void ***w = static_cast<void ***>(wanted);
    if (!reinterpret_cast<bool (*)(void *, void *, void **, unsigned)>((*w)[4])(w, type, &thrown, 1)) return 0;
  }
  h->adjusted = thrown;
  return id;
}
__attribute__((used)) void *ffgrad_eh_object(void *p) { return header(p)->adjusted; }
__attribute__((used)) void *ffgrad_eh_begin(void *p) {
  Header *h = header(p);
  int count = h->count < 0 ? -h->count : h->count;
  h->count = count + 1;
  if (current != h) { h->next = current; current = h; }
  return h->adjusted;
}
__attribute__((used)) long ffgrad_eh_number(void *p) { return reinterpret_cast<long>(p); }
__attribute__((used)) long ffgrad_eh_offset(void *p) { return static_cast<char *>(header(p)->adjusted) - static_cast<char *>(p); }
__attribute__((used)) bool ffgrad_eh_is(void *p, void *own) { return p == own; }
// An object with numbers is found by its type: not where another one of that type was thrown meanwhile.
__attribute__((used)) void ffgrad_eh_same(void *p, void *own) {
  if (p != own) throw_runtime_error("ffgrad: an exception with numbers was thrown while another one of its type was being handled");
}
__attribute__((used)) void ffgrad_eh_end() {
  Header *h = current;
  if (!h) return;
  if (h->count < 0) { if (++h->count == 0) current = h->next; return; }
  if (--h->count > 0) return;
  current = h->next;
  if (h->exception_class == OURS) return;
  void *held = object(h);
  release(&held);
}
__attribute__((used)) void *ffgrad_eh_rethrown() {
  if (!current) std::terminate();
  current->count = -current->count;
  return object(current);
}
__attribute__((used)) const char *ffgrad_eh_what(void *e) {
  void ***o = static_cast<void ***>(e);
  return reinterpret_cast<const char *(*)(void *)>((*o)[2])(o);
}
__attribute__((used)) void ffgrad_eh_leave(void *p) {
  Header *h = header(p);
  current = nullptr;
  if (h->exception_class != OURS) { h->count = 0; rethrow_exception(&p); }
  if (ffgrad_eh_match(p, (void *)&typeid(std::exception), 1, 0)) throw_runtime_error(ffgrad_eh_what(h->adjusted));
  void *other = __cxa_allocate_exception(4);
  *static_cast<int *>(other) = 0;
  __cxa_throw(other, (void *)&typeid(int), nullptr);
}
}
