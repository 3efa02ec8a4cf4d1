import Testing

@testable import TextEncodings

struct LoopbackHostTests {
    @Test(arguments: ["localhost", "LocalHost:80", "127.0.0.1", "127.9.8.7:443", "[::1]", "[0:0::1]:80"])
    func `this machine by its usual names is trusted`(authority: String) {
        #expect(LoopbackHost.isNamed(in: authority) && LoopbackHost.mayBeNamed(in: authority))
    }

    @Test(arguments: [
        "0x7f.1", "0x7F000001", "127.1", "2130706433", "0177.0.0.1", "0127.0.0.1", "127.0.0.010", "localhost.",
        "127.0.0.1.", "0.0.0.0", "0", "[::]:443", "017700000001",
    ])
    func `this machine in other spellings is refused, and not trusted`(authority: String) {
        #expect(LoopbackHost.mayBeNamed(in: authority) && !LoopbackHost.isNamed(in: authority))
    }

    @Test(arguments: [
        "as.example", "localhost.example", "mylocalhost", "128.0.0.1", "10.127.0.1", "0x7f.example", "1270.0.0.1", "",
        "0.0.0.1", "[2001:db8::1]", "127.0.0.1.5", "0x", "+127.0.0.1", "127..1", "[::1",
    ])
    func `another machine is neither`(authority: String) {
        #expect(!LoopbackHost.mayBeNamed(in: authority) && !LoopbackHost.isNamed(in: authority))
    }
}
