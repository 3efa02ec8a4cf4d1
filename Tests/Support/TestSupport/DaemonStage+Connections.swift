import Glibc

/// Who is connected to the daemon's socket.
extension DaemonStage {
    /// The connections to the daemon's socket, with those that it has not accepted yet, and the socket itself.
    package var connections: Int {
        let name = Array(" \(socket)".utf8)
        return Self.socketTable.split(separator: UInt8(ascii: "\n")).count { line in
            line.suffix(name.count).elementsEqual(name)
        }
    }

    /// Waits until so many callers are connected, or have just left. No event tells of them, so the kernel's table is
    /// read again and again.
    package func connected(_ count: Int) async throws {
        let end = ContinuousClock.now + .patience
        while connections - 1 < count {
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "\(count) callers") }
            // A loop that never waits would keep those who connect from the processor.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The table of Unix sockets, proc_net(5). The kernel returns a page of it at most with each read.
    private static var socketTable: [UInt8] {
        let descriptor = unsafe open("/proc/net/unix", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var table: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = unsafe read(descriptor, &piece, piece.count), count > 0 { table += piece[..<count] }
        return table
    }
}
