internal import Foundation
internal import TestSupport

/// The places where a secret may be.
enum SecretPlaces {
    /// What each process of the same user can read in `/proc` about this one: arguments and environment.
    static func sight(of pid: Int32) throws -> String {
        try ["cmdline", "environ"].map { name in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/\(name)"))
            return String(decoding: bytes, as: UTF8.self)
        }.joined(separator: "\n")
    }

    /// All regular files below `folder`, except those at or below one of the paths in `except`.
    static func files(in folder: String, except: [String]) throws -> [String] {
        guard let all = FileManager.default.enumerator(atPath: folder) else { throw TestFault.unreadable(folder) }
        return all.compactMap { $0 as? String }.map { folder + "/" + $0 }.filter { path in
            guard !except.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) else { return false }
            let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            return type == .typeRegular
        }
    }

    static func bytes(of file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    }
}
