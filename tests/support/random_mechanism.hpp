#pragma once
// Random mechanisms (RapidCheck), written as model files so that a counterexample can be run as it stands. Every joint
// type of the model occurs. A joint's second marker is its first one displaced by motions the joint allows, so all
// joints hold at the start, whatever loops they close.

#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "limber/math/rotation.hpp"

namespace limber::testing {

enum class Topology {
    tree,      ///< every body hangs on one joint
    loops,     ///< further joints between any two bodies
    redundant  ///< further joints that repeat what others hold already
};

class RandomMechanism {
public:
    /// always_relate: two coordinates wherever there are two; few trees have them, and a kind of relation may else be
    /// missing in a hundred.
    RandomMechanism(bool planar, Topology topology, bool always_relate = false)
        : planar_(planar), topology_(topology), always_relate_(always_relate) {}

    /// The model file; draws from RapidCheck, so only within a property.
    std::string draw() {
        const int count = integer(1, 6);
        // Axes along one direction make spatial loops redundant, as in a planar linkage built of spatial joints.
        common_axis_ = topology_ == Topology::redundant && *rc::gen::arbitrary<bool>();
        base_ = draw_axes();
        bodies_.push_back({});  // the ground
        for (int i = 0; i < count; ++i) draw_body();
        for (int i = 1; i <= count; ++i) add_joint(draw_type(), integer(0, i), i);
        if (topology_ != Topology::tree) draw_closures(count);
        if (always_relate_ || integer(0, 3) > 0) draw_relation();
        // Loops may hold still what is to be driven.
        if (integer(0, topology_ == Topology::tree ? 4 : 12) == 0) draw_driver();
        return write();
    }

private:
    /// Motions of the second marker against the first: x, y, z slides, X, Y, Z turns, in marker axes; q: a quarter turn
    /// about x (plane: z). Coordinates: those that relations and drivers may use; the motion each of them is.
    struct Type {
        std::string name, motions;
        std::string coordinate{};
        char coordinate_motion = 0;
        std::string more{};
    };
    struct Frame {
        Vec3 position = Vec3::Zero();
        Mat3 axes = Mat3::Identity();
    };
    struct RandomBody {
        Frame frame;
        std::string text, markers;
    };
    struct Coordinate {
        std::string name;
        double value;
    };

    static const std::vector<Type>& spatial_types() {
        static const std::vector<Type> list{
            {"fixed", ""},
            {"revolute", "Z", "angle", 'Z'},
            {"prismatic", "z", "displacement", 'z'},
            {"cylindrical", "zZ", "displacement", 'z'},
            {"spherical", "XYZ"},
            {"universal", "XY", "angle1", 'X'},
            {"planar", "xyZ", "angle", 'Z'},
            {"helical", "zZ", "angle", 'Z', ", pitch: 0.2"},
            {"point-on-line", "zXYZ", "displacement", 'z'},
            {"point-on-plane", "xyXYZ", "x", 'x'},
            {"distance", "xdXYZ"},
            {"parallel-axes", "xyzZ"},
            {"perpendicular-axes", "xyzZqZ"},
            {"constant-velocity", "c"},
            {"point-on-curve", "pXYZ", "", 0, ", curve: wave"},
            {"rolling-disc", "xyrZ", "", 0, ", radius: 0.3"},
            {"skate", "xyzXYZ"},
        };
        return list;
    }
    static const std::vector<Type>& planar_types() {
        static const std::vector<Type> list{
            {"fixed", ""},
            {"revolute", "Z", "angle", 'Z'},
            {"prismatic", "x", "displacement", 'x'},
            {"point-on-line", "xZ", "displacement", 'x'},
            {"distance", "xdZ"},
            {"parallel-axes", "xy"},
            {"perpendicular-axes", "xyq"},
            {"point-on-curve", "pZ", "", 0, ", curve: wave"},
            {"rolling-disc", "xrZ", "displacement", 'x', ", radius: 0.3"},
            {"skate", "xyZ", "angle", 'Z'},
        };
        return list;
    }
    const std::vector<Type>& types() const { return planar_ ? planar_types() : spatial_types(); }

