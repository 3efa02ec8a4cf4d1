import AuthRefreshInterface
import Basics
import Foundation
import Testing

@testable import authctl

/// Who listens at the socket that `authctl` calls.
@Suite struct SocketOwnerTests {
    /// The kernel records who began to listen. Only root can be another user for a moment.
    private static let other = """
        perl -MSocket -e '
            socket(S, AF_UNIX, SOCK_STREAM, 0) and bind(S, pack_sockaddr_un("other")) or die;
            $> = 4711; listen(S, 1) or die; $> = 0;
            exit(system(@ARGV) >> 8)' authctl token work --socket other
        """

    @Test(.enabled(if: geteuid() == 0 && CommandRun.has("perl"), "only root can be another user"))
    func `another user's socket is not called`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        let outcome = try run.run(Self.other)
        #expect(outcome.status == Basics.ExitStatus.notPermitted.rawValue)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("authctl: error: the socket 'other' belongs to another user (uid 4711)\n"))
    }

    @Test(arguments: ["authctl token work --socket ''", "authctl status --socket ''"])
    func `an empty path is refused`(command: String) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let outcome = try run.run(command)
        #expect(outcome.status == Basics.ExitStatus.usage.rawValue)
        #expect(outcome.errors.hasPrefix("authctl: error: '--socket' needs a path\n"))
    }

    @Test func `a path with a NUL in it is refused`() {
        let error = #expect(throws: Report.self) { try SocketPath.resolve(option: "a\0b") }
        #expect(error?.status == .usage)
    }
}
