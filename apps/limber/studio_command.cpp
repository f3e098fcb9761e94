// limber studio: the workbench in the browser.

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "common.hpp"
#include "limber/server/access.hpp"
#include "limber/server/memory_account.hpp"
#include "limber/server/studio_server.hpp"
#include "studio_assets.hpp"

namespace limber::app {

void add_studio_command(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<StudioOptions>();
    options->port = 8420;
    auto wants_token = std::make_shared<bool>(false);
    auto memory = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("studio", "See it, drag it, change it: the workbench in the browser");
    command->add_option("--port", options->port, "Port to listen on; 0: any free one (default 8420)");
    command
        ->add_option("--workspace", options->workspace,
                     "Folder for your models and autosaved sessions; without it nothing is kept")
        ->type_name("DIR");
    command
        ->add_option("--address", options->address,
                     "Address to listen on (default 127.0.0.1: this machine only). Others can be reached from the "
                     "network and need the token that is printed")
        ->type_name("IP");
    command->add_option("--host", options->hosts, "Name under which browsers reach this machine, beside its address")
        ->type_name("NAME");
    command
        ->add_option("--session-memory", *memory,
                     "Memory that each session may use before it is ended (default '1 GiB'); 'none': any")
        ->type_name("SIZE");
    command->add_flag("--token", *wants_token, "Ask for a token on this machine too");
    command->callback([options, wants_token, memory, &exit_code] {
        if (*memory == "none") {
            options->session_memory = 0;
        } else if (!memory->empty()) {
            options->session_memory = parse_bytes(*memory);
        }
        const bool is_local = options->address == "127.0.0.1" || options->address == "::1";
        if (*wants_token || !is_local) options->token = make_secret();
        StudioServer server(*options, studio_assets());
        fmt::print("Limber Studio: {}\nStop it with Ctrl-C.\n", server.url());
        std::fflush(stdout);
        server.wait_for_signal();
        exit_code = ok;
    });
}

}  // namespace limber::app
