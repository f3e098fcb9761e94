#include "limber/kinematics/mechanism/part.hpp"

#include <algorithm>
#include <set>

#include "limber/kinematics/forces/port_wrench.hpp"

namespace limber {
namespace {

// Copies what is asked for and everything below it, with new indices.
template <int D>
class PartMaker {
public:
    explicit PartMaker(const Mechanism<D>& whole)
        : whole_(whole),
          body_(whole.bodies.size(), -1),
          feature_(whole.features.size(), -1),
          measure_(whole.constraints.measures.size(), -1),
          memory_(whole.initial_memory.size(), -1),
          element_(whole.elements.size(), -1) {}
    PartMaker(const PartMaker&) = delete;
    PartMaker& operator=(const PartMaker&) = delete;

    Part<D> make(const PartChoice& choice) {
        Mechanism<D>& m = part_.mechanism;
        m.gravity = whole_.gravity;
        m.curves = whole_.curves;
        m.constraints.laws = whole_.constraints.laws;
        m.length_scale = whole_.length_scale;
        m.mass_scale = whole_.mass_scale;
        part_.bodies = choice.bodies;
        part_.elements = choice.elements;
        for (std::size_t i = 0; i < choice.bodies.size(); ++i) {
            body_[choice.bodies[i]] = static_cast<int>(i);
            m.bodies.push_back(whole_.bodies[choice.bodies[i]]);
        }
        for (MechanismBody<D>& body : m.bodies) body.frame = frame(body.frame);
        for (const int element : choice.elements) add_element(element);
        for (const int force : choice.forces) add_force(force);
        for (const SharedFeature& pair : whole_.shared)
            if (element_[pair.element] >= 0)
                m.shared.push_back({feature(pair.a), feature(pair.b), element_[pair.element]});
        for (const int element : choice.elements) add_mesh(element);
        find_used_features();
        return std::move(part_);
    }

private:
    int feature(int index) {
        if (feature_[index] >= 0) return feature_[index];
        Mechanism<D>& m = part_.mechanism;
        Feature<D> f = whole_.features[index];
        if (f.body >= 0) f.body = body_[f.body];
        m.features.push_back(f);
        m.reference.value.push_back(whole_.reference.value[index]);
        m.reference.rate.push_back(whole_.reference.rate[index]);
        m.reference.bias.push_back(whole_.reference.bias[index]);
        return feature_[index] = static_cast<int>(m.features.size()) - 1;
    }

    MarkerFeatures<D> frame(const MarkerFeatures<D>& marker) {
        MarkerFeatures<D> copy;
        copy.point = feature(marker.point);
        for (int k = 0; k < D; ++k) copy.axis[k] = feature(marker.axis[k]);
        return copy;
    }

    // Of the memory, by its first number.
    int block(int first) {
        if (memory_[first] >= 0) return memory_[first];
        Mechanism<D>& m = part_.mechanism;
        MemoryBlock copy = whole_.memory_layout.block_from(first);
        copy.first = memory_[first] = static_cast<int>(m.initial_memory.size());
        for (int k = first; k < first + copy.size; ++k) {
            m.initial_memory.push_back(whole_.initial_memory[k]);
            part_.memory.push_back(k);
        }
        const std::size_t place = m.memory_layout.blocks.size();
        const int counts = copy.measure;
        m.memory_layout.blocks.push_back(std::move(copy));
        // The measure that counts may itself ask for this block, which now exists.
        if (counts >= 0) m.memory_layout.blocks[place].measure = measure(counts);
        return memory_[first];
    }

    int measure(int index) {
        if (measure_[index] >= 0) return measure_[index];
        Measure<D> copy = whole_.measure(index);
        for (int k = 0; k < copy.count; ++k) copy.feature[k] = feature(copy.feature[k]);
        const int place = measure_[index] = part_.mechanism.constraints.add_measure(copy);
        part_.mechanism.constraints.measures[place].memory = copy.memory.renumbered(block_);
        return place;
    }

    std::vector<RowTerm> terms(std::vector<RowTerm> list) {
        for (RowTerm& term : list) term.measure = measure(term.measure);
        return list;
    }

    std::vector<int> features(const std::vector<int>& slots, int first, int count) {
        std::vector<int> list;
        for (int s = first; s < first + count; ++s) list.push_back(feature(slots[s]));
        return list;
    }

    void add_row(const Row& row, int element) {
        const ConstraintSet<D>& from = whole_.constraints;
        ConstraintSet<D>& to = part_.mechanism.constraints;
        const auto first = from.terms.begin() + row.first_term;
        const std::vector<RowTerm> row_terms = terms({first, first + row.term_count});
        if (row.is_holonomic()) {
            to.add_holonomic(element, row_terms, row.rhs, row.law);
        } else if (row.kind == RowKind::user_velocity) {
            UserVelocityRow user = from.user_rows[row.user];
            for (int& input : user.inputs) input = measure(input);
            std::vector<int> measures;
            measures.reserve(row_terms.size());
            for (const RowTerm& term : row_terms) measures.push_back(term.measure);
            to.add_user_velocity_row(element, measures, std::move(user));
        } else {
            Row copy = row;
            copy.element = element;
            to.add_velocity_row(copy, features(from.slot_feature, row.first_slot, row.slot_count));
        }
        to.rows.back().flag = row.flag.renumbered(block_);
    }

