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
        let error = #expect(throws: SystemdError.self) { try unit.restart(runtimeDirectory: "/nonexistent") }
        let refusal = "the service manager does not restart \"authrefreshd.socket\": No such file or directory"
        #expect(error?.description == refusal)
    }
}
