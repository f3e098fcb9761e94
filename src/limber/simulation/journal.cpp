#include "limber/simulation/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "limber/io/edit_text.hpp"
#include "limber/io/model_file.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;

// Steps are written down this often [s]: what a crash can cost.
constexpr double step_interval = 0.05;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const std::string& path) {
    throw std::runtime_error(fmt::format("cannot write the journal '{}': {}", path, std::strerror(errno)));
}

Json describe_modular(const ModularOptions& m) {
    return {{"division", m.division},
            {"gluing", static_cast<int>(m.gluing)},
            {"coupling", static_cast<int>(m.coupling)},
            {"course", static_cast<int>(m.course)},
            {"tolerance", m.tolerance},
            {"rho", m.rho},
            {"joint_rho", m.joint_rho},
            {"iterates", m.use_iteration},
            {"max_questions", m.max_questions}};
}

void read_modular(const Json& json, ModularOptions& m) {
    m.division = json.at("division");
    m.gluing = static_cast<Gluing>(json.at("gluing").get<int>());
    m.coupling = static_cast<Coupling>(json.at("coupling").get<int>());
    m.course = static_cast<ForceCourse>(json.at("course").get<int>());
    m.tolerance = json.at("tolerance");
    m.rho = json.at("rho");
    // Journals of before have none.
    m.joint_rho = json.value("joint_rho", m.joint_rho);
    m.use_iteration = json.at("iterates");
    m.max_questions = json.at("max_questions");
}

Json describe_options(const Session& session) {
    const SimulationOptions& o = session.options();
    const FormulationOptions& f = o.formulation_options;
    const IntegratorOptions& i = o.integrator_options;
    const ContactOptions& c = o.contact_options;
    const SessionOptions& s = session.session_options();
    return {{"formulation", o.formulation},
            {"integrator", o.integrator},
            {"coordinates", o.coordinates},
            {"from_equilibrium", o.from_equilibrium},
            {"penalty", f.penalty},
            {"frequency", f.frequency},
            {"damping", f.damping},
            {"stabilisation", static_cast<int>(f.stabilisation)},
            {"approximate_tangent", f.use_approximate_tangent},
            {"max_iterations", f.max_iterations},
            {"tolerance", f.tolerance},
            {"xi", i.newmark_xi},
            {"delta", i.hht_delta},
            {"rho", i.rho_infinity},
            {"reference_tolerance", i.reference_tolerance},
            {"passes", i.corrector_passes},
            {"max_halvings", i.max_halvings},
            {"step_control", i.step_control},
            {"modular", describe_modular(o.modular)},
            {"stops", static_cast<int>(c.treatment)},
            {"stop_stiffness", c.stiffness},
            {"impacts", static_cast<int>(c.impact_law)},
            {"step", s.step},
            {"snap", s.snap},
            {"closing_frequency", s.closing_frequency},
            {"renewal", s.renewal}};
}

void read_options(const Json& json, SimulationOptions& o, SessionOptions& s) {
    FormulationOptions& f = o.formulation_options;
    IntegratorOptions& i = o.integrator_options;
    o.formulation = json.at("formulation");
    o.integrator = json.at("integrator");
    o.coordinates = json.at("coordinates");
    o.from_equilibrium = json.at("from_equilibrium");
    f.penalty = json.at("penalty");
    f.frequency = json.at("frequency");
    f.damping = json.at("damping");
    f.stabilisation = static_cast<Stabilisation>(json.at("stabilisation").get<int>());
    f.use_approximate_tangent = json.at("approximate_tangent");
    f.max_iterations = json.at("max_iterations");
    f.tolerance = json.at("tolerance");
    i.newmark_xi = json.at("xi");
    i.hht_delta = json.at("delta");
    i.rho_infinity = json.at("rho");
    i.reference_tolerance = json.at("reference_tolerance");
    i.corrector_passes = json.at("passes");
    i.max_halvings = json.at("max_halvings");
    i.step_control = json.at("step_control");
    // Older journals know nothing of components.
    if (json.contains("modular")) read_modular(json.at("modular"), o.modular);
    // Older journals do not say.
    ContactOptions& c = o.contact_options;
    c.treatment = static_cast<ContactTreatment>(json.value("stops", static_cast<int>(c.treatment)));
    c.stiffness = json.value("stop_stiffness", c.stiffness);
    c.impact_law = static_cast<ImpactLaw>(json.value("impacts", static_cast<int>(c.impact_law)));
    s.step = json.at("step");
    s.snap = json.at("snap");
    s.closing_frequency = json.at("closing_frequency");
    s.renewal = json.at("renewal");
}

