// order_cpp.cpp: the order in C++: exceptions for failures, RAII for what must be undone.
#include <holdfast/holdfast.hpp>

#include <cstdio>
using namespace std::chrono_literals;

static hf::value order(hf::context &w, hf::value in)
{
    auto hold = w.activity("reserve", in);
    try {
        hf::activity_options charge;
        charge.start_to_close = 30s;
        charge.max_attempts = 5;
        auto paid = w.activity("charge", in, charge);
        w.sleep(100ms);
        auto sent = w.activity("ship", in);
        return w.json("{'charge': %p, 'tracking': %s}", paid["charge_id"],
                      sent["tracking"].str().data());
    } catch (const hf::failure &) {
        w.activity("release", hold); // parks inside the handler; others may throw meanwhile
        throw;
    }
}

static hf_value reserve(hf_act *a, hf_value)
{
    return hf_json_(hf_mem_of_act(a), "{'reservation': 'R'}");
}
static hf_value charge(hf_act *a, hf_value in)
{
    if (hf_num(in, "amount", 0) > 1000)
        return hf_reject(a, "card_declined", "too much");
    return hf_json_(hf_mem_of_act(a), "{'charge_id': 'C'}");
}
static hf_value ship(hf_act *a, hf_value)
{
    return hf_json_(hf_mem_of_act(a), "{'tracking': 'T'}");
}
static hf_value release(hf_act *a, hf_value)
{
    return hf_json_(hf_mem_of_act(a), "true");
}

int main()
{
    static const hf_activity_def activities[] = {hf::activity("reserve", reserve),
                                                 hf::activity("charge", charge),
                                                 hf::activity("ship", ship),
                                                 hf::activity("release", release),
                                                 {}};
    static const hf_workflow_def workflows[] = {
        hf::workflow("order", hf::entry<order>, "amount:number"), {}};
    const hf_app app = hf::app("orders", workflows, activities);
    const int amounts[] = {90, 5000, 7000, 91};
    char id[32];

    std::remove("cpp.db");
    try {
        hf::engine d("cpp.db", app);
        for (int amount : amounts) {
            std::snprintf(id, sizeof id, "o-%d", amount);
            d.start("order", id, d.json("{'amount': %d}", amount));
        }
        for (int amount : amounts) {
            std::snprintf(id, sizeof id, "o-%d", amount);
            try {
                std::printf("done %s\n", d.text(d.result(id, 20s)));
            } catch (const hf::failure &f) {
                std::printf("failed %s\n", f.type().data());
            }
        }
    } catch (const std::exception &x) {
        std::fprintf(stderr, "%s\n", x.what());
        return 1;
    }
}
