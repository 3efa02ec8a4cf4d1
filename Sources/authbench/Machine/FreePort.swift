internal import Glibc
internal import TestSupport

/// Finds a free TCP port.
enum FreePort {
    /// A free port.
    ///
    /// - Throws: `BenchError` if there is none.
    static func any() throws -> Int {
        guard let (descriptor, port) = try? LoopbackSocket.listening() else {
            throw BenchError.failedToServe("there is no free TCP port")
        }
        close(descriptor)
        return Int(port)
    }
}
