// holdfast.hpp: the C++ layer, header only, C++17 or later: RAII, exceptions, chrono. It can do
// nothing that holdfast.h cannot.
//
// The rule it keeps: a failure never jumps over a C++ frame. C code raises failures with longjmp;
// every step is made inside hf_protect here, whose frame is the only one that is jumped over, and
// comes out as an exception. A coroutine may be parked inside a catch block while others run on the
// same thread, so the thread's exception state is put aside for the time of a step.
//
// A run that leaves memory is unwound: the step that it waits in throws hf::abandoned, so that
// destructors run; let it pass. Steps that destructors try to take then do nothing. The same code
// will run again from the beginning when the run is needed, so objects on a workflow's stack should
// own memory and values, and nothing of the outside world.
#ifndef HOLDFAST_HOLDFAST_HPP
#define HOLDFAST_HOLDFAST_HPP

#include <chrono>
#include <cstdint>
#include <cxxabi.h>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "holdfast/holdfast.h"

namespace hf
{
using ms = std::chrono::milliseconds;

// A value, or none.
class value
{
    hf_value v_ = nullptr;

  public:
    value(hf_value v = nullptr) : v_(v)
    {
    }
    explicit operator bool() const
    {
        return v_ != nullptr;
    }
    value operator[](const char *path) const
    {
        return hf_get(v_, path);
    }
    value operator[](int i) const
    {
        return hf_at(v_, static_cast<std::size_t>(i));
    }
    std::size_t size() const
    {
        return hf_len(v_);
    }
    std::string_view str(std::string_view otherwise = "") const
    {
        const char *s = hf_str(v_, "", nullptr);
        return s ? std::string_view(s) : otherwise;
    }
    double num(double otherwise = 0) const
    {
        return hf_num(v_, "", otherwise);
    }
    std::int64_t integer(std::int64_t otherwise = 0) const
    {
        return hf_int(v_, "", otherwise);
    }
    bool boolean(bool otherwise = false) const
    {
        return hf_bool(v_, "", otherwise);
    }
    hf_value raw() const
    {
        return v_;
    }
};

// An activity or a child failed after its retries, or code called hf_fail.
class failure : public std::exception
{
    const hf_error *e_;

  public:
    explicit failure(const hf_error *e) : e_(e)
    {
    }
    std::string_view type() const
    {
        return e_->type;
    }
    const char *what() const noexcept override
    {
        return e_->message;
    }
    value details() const
    {
        return e_->details;
    }
    const hf_error *raw() const
    {
        return e_;
    }
};

// The run was cancelled. Deliberately no std::exception: what handles failures should let it pass.
struct cancelled {
    const hf_error *error;
};

// The run leaves this worker: let it pass.
struct abandoned {
};

struct activity_options {
    ms start_to_close{};
    ms schedule_to_start{};
    ms schedule_to_close{};
    ms heartbeat{};
    int max_attempts = 0;
    const char *summary = nullptr;
    const char *queue = nullptr;
    const char *no_retry_on = nullptr;
};

struct child_options {
    const char *id = nullptr;
    ms execution_timeout{};
    ms run_timeout{};
    hf_close_policy on_parent_close = HF_CLOSE_ABANDON;
    const char *summary = nullptr;
    const char *queue = nullptr;
};

namespace detail
{
// The exceptions that are being handled on this thread, out of the way of the other coroutines. The
// layout is that of the Itanium C++ ABI.
class exceptions_aside
{
    struct globals {
        void *caught;
        unsigned int uncaught;
    };
    globals kept_;

    static globals *here()
    {
        return reinterpret_cast<globals *>(abi::__cxa_get_globals());
    }