std::string print(std::uint64_t fingerprint) {
    return fmt::format("{:016x}", fingerprint);
}

}  // namespace

std::shared_ptr<Journal> Journal::create(const std::string& path, const Session& session) {
    if (session.steps() != 0) throw std::runtime_error("a journal begins with the session");
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) fail(path);
    std::shared_ptr<Journal> journal(new Journal(file));
    const Json header{
        {"limber_journal", 1}, {"options", describe_options(session)}, {"model", write_model_text(session.model())}};
    journal->write_line(header.dump(), true);
    return journal;
}

std::shared_ptr<Journal> Journal::append(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (file < 0) fail(path);
    std::shared_ptr<Journal> journal(new Journal(file));
    // What a crash has left of a last line goes.
    off_t end = ::lseek(file, 0, SEEK_END);
    char last = 0;
    while (end > 0 && ::pread(file, &last, 1, end - 1) == 1 && last != '\n') --end;
    if (::ftruncate(file, end) != 0) fail(path);
    return journal;
}

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

void Journal::write_line(const std::string& line, bool synchronise) const {
    const std::string text = line + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw std::runtime_error(fmt::format("cannot write the journal: {}", std::strerror(errno)));
        done += static_cast<std::size_t>(count);
    }
    if (synchronise && ::fdatasync(file_) != 0 && errno != EINVAL)
        throw std::runtime_error(fmt::format("cannot synchronise the journal: {}", std::strerror(errno)));
}

void Journal::write_edit(long steps, const std::string& edit) {
    write_line(Json{{"steps", steps}, {"edit", edit}}.dump(), true);
    last_steps_ = steps;
}

void Journal::write_step(const Session& session) {
    if (now() - last_write_ < step_interval) return;
    finish(session);
}

void Journal::finish(const Session& session) {
    if (session.steps() == last_steps_) return;
    write_line(Json{{"steps", session.steps()}, {"state", print(session.fingerprint())}}.dump(), false);
    last_steps_ = session.steps();
    last_write_ = now();
}

Session replay_journal(const std::string& path, ReplayReport& report) {
    // A pipe would hold up the opening.
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        throw ModelError(fmt::format("cannot read the journal '{}': it is not a regular file", path));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw ModelError(fmt::format("cannot read the journal '{}'", path));
    std::string line;
    long number = 0;
    std::optional<Session> session;
    while (std::getline(file, line)) {
        ++number;
        if (file.eof()) {  // no end of line: the last one, cut short
            report.is_cut = true;
            break;
        }
        try {
            const Json json = Json::parse(line);
            if (!session) {
                if (!json.contains("limber_journal")) throw ModelError("this is not a journal");
                SimulationOptions options;
                SessionOptions session_options;
                read_options(json.at("options"), options, session_options);
                session.emplace(read_model_text(json.at("model"), path).model, options, session_options);
                continue;
            }
            const long steps = json.at("steps");
            // A journal that went back in time has fewer steps than before; its edit says where to.
            while (session->steps() < steps) {
                check_interruption();
                const StepReport step = session->step();
                if (!step.ok) throw ModelError("a step failed that did not fail before: " + step.reason);
            }
            if (session->steps() != steps) throw ModelError("more steps have been made than written");
            if (json.contains("edit")) {
                const EditReport edit = session->apply(json.at("edit").get<std::string>());
                if (!edit.ok) throw ModelError("an edit was refused that was not refused before: " + edit.reason);
                ++report.edits;
            }
            if (json.contains("state")) {
                ++report.checked;
                if (report.mismatch.empty() && json.at("state") != print(session->fingerprint()))
                    report.mismatch = fmt::format("after {} steps, t = {:.9g} s", steps, session->time());
            }
        } catch (const Json::exception& error) {
            throw ModelError(fmt::format("{}:{}: not a line of a journal: {}", path, number, error.what()));
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}:{}: {}", path, number, error.what()));
        }
    }
    if (!session) throw ModelError(fmt::format("{}: the journal has no beginning", path));
    report.steps = session->steps();
    return std::move(*session);
}

}  // namespace limber
