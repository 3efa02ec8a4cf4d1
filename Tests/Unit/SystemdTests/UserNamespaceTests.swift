import Testing

@testable import Systemd

@Suite struct UserNamespaceTests {
    @Test(arguments: [
        ("         0          0 4294967295\n", true),
        ("         0          0          1\n", true),
        ("      1000       1000          1\n", false),
        ("         0       1000          1\n", false),
        ("         0     100000      65536\n      1000       1000          1\n", false),
        ("", false),
    ])
    func `root is mapped if a range begins with it outside`(map: String, isMapped: Bool) {
        #expect(OwnProcess.mapsRoot(map) == isMapped)
    }
}
