#pragma once
// Contacts as rows over the twists of bodies, and their Delassus operator.
//
// Rows of a contact, in its frame (normal n from a to b, tangents t): relative velocity of b against a at the point along n and t; with
// rolling resistance the relative angular velocity along t, with spinning resistance along n. In the plane one tangent, and rolling is
// about the plane's normal.

#include "limber/contact/collision_world.hpp"
#include "limber/contact/cone_complementarity.hpp"
#include "limber/contact/joint_projector.hpp"

namespace limber {

template <int D>
class ContactProblem {
public:
    static constexpr int T = twist_size<D>;
    static constexpr int max_rows = D == 2 ? 3 : 6;
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, T, 0, max_rows, T>;

    explicit ContactProblem(const Mechanism<D>& mechanism) : m_(mechanism) {}

    /// Rows and Delassus operator of the contacts; the projector tells how joints pass impulses on.
    void update(const BodyStates<D>& states, const std::vector<Contact>& contacts, JointProjector<D>& joints);

    int row_count() const { return delassus_.rows(); }
    const DelassusMatrix& delassus() const { return delassus_; }
    std::vector<ConeBlock>& blocks() { return blocks_; }
    const Mat3& axes(int contact) const { return contacts_[contact].axes; }  ///< columns n, t, t

    /// u = J v
    void multiply(const VecX& twists, VecX& velocities) const;
    /// v += M^-1 J^T p, joints included
    void add_response(const VecX& impulses, VecX& twists) const;
    /// Force and moment of a contact's impulse on body b, world axes.
    Vec3 force(int contact, const VecX& impulses) const;
    Vec3 torque(int contact, const VecX& impulses) const;

    /// M^-1 of a body: bodies without mass or inertia get a little of the mechanism's typical ones.
    Mat<T> inverse_mass(const BodyStates<D>& states, int body) const;

private:
    struct ContactRows {
        int body[2] = {-1, -1};
        Rows row[2];       // J on body a and on body b
        Rows response[2];  // (M^-1 J^T)^T
        Mat3 axes = Mat3::Identity();
        bool is_joined = false;
        int first_column = 0;  // of joined_response_
    };

    void update_rows(const BodyStates<D>& states, const Contact& contact, const ConeBlock& block, ContactRows& rows);
    void update_joined_responses(JointProjector<D>& joints);
    void assemble(const JointProjector<D>& joints);
    void add_joined_block(int i, int j, const JointProjector<D>& joints);

    const Mechanism<D>& m_;
    std::vector<ContactRows> contacts_;
    std::vector<ConeBlock> blocks_;
    std::vector<int> sizes_;
    DelassusMatrix delassus_;
    std::vector<Mat<T>> inverse_mass_;
    std::vector<bool> has_inverse_;
    std::vector<VecX> joined_response_;  // full twists, one per row of a joined contact
    std::vector<int> joined_contacts_;
};

}  // namespace limber
