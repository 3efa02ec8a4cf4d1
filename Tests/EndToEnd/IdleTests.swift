import AuthRefreshInterface
import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon with nothing to do.
struct IdleTests {
    @Test func `a daemon without a deadline has no timer that would wake it`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // Tasks have run, and a caller has connected and left.
        #expect(try await stage.info().accounts == 0)
        // Blocking work has run, too.
        #expect(try await stage.authctl("store", "rekey").end == .exited(0))
        let timers = try armedTimers(of: daemon.pid)
        // The coordinator's timer stands for a time without end.
        #expect(!timers.isEmpty && timers.allSatisfy { $0 > .seconds(3600) }, "armed: \(timers)")
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// The arguments of the Swift runtime's hook are not part of its interface. They are the same in Swift 6.2 and 6.3.
    @Test func `the toolchain is one for which the task hook was checked`() {
        #if compiler(<6.2) || compiler(>=6.4)
            Issue.record(
                """
                Sources/CSwiftRuntime/swift_runtime.c sets swift_task_enqueueGlobal_hook as Swift 6.2 and 6.3 declare it. Compare it with \
                its declaration in the sources of this toolchain, and see whether it has a public \
                ExecutorFactory, which would take the hook's place. Then change this test.
                """
            )
        #endif
    }
}

/// How long until each armed timer of a process expires, from the kernel's information about its descriptors.
///
/// Only timers in an epoll wake the process up. Dispatch takes one out when there is nothing to wait for, and leaves it
/// armed.
private func armedTimers(of pid: pid_t) throws -> [Duration] {
    let folder = "/proc/\(pid)/fdinfo"
    let texts = try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [String: [Substring]]()) {
        // A descriptor may be closed between the listing and the reading.
        $0[$1] = (try? String(contentsOfFile: folder + "/" + $1, encoding: .utf8))?.split(separator: "\n")
    }
    let watched = texts.values.joined().filter { $0.hasPrefix("tfd:") }.compactMap { line in
        line.dropFirst(4).split(separator: " ").first.map(String.init)
    }
    return watched.compactMap { name in
        guard let value = texts[name]?.first(where: { $0.hasPrefix("it_value:") }) else { return nil }
        let numbers = value.split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 2, numbers != [0, 0] else { return nil }
        return .seconds(numbers[0]) + .nanoseconds(numbers[1])
    }
}
