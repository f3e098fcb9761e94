// Sections, with A area, I second moments about y and z, J for torsion, k part of the area that takes shear:
//
//   circle   A = pi r^2, I = pi r^4/4, J = 2 I,                         k = 6 (1 + nu) / (7 + 6 nu)
//   tube     differences of circles,                                    k = 2 (1 + nu) / (4 + 3 nu), of a thin wall
//   box      A = b h, Iz = b h^3/12, J by Saint-Venant's series,        k = 10 (1 + nu) / (12 + 11 nu)
//   I        sums of rectangles, J = sum of long t^3/3,                 k = area of web, or 5/6 of the flanges, over A
//
// The factors of circle, tube and box are those of Cowper (1966).

#include "limber/model/beam_numbers.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

using Mat6 = Eigen::Matrix<double, 6, 6>;

// In which a curve is measured.
constexpr int curve_pieces = 2000;

struct SectionShape {
    double area = 0;
    Vec3 moment = Vec3::Zero();  // J, Iy, Iz
    Vec2 shear = Vec2::Ones();   // part of the area, along y and z
    Vec3 looks = Vec3::Zero();
};

class ShapeMeter {
public:
    ShapeMeter(const ModelEvaluation& evaluation, const Body& body, double poisson)
        : evaluation_(evaluation), name_(body.name), poisson_(poisson) {}

    SectionShape operator()(const CircleSection& section) const {
        const double r = positive(section.radius, "radius");
        SectionShape shape = round(r, 0);
        shape.shear.setConstant(6 * (1 + poisson_) / (7 + 6 * poisson_));
        return shape;
    }
    SectionShape operator()(const TubeSection& section) const {
        const double r = positive(section.radius, "radius");
        const double t = positive(section.thickness, "thickness");
        if (t >= r) fail(fmt::format("the wall of the tube is as thick as its radius {:.6g}, or thicker", r));
        SectionShape shape = round(r, r - t);
        shape.shear.setConstant(2 * (1 + poisson_) / (4 + 3 * poisson_));
        return shape;
    }
    SectionShape operator()(const BoxSection& section) const {
        const double h = positive(section.height, "height");
        const double b = positive(section.width, "width");
        SectionShape shape;
        shape.area = b * h;
        shape.moment = {torsion_of_box(h, b), h * b * b * b / 12, b * h * h * h / 12};
        shape.shear.setConstant(10 * (1 + poisson_) / (12 + 11 * poisson_));
        shape.looks = {h / 2, b / 2, 0};
        return shape;
    }
    SectionShape operator()(const ISection& section) const {
        const double h = positive(section.height, "height");
        const double b = positive(section.width, "width");
        const double f = positive(section.flange, "flange");
        const double w = positive(section.web, "web");
        if (2 * f >= h || w > b) fail("flanges and web do not fit into height and width");
        const double inside = h - 2 * f;
        SectionShape shape;
        shape.area = 2 * b * f + inside * w;
        shape.moment = {(2 * b * f * f * f + (h - f) * w * w * w) / 3, (2 * f * b * b * b + inside * w * w * w) / 12,
                        (b * h * h * h - (b - w) * inside * inside * inside) / 12};
        shape.shear = {h * w / shape.area, 5.0 / 6 * 2 * b * f / shape.area};
        shape.looks = {h / 2, b / 2, 0};
        return shape;
    }
    SectionShape operator()(const GivenSection&) const { return {}; }

