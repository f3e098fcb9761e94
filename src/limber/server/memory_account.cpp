#include "limber/server/memory_account.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#if defined(__has_feature)
    #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
        #define LIMBER_FOREIGN_MALLOC
    #endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
    #define LIMBER_FOREIGN_MALLOC
#endif

namespace limber {
namespace {

constexpr std::size_t large_block = 65'536;

// Plain data: it must be there before and after everything else in a thread.
thread_local MemoryAccount* current_account = nullptr;

}  // namespace

std::size_t MemoryAccount::used() const {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, used_));
}

bool MemoryAccount::may_allocate(std::size_t bytes) {
    if (budget_ == 0) return true;
    const std::size_t sum = used() + bytes;
    if (sum <= budget_) return true;
    is_exceeded_ = true;
    return bytes < large_block && sum <= budget_ + budget_ / 4;
}

MemoryAccount::Use::Use(MemoryAccount* account) : before_(current_account) {
    current_account = account;
}

MemoryAccount::Use::~Use() {
    current_account = before_;
}

bool MemoryAccount::can_count() {
    MemoryAccount probe(0);
    const Use use(&probe);
    // Seen by nobody else, so a compiler could leave it out.
    void* volatile block = std::malloc(1000);
    const bool is_counted = probe.used() >= 1000;
    std::free(block);
    return is_counted;
}

// Where a sanitizer has taken over, malloc's own books are not even begun, and threads that ask for them at once crash.
void MemoryAccount::trim() {
    static const bool is_mallocs = can_count();
    if (is_mallocs) ::malloc_trim(0);
}

std::string describe_bytes(std::size_t bytes) {
    const double mebi = static_cast<double>(bytes) / 1048576.0;
    return mebi >= 1024 ? fmt::format("{:.4g} GiB", mebi / 1024) : fmt::format("{:.4g} MiB", mebi);
}

std::size_t parse_bytes(const std::string& text) {
    char* rest = nullptr;
    const double number = std::strtod(text.c_str(), &rest);
    std::string unit(rest);
    unit.erase(0, unit.find_first_not_of(' '));
    double factor = 0;
    for (const auto& [name, size] : {std::pair{"", 1.0}, std::pair{"B", 1.0}, std::pair{"KiB", 1024.0},
                                     std::pair{"MiB", 1048576.0}, std::pair{"GiB", 1073741824.0}})
        if (unit == name) factor = size;
    const double bytes = number * factor;
    if (rest == text.c_str() || !(bytes >= 1048576.0 && bytes <= 1e15))
        throw std::runtime_error(
            fmt::format("expected at least 1 MiB of memory, like '300 MiB' or '2 GiB', found '{}'", text));
    return static_cast<std::size_t>(bytes);
}

}  // namespace limber

#ifndef LIMBER_FOREIGN_MALLOC

// malloc itself is replaced, so that nothing can hide behind Eigen or another library. Threads without an account pay
// for a look at one pointer.

using limber::MemoryAccount;

extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT(bugprone-reserved-identifier)
void __libc_free(void* block);                                   // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* old, std::size_t size);               // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

void* counted(void* block) {
    if (block != nullptr && limber::current_account != nullptr)
        limber::current_account->add(::malloc_usable_size(block));
    return block;
}

// A single block larger than all there is could be the last one the machine has; any library must expect to be refused
// that.
bool is_absurd(std::size_t size) {
    MemoryAccount* account = limber::current_account;
    if (account == nullptr || account->budget() == 0 || size <= account->budget()) return false;
    account->may_allocate(size);
    errno = ENOMEM;
    return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
    return is_absurd(size) ? nullptr : counted(__libc_malloc(size));
}

void free(void* block) {
    if (block != nullptr && limber::current_account != nullptr)
        limber::current_account->subtract(::malloc_usable_size(block));
    __libc_free(block);
}

void* calloc(std::size_t count, std::size_t size) {
    if (size != 0 && count > static_cast<std::size_t>(-1) / size) {
        errno = ENOMEM;
        return nullptr;
    }
    return is_absurd(count * size) ? nullptr : counted(__libc_calloc(count, size));
}

void* realloc(void* old, std::size_t size) {
    if (is_absurd(size)) return nullptr;
    const std::size_t before = old == nullptr ? 0 : ::malloc_usable_size(old);
    void* block = __libc_realloc(old, size);
    if (block == nullptr && size != 0) return nullptr;
    if (limber::current_account != nullptr) limber::current_account->subtract(before);
    return counted(block);
}

void* memalign(std::size_t alignment, std::size_t size) {
    return is_absurd(size) ? nullptr : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
    void* found = memalign(alignment, size);
    if (found == nullptr) return ENOMEM;
    *block = found;
    return 0;
}
}

void* operator new(std::size_t size) {
    MemoryAccount* account = limber::current_account;
    if (account != nullptr && !account->may_allocate(size)) throw limber::MemoryExceeded();
    while (true) {
        if (void* block = std::malloc(size > 0 ? size : 1)) return block;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

void operator delete(void* block) noexcept {
    std::free(block);
}

void operator delete(void* block, std::size_t /*size*/) noexcept {
    std::free(block);
}

#endif
