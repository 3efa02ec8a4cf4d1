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
}