    double positive(const Number& number, const char* what) const {
        const double value = evaluation_.number(number, {"body", name_, what});
        if (!(value > 0)) fail(fmt::format("{} of its section must be positive, found {:.6g}", what, value));
        return value;
    }
    [[noreturn]] void fail(const std::string& text) const {
        throw ModelError(fmt::format("body '{}': {}", name_, text));
    }

private:
    static SectionShape round(double outside, double inside) {
        SectionShape shape;
        const auto power = [&](int n) { return std::pow(outside, n) - std::pow(inside, n); };
        shape.area = pi * power(2);
        shape.moment = Vec3(2, 1, 1) * pi / 4 * power(4);
        shape.looks = {outside, outside, 1};
        return shape;
    }
    // Saint-Venant: a b^3/3 (1 - 192 b/(pi^5 a) sum over odd n of tanh(n pi a/(2 b))/n^5), a the longer side.
    static double torsion_of_box(double one, double other) {
        const double a = std::max(one, other);
        const double b = std::min(one, other);
        double sum = 0;
        for (int n = 1; n < 40; n += 2) sum += std::tanh(n * pi * a / (2 * b)) / std::pow(n, 5);
        return a * b * b * b / 3 * (1 - 192 * b / (std::pow(pi, 5) * a) * sum);
    }

    const ModelEvaluation& evaluation_;
    const std::string& name_;
    double poisson_;
};

std::vector<double> numbers_of(const ModelEvaluation& evaluation, const std::vector<Number>& list,
                               const Subject& what) {
    std::vector<double> values;
    for (const Number& number : list) values.push_back(evaluation.number(number, what));
    return values;
}

// One number for both directions across, or one for each.
Vec2 across(const std::vector<double>& values, const ShapeMeter& meter, const char* what) {
    if (values.size() == 1) return Vec2::Constant(values[0]);
    if (values.size() != 2) meter.fail(fmt::format("'{}' has one number or two, found {}", what, values.size()));
    return {values[0], values[1]};
}

void read_given(const ModelEvaluation& evaluation, const Body& body, const GivenSection& given, const ShapeMeter& meter,
                SectionNumbers& section) {
    const bool planar = evaluation.model().planar;
    const auto list = [&](const std::vector<Number>& values, const char* what) {
        return numbers_of(evaluation, values, {"body", body.name, what});
    };
    if (!given.matrix.empty()) {
        if (given.axial || given.torsion || !given.shear.empty() || !given.bending.empty())
            meter.fail("give 'matrix', or 'axial', 'shear', 'torsion' and 'bending', not both");
        const std::size_t size = planar ? 3 : 6;
        const std::vector<double> values = list(given.matrix, "matrix");
        if (values.size() != size * size)
            meter.fail(fmt::format("'matrix' has {} x {} numbers, found {}", size, size, values.size()));
        const std::array<int, 3> of_plane{0, 1, 5};
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = 0; j < size; ++j)
                section.stiffness(planar ? of_plane[i] : static_cast<int>(i),
                                  planar ? of_plane[j] : static_cast<int>(j)) = values[i * size + j];
        if ((section.stiffness - section.stiffness.transpose()).norm() > 1e-9 * section.stiffness.norm())
            meter.fail("'matrix' must be symmetric");
    } else {
        const char* const expected =
            planar ? "'axial', 'shear' and 'bending'" : "'axial', 'shear', 'torsion', 'bending'";
        if (!given.axial || given.shear.empty() || given.bending.empty() || (!planar && !given.torsion))
            meter.fail(fmt::format("a given section needs {}, or 'matrix'", expected));
        const Vec2 shear = across(list(given.shear, "shear"), meter, "shear");
        const Vec2 bending = across(list(given.bending, "bending"), meter, "bending");
        section.stiffness.diagonal() << evaluation.number(*given.axial, {"body", body.name, "axial"}), shear[0],
            shear[1], given.torsion ? evaluation.number(*given.torsion, {"body", body.name, "torsion"}) : 0.0,
            bending[0], bending[1];
    }
    if (planar && given.torsion) meter.fail("'torsion' means nothing in the plane");
    section.mass = evaluation.number(given.mass, {"body", body.name, "mass"});
    section.damping = evaluation.number(given.damping, {"body", body.name, "damping"});
    const std::vector<double> inertia = list(given.inertia, "inertia");
    const std::size_t expected = planar ? 1 : 3;
    if (!inertia.empty() && inertia.size() != expected)
        meter.fail(fmt::format("'inertia' of its section has {} number(s), found {}", expected, inertia.size()));
    for (std::size_t i = 0; i < inertia.size(); ++i) section.inertia[planar ? 2 : static_cast<int>(i)] = inertia[i];
    if (!(section.mass >= 0) || (section.inertia.array() < 0).any()) meter.fail("its mass and inertia are negative");
}

