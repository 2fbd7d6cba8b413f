// An interpreter's stack of tagged values: numbers, rows and counts in one union. Values are copied, swapped, passed and returned, and the stack grows.
// Enzyme copies such a word as a number or as an address, by the first use that it finds.
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

struct Value {
    enum Kind { Number, Row, Count } kind;
    union {
        double number;
        const double *row;
        long count;
    };
};

static Value of_number(double x) {
    Value v;
    v.kind = Value::Number;
    v.number = x;
    return v;
}

static Value of_row(const double *x) {
    Value v;
    v.kind = Value::Row;
    v.row = x;
    return v;
}

static Value of_count(long n) {
    Value v;
    v.kind = Value::Count;
    v.count = n;
    return v;
}

static double as_number(Value v) {
    switch (v.kind) {
        case Value::Number: return v.number;
        case Value::Row: return v.row[0] * v.row[1];
        default: return double(v.count);
    }
}

static void apply(std::vector<Value> &stack, char op) {
    Value b = stack.back();
    stack.pop_back();
    Value a = stack.back();
    stack.pop_back();
    double x = as_number(a), y = as_number(b);
    stack.push_back(of_number(op == '*' ? x * y : op == '+' ? x + y : std::exp(-x * x) / (2 + y)));
}

// Copies characters, of any length and onto themselves, in a function whose name has the class in it.
template <class T>
__attribute__((noinline)) static void move_text(char *to, const char *from, std::size_t length) {
    std::memmove(to, from, length);
}

extern "C" void tagged_copies(const double *x, int n, double *y) {
    std::vector<Value> stack;
    for (int i = 0; i + 1 < n; i++) {
        stack.push_back(of_number(x[i]));
        stack.push_back(of_row(x + i));
        stack.push_back(of_count(i + 2));
        std::swap(stack[stack.size() - 1], stack[stack.size() - 3]);
    }
    std::vector<Value> kept(stack);
    int k = 0;
    for (const char *op = "*+/*+*+"; *op && stack.size() > 1; op++) {
        apply(stack, *op);
        if (k < n) y[k++] = as_number(stack.back());
    }
    Value first = kept[0];
    kept[0] = kept[2];
    kept[2] = first;
    kept.erase(kept.begin() + 1);
    char label[24] = "abcdefghijkl";
    move_text<Value>(label + 1, label, 5 + n);
    move_text<Value>(label, label + 2, 3 + n);
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (label[i] - 'a') * x[i % n];
    for (const Value &v : kept) sum = 0.5 * sum + as_number(v);
    if (k < n) y[k++] = sum;
    while (k < n) y[k++] = as_number(stack[0]);
}
