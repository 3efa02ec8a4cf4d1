import Foundation
import Testing

/// `systemd/quickstart` in a temporary folder, with a `swift` that builds nothing.
struct QuickstartTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../systemd"
    )

    @Test func `a show follows the build, and then the next steps`() throws {
        let checkout = try Checkout(
            swift: """
                case $1 in
                --version) echo 'Swift version 6.2.1 (swift-6.2.1-RELEASE)' ;;
                build) printf '%s\\n' "$*" > arguments
                    mkdir -p .build/debug
                    printf '#!/bin/sh\\necho "shown with $*"\\n' > .build/debug/authdemo
                    chmod +x .build/debug/authdemo ;;
                esac
                """
        )
        let outcome = try checkout.run("systemd/quickstart", "--once")
        #expect(outcome.status == 0)
        #expect(outcome.output == "shown with run --once\n")
        let arguments = try checkout.text("arguments")
        #expect(arguments.contains(" -c debug ") && arguments.hasSuffix(" --product authdemo\n"))
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("quickstart: building: ") })
        #expect(lines.suffix(2).allSatisfy { $0.contains("systemd/install") || $0.contains("authctl login") })
    }

    @Test func `a build that fails shows its errors and names its log`() throws {
        let checkout = try Checkout(
            swift: """
                case $1 in
                --version) echo 'Swift version 6.2.1 (swift-6.2.1-RELEASE)' ;;
                build) echo '[1/9] Compiling A B.swift'
                    for time in 1 2; do
                        echo 'B.swift:3:1: error: cannot find it in scope'
                        echo '  |  `- error: cannot find it in scope'
                    done
                    exit 1 ;;
                esac
                """
        )
        let outcome = try checkout.run("systemd/quickstart", "--once")
        #expect(outcome.status == 70)
        #expect(outcome.output == "")
        #expect(outcome.errors.components(separatedBy: "cannot find it in scope").count == 2)
        #expect(outcome.errors.contains("B.swift:3:1: error: cannot find it in scope"))
        #expect(outcome.errors.contains("quickstart: hint: the whole output is in "))
        #expect(try checkout.text(".build/quickstart.log").contains("[1/9] Compiling A B.swift"))
    }

    @Test func `a Swift that is too old is refused before anything is built`() throws {
        let checkout = try Checkout(swift: "echo 'Swift version 6.1.2 (swift-6.1.2-RELEASE)'; touch called-with-$1")
        let outcome = try checkout.run("systemd/quickstart")
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("Swift 6.1 is too old"))
        #expect(!checkout.has("called-with-build"))
    }

    @Test(arguments: [
        ["--onse"], ["--lifetime"], ["--lifetime", "long"], ["--lifetime", "0"], ["--lifetime", "3s"],
        ["--lifetime", "2h"],
    ])
    func `wrong arguments are refused before anything is built`(arguments: [String]) throws {
        let checkout = try Checkout(swift: "touch called-with-$1")
        let outcome = try checkout.run(["systemd/quickstart"] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("quickstart: hint: "))
        #expect(!checkout.has("called-with-build"))
    }

    @Test(arguments: [
        ("Fetching packages", "building: preparing, 1 min 5 s so far"),
        (
            "[412/1659] Compiling NIOCore Channel.swift",
            "building: about 3 min 16 s left, 1 min 5 s so far, step 412 of 1659 (NIOCore)"
        ),
        ("[100/1659] Compiling a_bitstr.cc", "building: 1 min 5 s so far, step 100 of 1659 (a_bitstr.cc)"),
        (
            "[7/10] Compiling A B.swift\nwarning: [1/2] is none",
            "building: about 27 s left, 1 min 5 s so far, step 7 of 10 (A)"
        ),
        (
            "[1789/1875] Wrapping AST for RefreshCore for debugging",
            "building: about 3 s left, 1 min 5 s so far, step 1789 of 1875 (RefreshCore)"
        ),
    ])
    func `a line shows the progress of the build`(log: String, line: String) throws {
        let checkout = try Checkout(swift: "")
        try checkout.write(log + "\n", to: "log")
        let outcome = try checkout.run("bash", "-c", "source systemd/prerequisites.bash; progress_line log 65")
        #expect(outcome.output == "bash: " + line)
    }

    @Test(arguments: [
        ("[737/1029] Compiling handshake_client.cc", "step 737 of 1029", "about 3 min 34 s left"),
        (
            "[1000/1100] Compiling A B.swift\n[1040/1100] Compiling C D.swift", "step 1040 of 1100",
            "about 2 min 4 s left"
        ),
        ("[337/399] Compiling A B.swift", "step 337 of 399", "about 11 s left"),
    ])
    func `a module of a first build counts as forty files`(log: String, step: String, left: String) throws {
        let checkout = try Checkout(swift: "")
        try checkout.write(log + "\n", to: "log")
        let script = "source systemd/prerequisites.bash; modules_of_first_build=60; progress_line log 60"
        let outcome = try checkout.run("bash", "-c", script)
        #expect(outcome.output.contains(step) && outcome.output.contains(": \(left), "), "\(outcome.output)")
    }

    /// A folder that its scripts take for a checkout.
    private final class Checkout {
        private let folder: URL

        init(swift script: String) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "quickstart-\(UUID().uuidString.prefix(8))")
            for place in ["systemd", "bin"] {
                try FileManager.default.createDirectory(
                    at: folder.appending(path: place),
                    withIntermediateDirectories: true
                )
            }
            for name in ["quickstart", "prerequisites.bash"] {
                try FileManager.default.copyItem(
                    at: QuickstartTests.sources.appending(path: name),
                    to: folder.appending(path: "systemd/\(name)")
                )
            }
            try write("#!/bin/bash\n\(script)\n", to: "bin/swift")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: folder.appending(path: "bin/swift").path
            )
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }

        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
        }

        func has(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.appending(path: name).path)
        }

        /// Runs a command in the folder. The folder's `swift` comes first in PATH.
        func run(_ command: String...) throws -> ShowRun.Outcome { try run(command) }

        func run(_ command: [String]) throws -> ShowRun.Outcome {
            let process = Process()
            let (output, errors) = (folder.appending(path: "stdout"), folder.appending(path: "stderr"))
            for file in [output, errors] { try Data().write(to: file) }
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = command
            process.currentDirectoryURL = folder
            process.environment = ["PATH": folder.path + "/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            process.waitUntilExit()
            return ShowRun.Outcome(
                output: try text("stdout"),
                errors: try text("stderr"),
                status: process.terminationStatus
            )
        }
    }
}
