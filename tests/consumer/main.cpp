// The smallest program that uses an installed Limber.
#include <cstdio>
#include <limber/limber.hpp>

int main(int, char** argv) {
    limber::Simulation simulation(limber::read_model_file(argv[1]).model);
    const bool ok = simulation.advance(1.0, 1e-3).ok;
    std::printf("t = %g, q = %.6f\n", simulation.time(), simulation.state().q[0]);
    return ok ? 0 : 1;
}