// What a body of the plane does not use must not matter.
bool is_stiff(const Mat6& stiffness, bool planar) {
    Mat6 s = stiffness;
    if (planar)
        for (const int i : {2, 3, 4}) {
            s.row(i).setZero();
            s.col(i).setZero();
            s(i, i) = s(0, 0);
        }
    return s.allFinite() && Eigen::LLT<Mat6>(s).info() == Eigen::Success;
}

}  // namespace

SectionNumbers find_section(const ModelEvaluation& evaluation, const Body& body) {
    const Beam& beam = body.beam.value();
    const auto* given = std::get_if<GivenSection>(&beam.section);
    const auto number = [&](const Number& n, const char* what) {
        return evaluation.number(n, {"body", body.name, what});
    };
    SectionNumbers section;
    double poisson = 0.3;
    if (beam.material && beam.material->poisson) poisson = number(*beam.material->poisson, "poisson");
    // What shape says of shear is for a material that is the same in all directions.
    if (beam.material && beam.material->shear)
        poisson = std::clamp(number(beam.material->young, "young") / (2 * number(*beam.material->shear, "shear")) - 1,
                             0.0, 0.5);
    const ShapeMeter meter(evaluation, body, poisson);
    if (given != nullptr) {
        if (beam.material) meter.fail("a given section has no material: leave 'material' out");
        if (!beam.shear_factor.empty()) meter.fail("'shear-factor' does nothing beside a given section");
        read_given(evaluation, body, *given, meter, section);
    } else {
        if (!beam.material) meter.fail("its section needs a 'material'");
        const BeamMaterial& material = *beam.material;
        if (material.shear && material.poisson) meter.fail("give 'shear' or 'poisson' of its material, not both");
        SectionShape shape = std::visit(meter, beam.section);
        if (!beam.shear_factor.empty())
            shape.shear = across(numbers_of(evaluation, beam.shear_factor, {"body", body.name, "shear-factor"}), meter,
                                 "shear-factor");
        const double young = meter.positive(material.young, "young");
        if (!(poisson > -1 && poisson <= 0.5))
            meter.fail(fmt::format("Poisson's ratio lies between -1 and 0.5, found {:.6g}", poisson));
        const double shear = material.shear ? meter.positive(*material.shear, "shear") : young / (2 * (1 + poisson));
        section.stiffness.diagonal() << young * shape.area, shear * shape.area * shape.shear[0],
            shear * shape.area * shape.shear[1], shear * shape.moment[0], young * shape.moment[1],
            young * shape.moment[2];
        const double density = number(material.density, "density");
        if (!(density >= 0)) meter.fail("its density is negative");
        section.mass = density * shape.area;
        section.inertia = density * Vec3(shape.moment[1] + shape.moment[2], shape.moment[1], shape.moment[2]);
        section.damping = number(material.damping, "damping");
        section.thermal_strain = number(material.expansion, "expansion") * number(beam.temperature, "temperature");
        section.looks = shape.looks;
    }
    if (!(section.damping >= 0)) meter.fail("its damping is negative");
    if (section.thermal_strain == 0 && number(beam.temperature, "temperature") != 0)
        meter.fail("'temperature' does nothing without 'expansion' of a material");
    if (!is_stiff(section.stiffness, evaluation.model().planar))
        meter.fail("the stiffness of its section must be positive against every strain");
    section.prestress = number(beam.prestress, "prestress");
    return section;
}

