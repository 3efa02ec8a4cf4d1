internal import CSystemd
internal import Glibc

/// Tells this machine from others, so that a store notices that it was copied to another one.
package enum MachineIdentity {
    /// Identifies this program's use of the machine's identifier. It must never change.
    private static let application: [UInt8] = [
        0x5a, 0x71, 0x0c, 0xe4, 0x93, 0x2d, 0x4f, 0x68, 0xb1, 0x06, 0xd7, 0x3e, 0x88, 0xfa, 0x25, 0xc9,
    ]

    /// 32 hexadecimal digits that stay the same as long as the system is installed. They do not reveal the machine's
    /// identifier (machine-id(5), "Machine ID confidentiality").
    ///
    /// Nil if the machine has no identifier, as in most containers, or one that is lost at the next boot.
    package static func current() -> String? {
        guard isLasting("/etc/machine-id") else { return nil }
        var (application, identity) = (sd_id128_t(), sd_id128_t())
        unsafe withUnsafeMutableBytes(of: &application) { unsafe $0.copyBytes(from: Self.application) }
        guard unsafe sd_id128_get_machine_app_specific(application, &identity) >= 0 else { return nil }
        return unsafe withUnsafeBytes(of: identity) { bytes in
            unsafe bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    /// Whether the file is on a disk. systemd mounts a file of `/run` over it if it cannot store an identifier.
    private static func isLasting(_ path: String) -> Bool {
        var system = statfs()
        return unsafe statfs(path, &system) == 0 && isLasting(onFileSystem: Int(system.f_type))
    }

    /// Whether a file system of this type (statfs(2)) keeps its files. The upper layer of an overlay is in memory on a
    /// live system, and is removed with a container, and the type does not tell them from others.
    package static func isLasting(onFileSystem type: Int) -> Bool { ![tmpfs, ramfs, overlay].contains(type) }

    // From <linux/magic.h>.
    private static let tmpfs = 0x0102_1994
    private static let ramfs = 0x8584_58f6
    private static let overlay = 0x794c_7630
}