    void add_element(int index) {
        Mechanism<D>& m = part_.mechanism;
        ConstraintElement<D> element = whole_.elements[index];
        const int place = static_cast<int>(m.elements.size());
        const int first_row = static_cast<int>(m.constraints.rows.size());
        for (int r = element.first_row; r < element.first_row + element.row_count; ++r)
            add_row(whole_.constraints.rows[r], place);
        element.first_row = first_row;
        if (element.has_markers) {
            element.a = frame(element.a);
            element.b = frame(element.b);
            if (element.body_a >= 0) element.body_a = body_[element.body_a];
            if (element.body_b >= 0) element.body_b = body_[element.body_b];
        }
        element_[index] = place;
        m.element_index[element.key()] = place;
        m.elements.push_back(std::move(element));
    }

    // Where the part has the bearings too; otherwise its teeth act by torques alone.
    void add_mesh(int index) {
        Mechanism<D>& m = part_.mechanism;
        ConstraintElement<D>& element = m.elements[element_[index]];
        if (element.mesh < 0) return;
        GearMesh mesh = whole_.meshes[element.mesh];
        element.mesh = -1;
        for (int& bearing : mesh.bearing) {
            bearing = element_[bearing];
            if (bearing < 0) return;
        }
        mesh.row = element.first_row;
        for (int k = 0; k < 2; ++k) {
            if (mesh.wheel[k] >= 0) mesh.wheel[k] = body_[mesh.wheel[k]];
            mesh.point[k] = feature(mesh.point[k]);
            mesh.axis[k] = feature(mesh.axis[k]);
        }
        if (mesh.place >= 0) mesh.place = feature(mesh.place);
        element.mesh = static_cast<int>(m.meshes.size());
        m.meshes.push_back(mesh);
    }

    void add_force(int index) {
        Mechanism<D>& m = part_.mechanism;
        const ForceElement<D>& force = whole_.forces.elements[index];
        auto renumbered = force.force->renumbered({[this](int old) { return measure(old); }, block_});
        m.force_index[force.name] = static_cast<int>(m.forces.elements.size());
        m.forces.add(force.name, std::move(renumbered),
                     features(whole_.forces.slot_feature, force.first_slot, force.slot_count));
    }

    void find_used_features() {
        for (const int index : whole_.used_features)
            if (feature_[index] >= 0) part_.mechanism.used_features.push_back(feature_[index]);
        std::sort(part_.mechanism.used_features.begin(), part_.mechanism.used_features.end());
    }

    const Mechanism<D>& whole_;
    Part<D> part_;
    const std::function<int(int)> block_ = [this](int first) { return block(first); };
    std::vector<int> body_, feature_, measure_, memory_, element_;  // of the whole -> of the part
};

template <int D>
std::vector<int> bodies_of_features(const Mechanism<D>& m, const std::vector<int>& slots, int first, int count) {
    std::set<int> bodies;
    for (int s = first; s < first + count; ++s)
        if (m.features[slots[s]].body >= 0) bodies.insert(m.features[slots[s]].body);
    return {bodies.begin(), bodies.end()};
}

}  // namespace

template <int D>
void Part<D>::add_port(int body) {
    Mechanism<D>& m = mechanism;
    auto wrench = std::make_shared<PortWrench<D>>();
    const std::string name = m.bodies[body].name + ".port";
    wrench->wrench = m.template add_memory<WrenchMemory<D>>(name);
    port_memory.push_back(wrench->wrench);
    memory.resize(memory.size() + WrenchMemory<D>::size, -1);
    const MarkerFeatures<D>& frame = m.bodies[body].frame;
    std::vector<int> slots{frame.point};
    slots.insert(slots.end(), frame.axis.begin(), frame.axis.end());
    m.used_features.insert(m.used_features.end(), slots.begin(), slots.end());
    std::sort(m.used_features.begin(), m.used_features.end());
    m.used_features.erase(std::unique(m.used_features.begin(), m.used_features.end()), m.used_features.end());
    m.forces.add(name, std::move(wrench), slots);
}

template <int D>
Part<D> make_part(const Mechanism<D>& whole, const PartChoice& choice) {
    return PartMaker<D>(whole).make(choice);
}

template <int D>
std::vector<int> bodies_of_element(const Mechanism<D>& m, int index) {
    const ConstraintElement<D>& element = m.elements[index];
    std::set<int> bodies;
    for (const int body : {element.body_a, element.body_b})
        if (element.has_markers && body >= 0) bodies.insert(body);
    const auto add = [&](const std::vector<int>& list) { bodies.insert(list.begin(), list.end()); };
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r) {
        const Row& row = m.constraints.rows[r];
        add(bodies_of_features(m, m.constraints.slot_feature, row.first_slot, row.slot_count));
        if (row.kind != RowKind::user_velocity) continue;
        for (const int input : m.constraints.user_rows[row.user].inputs) {
            const Measure<D>& measure = m.measure(input);
            for (int k = 0; k < measure.count; ++k)
                if (m.features[measure.feature[k]].body >= 0) bodies.insert(m.features[measure.feature[k]].body);
        }
    }
    return {bodies.begin(), bodies.end()};
}

template <int D>
std::vector<int> bodies_of_force(const Mechanism<D>& m, int index) {
    const ForceElement<D>& force = m.forces.elements[index];
    return bodies_of_features(m, m.forces.slot_feature, force.first_slot, force.slot_count);
}

#define LIMBER_INSTANTIATE(D)                                              \
    template struct Part<D>;                                               \
    template Part<D> make_part(const Mechanism<D>&, const PartChoice&);    \
    template std::vector<int> bodies_of_element(const Mechanism<D>&, int); \
    template std::vector<int> bodies_of_force(const Mechanism<D>&, int);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