BeamLine::BeamLine(const ModelEvaluation& evaluation, const Body& body) : is_planar_(evaluation.model().planar) {
    const Beam& beam = body.beam.value();
    const auto fail = [&](const std::string& text) { throw ModelError(fmt::format("body '{}': {}", body.name, text)); };
    const auto vector = [&](const Number3& v, const char* what) {
        return evaluation.vector(v, {"body", body.name, what});
    };
    if (static_cast<int>(beam.to.has_value()) + static_cast<int>(beam.arc.has_value()) +
            static_cast<int>(!beam.curve.is_null()) !=
        1)
        fail("a beam has one of 'to', 'arc' and 'curve'");
    from_ = vector(beam.from, "from");
    twist_ = evaluation.number(beam.twist, {"body", body.name, "twist"});
    if (is_planar_ && (twist_ != 0 || beam.up)) fail("'twist' and 'up' mean nothing in the plane");
    if (beam.to) {
        direction_ = vector(*beam.to, "to") - from_;
        length_ = direction_.norm();
        if (!(length_ > 0)) fail("the beam's two ends are the same point");
        direction_ /= length_;
    } else if (beam.arc) {
        if (is_planar_ && beam.arc->axis) fail("in the plane arcs turn about z: leave 'axis' out");
        if (beam.arc->axis) axis_ = vector(*beam.arc->axis, "axis");
        if (!(axis_.norm() > 0)) fail("the axis of its arc must not be zero");
        axis_.normalize();
        angle_ = evaluation.number(beam.arc->angle, {"body", body.name, "angle"});
        centre_ = vector(beam.arc->centre, "centre");
        const Vec3 arm = from_ - *centre_;
        if (std::abs(arm.dot(axis_)) > 1e-9 * arm.norm())
            fail("its start and the centre of its arc are not in a plane normal to 'axis'");
        length_ = std::abs(angle_) * arm.norm();
        if (!(length_ > 0)) fail("its arc has no length");
        direction_ = axis_.cross(arm).normalized() * (angle_ > 0 ? 1 : -1);
    } else {
        const CurveDefinition& definition = evaluation.model().curves.get(beam.curve);
        std::vector<Vec3> points;
        for (const Number3& point : definition.points) points.push_back(vector(point, "point of its curve"));
        if (points.size() < 2) fail("its curve has fewer than two points");
        if (definition.closed) fail("its curve is closed: a beam has two ends");
        curve_ = std::make_shared<const Curve<3>>(points, false);
        arc_length_.assign(1, 0.0);
        const double step = curve_->length() / curve_pieces;
        for (int i = 0; i < curve_pieces; ++i) {
            // Simpson's rule.
            const auto speed = [&](double u) { return curve_->evaluate(u * step).first.norm(); };
            arc_length_.push_back(arc_length_.back() + step / 6 * (speed(i) + 4 * speed(i + 0.5) + speed(i + 1)));
        }
        length_ = arc_length_.back();
        from_ = points.front();
        direction_ = tangent(0);
    }
    if (is_planar_ && std::abs(direction_.z()) > 1e-12) fail("in a planar model a beam lies in the plane z = 0");
    Mat3 first;
    if (is_planar_) {
        first << direction_, Vec3(-direction_.y(), direction_.x(), 0), Vec3::UnitZ();
    } else {
        Vec3 up = beam.up ? vector(*beam.up, "up") : Vec3(Vec3::UnitZ());
        Vec3 z = up - direction_ * direction_.dot(up);
        if (beam.up && z.norm() < 1e-6 * up.norm()) fail("'up' points along the beam");
        if (!beam.up && z.norm() < 0.1) z = Vec3::UnitY() - direction_ * direction_.y();
        z.normalize();
        first << direction_, z.cross(direction_), z;
    }
    carried_.assign(1, first);
    if (curve_) carry_axes();
}

