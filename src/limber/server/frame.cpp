#include "limber/server/frame.hpp"

#include <bit>
#include <cstring>

namespace limber {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

class ByteWriter {
public:
    template <class T>
    void add(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
    }
    void add_count(std::size_t count) { add(static_cast<std::uint32_t>(count)); }
    void add_vector(const Vec3& v) {
        for (int k = 0; k < 3; ++k) add(static_cast<float>(v[k]));
    }
    void add_pose(const BodyPose& pose) {
        add_vector(pose.position);
        for (const double x : {pose.orientation.x(), pose.orientation.y(), pose.orientation.z(), pose.orientation.w()})
            add(static_cast<float>(x));
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::uint8_t> encode_frame(const StudioFrame& f) {
    ByteWriter out;
    out.add(std::uint32_t{1});
    out.add(f.revision);
    out.add(f.number);
    out.add(static_cast<std::uint32_t>((f.is_playing ? 1 : 0) + (f.is_slow ? 2 : 0) + (f.has_ghost ? 4 : 0)));
    for (const double x : {f.time, f.first_time, f.last_time, f.energies.kinetic, f.energies.potential, f.work, f.drift,
                           f.errors.position, f.errors.velocity, f.errors.acceleration, f.relative_error, f.speed,
                           f.speed_reached, f.iterations})
        out.add(x);
    out.add_count(f.view.poses.size());
    out.add_count(f.sensor_count);
    out.add_count(f.view.joints.size());
    out.add_count(f.view.forces.size());
    out.add_count(f.ghost_poses.size());
    out.add_count(f.pull_target ? 1 : 0);
    out.add_count(f.sample_count);
    out.add_count(f.view.contacts.size());
    for (const double x : f.samples) out.add(x);
    for (std::size_t b = 0; b < f.view.poses.size(); ++b) {
        out.add_pose(f.view.poses[b]);
        out.add_vector(f.view.centres[b]);
        out.add_vector(f.view.velocities[b]);
    }
    for (const JointLoad& load : f.view.joints)
        for (const Vec3* v : {&load.point, &load.force, &load.torque}) out.add_vector(*v);
    for (const double x : f.view.forces) out.add(static_cast<float>(x));
    for (const ContactLoad& contact : f.view.contacts) {
        for (const Vec3* v : {&contact.point, &contact.normal, &contact.force}) out.add_vector(*v);
        out.add(static_cast<float>(contact.stop));
    }
    if (f.pull_target) out.add_vector(*f.pull_target);
    for (const BodyPose& pose : f.ghost_poses) out.add_pose(pose);
    return out.take();
}

}  // namespace limber
