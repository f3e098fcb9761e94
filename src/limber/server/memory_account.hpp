#pragma once
// What a session has allocated. All sessions share one process, and one that grows without bounds would take the others
// with it; so each has a budget, and ends alone when it is spent.
//
// What is counted: everything that the threads which use an account get from malloc and give back to it, by whatever
// library (operator new, Eigen, METIS, HDF5 ...), as blocks of the size that malloc made them. What is not: stacks,
// code, what malloc itself keeps for later, threads that share out the components of a divided mechanism (steps
// allocate nothing there), and what is handed to the thread of the sockets, whose own bounds are in
// live_connection.cpp. Where something else owns malloc (sanitizers, valgrind) nothing is counted, and there is no
// budget.
//
// When it is spent: large blocks (64 KiB and more) are refused with MemoryExceeded as soon as they do not fit. Small
// ones go on until a quarter more is used, so that what cannot fail, like moving a value, does not; whoever uses the
// account looks at is_exceeded() between two pieces of work.

#include <atomic>
#include <cstddef>
#include <new>
#include <string>

namespace limber {

/// Thrown by operator new.
class MemoryExceeded : public std::bad_alloc {
public:
    const char* what() const noexcept override { return "this needs more memory than a session may have"; }
};

class MemoryAccount {
public:
    /// 0: no limit.
    explicit MemoryAccount(std::size_t budget) : budget_(budget) {}

    std::size_t budget() const { return budget_; }
    /// Bytes; those of other threads that were freed here do not count.
    std::size_t used() const;
    /// Whether more is, or was once since clear_excess(), asked for than there is.
    bool is_exceeded() const { return is_exceeded_; }
    void clear_excess() { is_exceeded_ = false; }
    /// Whether more than the budget is in use now.
    bool is_over() const { return budget_ > 0 && used() > budget_; }

    /// Whether this program counts at all.
    static bool can_count();
    /// What malloc has kept for later goes back to the machine; nothing if another allocator stands in its place.
    static void trim();

    /// While it lives, the thread that made it uses the account.
    class Use {
    public:
        explicit Use(MemoryAccount* account);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        MemoryAccount* before_;
    };

    // By the functions that replace malloc and operator new.
    void add(std::size_t bytes) { used_.fetch_add(static_cast<std::ptrdiff_t>(bytes), std::memory_order_relaxed); }
    void subtract(std::size_t bytes) { used_.fetch_sub(static_cast<std::ptrdiff_t>(bytes), std::memory_order_relaxed); }
    /// False: it does not fit.
    bool may_allocate(std::size_t bytes);

private:
    const std::size_t budget_;
    std::atomic<std::ptrdiff_t> used_ = 0;
    std::atomic<bool> is_exceeded_ = false;
};

/// While it lives, nothing is counted: what is allocated or freed meanwhile belongs to all, or to another thread.
class UncountedMemory {
public:
    UncountedMemory() : none_(nullptr) {}

private:
    MemoryAccount::Use none_;
};

/// "1 GiB", "300 MiB".
std::string describe_bytes(std::size_t bytes);
/// From "300 MiB", "1.5 GiB", "2e9"; throws std::runtime_error.
std::size_t parse_bytes(const std::string& text);

}  // namespace limber
