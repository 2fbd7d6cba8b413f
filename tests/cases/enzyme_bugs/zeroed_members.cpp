// A view whose members LLVM clears together: two of them are never read, so the memset that it makes of the two stores has no type.
struct View {
    const double *data;
    long row, column, stride;
    View(const double *d, long r, long c, long s) : data(d), row(r), column(c), stride(s) {}
};

__attribute__((noinline)) static double sum(const View &view, long n) {
    double total = 0;
    for (long i = 0; i < n; ++i) total += view.data[i * view.stride] * view.data[i * view.stride];
    return total;
}

extern "C" double zeroed_members(const double *x, long n) {
    View view(x, 0, 0, 1);
    return sum(view, n);
}
