import CSystemd
import Glibc

/// A Unix socket bound to a path.
final class UnixSocket {
    let descriptor: Int32

    init(_ type: __socket_type, at path: String) throws {
        descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let result = unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw TestFault.system("bind \(path)", errno: errno) }
    }

    deinit { close(descriptor) }

    /// A waiting datagram; nil if there is none. A datagram on a Unix socket has arrived when `send` returns.
    func received() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// A waiting datagram as text; nil if there is none.
    func receivedText() -> String? {
        received().map { String(decoding: $0, as: UTF8.self) }
    }
}
