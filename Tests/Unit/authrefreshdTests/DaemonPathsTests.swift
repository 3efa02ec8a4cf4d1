import ArgumentParser
import Basics
import Testing

@testable import authrefreshd

struct DaemonPathsTests {
    private func paths(
        _ arguments: [String] = [],
        _ environment: [String: String],
        existing: Set<String> = []
    ) throws -> DaemonPaths {
        try DaemonPaths(options: try DaemonOptions.parse(arguments), environment: environment) { existing.contains($0) }
    }

    @Test func `without XDG variables the folders are those of the home directory`() throws {
        let paths = try paths([], ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/7"])
        #expect(paths.stateDirectory == "/home/u/.local/state/authrefreshd")
        #expect(paths.socket == "/run/user/7/authrefreshd/io.authrefresh")
        #expect(paths.configuration == nil)
        #expect(
            paths.profileFolders == [
                "/usr/share/authrefreshd/providers.d", "/home/u/.local/share/authrefreshd/providers.d",
                "/home/u/.config/authrefreshd/providers.d",
            ]
        )
    }

    @Test func `XDG variables win, unless they are not absolute`() throws {
        let environment = [
            "HOME": "/home/u", "XDG_RUNTIME_DIR": "/r", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative",
        ]
        let paths = try paths([], environment, existing: ["/home/u/.config/authrefreshd/authrefreshd.yaml"])
        #expect(paths.stateDirectory == "/s/authrefreshd")
        #expect(paths.configuration == "/home/u/.config/authrefreshd/authrefreshd.yaml")
    }

    @Test func `the session bus is where the variable says, else in the runtime folder`() throws {
        var environment = ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(try paths([], environment).sessionBus == "unix:path=/run/user/7/bus")
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/elsewhere"
        #expect(try paths([], environment).sessionBus == "unix:path=/elsewhere")
        #expect(try paths(["--socket", "/s"], ["HOME": "/home/u"]).sessionBus == nil)
    }

    @Test func `a state folder has one name, in whatever form it is given`() throws {
        let environment = ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/r"]
        for name in ["/proc/self/root/none/state/", "/none//state", "/proc/self/cwd/../../../../../none/state"] {
            #expect(try paths(["--state-dir", name], environment).stateDirectory == "/none/state")
        }
        let here = try paths(["--state-dir", "."], environment).stateDirectory
        #expect(here.hasPrefix("/"))
        #expect(try paths(["--state-dir", "none/state"], environment).stateDirectory == here + "/none/state")
    }

    @Test func `options win over the environment`() throws {
        let environment = ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/r", "AUTHREFRESH_SOCKET": "/elsewhere"]
        let paths = try paths(["--state-dir", "/a", "--config", "/b/c.yaml", "--socket", "/d"], environment)
        #expect(paths.stateDirectory == "/a")
        #expect(paths.configuration == "/b/c.yaml")
        #expect(paths.profileFolders.last == "/b/providers.d")
        #expect(paths.socket == "/d")
    }

    @Test func `the variable for another socket is the same as authctl's`() throws {
        let environment = ["HOME": "/home/u", "AUTHREFRESH_SOCKET": "/elsewhere"]
        #expect(try paths([], environment).socket == "/elsewhere")
    }

    @Test(arguments: [
        (["XDG_RUNTIME_DIR": "/r"], "XDG_STATE_HOME"),
        (["HOME": "", "XDG_RUNTIME_DIR": "/r"], "XDG_STATE_HOME"),
        (["HOME": "/home/u"], "XDG_RUNTIME_DIR"),
        (["HOME": "/home/u", "XDG_RUNTIME_DIR": "run"], "XDG_RUNTIME_DIR"),
    ])
    func `a missing folder setting is an error that names the variable`(
        environment: [String: String],
        variable: String
    ) throws {
        let error = #expect(throws: ProgramError.self) { try paths([], environment) }
        #expect(error?.description.hasSuffix("'\(variable)' is not set") == true)
        #expect(error?.status == .misconfigured)
    }
}
