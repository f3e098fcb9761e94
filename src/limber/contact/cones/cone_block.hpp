#pragma once
// What the impulses of one block of rows must obey: none (bilateral), or Coulomb's law with resistance against rolling
// and spinning.

namespace limber {

struct ConeBlock {
    bool is_bilateral = false;
    int rows = 1;           ///< bilateral: any number; contact: 1 + those of friction
    int sliding_rows = 0;   ///< after the normal: 0, 1 (plane) or 2
    int rolling_rows = 0;   ///< after the sliding ones: 0, 1 (plane) or 2
    int spinning_rows = 0;  ///< the last: 0 or 1
    double friction = 0;
    double rolling = 0, spinning = 0;  ///< resistance: moment over normal force, a length
    double restitution = 0;            ///< Newton's coefficient

    static ConeBlock bilateral(int rows) {
        ConeBlock block;
        block.is_bilateral = true;
        block.rows = rows;
        return block;
    }
    static ConeBlock contact(int sliding_rows, double friction, double restitution = 0) {
        ConeBlock block;
        block.rows = 1 + sliding_rows;
        block.sliding_rows = sliding_rows;
        block.friction = friction;
        block.restitution = restitution;
        return block;
    }
};

/// A part of a contact's rows whose impulse lies in a disc of radius coefficient * p_n.
struct FrictionDisc {
    int first, rows;
    double coefficient;
};

/// use(disc) for the discs of a contact, in the order of their rows; a contact has at most three.
template <class Use>
void for_each_disc(const ConeBlock& block, int first_row, const Use& use) {
    int row = first_row + 1;
    const auto part = [&](int rows, double coefficient) {
        if (rows > 0) use(FrictionDisc{row, rows, coefficient});
        row += rows;
    };
    part(block.sliding_rows, block.friction);
    part(block.rolling_rows, block.rolling);
    part(block.spinning_rows, block.spinning);
}

}  // namespace limber
