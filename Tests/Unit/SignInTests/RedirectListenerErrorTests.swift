import TestSupport
import Testing

@testable import authrefreshd

@Suite struct RedirectListenerErrorTests {
    @Test(arguments: [RedirectListenerError.portTaken(8765), .cannotListen(port: 80, errno: 13)])
    func `why a port cannot be listened on is one plain line that names the port`(_ error: RedirectListenerError) {
        #expect(MessageForm.flaws(ofMessage: error.reason) == [])
        switch error {
        case .portTaken(let port), .cannotListen(let port, _):
            #expect(error.reason.contains("port \(port) "), "\(error.reason)")
        }
    }
}
