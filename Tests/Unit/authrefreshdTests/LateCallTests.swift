import AuthRefreshInterface
import Dispatch
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// Calls that arrive when the daemon has ended its work, but still has its socket.
struct LateCallTests {
    private static let call = #"{"method":"io.authrefresh.GetStatus"}"# + "\0"

    @Test func `a call after the end of the work is hung up on, and not refused`() async throws {
        let (rig, folder) = (try CoordinatorRig(), try TemporaryFolder())
        try await rig.start()
        let coordinator = rig.coordinator
        let path = folder.path + "/socket"
        let server = VarlinkServer(
            configuration: VarlinkServerConfiguration(endpoint: .path(path)),
            service: VarlinkService(
                info: ServiceInfo(vendor: "", product: "", version: "", url: ""),
                interfaces: [Interface.name: { Interface.text }],
                handle: { call, _, responder in coordinator.later { $0.answer(call, responder) } }
            )
        )
        try await server.start()
        let caller = try RawConnection(path)
        try caller.send(Self.call)
        #expect(try await onOwnThread { try caller.receive() }.hasPrefix(#"{"parameters":"#))
        await rig.stop()
        try caller.send(Self.call)
        #expect(try await onOwnThread { try caller.receive() }.isEmpty)
        await server.shutdown()
    }
}
