#include "limber/kinematics/relative/tree.hpp"

#include <algorithm>
#include <tuple>

namespace limber {
namespace {

int columns_of(const JointMotion& motion) {
    return motion.kind == JointMotion::Kind::ball ? 4 : 1;
}

template <int D>
class TreeChooser {
public:
    explicit TreeChooser(const Mechanism<D>& m) : m_(m) {}

    RelativeTree<D> choose() {
        const auto count = m_.bodies.size();
        joint_of_.assign(count, -1);
        parent_of_.assign(count, -1);
        depth_.assign(count, -1);
        tree_.is_tree_element.assign(m_.elements.size(), false);
        list_joints();
        grow(-1, 0);
        for (;;) {
            const int base = heaviest_left();
            if (base < 0) break;
            grow(base, 1);
        }
        number_nodes();
        return std::move(tree_);
    }

private:
    // Joints at each body (the last entry: at the ground).
    void list_joints() {
        joints_.resize(m_.bodies.size() + 1);
        for (std::size_t e = 0; e < m_.elements.size(); ++e) {
            const auto& element = m_.elements[e];
            if (!element.motions || element.is_cut.value_or(false)) continue;
            for (const int body : {element.body_a, element.body_b}) joints_at(body).push_back(static_cast<int>(e));
        }
    }
    std::vector<int>& joints_at(int body) { return joints_[body < 0 ? joints_.size() - 1 : body]; }

    // Prim's algorithm from a body or the ground: the joint with most rows first, then the shallowest.
    void grow(int from, int depth) {
        struct Candidate {
            int rank, depth, element, parent, body;
            bool operator<(const Candidate& o) const {
                return std::tie(rank, o.depth, o.element) < std::tie(o.rank, depth, element);
            }
        };
        std::vector<Candidate> heap;
        const auto offer = [&](int body, int at) {
            for (const int e : joints_at(body)) {
                const auto& element = m_.elements[e];
                const int other = element.body_a == body ? element.body_b : element.body_a;
                if (other < 0 || depth_[other] >= 0) continue;
                // A joint that must not be cut goes before all others.
                const int rank = element.row_count + (element.is_cut ? 100 : 0);
                heap.push_back({rank, at + 1, e, body, other});
                std::push_heap(heap.begin(), heap.end());
            }
        };
        if (from >= 0) depth_[from] = depth;
        offer(from, depth);
        while (!heap.empty()) {
            std::pop_heap(heap.begin(), heap.end());
            const Candidate next = heap.back();
            heap.pop_back();
            if (depth_[next.body] >= 0) continue;
            depth_[next.body] = next.depth;
            parent_of_[next.body] = next.parent;
            joint_of_[next.body] = next.element;
            tree_.is_tree_element[next.element] = true;
            offer(next.body, next.depth);
        }
    }

    int heaviest_left() const {
        int best = -1;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b)
            if (depth_[b] < 0 && (best < 0 || m_.bodies[b].mass > m_.bodies[best].mass)) best = static_cast<int>(b);
        return best;
    }

    void number_nodes() {
        std::vector<std::vector<int>> children(m_.bodies.size());
        std::vector<int> roots;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            if (parent_of_[b] < 0) {
                roots.push_back(static_cast<int>(b));
            } else {
                children[parent_of_[b]].push_back(static_cast<int>(b));
            }
        }
        tree_.node_of_body.assign(m_.bodies.size(), -1);
        // Depth first with a stack of our own: chains may be long.
        std::vector<int> stack(roots.rbegin(), roots.rend());
        while (!stack.empty()) {
            const int body = stack.back();
            stack.pop_back();
            add_node(body);
            stack.insert(stack.end(), children[body].rbegin(), children[body].rend());
        }
        for (std::size_t i = tree_.nodes.size(); i-- > 0;) {
            TreeNode<D>& node = tree_.nodes[i];
            node.end = std::max(node.end, static_cast<int>(i) + 1);
            if (node.parent >= 0) tree_.nodes[node.parent].end = std::max(tree_.nodes[node.parent].end, node.end);
        }
    }

    void add_node(int body) {
        TreeNode<D> node;
        node.body = body;
        node.parent = parent_of_[body] < 0 ? -1 : tree_.node_of_body[parent_of_[body]];
        node.element = joint_of_[body];
        if (node.element < 0) {
            for (int k = 0; k < D; ++k) node.motions.push_back({JointMotion::Kind::slide, k});
            node.motions.push_back({D == 2 ? JointMotion::Kind::turn : JointMotion::Kind::ball, 2});
        } else {
            const auto& element = m_.elements[node.element];
            node.motions = element.motions.value();
            const bool is_reversed = element.body_b != body;
            set_frame(is_reversed ? element.b : element.a, node.parent_point, node.parent_axes);
            set_frame(is_reversed ? element.a : element.b, node.point, node.axes);
            if (is_reversed) reverse(node);
        }
        node.first_column = tree_.columns;
        for (const JointMotion& motion : node.motions) {
            if (motion.kind == JointMotion::Kind::ball) tree_.ball_columns.push_back(tree_.columns + node.column_count);
            node.column_count += columns_of(motion);
        }
        tree_.columns += node.column_count;
        const int index = static_cast<int>(tree_.nodes.size());
        tree_.node_of_column.resize(tree_.columns, index);
        tree_.node_of_body[body] = index;
        tree_.nodes.push_back(std::move(node));
    }

    void set_frame(const MarkerFeatures<D>& marker, Vec<D>& point, Mat<D>& axes) const {
        point = m_.features[marker.point].local;
        for (int k = 0; k < D; ++k) axes.col(k) = m_.features[marker.axis[k]].local;
    }

    // Seen from the second body the steps run backwards. All signs turn, which the coordinates simply count the other
    // way; only the constant advance of a screw must turn with them.
    static void reverse(TreeNode<D>& node) {
        std::reverse(node.motions.begin(), node.motions.end());
        for (JointMotion& motion : node.motions) motion.offset = -motion.offset;
    }

    const Mechanism<D>& m_;
    RelativeTree<D> tree_;
    std::vector<std::vector<int>> joints_;
    std::vector<int> joint_of_, parent_of_, depth_;
};

}  // namespace

template <int D>
int RelativeTree<D>::common_ancestor(int a, int b) const {
    while (a != b) {
        if (a < 0 || b < 0) return -1;
        if (a > b) {
            a = nodes[a].parent;
        } else {
            b = nodes[b].parent;
        }
    }
    return a;
}

template <int D>
RelativeTree<D> choose_tree(const Mechanism<D>& mechanism) {
    return TreeChooser<D>(mechanism).choose();
}

template struct RelativeTree<2>;
template struct RelativeTree<3>;
template RelativeTree<2> choose_tree(const Mechanism<2>&);
template RelativeTree<3> choose_tree(const Mechanism<3>&);

}  // namespace limber
