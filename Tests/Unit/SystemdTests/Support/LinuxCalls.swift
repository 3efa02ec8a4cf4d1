import Glibc

/// System calls that Swift's Glibc module leaves out (GNU extensions and variadic functions).
enum LinuxCalls {
    static let newMountNamespace: Int32 = 0x0002_0000
    static let newNetworkNamespace: Int32 = 0x4000_0000

    /// Moves this thread, and the programs that it starts, into new namespaces.
    static func unshare(_ namespaces: Int32) throws {
        typealias Call = @convention(c) (Int32) -> Int32
        let call = unsafe unsafeBitCast(try symbol("unshare"), to: Call.self)
        guard call(namespaces) == 0 else { throw TestFault.system("unshare", errno: errno) }
    }

    /// Makes `read` of `descriptor` fail with `errno` on this thread from now on, with a seccomp filter.
    static func failReads(of descriptor: Int32, with errno: Int32) throws {
        #if arch(x86_64)
            let readCall: UInt32 = 0
        #else
            let readCall: UInt32 = 63
        #endif
        // struct sock_filter is u16 code, u8 jump if true, u8 jump if false, u32 operand. Loads are from struct
        // seccomp_data: the call's number at 0, its first argument at 16.
        var filter: [UInt64] = [
            instruction(0x20, 0, 0, 0), instruction(0x15, 0, 3, readCall),
            instruction(0x20, 0, 0, 16), instruction(0x15, 0, 1, UInt32(descriptor)),
            instruction(0x06, 0, 0, 0x0005_0000 | UInt32(errno)), instruction(0x06, 0, 0, 0x7fff_0000),
        ]
        typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        let prctl = unsafe unsafeBitCast(try symbol("prctl"), to: Call.self)
        let noNewPrivileges: Int32 = 38
        let setSeccomp: Int32 = 22
        guard prctl(noNewPrivileges, 1, 0, 0, 0) == 0 else { throw TestFault.system("prctl", errno: Glibc.errno) }
        let result = unsafe filter.withUnsafeMutableBufferPointer { filter in
            // struct sock_fprog: u16 count, padding, pointer.
            let program = (UInt(filter.count), UInt(bitPattern: filter.baseAddress))
            return unsafe withUnsafePointer(to: program) { prctl(setSeccomp, 2, UInt(bitPattern: $0), 0, 0) }
        }
        guard result == 0 else { throw TestFault.system("seccomp", errno: Glibc.errno) }
    }

    private static func instruction(_ code: UInt16, _ ifTrue: UInt8, _ ifFalse: UInt8, _ operand: UInt32) -> UInt64 {
        UInt64(code) | UInt64(ifTrue) << 16 | UInt64(ifFalse) << 24 | UInt64(operand) << 32
    }

    private static func symbol(_ name: String) throws -> UnsafeMutableRawPointer {
        guard let symbol = unsafe dlsym(nil, name) else { throw TestFault.system(name, errno: ENOSYS) }
        return unsafe symbol
    }
}
