import Glibc
import Testing

@testable import Systemd

@Suite struct JournalTests {
    @Test(arguments: ["A", "MESSAGE", "AUTHREFRESH_ACCOUNT", "A1_", String(repeating: "A", count: 64)])
    func `a name that journald accepts is valid`(text: String) {
        #expect(JournalFieldName(text)?.text == text)
    }

    @Test(arguments: [
        "", "_PID", "1A", "message", "A-B", "A B", "A=B", "Ä", "A\n", "A\0", String(repeating: "A", count: 65),
    ])
    func `a name that journald would drop is invalid`(text: String) {
        #expect(JournalFieldName(text) == nil)
    }

    @Test func `a field is its name, an equals sign and the unchanged bytes`() {
        #expect(JournalField("MESSAGE", "token refreshed").assignment == Array("MESSAGE=token refreshed".utf8))
        #expect(JournalField("A", bytes: [0, 10, 255, 61]).assignment == [65, 61, 0, 10, 255, 61])
        #expect(JournalField("A", "").assignment == [65, 61])
    }

    @Test(.enabled(if: getuid() == 0, "needs root for a mount namespace with a journald of its own"))
    func `an entry reaches journald with every byte`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newMountNamespace)
            try ChildProcess.run("mount", "--make-rprivate", "/")
            try ChildProcess.run("mount", "-t", "tmpfs", "tmpfs", "/run")
            try ChildProcess.run("mkdir", "-p", "/run/systemd/journal")
            let journald = try UnixSocket(SOCK_DGRAM, at: "/run/systemd/journal/socket")

            // An entry without fields is not sent, so the first one that arrives has fields.
            try Journal.send([])
            try Journal.send([
                JournalField("MESSAGE", "grant imported"), JournalField("PRIORITY", "5"),
                JournalField("AUTHREFRESH_ERROR", "two\nlines"), JournalField("RAW", bytes: [0, 10, 255]),
            ])
            // Journal native protocol: a value with a line break is the name, a line break, a 64-bit little-endian
            // length, the value, a line break.
            let binary = { (name: String, value: [UInt8]) -> [UInt8] in
                Array("\(name)\n".utf8) + [UInt8(value.count), 0, 0, 0, 0, 0, 0, 0] + value + [10]
            }
            let datagram = try #require(journald.received())
            let expected =
                Array("MESSAGE=grant imported\nPRIORITY=5\n".utf8)
                + binary("AUTHREFRESH_ERROR", Array("two\nlines".utf8)) + binary("RAW", [0, 10, 255])
            #expect(datagram.starts(with: expected))
            // libsystemd adds its own SYSLOG_IDENTIFIER, and nothing about the source's location.
            let rest = String(decoding: datagram.dropFirst(expected.count), as: UTF8.self)
            #expect(rest.hasPrefix("SYSLOG_IDENTIFIER="))
            #expect(!rest.contains("CODE_"))
        }
    }

    @Test func `the journal is connected only when standard error is the very stream that was named`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let stream = unsafe open("\(directory.path)/stream", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            let saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 50)
            var status = stat()
            #expect(unsafe fstat(stream, &status) == 0)

            unsafe unsetenv("JOURNAL_STREAM")
            #expect(!Journal.isConnected)
            unsafe setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
            #expect(!Journal.isConnected, "inherited, but standard error goes elsewhere")
            dup2(stream, STDERR_FILENO)
            let isConnected = Journal.isConnected
            unsafe setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino + 1)", 1)
            let isConnectedToAnother = Journal.isConnected
            dup2(saved, STDERR_FILENO)
            #expect(isConnected)
            #expect(!isConnectedToAnother)
        }
    }
}
