import Foundation
import Testing

@testable import Basics

/// Our symbols, read by another project's reader.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg"), "zbarimg is not installed"))
struct ReaderTests {
    /// The text that zbarimg finds in a picture of the modules.
    private func read(size: Int, _ isDark: (_ row: Int, _ column: Int) -> Bool) throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("qr-\(UUID().uuidString).pbm")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(picture(size: size, isDark).utf8).write(to: url)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = ["30", "/usr/bin/zbarimg", "--quiet", "--raw", "--nodbus", url.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// A portable bitmap, four points for a module, with a quiet zone of four modules.
    private func picture(size: Int, _ isDark: (_ row: Int, _ column: Int) -> Bool) -> String {
        let points = (-4 * 4..<(size + 4) * 4).map { Int((Double($0) / 4).rounded(.down)) }
        let inside = 0..<size
        let lines = points.map { row in
            points.map { column in
                inside.contains(row) && inside.contains(column) && isDark(row, column) ? "1" : "0"
            }.joined()
        }
        return "P1\n\(points.count) \(points.count)\n\(lines.joined(separator: "\n"))\n"
    }

    /// Text with as few repetitions as a real address.
    private func text(_ count: Int) -> String {
        let letters = Array("https://login.example.org/device?user_code=WDJB-MJHT&")
        return String((0..<count).map { letters[($0 * $0 + $0 / 7) % letters.count] })
    }

    @Test(arguments: QRVersion.all.indices) func `every version is read, at both levels`(index: Int) throws {
        let version = QRVersion.all[index]
        for correction in [Correction.low, .medium] {
            let text = text(version.byteCapacity(correction))
            let codewords = version.codewords(of: Array(text.utf8), correction)
            let grid = ModuleGrid(version, codewords).masked(correction)
            #expect(try read(size: grid.size) { grid[$0, $1] } == text)
        }
    }

    @Test(arguments: ModuleGrid.maskNumbers) func `every mask is read`(number: Int) throws {
        let text = "https://login.example.org/device?user_code=WDJB-MJHT"
        let version = try #require(QRVersion.all.first { $0.holds(text.utf8.count, .low) })
        let codewords = version.codewords(of: Array(text.utf8), .low)
        let grid = ModuleGrid(version, codewords).masked(by: number, .low)
        #expect(try read(size: grid.size) { grid[$0, $1] } == text)
    }

    @Test func `the correction codewords repair stains`() throws {
        let code = try #require(QRCode("https://login.example.org/device"))
        let stain = 12..<15
        let seen = try read(size: code.size) { row, column in
            stain.contains(row) && stain.contains(column) ? false : code.isDark(row: row, column: column)
        }
        #expect(seen == "https://login.example.org/device")
    }
}
