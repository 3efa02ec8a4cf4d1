internal import CLinux
internal import Glibc

/// The system calls of the server's side, none of which blocks; each repeated when a signal interrupts it.
enum SocketSystem {
    /// What became of reading or writing.
    enum Outcome: Equatable {
        /// So many bytes were moved; 0 read is the end of the stream.
        case moved(Int)
        /// There is nothing to read, or no room to write.
        case wouldBlock
        case failed(errno: Int32)
    }

    /// The next connection of a listening socket: its descriptor, not inherited by programs we start.
    ///
    /// - Returns: nil if nobody waits.
    /// - Throws: `cannotAccept`, if there is somebody that cannot be let in for want of descriptors or memory.
    static func accept(_ listener: Int32) throws(VarlinkServerError) -> Int32? {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        while true {
            let descriptor = accept4(listener, nil, nil, flags)
            if descriptor >= 0 { return descriptor }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return nil
            default: throw .cannotAccept(errno: errno)
            }
        }
    }

    /// Reads at most `limit` bytes.
    static func read(_ descriptor: Int32, limit: Int) -> (bytes: [UInt8], outcome: Outcome) {
        var outcome = Outcome.wouldBlock
        let bytes = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer -> [UInt8] in
            outcome = retried { unsafe recv(descriptor, buffer.baseAddress, limit, 0) }
            guard case .moved(let count) = outcome else { return [] }
            return unsafe [UInt8](buffer.prefix(count))
        }
        return (bytes, outcome)
    }

    /// Writes as many of `bytes` as there is room for.
    static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Outcome {
        retried {
            unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    private static func retried(_ call: () -> Int) -> Outcome {
        while true {
            let count = call()
            guard count < 0 else { return .moved(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .failed(errno: errno)
            }
        }
    }
}

extension PeerCredentials {
    /// Asks the kernel who is at the other end of a connected socket; nil if it does not say.
    init?(of descriptor: Int32) {
        // struct ucred of unix(7), which Glibc's module map hides: pid, uid, gid, 32 bits each.
        var words: (UInt32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: words))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &words, &length) == 0 else { return nil }
        self.init(pid: Int32(bitPattern: words.0), uid: words.1, gid: words.2)
    }
}
