import Glibc

/// The clocks of one daemon, which a test moves while it runs (`Tests/CShiftedClock`).
package struct ShiftedClock: Sendable {
    /// How far ahead of the machine's they are.
    package struct Shift: Sendable, Equatable {
        package var wall: Duration
        package var boot: Duration
        package var monotonic: Duration

        package init(wall: Duration = .zero, boot: Duration = .zero, monotonic: Duration = .zero) {
            (self.wall, self.boot, self.monotonic) = (wall, boot, monotonic)
        }

        /// The clocks after `time` has passed in addition.
        package static func + (shift: Shift, time: Duration) -> Shift {
            Shift(wall: shift.wall + time, boot: shift.boot + time, monotonic: shift.monotonic + time)
        }

        /// As `CShiftedClock` takes it: ns.
        fileprivate var line: String {
            [wall, boot, monotonic].map {
                "\($0.components.seconds * 1_000_000_000 + $0.components.attoseconds / 1_000_000_000)"
            }
            .joined(separator: " ")
        }
    }

    private let socket: String

    package init(in folder: TemporaryFolder) {
        socket = folder.path + "/clock"
    }

    /// The environment with which the daemon is started.
    ///
    /// - Parameter bootID: a file that stands for the kernel's; nil for the kernel's.
    package func environment(_ start: Shift = Shift(), bootID: String? = nil) -> [String: String] {
        var environment = [
            "LD_PRELOAD": Program.products + "/libShiftedClock.so", "SHIFTED_CLOCK": socket,
            "SHIFTED_CLOCK_START": start.line,
        ]
        environment["SHIFTED_CLOCK_BOOT_ID"] = bootID
        return environment
    }

    /// Moves the clocks; when it returns, the daemon's timers know.
    package func move(to shift: Shift) async throws {
        try await onOwnThread { [socket] in try Self.send(shift.line, to: socket) }
    }

    private static func send(_ line: String, to path: String) throws(TestFault) {
        let descriptor = try UnixSocket.connected(to: path, SOCK_SEQPACKET)
        defer { close(descriptor) }
        let bytes = Array(line.utf8)
        var answer: UInt8 = 0
        guard unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count,
            unsafe recv(descriptor, &answer, 1, 0) == 1
        else { throw .ended(waitingFor: "the daemon's clock") }
    }
}
