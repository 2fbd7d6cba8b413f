// Containers whose memory is from a buffer and from a pool (std::pmr): offers by their price, and what was taken of each.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

namespace {
struct alignas(64) Total {
    double value;
};

struct Offer {
    double price, amount;
    int seller;
};
}  // namespace

extern "C" double memory_resources(const double *price, const double *amount, int n) {
    std::array<std::byte, 512> buffer;
    std::pmr::monotonic_buffer_resource first(buffer.data(), buffer.size());
    std::pmr::unsynchronized_pool_resource pool(&first);
    std::pmr::map<int, std::pmr::list<Offer>> offers(&pool);
    for (int i = 0; i < n; i++) offers[static_cast<int>(std::floor(price[i] * 4))].push_back({price[i], amount[i], i});
    std::pmr::vector<double> taken(&first);
    std::pmr::vector<std::pmr::string> names(&first);
    for (auto level = offers.begin(); level != offers.end(); level = offers.erase(level)) {
        for (const Offer &offer : level->second) {
            taken.push_back(offer.price * offer.amount);
            names.push_back(std::pmr::string(offer.seller % 2 ? "a seller with a long name" : "seller", &first));
        }
    }
    std::pmr::vector<Total> totals(1, Total{0}, &first);
    double &sum = totals[0].value;
    for (std::size_t i = 0; i < taken.size(); i++) sum += taken[i] * taken[i] * names[i].size();
    totals.push_back(Total{0});
    return reinterpret_cast<std::uintptr_t>(totals.data()) % 64 == 0 ? totals[0].value : 0;
}
