internal import Foundation
internal import TestSupport

/// The resources of a running process, according to the kernel. Only root can read them of an undumpable process.
struct ProcessState {
    let residentKiB: Int
    let descriptors: Int
    /// The time on all processors since the start.
    let processorTime: Duration

    /// - Throws: if there is no such process, or it must not be looked at.
    init(of pid: Int32) throws {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFault.unreadable("/proc/\(pid)/status")
        }
        residentKiB = kibibytes
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // The name in parentheses may contain spaces. User and system time are the 12th and 13th field after it, in
        // ticks of 10 ms.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        processorTime = .milliseconds(fields[12...13].compactMap { Int64($0) }.reduce(0, +) * 10)
    }
}
