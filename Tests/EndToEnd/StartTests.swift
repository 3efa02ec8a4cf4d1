import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

/// Starting the daemon.
struct StartTests {
    @Test func `a daemon is ready, and reports its number of accounts`() async throws {
        let stage = try DaemonStage()
        for _ in 0..<2 {
            let daemon = try await stage.start()
            #expect(stage.notify.status == "0 accounts")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `Varlink's own method describes the daemon, without an invented web page`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let text = try await onOwnThread { [socket = stage.socket] in
            let peer = try RawConnection(socket)
            try peer.send(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
            return try peer.receive()
        }
        #expect(text.contains(#""version":"\#(Version.text)""#) && text.contains(#""url":"""#), "\(text)")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `all threads keep the daemon's priority, and libdispatch prints nothing`()
        async throws
    {
        let stage = try DaemonStage()
        let more = ["LIBDISPATCH_LOG": "stderr"]
        let daemon = try Program(
            "/usr/bin/nice",
            ["-n", "5", Program.products + "/authrefreshd"],
            environment: stage.environment.merging(more) { $1 }
        )
        try await stage.notify.messages.first("READY=1") { $0.contains("READY=1") }
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/task")
        #expect(threads.count > 3)
        for thread in threads {
            let line = try String(contentsOfFile: "/proc/\(daemon.pid)/task/\(thread)/stat", encoding: .utf8)
            // proc(5): the name in parentheses may contain spaces. The nice value is the 17th field after it.
            let fields = try #require(line.split(separator: ")").last).split(separator: " ")
            #expect(fields[16] == "5", "thread \(thread): \(line)")
        }
        daemon.signal(15)
        #expect(try await daemon.ended() == .exited(0))
        #expect(!daemon.errorText.contains("thread priority"), "\(daemon.errorText)")
    }
}
