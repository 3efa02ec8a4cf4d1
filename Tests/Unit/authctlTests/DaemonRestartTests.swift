import AuthRefreshInterface
import Basics
import Glibc
import TextEncodings
import TestSupport
import Testing

@testable import authctl

/// A call whose daemon goes away. The transcripts `…-cut` show the daemons that come after it.
@Suite struct DaemonRestartTests {
    @Test func `a call is given up when its time is over and no daemon has come`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/socket"
        let listener = try UnixSocket.bound(to: path, SOCK_STREAM)
        #expect(listen(listener, 1) == 0)
        var daemon = try DaemonConnection(socket: path)
        close(accept(listener, nil, nil))
        close(listener)
        do throws(Report) {
            let answer = try daemon.ask(.getInfo, json: "{}", patience: 1)
            Issue.record("an answer without a daemon: \(answer.text)")
        } catch {
            #expect(error.status == .unavailable)
            let text = "the daemon ended the connection; authctl asked again, but no daemon answers at '\(path)'"
            #expect(error.message.hasPrefix(text), "\(error.message)")
        }
    }

    @Test func `a call that may have changed something is not made again`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/socket"
        let exchange = StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.RenameAccount","parameters":{}}"#,
            closes: true
        )
        let stub = try StubDaemon(path: path, exchanges: [exchange])
        do throws(Report) {
            var daemon = try DaemonConnection(socket: path)
            let answer = try daemon.ask(.renameAccount, json: "{}", patience: 120)
            Issue.record("an answer without a daemon: \(answer.text)")
        } catch {
            #expect(error.message == "the daemon ended the connection")
        }
        #expect(stub.finish() == [])
    }
}
