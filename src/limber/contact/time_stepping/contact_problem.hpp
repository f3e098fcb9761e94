#pragma once
// Contacts as rows over the twists of bodies, and the Delassus operators of their islands.
//
// Rows of a contact, in its frame (normal n from a to b, tangents t): relative velocity of b against a at the point
// along n and t; with rolling resistance the relative angular velocity along t, with spinning resistance along n. In
// the plane one tangent, and rolling is about the plane's normal. All bodies that joints hold count as one when islands
// are found.

#include "limber/contact/cones/cone_complementarity.hpp"
#include "limber/contact/cones/contact_islands.hpp"
#include "limber/contact/stops/stepped_stops.hpp"
#include "limber/contact/time_stepping/collision_world.hpp"
#include "limber/contact/time_stepping/joint_projector.hpp"

namespace limber {

template <int D>
class ContactProblem {
public:
    static constexpr int T = twist_size<D>;
    static constexpr int max_rows = D == 2 ? 3 : 6;
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, T, 0, max_rows, T>;

    ContactProblem(const Mechanism<D>& mechanism, const SteppedStops<D>& stops) : m_(mechanism), stops_(stops) {}

    /// Rows of the contacts, some of which may be stops. The projector tells how joints pass impulses on; it is used
    /// until the next update.
    void update(const BodyStates<D>& states, const std::vector<Contact>& contacts, JointProjector<D>& joints);

    const ContactLaw& law(const Contact& contact) const {
        return contact.stop < 0 ? m_.contact_rules[contact.rule].law.value() : stops_.law(contact.stop);
    }
    int row_count() const { return first_row_.back(); }
    int first_row(int contact) const { return first_row_[contact]; }
    std::vector<ConeBlock>& blocks() { return blocks_; }

    int island_count() const { return islands_.count(); }
    std::span<const int> contacts(int island) const { return islands_.contacts(island); }
    /// Whether joints hold bodies of an island.
    bool has_joints(int island) const { return islands_.bodies(island).back() == static_cast<int>(m_.bodies.size()); }
    /// use(body) for all bodies that impulses in an island move.
    template <class Use>
    void for_each_body(int island, const Use& use) const {
        for (const int body : islands_.bodies(island)) {
            if (body < static_cast<int>(m_.bodies.size())) {
                use(body);
                continue;
            }
            for (int b = 0; b < static_cast<int>(m_.bodies.size()); ++b)
                if (joints_->is_joined(b)) use(b);
        }
    }
    /// Delassus operator of an island, its contacts in their order; until the next one is assembled.
    const DelassusMatrix& assemble(int island);
    /// The rows of an island, one after the other, out of all and back.
    void gather(int island, const VecX& rows, VecX& own) const;
    void scatter(int island, const VecX& own, VecX& rows) const;

    /// u = J v
    void multiply(const VecX& twists, VecX& velocities) const;
    /// Velocities at which impulses work, given momenta: J M^-1 of them, with what joints leave of the impulses.
    void find_working_velocities(const VecX& momenta, VecX& velocities) const;
    /// v += M^-1 J^T p, joints included
    void add_response(const VecX& impulses, VecX& twists) const;
    /// Force and moment of a contact's impulse on body b, world axes.
    Vec3 force(int contact, const VecX& impulses) const;
    Vec3 torque(int contact, const VecX& impulses) const;
    /// The reverse: adds a force and a moment, as far as the contact has rows for them.
    void add_impulse(int contact, const Vec3& force, const Vec3& torque, VecX& impulses) const;

    /// M^-1 of a body: bodies without mass or inertia get a little of the mechanism's typical ones.
    Mat<T> inverse_mass(const BodyStates<D>& states, int body) const;

private:
    struct ContactRows {
        int body[2] = {-1, -1};
        Rows row[2];       // J on body a and on body b
        Rows response[2];  // (M^-1 J^T)^T
        Mat3 axes = Mat3::Identity();
        bool is_joined = false;
        int stop = -1;
        int first_column = 0;  // of joined_response_
    };

    void update_rows(const BodyStates<D>& states, const Contact& contact, const ConeBlock& block, ContactRows& rows);
    void find_inverse_mass(const BodyStates<D>& states, int body);
    /// M^-1 of a row of a contact, as twists, and what of the row acts on light bodies, where there is no such thing.
    /// False: nothing does.
    bool add_own_response(const ContactRows& rows, int row, VecX& twists, VecX& light) const;
    void update_joined_responses(JointProjector<D>& joints);
    void find_islands();
    void add_joined_block(int i, int j, int place);

    const Mechanism<D>& m_;
    const SteppedStops<D>& stops_;
    const JointProjector<D>* joints_ = nullptr;
    std::vector<ContactRows> contacts_;
    std::vector<ConeBlock> blocks_;
    std::vector<int> first_row_{0};
    std::vector<std::array<int, 2>> ends_;
    ContactIslands islands_;
    std::vector<int> sizes_;  // of the blocks of an island
    DelassusMatrix delassus_;
    std::vector<Mat<T>> inverse_mass_;
    std::vector<bool> has_inverse_;
    std::vector<VecX> joined_response_;  // full twists, one per row of a joined contact
    std::vector<int> joined_contacts_;
    VecX light_;
};

}  // namespace limber