// Without a turn about the line, by two reflections from each place to the next (Wang et al. 2008).
void BeamLine::carry_axes() {
    for (int i = 0; i < curve_pieces; ++i) {
        const double s = length_ * i / curve_pieces;
        const double next = length_ * (i + 1) / curve_pieces;
        const Vec3 chord = place(next) - place(s);
        const Mat3 half = Mat3::Identity() - 2 * chord * chord.transpose() / chord.squaredNorm();
        const Vec3 rest = tangent(next) - half * carried_.back().col(0);
        const Vec3 z = half * carried_.back().col(2);
        const Vec3 turned = rest.norm() > 0 ? Vec3(z - 2 * rest * rest.dot(z) / rest.squaredNorm()) : z;
        Mat3 axes;
        axes << tangent(next), turned.cross(tangent(next)), turned;
        carried_.push_back(axes);
    }
}

Vec3 BeamLine::place(double s) const {
    if (centre_) return *centre_ + Eigen::AngleAxisd(angle_ * s / length_, axis_) * (from_ - *centre_);
    if (!curve_) return from_ + direction_ * s;
    const auto after = std::upper_bound(arc_length_.begin(), arc_length_.end(), s);
    const auto i = std::clamp<std::ptrdiff_t>(after - arc_length_.begin() - 1, 0, curve_pieces - 1);
    const double part = (s - arc_length_[i]) / (arc_length_[i + 1] - arc_length_[i]);
    return curve_->evaluate((static_cast<double>(i) + part) * curve_->length() / curve_pieces).position;
}

Vec3 BeamLine::tangent(double s) const {
    if (centre_) return Eigen::AngleAxisd(angle_ * s / length_, axis_) * direction_;
    if (!curve_) return direction_;
    const auto after = std::upper_bound(arc_length_.begin(), arc_length_.end(), s);
    const auto i = std::clamp<std::ptrdiff_t>(after - arc_length_.begin() - 1, 0, curve_pieces - 1);
    const double part = (s - arc_length_[i]) / (arc_length_[i + 1] - arc_length_[i]);
    return curve_->evaluate((static_cast<double>(i) + part) * curve_->length() / curve_pieces).first.normalized();
}

Frame BeamLine::at(double s) const {
    Frame frame;
    frame.position = place(s);
    const Vec3 x = tangent(s);
    if (is_planar_) {
        frame.axes << x, Vec3(-x.y(), x.x(), 0), Vec3::UnitZ();
        return frame;
    }
    Mat3 axes = carried_.front();
    if (centre_) axes = Eigen::AngleAxisd(angle_ * s / length_, axis_).toRotationMatrix() * axes;
    if (curve_) {
        const double place = std::clamp(s / length_, 0.0, 1.0) * curve_pieces;
        const auto i = static_cast<std::size_t>(std::min(place, curve_pieces - 1.0));
        const double part = place - static_cast<double>(i);
        const Vec3 z = (1 - part) * carried_[i].col(2) + part * carried_[i + 1].col(2);
        const Vec3 across = (z - x * x.dot(z)).normalized();
        axes << x, across.cross(x), across;
    }
    frame.axes = twist_ == 0 ? axes : Mat3(Eigen::AngleAxisd(twist_ * s / length_, x).toRotationMatrix() * axes);
    return frame;
}

double BeamLine::find_nearest(const Vec3& point) const {
    const double straight = std::clamp((point - from_).dot(direction_), 0.0, length_);
    if (!centre_ && !curve_) return straight;
    // A search on a grid, then Newton's method on the distance along the tangent.
    constexpr int grid = 400;
    double best = 0;
    for (int i = 1; i <= grid; ++i) {
        const double s = length_ * i / grid;
        if ((place(s) - point).norm() < (place(best) - point).norm()) best = s;
    }
    for (int i = 0; i < 30; ++i) best = std::clamp(best + tangent(best).dot(point - place(best)), 0.0, length_);
    return best;
}

}  // namespace limber
