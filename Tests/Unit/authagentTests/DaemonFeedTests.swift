import AuthRefreshInterface
import Basics
import Testing

@testable import authagent

@Suite struct DaemonFeedTests {
    @Test func `a daemon that does not answer is reported with its socket, the reason and a command`() {
        let error = #expect(throws: ProgramError.self) {
            _ = try DaemonFeed(Subscribe.Parameters(), socket: "/nonexistent/socket")
        }
        let reason = "cannot connect to '/nonexistent/socket': no such file or directory"
        #expect(error?.message == "the daemon does not answer: \(reason)")
        #expect(error?.hint?.text == "systemctl --user status authrefreshd")
        #expect(error?.status == .unavailable)
    }
}
