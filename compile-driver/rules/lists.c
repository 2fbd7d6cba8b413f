// How libstdc++'s `std::list` links its nodes. These functions are in the library, without a source that a derivative could be made of. A node
// and the header of a list begin with the two links; what is behind them is not touched.
// Source: the requirements on containers in the C++ standard, [list.modifiers] and [list.ops], and the Itanium C++ ABI for the names.

#include <ffgrad/derivatives.h>

FFGRAD_REPLACES(_ZNSt8__detail15_List_node_base7_M_hookEPS0_, ffgrad_list_hook)
FFGRAD_REPLACES(_ZNSt8__detail15_List_node_base9_M_unhookEv, ffgrad_list_unhook)
FFGRAD_REPLACES(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_, ffgrad_list_transfer)
FFGRAD_REPLACES(_ZNSt8__detail15_List_node_base10_M_reverseEv, ffgrad_list_reverse)
FFGRAD_REPLACES(_ZNSt8__detail15_List_node_base4swapERS0_S1_, ffgrad_list_swap)

typedef struct node {
    struct node *next, *previous;
} node;

// Inserts a node before another.
void ffgrad_list_hook(node *one, node *before) {
    one->next = before;
    one->previous = before->previous;
    before->previous->next = one;
    before->previous = one;
}

void ffgrad_list_unhook(node *one) {
    node *next = one->next, *previous = one->previous;
    previous->next = next;
    next->previous = previous;
}

// Moves the nodes from `first` up to `last`, which stays, before `place`.
void ffgrad_list_transfer(node *place, node *first, node *last) {
    if (place == last || first == last) return;
    node *moved_last = last->previous, *left = first->previous, *before = place->previous;
    left->next = last;
    last->previous = left;
    before->next = first;
    first->previous = before;
    moved_last->next = place;
    place->previous = moved_last;
}

void ffgrad_list_reverse(node *header) {
    node *one = header;
    do {
        node *next = one->next;
        one->next = one->previous;
        one->previous = next;
        one = next;
    } while (one != header);
}

// Lets the neighbours of a header lead to the place where it is now.
static void adopt(node *header, node *old) {
    if (header->next == old) {
        header->next = header->previous = header;
    } else {
        header->next->previous = header;
        header->previous->next = header;
    }
}

void ffgrad_list_swap(node *a, node *b) {
    node links = *a;
    *a = *b;
    *b = links;
    adopt(a, b);
    adopt(b, a);
}
