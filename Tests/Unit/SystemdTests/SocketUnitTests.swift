import Testing

@testable import Systemd

struct SocketUnitTests {
    @Test func `a service's socket unit has its name`() {
        #expect(SocketUnit(service: "authrefreshd.service")?.name == "authrefreshd.socket")
        #expect(SocketUnit(service: "other@one.service")?.name == "other@one.socket")
        #expect(SocketUnit(service: "session.scope") == nil)
    }

    @Test func `a missing manager is an error`() throws {
        let unit = try #require(SocketUnit(service: "authrefreshd.service"))
        #expect(throws: SystemdError.managerRefused(unit: "authrefreshd.socket", errno: 2)) {
            try unit.restart(runtimeDirectory: "/nonexistent")
        }
    }
}