  public:
    exceptions_aside() : kept_(*here())
    {
        *here() = globals{nullptr, 0};
    }
    ~exceptions_aside()
    {
        *here() = kept_;
    }
    exceptions_aside(const exceptions_aside &) = delete;
    exceptions_aside &operator=(const exceptions_aside &) = delete;
};

// Whether a run is being unwound on this thread because it leaves memory. Nothing else runs
// meanwhile.
inline bool &leaving()
{
    static thread_local bool on = false;
    return on;
}

// What the step in hand is; hf_protect passes one pointer only, as a value.
template <class F> hf_value step_call(hf_ctx *w, hf_value in)
{
    return (*reinterpret_cast<F *>(const_cast<void *>(reinterpret_cast<const void *>(in))))(w);
}
} // namespace detail

// Rows of an application's tables, which end with {}. Further members are set on what is returned.
inline hf_activity_def activity(const char *name, hf_activity_fn *run, int max_attempts = 0)
{
    hf_activity_def def{};
    def.name = name;
    def.run = run;
    def.max_attempts = max_attempts;
    return def;
}
inline hf_workflow_def workflow(const char *type, hf_workflow_fn *run, const char *params = nullptr)
{
    hf_workflow_def def{};
    def.type = type;
    def.run = run;
    def.params = params;
    def.flags = HF_WORKFLOW_UNWINDS;
    return def;
}
inline hf_app app(const char *name, const hf_workflow_def *workflows,
                  const hf_activity_def *activities)
{
    hf_app made{};
    made.name = name;
    made.workflows = workflows;
    made.activities = activities;
    return made;
}

// A running workflow.
class context
{
    hf_ctx *w_;

    [[noreturn]] static void raise(hf_status status, const hf_error *e)
    {
        if (status == HF_ABANDONED) {
            detail::leaving() = true;
            throw abandoned{};
        }
        if (status == HF_CANCELLED)
            throw cancelled{e};
        throw failure(e);
    }

    // Makes a step; the lambda must hold nothing that needs a destructor.
    template <class F> value step(F f)
    {
        static_assert(std::is_trivially_destructible<F>::value, "a failure jumps over it");
        const hf_error *e = nullptr;
        hf_value out = nullptr;
        hf_status status;
        {
            detail::exceptions_aside aside;
            status =
                hf_protect(w_, detail::step_call<F>,
                           reinterpret_cast<hf_value>(static_cast<const void *>(&f)), &out, &e);
        }
        if (status == HF_ABANDONED && detail::leaving() && std::uncaught_exceptions() > 0)
            return {}; // a destructor on the way out
        if (status != HF_OK)
            raise(status, e);
        return out;
    }

    template <class T> static auto argument(const T &t)
    {
        if constexpr (std::is_same_v<T, value>)
            return const_cast<void *>(static_cast<const void *>(t.raw()));
        else
            return t;
    }

  public:
    explicit context(hf_ctx *w) : w_(w)
    {
    }
    hf_ctx *raw() const
    {
        return w_;
    }

    value activity(const char *name, value in, const activity_options &o = {})
    {
        hf_activity_opts c{};
        c.size_ = sizeof c;
        c.in = in.raw();
        c.max_attempts = o.max_attempts;
        c.summary = o.summary;
        c.queue = o.queue;
        c.no_retry_on = o.no_retry_on;
        c.start_to_close = o.start_to_close.count();
        c.schedule_to_start = o.schedule_to_start.count();
        c.schedule_to_close = o.schedule_to_close.count();
        c.heartbeat = o.heartbeat.count();
        return step([=](hf_ctx *w) { return hf_activity_with(w, name, &c); });
    }

    value child(const char *type, value in, const child_options &o = {})
    {
        hf_child_opts c{};
        c.size_ = sizeof c;
        c.in = in.raw();
        c.id = o.id;
        c.execution_timeout = o.execution_timeout.count();
        c.run_timeout = o.run_timeout.count();
        c.on_parent_close = o.on_parent_close;
        c.summary = o.summary;
        c.queue = o.queue;
        return step([=](hf_ctx *w) { return hf_child_with(w, type, &c); });
    }

    // Nothing: the timeout came first. A timeout of 0 waits for ever.
    std::optional<value> receive(const char *signal, ms timeout = ms{0})
    {
        hf_wait_opts c{};
        bool came = false;
        bool *told = &came;
        c.size_ = sizeof c;
        c.timeout = timeout.count();
        value v = step([=](hf_ctx *w) {
            hf_value got = hf_receive_with(w, signal, &c);
            *told = got != nullptr;
            return got;
        });
        return came ? std::optional<value>(v) : std::nullopt;
    }

    // False: the timeout came first.
    bool wait(const char *key, hf_predicate *p, ms timeout = ms{0})
    {
        hf_wait_opts c{};
        bool held = false;
        bool *told = &held;
        c.size_ = sizeof c;
        c.timeout = timeout.count();
        step([=](hf_ctx *w) {
            *told = hf_wait_with(w, key, p, &c);
            return hf_value(nullptr);
        });
        return held;
    }

    void sleep(ms d)
    {
        step([=](hf_ctx *w) {
            hf_sleep(w, d.count());
            return hf_value(nullptr);
        });
    }

