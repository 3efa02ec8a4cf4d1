import Foundation
import TestSupport
import Testing

/// Unusable configurations are refused with file, line and key.
struct BadConfigurationTests {
    @Test(arguments: [
        ("log_level: info\nretries: 3\n", "line 2, key 'retries'"),
        ("max_accounts: many\n", "line 1, key 'max_accounts': must be a whole number"),
        ("log_level: notice\n\nrequest_timeout: 2h\n", "line 3, key 'request_timeout'"),
        ("log_level: [\n", "this is not YAML"),
        ("- a\n- b\n", "line 1"),
    ])
    func `a file with an invalid value`(text: String, complaint: String) async throws {
        try await FreshAccount.with { account in
            try account.stage.configure(text)
            for arguments in [[], ["--check"]] {
                try await account.expectRefusal(arguments, status: 78, says: complaint)
                try await account.expectRefusal(arguments, status: 78, says: account.stage.configurationFile)
            }
            try FileManager.default.removeItem(atPath: account.stage.configurationFile)
        }
    }

    @Test func `an unknown option`() async throws {
        let daemon = try DaemonStage().spawn(["--chek"])
        #expect(try await daemon.ended() == .exited(64))
        #expect(daemon.logText.hasPrefix("authrefreshd: error: unknown option '--chek'"))
        #expect(daemon.logText.hasSuffix("\nauthrefreshd: hint: see 'authrefreshd --help'"))
    }

    @Test func `a named file that is missing`() async throws {
        try await FreshAccount.with { account in
            let path = account.stage.folder.path + "/none.yaml"
            try await account.expectRefusal(["--config", path], status: 78, says: "'\(path)' cannot be read")
        }
    }

    @Test func `a provider profile with an unknown key`() async throws {
        try await FreshAccount.with { account in
            let file = try account.stage.folder.write(
                "name: example\nissuer: https://login.example\ncolour: red\n",
                to: "config/authrefreshd/providers.d/example.yaml"
            )
            try await account.expectRefusal(status: 78, says: "'\(file)', line 3, key 'colour'")
            try FileManager.default.removeItem(atPath: file)
        }
    }

    @Test func `--check of a valid configuration succeeds and starts nothing`() async throws {
        let stage = try DaemonStage()
        try stage.configure("log_level: info\n")
        let daemon = try stage.spawn(["--check"])
        #expect(try await daemon.ended() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: stage.store))
    }

    @Test func `without a place for its socket the daemon names the missing variable`() async throws {
        let stage = try DaemonStage()
        let daemon = try stage.spawn(environment: ["XDG_RUNTIME_DIR": ""])
        #expect(try await daemon.ended() == .exited(78))
        #expect(daemon.logText.contains("XDG_RUNTIME_DIR"))
    }
}
