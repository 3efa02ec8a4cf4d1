import Foundation
import TestSupport
import Testing

@testable import authctl

/// The files that people name for output.
@Suite struct OutputFileTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let folder = run.folder.appendingPathComponent("files").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try body(folder)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func kind(_ path: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    /// Why an output failed; nil if it did not.
    private func failure(_ body: () throws(Report) -> Void) -> Report? {
        do throws(Report) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file is made, or replaced whole, and everybody may read it`() throws {
        try withFolder { folder in
            let file = folder + "/x.prom"
            try OutputFile.write("a longer text", to: file)
            let before = try FileManager.default.attributesOfItem(atPath: file)
            try OutputFile.write("new", to: file)
            let after = try FileManager.default.attributesOfItem(atPath: file)
            #expect(try text(file) == "new" && names(folder) == ["x.prom"])
            #expect(after[.posixPermissions] as? Int == 0o644)
            #expect(before[.systemFileNumber] as? Int != after[.systemFileNumber] as? Int)
        }
    }

    @Test func `links are followed, also to a file that is not there yet`() throws {
        try withFolder { folder in
            let manager = FileManager.default
            try manager.createDirectory(atPath: folder + "/real", withIntermediateDirectories: false)
            try manager.createSymbolicLink(atPath: folder + "/second", withDestinationPath: "real/file")
            try manager.createSymbolicLink(atPath: folder + "/first", withDestinationPath: folder + "/second")
            for content in ["made", "replaced"] {
                try OutputFile.write(content, to: folder + "/first")
                #expect(try text(folder + "/real/file") == content)
                #expect(try kind(folder + "/first") == .typeSymbolicLink)
                #expect(try kind(folder + "/second") == .typeSymbolicLink)
            }
            #expect(try names(folder) == ["first", "real", "second"] && names(folder + "/real") == ["file"])
            try manager.createSymbolicLink(atPath: folder + "/circle", withDestinationPath: "circle")
            let circle = Report.cannotCreateFile(path: folder + "/circle", errno: ELOOP)
            #expect(failure { () throws(Report) in try OutputFile.write("x", to: folder + "/circle") } == circle)
        }
    }

    @Test func `a pipe and a device are written into`() throws {
        try withFolder { folder in
            let pipe = folder + "/pipe"
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            try OutputFile.write("told", to: pipe)
            let read = try FileDescriptor.readAll(reader, atMost: 100, orReport: { _ in .cancelled })
            #expect(read == Array("told".utf8))
            try OutputFile.write("lost", to: "/dev/null")
            #expect(try kind("/dev/null") == .typeCharacterSpecial)
            #expect(try names(folder) == ["pipe"])
            let full = Report.cannotCreateFile(path: "/dev/full", errno: ENOSPC)
            #expect(failure { () throws(Report) in try OutputFile.write("x", to: "/dev/full") } == full)
        }
    }

    @Test func `a folder and a database are refused and left alone`() throws {
        try withFolder { folder in
            let store = folder + "/store"
            try Data("SQLite format 3\0".utf8).write(to: URL(fileURLWithPath: store))
            let database = Report.cannotCreateFile(path: store, errno: EEXIST)
            #expect(failure { () throws(Report) in try OutputFile.write("x", to: store) } == database)
            let directory = Report.cannotCreateFile(path: folder, errno: EISDIR)
            #expect(failure { () throws(Report) in try OutputFile.write("x", to: folder) } == directory)
            #expect(try names(folder) == ["store"])
        }
    }

    @Test func `secrets go only into a new file, which nobody else may read`() throws {
        try withFolder { folder in
            let manager = FileManager.default
            let file = folder + "/secret"
            #expect(unsafe mkfifo(folder + "/pipe", 0o600) == 0)
            try manager.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "secret")
            for there in [folder + "/pipe", folder + "/link", folder, "/dev/null"] {
                let refusal = Report.cannotCreateFile(path: there, errno: EEXIST)
                #expect(failure { () throws(Report) in _ = try OutputFile(forSecrets: there) } == refusal)
            }
            do {
                let unfinished = try OutputFile(forSecrets: file)
                try unfinished.write("a part")
            }
            #expect(try names(folder) == ["link", "pipe"])
            var finished = try OutputFile(forSecrets: file)
            try finished.write("whole")
            try finished.finish()
            #expect(try text(file) == "whole")
            #expect(try manager.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        }
    }
}
