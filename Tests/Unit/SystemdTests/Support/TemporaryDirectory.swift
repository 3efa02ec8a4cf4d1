import Glibc

/// A new folder under /tmp with mode 0700. It is removed, with its contents, when the value is released.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/systemd-tests.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw TestFault.system("mkdtemp", errno: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        _ = try? ChildProcess.run("rm", "-rf", "--", path)
    }
}
