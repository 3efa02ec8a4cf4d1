import Basics
import Foundation
import TestSupport
import Testing

@testable import authctl

/// `authctl callback`, as the desktop calls it.
@Suite struct CallbackTests {
    /// In an earlier version, everybody on this machine could read code and state until the daemon answered.
    @Test func `the address is no longer among the arguments when the daemon is called`() async throws {
        let run = try CommandRun()
        defer { run.remove() }
        let listener = try UnixSocket.bound(to: run.socket, SOCK_STREAM)
        defer { close(listener) }
        #expect(listen(listener, 1) == 0)
        let address = "com.example.app:/callback?code=sesame&state=open"
        let callback = try Program("authctl", ["callback", address], environment: run.environment)
        // All on one thread, because authctl waits for its reply only for a limited time.
        let connection = try await onOwnThread {
            let connection = accept(listener, nil, nil)
            var (call, byte): ([UInt8], UInt8) = ([], 0)
            while unsafe read(connection, &byte, 1) == 1, byte != 0 { call.append(byte) }
            #expect(String(decoding: call, as: UTF8.self).contains(address))
            let arguments = try String(contentsOfFile: "/proc/\(callback.pid)/cmdline", encoding: .utf8)
            #expect(arguments.contains("authctl\0"))
            #expect(!arguments.contains("sesame") && !arguments.contains("open") && !arguments.contains("example"))
            let reply = Array(#"{"parameters":{"account":"work"}}"#.utf8) + [0]
            #expect(unsafe write(connection, reply, reply.count) == reply.count)
            return connection
        }
        close(connection)
        #expect(try await callback.ended() == .exited(0), "\(callback.errorText)")
        #expect(callback.outputText.contains("work: the answer was handed on"))
    }

    @Test func `a callback is percent-encoded in the page's address, by its bytes`() throws {
        let page = SecretText("https://as.example/authorize?redirect_uri={callback}&state=1")
        let link = try WebSession.link(to: page, callback: "com.example.app:/é?a=b&c")
        let callback = "com.example.app%3A%2F%C3%A9%3Fa%3Db%26c"
        #expect(link.text == "https://as.example/authorize?redirect_uri=\(callback)&state=1")
    }
}
