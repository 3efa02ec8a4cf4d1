import Foundation

/// A new folder under /tmp with mode 0700. It is removed, with its contents, when the value is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Under /tmp whatever TMPDIR says, because the kernel limits a socket's path to 107 bytes.
    package init() throws {
        path = "/tmp/authrefresh-test-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a file with `mode` and returns its path.
    @discardableResult package func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}
