// Beams at rest against closed forms and published numbers, in plane and space.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/refusal.hpp"

namespace limber::testing {
namespace {

Simulation beam_at_rest(const Model& model, const std::string& coordinates = "relative") {
    SimulationOptions chosen = options("augmented-lagrangian", "rk4", coordinates);
    chosen.from_equilibrium = true;
    return {model, chosen};
}

std::string text(double number) {
    return fmt::format("{:.17g}", number);
}

// A rod by shooting, for comparison: r' = R (e_x + S_n^-1 R^T P), R' = R skew(curvature + S_m^-1 R^T m), m' = P x r',
// m = 0 at the end.
struct Rod {
    double length;
    Vec3 curvature, stretch, bend;
};

struct RodState {
    Vec3 place = Vec3::Zero(), moment = Vec3::Zero();
    Mat3 axes = Mat3::Identity();

    RodState plus(double h, const RodState& rate) const {
        return {place + h * rate.place, moment + h * rate.moment, axes + h * rate.axes};
    }
};

RodState rate_of(const Rod& rod, const RodState& s, const Vec3& load) {
    Vec3 strain = (s.axes.transpose() * load).cwiseQuotient(rod.stretch);
    strain.x() += 1;
    const Vec3 k = rod.curvature + Vec3((s.axes.transpose() * s.moment).cwiseQuotient(rod.bend));
    Mat3 skew;
    skew << 0, -k.z(), k.y(), k.z(), 0, -k.x(), -k.y(), k.x(), 0;
    const Vec3 tangent = s.axes * strain;
    return {tangent, load.cross(tangent), s.axes * skew};
}

RodState end_of(const Rod& rod, const Vec3& moment, const Vec3& load, int pieces) {
    RodState s;
    s.moment = moment;
    const double h = rod.length / pieces;
    for (int i = 0; i < pieces; ++i) {
        const RodState a = rate_of(rod, s, load);
        const RodState b = rate_of(rod, s.plus(h / 2, a), load);
        const RodState c = rate_of(rod, s.plus(h / 2, b), load);
        const RodState d = rate_of(rod, s.plus(h, c), load);
        s = s.plus(h / 6, a).plus(h / 3, b).plus(h / 3, c).plus(h / 6, d);
    }
    return s;
}

Vec3 find_tip(const Rod& rod, const Vec3& load) {
    Vec3 moment = Vec3::Zero();
    for (int i = 1; i <= 20; ++i) {
        const Vec3 part = load * std::min(1.0, i / 10.0);
        for (int k = 0; k < 8; ++k) {
            const double small = 1e-5 * (load.norm() * rod.length);
            Mat3 slope;
            for (int j = 0; j < 3; ++j) {
                const Vec3 change = small * Vec3::Unit(j);
                slope.col(j) =
                    (end_of(rod, moment + change, part, 200).moment - end_of(rod, moment - change, part, 200).moment) /
                    (2 * small);
            }
            moment -= slope.inverse() * end_of(rod, moment, part, 200).moment;
        }
    }
    return end_of(rod, moment, load, 200).place;
}

// By elliptic integrals: alpha = P L^2 / EI, deflection and shortening over the length.
struct DeadLoad {
    double alpha, deflection, shortening;
};
constexpr DeadLoad dead_loads[] = {{0.5, 0.1621435757, 0.0159189625},
                                   {1, 0.3017207738, 0.0564332363},
                                   {3, 0.6032534411, 0.2544201846},
                                   {10, 0.8106090249, 0.5549955978}};

DeadLoad bend_cantilever(double alpha, int elements, double stiff) {
    Simulation s =
        beam_at_rest(example("flexible/elastica.yaml",
                             {{"alpha", text(alpha)}, {"elements", std::to_string(elements)}, {"stiff", text(stiff)}}));
    EXPECT_EQ(s.equilibrium().unstable, 0);
    EXPECT_LE(s.equilibrium().iterations, alpha > 5 ? 100 : 25) << alpha;
    return {alpha, sense(s, "tip.y"), 1 - sense(s, "tip.x")};
}

// What stretch and shear add goes with 1/stiffness, and is taken away by two stiffnesses.
TEST(Beams, BendAsTheElastica) {
    for (const DeadLoad& exact : dead_loads) {
        const DeadLoad soft = bend_cantilever(exact.alpha, 16, 1e7);
        const DeadLoad stiff = bend_cantilever(exact.alpha, 16, 1e8);
        EXPECT_NEAR((10 * stiff.deflection - soft.deflection) / 9, exact.deflection, 1e-8) << exact.alpha;
        EXPECT_NEAR((10 * stiff.shortening - soft.shortening) / 9, exact.shortening, 1e-8) << exact.alpha;
    }
}

// Of third order elements are exact to the sixth power of their length.
TEST(Beams, ConvergeWithTheOrderOfTheirElements) {
    const double exact = bend_cantilever(3, 48, 1e6).deflection;
    const double coarse = std::abs(bend_cantilever(3, 4, 1e6).deflection - exact);
    const double fine = std::abs(bend_cantilever(3, 8, 1e6).deflection - exact);
    EXPECT_GT(coarse / fine, 45);
    EXPECT_LT(coarse / fine, 90);
}

// The same in each set of coordinates.
TEST(Beams, BendTheSameInAllCoordinates) {
    for (const std::string& coordinates : all_coordinates()) {
        Simulation s = beam_at_rest(example("flexible/elastica.yaml", {{"alpha", "3"}, {"stiff", "1e6"}}), coordinates);
        Simulation relative = beam_at_rest(example("flexible/elastica.yaml", {{"alpha", "3"}, {"stiff", "1e6"}}));
        EXPECT_NEAR(sense(s, "tip.y"), sense(relative, "tip.y"), 1e-8) << coordinates;
    }
}

// M = 2 pi EI / L closes a circle: the tip is back at the clamp. Curvature is constant, so elements of any number are
// exact but for the chords of their lines.
TEST(Beams, RollUpToACircle) {
    for (const bool is_planar : {true, false})
        for (const double turns : {0.5, 1.0}) {
            const std::string head = is_planar ? "limber: 1\nplane: xy\ngravity: none\n" : "limber: 1\ngravity: none\n";
            const std::string section = is_planar ? "{axial: 1e4, shear: 1e4, bending: 2, mass: 1, inertia: 1e-3}"
                                                  : "{axial: 1e4, shear: 1e4, torsion: 1, bending: [3, 2], mass: 1, "
                                                    "inertia: [2e-3, 1e-3, 1e-3]}";
            const std::string moment = fmt::format("{}", turns * 2 * pi * 2 / 3);
            Simulation s = beam_at_rest(read(head + R"(
bodies: {beam: {beam: {to: )" + (is_planar ? "[3, 0]" : "[3, 0, 0]") +
                                             R"(, elements: 12, order: 3, section: {given: )" + section + R"(}}}}
joints: {clamp: {fixed: [ground, beam.from]}}
forces: {roll: {torque: beam.to, vector: )" + (is_planar ? moment : "[0, 0, " + moment + "]") +
                                             R"(}}
sensors: {tip: {position: beam.to}, root: {section: beam.from}}
)"));
            const double radius = 3 / (2 * pi * turns);
            EXPECT_NEAR(sense(s, "tip.x"), radius * std::sin(2 * pi * turns), 1e-6) << is_planar;
            EXPECT_NEAR(sense(s, "tip.y"), radius * (1 - std::cos(2 * pi * turns)), 1e-6) << is_planar;
            EXPECT_NEAR(sense(s, "root.bending_z"), turns * 2 * pi * 2 / 3, 1e-7) << is_planar;
            EXPECT_NEAR(sense(s, "root.axial"), 0, 1e-7) << is_planar;
        }
}

// Nachbagauer 2011: converged, and with elements of two nodes.
TEST(Beams, ThatAreThickBendAsPublished) {
    for (const int order : {2, 3}) {
        Simulation s = beam_at_rest(example("flexible/thick-cantilever.yaml", {{"order", std::to_string(order)}}));
        EXPECT_NEAR(2 - sense(s, "tip.x"), 0.15097103, 1e-5) << order;
        EXPECT_NEAR(-sense(s, "tip.y"), 0.71056837, 1e-5) << order;
    }
    // Of first order they are exact to the square of their length.
    const auto error = [](const char* elements) {
        Simulation s =
            beam_at_rest(example("flexible/thick-cantilever.yaml", {{"order", "1"}, {"elements", elements}}));
        return -sense(s, "tip.y") - 0.71056837;
    };
    EXPECT_NEAR(error("8") / error("16"), 4, 0.1);
    EXPECT_LT(std::abs(error("16")), 1e-3);
}

// Bathe and Bolourchi's bend: along the tangent at the clamp, towards the centre of the arc, along the load.
TEST(Beams, ThatAreCurvedBendOutOfTheirPlane) {
    const Rod rod{.length = 25 * pi,
                  .curvature = {0, 0, 0.01},
                  .stretch = {1e7, 1e7 * 5 / 12, 1e7 * 5 / 12},
                  .bend = Vec3::Constant(1e7 / 12)};
    const Vec3 start(100 * std::sin(pi / 4), 100 - 100 * std::cos(pi / 4), 0);
    const Vec3 exact = find_tip(rod, {0, 0, 600}) - start;
    // Own numbers of another program, published ones are near.
    EXPECT_LT((exact - Vec3(-23.5613, -13.6050, 53.4761)).norm(), 2e-3);
    for (const auto& [order, tolerance] : {std::pair{"2", 1e-4}, std::pair{"3", 1e-8}}) {
        Simulation s = beam_at_rest(example("flexible/bend-45.yaml", {{"elements", "16"}, {"order", order}}));
        const Vec3 tip(sense(s, "tip.x"), sense(s, "tip.y"), sense(s, "tip.z"));
        EXPECT_LT((tip - exact).norm(), tolerance * exact.norm()) << order;
    }
}

// Bauchau et al. 2016, load of 8.896 N at an angle from the stiff plane.
TEST(Beams, BendAndTwistAsInPrinceton) {
    struct {
        double angle, axial, flap, lag;
    } constexpr tips[] = {{0, -0.000135580, 0, -0.010715402},
                          {30, -0.007661003, 0.079457223, -0.010147256},
                          {45, -0.014389659, 0.109043083, -0.008888886},
                          {60, -0.020473650, 0.129925260, -0.006654390},
                          {90, -0.026024803, 0.146261896, 0}};
    for (const auto& exact : tips) {
        Simulation s = beam_at_rest(example("flexible/princeton.yaml", {{"angle", text(exact.angle)}}));
        EXPECT_NEAR(sense(s, "tip.x"), exact.axial, 1e-6) << exact.angle;
        EXPECT_NEAR(sense(s, "tip.y"), exact.flap, 1e-6) << exact.angle;
        EXPECT_NEAR(sense(s, "tip.z"), exact.lag, 1e-6) << exact.angle;
        const Rod rod{.length = 0.508,
                      .curvature = Vec3::Zero(),
                      .stretch = {2.84191e6, 6.40131e5, 9.03881e5},
                      .bend = {3.10338, 36.2794, 2.42873}};
        const double angle = exact.angle * pi / 180;
        const Vec3 tip = find_tip(rod, 8.896 * Vec3(0, std::sin(angle), -std::cos(angle))) - Vec3(0.508, 0, 0);
        EXPECT_LT((Vec3(sense(s, "tip.x"), sense(s, "tip.y"), sense(s, "tip.z")) - tip).norm(), 1e-6) << exact.angle;
    }
}

// Small loads against Timoshenko's closed forms, section by section: what the sections carry and how they yield.
TEST(Beams, CarryWhatTheirSectionsAreWorth) {
    const double young = 2e11;
    const double shear = young / 2.6;
    struct {
        const char* section;
        double area, iy, iz, torsion, ky, kz;
    } const sections[] = {
        {"circle: {radius: 0.02}", pi * 4e-4, pi * 4e-8, pi * 4e-8, pi * 8e-8, 7.8 / 8.8, 7.8 / 8.8},
        {"tube: {radius: 0.02, thickness: 0.001}", pi * 3.9e-5, pi / 4 * (1.6e-7 - std::pow(0.019, 4)),
         pi / 4 * (1.6e-7 - std::pow(0.019, 4)), pi / 2 * (1.6e-7 - std::pow(0.019, 4)), 2.6 / 4.9, 2.6 / 4.9},
        // Torsion of a 2 : 1 rectangle: 0.22868 a b^3.
        {"box: {height: 0.04, width: 0.02}", 8e-4, 0.04 * 8e-6 / 12, 0.02 * 6.4e-5 / 12, 0.228682 * 0.04 * 8e-6,
         13 / 15.3, 13 / 15.3}};
    const double length = 0.5;
    for (const auto& exact : sections) {
        Simulation s = beam_at_rest(read(fmt::format(R"(
limber: 1
gravity: none
bodies:
  beam:
    beam: {{to: [0.5, 0, 0], elements: 2, order: 3, section: {{{}}}, material: {{young: 2e11, density: 7800}}}}
  ground: {{markers: {{end: [0.5, 0, 0]}}}}
joints: {{clamp: {{fixed: [ground, beam.from]}}}}
forces:
  load: {{force: beam.to, vector: [3, 0.02, 0.01]}}
  turn: {{torque: beam.to, vector: [0.005, 0, 0]}}
sensors:
  tip: {{position: beam.to, relative-to: ground.end}}
  turned: {{orientation: beam.to, as: axis-angle}}
  root: {{section: beam.from}}
)",
                                                     exact.section)));
        const auto deflection = [&](double load, double second, double factor) {
            return load * (std::pow(length, 3) / (3 * young * second) + length / (factor * shear * exact.area));
        };
        const double y = deflection(0.02, exact.iz, exact.ky);
        const double z = deflection(0.01, exact.iy, exact.kz);
        EXPECT_NEAR(sense(s, "tip.x"), 3 * length / (young * exact.area), 1e-3 * 3 * length / (young * exact.area))
            << exact.section;
        EXPECT_NEAR(sense(s, "tip.y"), y, 2e-4 * y) << exact.section;
        EXPECT_NEAR(sense(s, "tip.z"), z, 2e-4 * z) << exact.section;
        EXPECT_NEAR(sense(s, "root.axial"), 3, 1e-4) << exact.section;
        EXPECT_NEAR(sense(s, "root.shear_y"), 0.02, 1e-4) << exact.section;
        EXPECT_NEAR(sense(s, "root.shear_z"), 0.01, 1e-4) << exact.section;
        EXPECT_NEAR(sense(s, "root.torsion"), 0.005, 1e-5) << exact.section;
        EXPECT_NEAR(sense(s, "root.bending_z"), 0.02 * length, 1e-5) << exact.section;
        EXPECT_NEAR(sense(s, "root.bending_y"), -0.01 * length, 1e-5) << exact.section;
        const double twist = 0.005 * length / (shear * exact.torsion);
        EXPECT_NEAR(sense(s, "turned.x") * sense(s, "turned.angle"), twist, 2e-3 * twist) << exact.section;
    }
}

// A load along the line of w per length, and weight: deflection w L^4 / 8 EI, moment w L^2 / 2 at the clamp, nothing at
// the tip; a follower load turns with the sections and does the same while they hardly turn.
TEST(Beams, BearLoadsAlongTheirLength) {
    for (const char* load : {"forces: {load: {line-load: beam, vector: [0, -0.01, 0]}}\ngravity: none",
                             "forces: {load: {line-load: beam, vector: [0, -0.01, 0], frame: body}}\ngravity: none",
                             "gravity: [0, -0.02, 0]"}) {
        Simulation s = beam_at_rest(read(std::string(R"(
limber: 1
bodies:
  beam:
    beam:
      to: [2, 0, 0]
      elements: 4
      order: 3
      section: {given: {axial: 1e5, shear: 1e8, torsion: 10, bending: 10, mass: 0.5, inertia: [1e-3, 1e-3, 1e-3]}}
    markers: {middle: [1, 0, 0]}
joints: {clamp: {fixed: [ground, beam.from]}}
sensors:
  tip: {position: beam.to}
  middle: {section: beam.middle}
  root: {section: beam.from}
  end: {section: beam.to}
)") + load));
        EXPECT_NEAR(sense(s, "tip.y"), -0.01 * 16 / 80, 1e-6) << load;
        EXPECT_NEAR(sense(s, "root.bending_z"), -0.02, 1e-6) << load;
        EXPECT_NEAR(sense(s, "root.shear_y"), -0.02, 1e-4) << load;
        EXPECT_NEAR(sense(s, "middle.bending_z"), -0.005, 2e-6) << load;
        EXPECT_NEAR(sense(s, "middle.shear_y"), -0.01, 2e-5) << load;
        EXPECT_NEAR(sense(s, "end.bending_z"), 0, 1e-6) << load;
    }
}

// Held at both ends: heat and prestress are carried as axial force; free at one end heat makes it longer.
TEST(Beams, FeelHeatAndPrestress) {
    const auto beam = [](const char* more, bool is_held) {
        return read(std::string(R"(
limber: 1
plane: xy
gravity: none
bodies:
  beam:
    beam: {to: [2, 0], elements: 3, section: {box: {height: 0.1, width: 0.1}},
           material: {young: 1e9, density: 1000, expansion: 1e-5}, )") +
                    more + R"(}
joints:
  left: {fixed: [ground, beam.from]}
)" + (is_held ? "  right: {fixed: [ground, beam.to], at: [2, 0]}\n" : "") +
                    "sensors: {force: {section: beam.to}, tip: {position: beam.to}}\n");
    };
    Simulation hot = beam_at_rest(beam("temperature: 20", true));
    EXPECT_NEAR(sense(hot, "force.axial"), -1e7 * 2e-4, 1e-6);
    Simulation free = beam_at_rest(beam("temperature: 20", false));
    EXPECT_NEAR(sense(free, "tip.x"), 2 * (1 + 2e-4), 1e-10);
    EXPECT_NEAR(sense(free, "force.axial"), 0, 1e-6);
    Simulation tight = beam_at_rest(beam("prestress: 500", true));
    EXPECT_NEAR(sense(tight, "force.axial"), 500, 1e-6);
}

// Segments bend as they should in the limit, with errors of the square of their length.
TEST(Beams, OfSegmentsConvergeToTheSame) {
    const auto bend = [](const char* theory, int elements) {
        Simulation s = beam_at_rest(read(fmt::format(R"(
limber: 1
plane: xy
gravity: none
bodies:
  beam: {{beam: {{to: [1, 0], elements: {}, theory: {},
                section: {{given: {{axial: 1e7, shear: 1e7, bending: 1, mass: 1, inertia: 1e-4}}}}}}}}
joints: {{clamp: {{fixed: [ground, beam.from]}}}}
forces: {{load: {{force: beam.to, vector: [0, 3]}}}}
sensors: {{tip: {{position: beam.to}}}}
)",
                                                     elements, theory)));
        return sense(s, "tip.y");
    };
    const double exact = bend("exact", 16);
    const double coarse = bend("segments", 10) - exact;
    const double fine = bend("segments", 20) - exact;
    EXPECT_NEAR(coarse / fine, 4, 0.2);
    EXPECT_LT(std::abs(fine), 2e-3);
}

TEST(Beams, ThatMakeNoSenseAreRefused) {
    const auto of_beam = [](const std::string& beam, const std::string& more = "") {
        return refusal_of("limber: 1\nbodies: {b: {beam: {" + beam + "}}}\n" + more);
    };
    const std::string round = "section: {circle: {radius: 0.1}}, material: {young: 1e9, density: 1}";
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 0, " + round).find("whole number from 1"), std::string::npos);
    EXPECT_NE(of_beam("to: [0, 0, 0], elements: 1, " + round), "");
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, order: 4, " + round).find("from 1 to 3"), std::string::npos);
    EXPECT_NE(of_beam("elements: 2, " + round), "");
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, section: {circle: {radius: 0.1}}").find("material"),
              std::string::npos);
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, section: {tube: {radius: 0.1, thickness: 0.2}}, material: {young: "
                      "1e9, density: 1}")
                  .find("wall"),
              std::string::npos);
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, section: {given: {axial: 1, shear: 1, torsion: 1, bending: 0}}")
                  .find("stiff"),
              std::string::npos);
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, theory: segments, order: 2, " + round).find("order"),
              std::string::npos);
    EXPECT_NE(of_beam("to: [1, 0, 0], elements: 2, " + round, "sensors: {s: {section: ground}}").find("no beam"),
              std::string::npos);
    EXPECT_NE(refusal_of("limber: 1\nbodies: {b: {beam: {to: [1, 0, 0], elements: 2, " + round +
                         "}, markers: {far: [2, 0, 0]}}}")
                  .find("arc length"),
              std::string::npos);
}

}  // namespace
}  // namespace limber::testing