    int version(const char *change, int min, int max)
    {
        int found = 0;
        int *told = &found;
        step([=](hf_ctx *w) {
            *told = hf_version(w, change, min, max);
            return hf_value(nullptr);
        });
        return found;
    }

    // Local cleanup, called once however the run ends or leaves memory; see hf_defer.
    void defer(void (*fn)(void *), void *arg)
    {
        hf_defer(w_, fn, arg);
    }

    template <class T> T &state()
    {
        static_assert(std::is_trivially_copyable<T>::value, "state is plain memory, zeroed");
        return *static_cast<T *>(hf_state(w_));
    }

    // As hf_json; a hf::value goes into %p, a text into %s.
    template <class... A> value json(const char *format, const A &...a)
    {
        return hf_json_made_(hf_mem_of_ctx(w_), format, argument(a)..., 0); // 0: no lone format
    }
};

// A workflow body as a C function: exceptions end here and become recorded outcomes. What ends the
// run is called outside of the handlers, because it does not come back.
template <value (*F)(context &, value)> hf_value entry(hf_ctx *w, hf_value in)
{
    const hf_error *ended = nullptr;
    hf_value thrown = nullptr;
    context c(w);

    try {
        return F(c, value(in)).raw();
    } catch (const failure &f) {
        ended = f.raw();
    } catch (const cancelled &x) {
        ended = x.error;
    } catch (const abandoned &) {
    } catch (const std::exception &x) {
        thrown = hf_json_(hf_mem_of_ctx(w), "%s", x.what());
    } catch (...) {
        thrown = hf_json_(hf_mem_of_ctx(w), "'something that is no std::exception'");
    }
    if (ended)
        hf_refail(w, ended);
    if (thrown)
        hf_fail(w, "exception", hf_str(thrown, "", ""));
    detail::leaving() = false;
    hf_abandon(w);
}

// Runs a function when the scope is left by an exception, unless it is dismissed or the run only
// leaves memory. The function may
// make steps: what is thrown out of it replaces nothing, so it should not throw.
template <class F> class undo
{
    F f_;
    int before_ = std::uncaught_exceptions();
    bool on_ = true;

  public:
    explicit undo(F f) : f_(std::move(f))
    {
    }
    ~undo() noexcept(false)
    {
        if (on_ && std::uncaught_exceptions() > before_ && !detail::leaving())
            f_();
    }
    undo(const undo &) = delete;
    undo &operator=(const undo &) = delete;
    void dismiss()
    {
        on_ = false;
    }
};

// An open engine.
class engine
{
    hf_engine *d_ = nullptr;

  public:
    engine(const char *where, const hf_app &app)
    {
        if (hf_open(where, &app, &d_) == HF_OK)
            return;
        std::string why = hf_errmsg(d_);
        hf_close(d_);
        throw error(why);
    }
    ~engine()
    {
        hf_close(d_);
    }
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    // A call on the engine that did not succeed; never thrown inside a workflow.
    class error : public std::exception
    {
        std::string text_;

      public:
        explicit error(std::string text) : text_(std::move(text))
        {
        }
        const char *what() const noexcept override
        {
            return text_.c_str();
        }
    };

    hf_engine *raw() const
    {
        return d_;
    }
    template <class... A> value json(const char *format, const A &...a)
    {
        return hf_json_made_(hf_mem_of_engine(d_), format, a..., 0);
    }
    void start(const char *type, const char *id, value in)
    {
        hf_start_opts o{};
        o.size_ = sizeof o;
        o.in = in.raw();
        o.id = id;
        check(hf_start_with(d_, type, &o));
    }
    void signal(const char *id, const char *name, value args)
    {
        check(hf_signal(d_, id, name, args.raw()));
    }
    // Throws failure when the workflow failed or was cancelled, error when it is not closed in
    // time.
    value result(const char *id, ms wait)
    {
        hf_value out = nullptr;
        const hf_error *e = nullptr;
        hf_status st = hf_result(d_, id, wait.count(), &out, &e);

        if (st != HF_OK && e)
            throw failure(e);
        check(st);
        return out;
    }
    const char *text(value v)
    {
        return hf_text(hf_mem_of_engine(d_), v.raw());
    }

  private:
    void check(hf_status st)
    {
        if (st != HF_OK)
            throw error(hf_errmsg(d_));
    }
};
} // namespace hf
#endif
