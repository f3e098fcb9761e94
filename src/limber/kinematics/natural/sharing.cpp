#include "limber/kinematics/natural/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace limber {
namespace {

// Classes of features that joints make equal.
class FeatureClasses {
public:
    explicit FeatureClasses(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
    int find(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(int a, int b) { parent_[find(b)] = find(a); }

private:
    std::vector<int> parent_;
};

template <int D>
class LayoutChooser {
public:
    explicit LayoutChooser(const Mechanism<D>& m) : m_(m), classes_(m.features.size()) {}

    NaturalLayout<D> choose() {
        join_shared_features();
        gather_body_features();
        layout_.feature_node.assign(m_.features.size(), -1);
        layout_.basis.resize(m_.bodies.size());
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) choose_basis(static_cast<int>(b));
        name_feature_nodes();
        return std::move(layout_);
    }

private:
    struct Candidate {
        int feature_class = -1;  // -1: not shared with anybody
        bool is_point = true;
        bool is_fixed = false;
        int degree = 1;
        Vec<D> local;
    };

    void join_shared_features() {
        // A class must not hold two features of one body: they are different points, whatever the joints say.
        std::vector<std::map<int, int>> members(m_.features.size());  // body -> feature, per class root
        for (std::size_t f = 0; f < m_.features.size(); ++f) members[f][m_.features[f].body] = static_cast<int>(f);
        for (const SharedFeature& pair : m_.shared) {
            const int a = classes_.find(pair.a);
            const int b = classes_.find(pair.b);
            if (a == b) continue;
            const bool clash = std::any_of(members[b].begin(), members[b].end(),
                                           [&](const auto& entry) { return members[a].count(entry.first) != 0; });
            if (clash) continue;
            members[a].insert(members[b].begin(), members[b].end());
            members[b].clear();
            classes_.join(a, b);
        }
        class_size_.assign(m_.features.size(), 0);
        ground_feature_.assign(m_.features.size(), -1);
        for (const SharedFeature& pair : m_.shared)
            for (const int f : {pair.a, pair.b}) {
                const int root = classes_.find(f);
                class_size_[root] = static_cast<int>(members[root].size());
                const auto ground = members[root].find(-1);
                if (ground != members[root].end()) ground_feature_[root] = ground->second;
            }
        class_node_.assign(m_.features.size(), -1);
    }

    void gather_body_features() {
        body_features_.resize(m_.bodies.size());
        for (const int f : m_.used_features)
            if (m_.features[f].body >= 0) body_features_[m_.features[f].body].push_back(f);
    }

    // Shared features of a body, best first: fixed ones, then those shared by most bodies, then in order of the
    // model.
    std::vector<Candidate> candidates(int body) {
        std::vector<Candidate> result;
        for (const int f : body_features_[body]) {
            const int root = classes_.find(f);
            if (class_size_[root] < 2) continue;
            Candidate c;
            c.feature_class = root;
            c.is_point = m_.features[f].is_point;
            c.is_fixed = ground_feature_[root] >= 0;
            c.degree = class_size_[root];
            c.local = m_.features[f].local;
            result.push_back(c);
        }
        std::stable_sort(result.begin(), result.end(), [](const Candidate& x, const Candidate& y) {
            return std::pair(x.is_fixed, x.degree) > std::pair(y.is_fixed, y.degree);
        });
        return result;
    }

    int node_of(const Candidate& c, int body) {
        if (c.feature_class >= 0 && class_node_[c.feature_class] >= 0) {
            const int node = class_node_[c.feature_class];
            layout_.nodes[node].bodies.push_back(body);
            return node;
        }
        NaturalNode<D> node;
        node.is_point = c.is_point;
        node.is_fixed = c.is_fixed;
        const BodyState<D>& pose = m_.bodies[body].reference;
        node.reference = pose.axes * c.local;
        if (c.is_point) node.reference += pose.position;
        if (c.is_fixed) node.reference = m_.reference.value[ground_feature_[c.feature_class]];
        node.bodies.push_back(body);
        layout_.nodes.push_back(node);
        const int index = static_cast<int>(layout_.nodes.size()) - 1;
        if (c.feature_class >= 0) class_node_[c.feature_class] = index;
        return index;
    }

    void take(NaturalBasis<D>& basis, const Candidate& c, int body) {
        basis.node[basis.count] = node_of(c, body);
        basis.local[basis.count++] = c.local;
    }

    static Candidate own_point(const Vec<D>& local) {
        Candidate c;
        c.local = local;
        return c;
    }
    static Candidate own_vector(const Vec<D>& local) {
        Candidate c;
        c.is_point = false;
        c.local = local;
        return c;
    }

    // Size of a body: the farthest feature or the radius of gyration.
    double extent(int body) const {
        double size = 0;
        for (const int f : body_features_[body])
            if (m_.features[f].is_point) size = std::max(size, m_.features[f].local.norm());
        const auto& b = m_.bodies[body];
        if (b.mass > 0) size = std::max(size, std::sqrt(b.inertia.trace() / b.mass));
        return size > 0 ? size : m_.length_scale;
    }

    bool is_point_mass(int body) const {
        const auto& b = m_.bodies[body];
        if (b.inertia.norm() > 1e-14 * b.mass * m_.length_scale * m_.length_scale) return false;
        return std::all_of(body_features_[body].begin(), body_features_[body].end(), [&](int f) {
            return m_.features[f].is_point && m_.features[f].local.norm() <= 1e-12 * m_.length_scale;
        });
    }

    // In space: the line through the centre of mass that carries all mass and all features, if there is one.
    bool find_bar_axis(int body, Vec<D>& axis) const {
        if constexpr (D == 2) {
            return false;
        } else {
            const auto& b = m_.bodies[body];
            axis.setZero();
            for (const int f : body_features_[body]) {
                if (!m_.features[f].is_point) return false;
                if (m_.features[f].local.norm() > axis.norm()) axis = m_.features[f].local;
            }
            const double size = axis.norm();
            if (size <= 1e-9 * m_.length_scale) return false;
            axis /= size;
            for (const int f : body_features_[body])
                if (m_.features[f].local.cross(axis).norm() > 1e-10 * size) return false;
            return (b.inertia * axis).norm() <= 1e-12 * b.inertia.norm() + 1e-300;
        }
    }

    void choose_basis(int body) {
        NaturalBasis<D>& basis = layout_.basis[body];
        std::vector<Candidate> list = candidates(body);
        const auto first_point = std::find_if(list.begin(), list.end(), [](const Candidate& c) { return c.is_point; });
        if (is_point_mass(body)) {
            basis.kind = BasisKind::point;
            take(basis, first_point != list.end() ? *first_point : own_point(Vec<D>::Zero()), body);
            return;
        }
        Vec<D> axis;
        const bool is_bar = find_bar_axis(body, axis);
        basis.kind = is_bar ? BasisKind::bar : BasisKind::frame;
        take(basis, first_point != list.end() ? *first_point : own_point(Vec<D>::Zero()), body);
        if (first_point != list.end()) list.erase(first_point);
        const int wanted = is_bar || D == 2 ? 2 : 4;
        fill_with_shared(basis, list, body, wanted);
        fill_with_own(basis, body, wanted, axis);
    }

    // Directions chosen so far, orthonormalised: a further one must stand out from their span.
    static Vec<D> outside(const std::vector<Vec<D>>& span, Vec<D> d) {
        for (const Vec<D>& e : span) d -= e * e.dot(d);
        return d;
    }

    std::vector<Vec<D>> span_of(const NaturalBasis<D>& basis) const {
        std::vector<Vec<D>> span;
        for (int i = 1; i < basis.count; ++i) {
            const bool point = layout_.nodes[basis.node[i]].is_point;
            const Vec<D> d = point ? Vec<D>(basis.local[i] - basis.local[0]) : basis.local[i];
            span.push_back(outside(span, d).normalized());
        }
        return span;
    }

    void fill_with_shared(NaturalBasis<D>& basis, const std::vector<Candidate>& list, int body, int wanted) {
        const double shortest = 0.2 * extent(body);
        for (const Candidate& c : list) {
            if (basis.count == wanted) return;
            if (basis.kind == BasisKind::bar && !c.is_point) continue;
            const Vec<D> d = c.is_point ? Vec<D>(c.local - basis.local[0]) : c.local;
            if (c.is_point && d.norm() < shortest) continue;
            // In the plane one direction is enough to fix the frame.
            const double sine = D == 2 ? 1.0 : outside(span_of(basis), Vec<D>(d.normalized())).norm();
            if (sine < 0.3) continue;
            take(basis, c, body);
        }
    }

    void fill_with_own(NaturalBasis<D>& basis, int body, int wanted, const Vec<D>& axis) {
        if (basis.kind == BasisKind::bar && basis.count < wanted) {
            const double size = extent(body);
            const double direction = basis.local[0].dot(axis) > 0 ? -1.0 : 1.0;
            take(basis, own_point(basis.local[0] + direction * size * axis), body);
            return;
        }
        while (basis.count < wanted) {
            const std::vector<Vec<D>> span = span_of(basis);
            Vec<D> best = Vec<D>::Zero();
            for (int k = 0; k < D; ++k) {
                const Vec<D> d = outside(span, Vec<D>::Unit(k));
                if (d.norm() > best.norm() + 1e-9) best = d;
            }
            take(basis, own_vector(best.normalized()), body);
        }
    }

    // A feature is a node if its class became one and its body (if it has one) uses that node.
    void name_feature_nodes() {
        for (std::size_t f = 0; f < m_.features.size(); ++f) {
            const int node = class_node_[classes_.find(static_cast<int>(f))];
            if (node < 0) continue;
            const int body = m_.features[f].body;
            const auto& users = layout_.nodes[node].bodies;
            if (body < 0 || std::find(users.begin(), users.end(), body) != users.end()) layout_.feature_node[f] = node;
        }
    }

    const Mechanism<D>& m_;
    FeatureClasses classes_;
    std::vector<int> class_size_, ground_feature_, class_node_;
    std::vector<std::vector<int>> body_features_;
    NaturalLayout<D> layout_;
};

}  // namespace

template <int D>
NaturalLayout<D> choose_natural_layout(const Mechanism<D>& mechanism) {
    return LayoutChooser<D>(mechanism).choose();
}

template NaturalLayout<2> choose_natural_layout(const Mechanism<2>&);
template NaturalLayout<3> choose_natural_layout(const Mechanism<3>&);

}  // namespace limber
