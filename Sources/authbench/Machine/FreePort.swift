internal import Glibc
internal import TestSupport

/// A TCP port that nobody uses.
enum FreePort {
    /// - Throws: `BenchError.failedToServe` if the kernel gives none.
    static func any() throws(BenchError) -> Int {
        guard let (descriptor, port) = try? LoopbackSocket.listening() else {
            throw .failedToServe(reason: "there is no free TCP port")
        }
        close(descriptor)
        return Int(port)
    }
}
