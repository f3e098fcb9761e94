#pragma once
// What a state remembers beside its motion: turns counted, contacts that are closed, impulses, bristles, targets.
//
// A memory is one list of numbers, so that states are copied, compared and saved whatever they remember. Its layout is
// a list of blocks, each of a kind and with an owner. Who adds a block gets a slot, and nothing else leads to its
// numbers:
//
//   const MemorySlot<ImpulseMemory> impulse = mechanism.add_memory<ImpulseMemory>("floor");
//   impulse.in(state.memory) += 0.2;
//
// A kind says how many numbers its blocks have and what they are `In` a memory: a number, a flag, a vector, or a
// structure of these; `Number` is double, or const double of a memory that is only read. A slot of one kind cannot
// stand for another, except for a wider one: the flag of a contact and that of what sticks are both flags of rows.

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

enum class ContactFlag { open, closed, latched };

template <class Number, class Flag>
class FlagIn {
public:
    explicit FlagIn(Number* number) : number_(*number) {}
    FlagIn& operator=(std::same_as<Flag> auto flag) {
        number_ = static_cast<int>(flag);
        return *this;
    }
    /// And to nothing else: a flag is no number.
    template <std::same_as<Flag> To>
    operator To() const {
        return static_cast<To>(number_ == 2 ? 2 : number_ == 0 ? 0 : 1);
    }
    bool operator==(Flag flag) const { return static_cast<Flag>(*this) == flag; }

private:
    Number& number_;
};

template <class Number, int N>
using VectorIn = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const Vec<N>, Vec<N>>>;

// ---------------------------------------------------------------- kinds

template <std::size_t N>
struct KindName {
    char text[N];
    constexpr KindName(const char (&name)[N]) { std::copy_n(name, N, text); }
};
template <KindName Name, class Numbers>
struct MemoryKind : Numbers {
    static constexpr const char* name = Name.text;
};

struct NumberMemory {
    static constexpr int size = 1;
    template <class Number>
    using In = Number&;
};
template <int N>
struct VectorMemory {
    static constexpr int size = N;
    template <class Number>
    using In = VectorIn<Number, N>;
};

/// What a measure needs to know of the past: the last value of an angle, with all its turns; the last parameter of a
/// point on a curve.
struct MeasureMemory : NumberMemory {};
struct TurnMemory : MemoryKind<"turns", MeasureMemory> {};
struct CurveMemory : MemoryKind<"place on curve", MeasureMemory> {};

/// Whether a row holds: of friction, or of a stop.
struct RowMemory {
    static constexpr int size = 1;
    template <class Number>
    using In = FlagIn<Number, bool>;
};
struct StickMemory : MemoryKind<"stick flag", RowMemory> {};
struct ContactMemory : MemoryKind<"contact flag", RowMemory> {
    template <class Number>
    using In = FlagIn<Number, ContactFlag>;
};

/// Sum of the normal impulses of a stop, or of a contact rule.
struct ImpulseMemory : MemoryKind<"impulse", NumberMemory> {};
/// Energy lost in impacts and rigid contacts.
struct ImpactLossMemory : MemoryKind<"impact loss", NumberMemory> {};
/// By how far rigid contacts missed their conditions in the last step, a length.
struct ContactResidualMemory : MemoryKind<"contact residual", NumberMemory> {};
/// Work of drivers in steps of rigid bodies that touch.
struct DriverWorkMemory : MemoryKind<"driver work", NumberMemory> {};
/// Where a pull wants its point to be.
template <int D>
struct TargetMemory : MemoryKind<"target", VectorMemory<D>> {};
/// Force, then torque, in world axes.
template <int D>
struct WrenchMemory : MemoryKind<"port wrench", VectorMemory<D*(D + 1) / 2>> {};

/// The force of friction that slips, which changes linearly between two instants (SlipForce).
struct SlipMemory {
    static constexpr const char* name = "slip";
    static constexpr int size = 7;
    template <class Number>
    struct In {
        explicit In(Number* n)
            : is_on(n), force(n[1]), force_after(n[2]), time(n[3]), time_after(n[4]), direction(n + 5) {}
        FlagIn<Number, bool> is_on;
        Number &force, &force_after, &time, &time_after;
        VectorIn<Number, 2> direction;
    };
};

/// Bristles along a coordinate, see friction_law.hpp.
struct BristleMemory {
    static constexpr const char* name = "bristles";
    static constexpr int size = 3;
    template <class Number>
    struct In {
        explicit In(Number* n) : bend(n[0]), place(n[1]), rest(n[2]) {}
        Number &bend, &place, &rest;
    };
};

/// Bristles of a contact of surfaces, as they were at a time.
struct SurfaceBristleMemory {
    static constexpr const char* name = "surface bristles";
    static constexpr int size = 5;
    template <class Number>
    struct In {
        explicit In(Number* n) : bend(n + 1), time(n[0]), rest(n[4]) {}
        VectorIn<Number, 3> bend;
        Number &time, &rest;
    };
};

// ---------------------------------------------------------------- slots and blocks

/// Where a block of this kind is in every memory of a layout; by itself: nowhere.
template <class Kind>
class MemorySlot {
public:
    MemorySlot() = default;
    /// Of a narrower kind.
    template <std::derived_from<Kind> Narrower>
    MemorySlot(MemorySlot<Narrower> slot) : first_(slot.first_) {}

    bool exists() const { return first_ >= 0; }
    bool operator==(const MemorySlot&) const = default;
    decltype(auto) in(std::vector<double>& memory) const { return find(memory.data()); }
    decltype(auto) in(std::span<const double> memory) const { return find(memory.data()); }
    /// What another memory has in such a block, if there are both.
    void copy(std::vector<double>& memory, MemorySlot other, std::span<const double> other_memory) const {
        if (exists() && other.exists())
            std::copy_n(other_memory.begin() + other.first_, Kind::size, memory.begin() + first_);
    }
    /// The same in another layout; `place`: of the first number of a block.
    MemorySlot renumbered(const auto& place) const { return exists() ? MemorySlot(place(first_)) : *this; }

private:
    template <class>
    friend class MemorySlot;
    friend struct MemoryLayout;
    explicit MemorySlot(int first) : first_(first) {}
    template <class Number>
    auto find(Number* numbers) const -> typename Kind::template In<Number> {
        if constexpr (std::derived_from<Kind, NumberMemory>)
            return numbers[first_];
        else
            return typename Kind::template In<Number>(numbers + first_);
    }
    int first_ = -1;
};

struct MemoryBlock {
    const char* kind = "";
    std::string owner;  ///< name of an element, or of what is measured; empty: the mechanism
    int first = 0, size = 0;
    int measure = -1;  ///< that keeps it up to date; -1: others do

    std::string describe() const { return owner.empty() ? kind : std::string(kind) + " of '" + owner + "'"; }
};

struct MemoryLayout {
    std::vector<MemoryBlock> blocks;  ///< in the order of their numbers

    /// A block of zeros at the end, also of a memory of this layout.
    template <class Kind>
    MemorySlot<Kind> add(std::string owner, std::vector<double>& memory) {
        const int first = static_cast<int>(memory.size());
        blocks.push_back({Kind::name, std::move(owner), first, Kind::size});
        memory.resize(memory.size() + Kind::size, 0.0);
        return MemorySlot<Kind>(first);
    }
    /// That begins with this number.
    const MemoryBlock& block_from(int first) const {
        return *std::ranges::lower_bound(blocks, first, {}, &MemoryBlock::first);
    }
};

}  // namespace limber
