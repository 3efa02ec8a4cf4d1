import Foundation
import Systemd
import Testing

/// What tells this machine from others.
struct MachineIdentityTests {
    @Test func `a machine's identity stays the same, and does not reveal its identifier`() throws {
        // A machine without an identifier, such as a container, has no identity.
        guard let identity = MachineIdentity.current() else { return }
        #expect(identity.utf8.count == 32 && identity.allSatisfy(\.isHexDigit))
        #expect(identity == MachineIdentity.current())
        let identifier = try String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        #expect(!identifier.contains(identity))
    }

    /// Types from `<linux/magic.h>`: tmpfs, ramfs, overlayfs; ext4, btrfs, xfs.
    @Test(arguments: [
        (0x0102_1994, false), (0x8584_58f6, false), (0x794c_7630, false),
        (0xef53, true), (0x9123_683e, true), (0x5846_5342, true),
    ])
    func `an identifier in memory or on an overlay may be lost at the next boot`(type: Int, isLasting: Bool) {
        #expect(MachineIdentity.isLasting(onFileSystem: type) == isLasting)
    }
}