    /// Of all sizes from the first case on; RapidCheck would begin near the low end.
    static int integer(int low, int high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high)); }
    static double number(double low, double high) {
        return integer(static_cast<int>(low * 1000), static_cast<int>(high * 1000)) / 1000.0;
    }
    static Vec3 draw_vector(double size) {
        const double x = number(-size, size);
        const double y = number(-size, size);
        return {x, y, number(-size, size)};
    }
    Mat3 draw_axes() const {
        if (planar_) return turn(2, number(-1.5, 1.5));
        const Mat3 first = turn(0, number(-1.5, 1.5));
        const Mat3 second = turn(1, number(-1.5, 1.5));
        return first * second * turn(2, number(-1.5, 1.5));
    }
    static Mat3 turn(int axis, double angle) { return Eigen::AngleAxisd(angle, Vec3::Unit(axis)).toRotationMatrix(); }

    std::string text(const Vec3& v) const {
        return planar_ ? fmt::format("[{}, {}]", v.x(), v.y()) : fmt::format("[{}, {}, {}]", v.x(), v.y(), v.z());
    }
    std::string orientation(const Mat3& axes) const {
        if (planar_) return fmt::format("angle: {}", std::atan2(axes(1, 0), axes(0, 0)));
        const Quat q(axes);
        return fmt::format("quaternion: [{}, {}, {}, {}]", q.w(), q.x(), q.y(), q.z());
    }
    static std::string name_of(int body) { return body == 0 ? "ground" : fmt::format("b{}", body); }

    void draw_body() {
        RandomBody body;
        body.frame.position = draw_vector(1);
        body.frame.axes = draw_axes();
        const Vec3 size = Vec3(number(0.1, 0.4), number(0.1, 0.4), number(0.1, 0.4));
        const Vec3 spin = draw_vector(2);
        body.text = fmt::format("box: {{size: {}, mass: {}}}, at: {}, {}, velocity: {}, angular-velocity: {}",
                                text(size), number(1, 4), text(body.frame.position), orientation(body.frame.axes),
                                text(draw_vector(1)), planar_ ? fmt::format("{}", spin.z()) : text(spin));
        body.markers = fmt::format("s: {}", text(draw_vector(0.3)));
        bodies_.push_back(body);
    }

    Type draw_type() const {
        static const std::vector<std::string> parallel{"revolute", "cylindrical",   "prismatic", "planar",
                                                       "fixed",    "parallel-axes", "helical"};
        if (!common_axis_ || planar_) return *rc::gen::elementOf(types());
        const std::string name = *rc::gen::elementOf(parallel);
        for (const Type& type : types())
            if (type.name == name) return type;
        return types().front();
    }

    void add_marker(int body, const std::string& name, const Frame& world) {
        RandomBody& b = bodies_[body];
        const Vec3 at = b.frame.axes.transpose() * (world.position - b.frame.position);
        b.markers += fmt::format("{}{}: {{at: {}, {}}}", b.markers.empty() ? "" : ", ", name, text(at),
                                 orientation(b.frame.axes.transpose() * world.axes));
    }

    /// Moves the frame by one motion and returns its size.
    double displace(Frame& frame, char motion) const {
        const auto slide = [&](int axis, double by) {
            frame.position += by * frame.axes.col(axis);
            return by;
        };
        const auto rotate = [&](int axis, double by) {
            frame.axes = frame.axes * turn(axis, by);
            return by;
        };
        switch (motion) {
            case 'x':
            case 'y':
            case 'z': return slide(motion - 'x', number(-0.5, 0.5));
            case 'd': return slide(1, number(0.2, 1));  // never nothing
            case 'X':
            case 'Y':
            case 'Z': return rotate(motion - 'X', number(-1, 1));
            case 'q': return rotate(planar_ ? 2 : 0, pi / 2);
            case 'c': {  // about an axis normal to z
                const double direction = rotate(2, number(-1, 1));
                rotate(0, number(-1, 1));
                return rotate(2, -direction);
            }
            case 'p': {
                const Vec3 point = *rc::gen::elementOf(curve_points());
                frame.position += frame.axes * (planar_ ? Vec3(point.x(), point.y(), 0) : point);
                return 0;
            }
            case 'r': {  // stands on the plane, leaning
                if (planar_) return slide(1, 0.3);
                rotate(2, number(-1, 1));
                const double lean = number(1, 2);
                slide(2, 0.3 * std::sin(lean));
                return rotate(0, lean);
            }
            default: return 0;
        }
    }

    void add_joint(const Type& type, int a, int b) {
        Frame frame;
        frame.position = planar_ ? Vec3(number(-1, 1), number(-1, 1), 0) : draw_vector(1);
        frame.axes = common_axis_ ? Mat3(base_ * turn(2, number(-1.5, 1.5))) : draw_axes();
        add_joint_at(type, a, b, frame, true);
    }

    void add_joint_at(const Type& type, int a, int b, Frame frame, bool is_new) {
        const std::string name = fmt::format("j{}", joint_count_++);
        add_marker(a, name, frame);
        const Frame first = frame;
        for (const char motion : type.motions) {
            const double size = displace(frame, motion);
            if (is_new && motion == type.coordinate_motion)
                coordinates_.push_back({name + "." + type.coordinate, size});
        }
        add_marker(b, name, frame);
        joints_ += fmt::format("  {}: {{{}: [{}.{}, {}.{}]{}}}\n", name, type.name, name_of(a), name, name_of(b), name,
                               type.more);
        placed_.push_back({type, a, b, first});
    }

    void draw_closures(int count) {
        const int closures = integer(1, 3);
        for (int k = 0; k < closures; ++k) {
            if (topology_ == Topology::redundant && *rc::gen::arbitrary<bool>()) {
                // The same joint once more, elsewhere on its axis: a second hinge of a door.
                const Placed joint = *rc::gen::elementOf(placed_);
                Frame frame = joint.first;
                if (!planar_) frame.position += number(-0.5, 0.5) * frame.axes.col(2);
                add_joint_at(joint.type, joint.a, joint.b, frame, false);
            } else if (count > 1) {
                const int b = integer(1, count + 1);
                const int a = (b + integer(1, count + 1)) % (count + 1);
                add_joint(draw_type(), a, b);
            }
        }
    }

    struct Placed {
        Type type;
        int a, b;
        Frame first;
    };

    /// A gear, a rack and pinion, a coupling or a velocity constraint between two coordinates.
    void draw_relation() {
        if (coordinates_.size() < 2) return;
        const int count = static_cast<int>(coordinates_.size());
        const int first = integer(0, count);
        const std::string& p = coordinates_[first].name;
        const std::string& q = coordinates_[(first + integer(1, count)) % count].name;
        const std::string name = fmt::format("j{}", joint_count_++);
        const double factor = *rc::gen::element(-1.5, -0.6, 0.4, 2.0);
        const std::string relation = *rc::gen::elementOf(
            std::vector<std::string>{fmt::format("gear: [{}, {}], ratio: {}", p, q, factor),
                                     fmt::format("rack-and-pinion: [{}, {}], radius: {}", p, q, factor),
                                     fmt::format("coupling: {{{}: 1, {}: {}}}", p, q, factor),
                                     fmt::format("velocity: {{{}: 0.5 + 0.1*cos({}), {}: {}}}", p, q, q, factor)});
        joints_ += fmt::format("  {}: {{{}}}\n", name, relation);
    }

    void draw_driver() {
        if (coordinates_.empty()) return;
        const Coordinate& c = coordinates_[integer(0, static_cast<int>(coordinates_.size()))];
        driver_ = fmt::format("drivers:\n  d: {{coordinate: {}, follows: {} + {}*t + {}*t^2}}\n", c.name, c.value,
                              number(0.1, 1), number(-1, 1));
    }

    static const std::vector<Vec3>& curve_points() {
        static const std::vector<Vec3> list{{-0.6, 0, 0.1}, {-0.2, 0.1, 0}, {0.2, 0.05, -0.05}, {0.6, -0.1, 0.05}};
        return list;
    }

    std::string write() const {
        std::string text = "limber: 1\n";
        if (planar_) text += "plane: xy\n";
        text += "curves:\n  wave: {points: [";
        for (const Vec3& p : curve_points()) text += this->text(p) + ", ";
        text += planar_ ? "[1, 0]]}\n" : "[1, 0, 0.1]]}\n";
        text += fmt::format("bodies:\n  ground: {{markers: {{s: {}{}{}}}}}\n", this->text(Vec3(2, 2, 2)),
                            bodies_[0].markers.empty() ? "" : ", ", bodies_[0].markers);
        const int count = static_cast<int>(bodies_.size()) - 1;
        for (int i = 1; i <= count; ++i)
            text += fmt::format("  b{}: {{{},\n    markers: {{{}}}}}\n", i, bodies_[i].text, bodies_[i].markers);
        text += "joints:\n" + joints_ + driver_ + "forces:\n";
        for (int i = 1; i <= count; ++i)
            text += fmt::format("  k{}: {{spring: [ground.s, b{}.s], stiffness: {}, damping: {}, free-length: 1}}\n", i,
                                i, 3 + 2 * i, 0.2 * i);
        text += "sensors:\n";
        for (int i = 1; i <= count; ++i)
            text += fmt::format("  a{}: {{acceleration: b{}.s}}\n  w{}: {{angular-acceleration: b{}}}\n", i, i, i, i);
        for (int i = 0; i < joint_count_; ++i) text += fmt::format("  r{}: {{reaction: j{}}}\n", i, i);
        if (!driver_.empty()) text += "  rd: {reaction: d}\n";
        return text;
    }

    bool planar_;
    Topology topology_;
    bool always_relate_;
    bool common_axis_ = false;
    Mat3 base_ = Mat3::Identity();
    std::vector<RandomBody> bodies_;
    std::vector<Placed> placed_;
    std::vector<Coordinate> coordinates_;
    std::string joints_, driver_;
    int joint_count_ = 0;
};

}  // namespace limber::testing
