internal import Glibc

/// What `FD_SET` makes; the macros do not reach Swift.
struct DescriptorSet {
    var set = fd_set()

    /// - Parameter descriptors: each below 1024; those of this process are among the first few.
    init(_ descriptors: [Int32]) {
        unsafe withUnsafeMutableBytes(of: &set) { bytes in
            for descriptor in descriptors { unsafe bytes[Int(descriptor) / 8] |= 1 << (descriptor % 8) }
        }
    }

    func contains(_ descriptor: Int32) -> Bool {
        unsafe withUnsafeBytes(of: set) { unsafe $0[Int(descriptor) / 8] & 1 << (descriptor % 8) != 0 }
    }
}
