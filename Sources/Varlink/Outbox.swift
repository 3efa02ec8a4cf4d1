/// What one peer is sent, and the kernel has not taken yet.
struct Outbox {
    /// A change of how much waits to be read by the peer.
    enum Crossing {
        /// It is much now.
        case upwards
        /// It is much no longer: half of the mark, so that it is not told at each read.
        case downwards
    }

    private let highWater: Int
    private var bytes: ArraySlice<UInt8> = []
    private var isHigh = false

    /// - Parameter highWater: bytes that are much.
    init(highWater: Int) {
        self.highWater = highWater
    }

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }
    var isAboveMark: Bool { bytes.count > highWater }

    mutating func append(_ message: [UInt8]) {
        if bytes.isEmpty { bytes = message[...] } else { bytes += message }
    }

    mutating func removeAll() {
        bytes = []
    }

    /// Sends as much as there is room for; false if the peer takes nothing any more.
    mutating func send(to descriptor: Int32) -> Bool {
        while !bytes.isEmpty {
            switch SocketSystem.write(descriptor, bytes) {
            case .moved(let count): bytes = bytes.dropFirst(count)
            case .wouldBlock: return true
            case .failed: return false
            }
        }
        // An empty slice would keep what it was cut from.
        bytes = []
        return true
    }

    /// What has changed since this was asked last; nil if nothing has.
    mutating func crossedMark() -> Crossing? {
        guard isHigh ? bytes.count <= highWater / 2 : isAboveMark else { return nil }
        isHigh.toggle()
        return isHigh ? .upwards : .downwards
    }
}
