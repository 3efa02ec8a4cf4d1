import ArgumentParser
import Basics
import Glibc
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

struct ConfigurationFileTests {
    private func configuration(_ text: String) throws -> DaemonConfiguration {
        try ConfigurationFile.decode(DaemonConfiguration.self, from: text, path: "/c.yaml")
    }

    @Test(arguments: ["", "# nothing but a comment\n", "{}\n"])
    func `an empty file leaves the defaults`(text: String) throws {
        #expect(try configuration(text) == DaemonConfiguration())
    }

    @Test func `every key is read`() throws {
        let read = try configuration(
            """
            log_level: debug
            request_timeout: 10s
            ca_file: /etc/ca.pem
            proxy: http://user:hunter2@proxy.example:3128
            no_proxy: .intern.example, 10.0.0.0/8
            max_concurrent_refreshes: 3
            max_refreshes_per_second: 2.5
            max_accounts: 7
            max_connections: 2000
            store_key: secret-service
            login_browser: firefox
            """
        )
        #expect(read.logLevel == "debug")
        #expect(read.requestTimeout == .seconds(10))
        #expect(read.caFile == "/etc/ca.pem")
        #expect(read.proxy == Secret("http://user:hunter2@proxy.example:3128"))
        #expect(read.noProxy == ".intern.example, 10.0.0.0/8")
        #expect(!"\(read)".contains("hunter2"))
        #expect(read.issuerLimits == IssuerGate.Limits(concurrent: 3, perSecond: 2.5))
        #expect(read.maxAccounts == 7)
        #expect(read.maxConnections == 2000)
        #expect(read.storeKey == .secretService)
        #expect(read.loginBrowser == "firefox")
    }

    /// `authctl` has no YAML parser, and reads this key itself.
    @Test(arguments: ["login_browser:\n  firefox\n", "{login_browser: firefox}\n", "\"login_browser\": firefox\n"])
    func `a browser that authctl would not find in the file is refused`(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "c.yaml")
        let options = try DaemonOptions.parse(["--config", folder.path + "/c.yaml"])
        let environment = ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        let paths = try DaemonPaths(options: options, environment: environment) { _ in true }
        let error = #expect(throws: ProgramError.self) { try LoadedConfiguration(paths: paths) }
        #expect(error?.description.contains("key 'login_browser'") == true)
        try folder.write("login_browser: firefox -P work # mine\n", to: "c.yaml")
        #expect(try LoadedConfiguration(paths: paths).file.loginBrowser == "firefox -P work")
    }

    @Test func `a path that is not a file is refused, and a FIFO does not block`() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe.yaml"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for (path, reason) in [
            (pipe, "it is not a regular file"), (folder.path, "it is not a regular file"),
            ("/dev/zero", "it is not a regular file"), (folder.path + "/none", "No such file or directory"),
        ] {
            #expect(throws: ProgramError.configuration("'\(path)' cannot be read: \(reason)")) {
                try ConfigurationFile.decode(DaemonConfiguration.self, at: path)
            }
        }
    }

    @Test(arguments: [
        ("log_level: loud\n", 1, "log_level"), ("\nrequest_timeout: 41s\n", 2, "request_timeout"),
        ("request_timeout: 0s\n", 1, "request_timeout"), ("ca_file: relative.pem\n", 1, "ca_file"),
        ("proxy: socks5://p.example:1080\n", 1, "proxy"), ("proxy: \"\"\n", 1, "proxy"),
        ("no_proxy: [a.example]\n", 1, "no_proxy"),
        ("login_browser: bin/firefox\n", 1, "login_browser"), ("login_browser: \"a:b\"\n", 1, "login_browser"),
        ("store_key: keyring\n", 1, "store_key"), ("max_accounts: 0\n", 1, "max_accounts"),
        ("max_accounts: [1]\n", 1, "max_accounts"), ("max_connections: 15\n", 1, "max_connections"),
        ("# x\n# y\nmax_concurrent_refreshes: 0\n", 3, "max_concurrent_refreshes"),
        ("max_refreshes_per_second: 0\n", 1, "max_refreshes_per_second"),
        ("max_accounts: 1\nmax_acounts: 2\n", 2, "max_acounts"),
    ])
    func `invalid content is reported with line and key`(text: String, line: Int, key: String) {
        let error = #expect(throws: ProgramError.self) { try configuration(text) }
        #expect(error?.description.hasPrefix("'/c.yaml', line \(line), key '\(key)': ") == true, "\(error as Any)")
    }

    @Test(arguments: ["log_level: [\n", "a: b: c\n", "\tx: 1\n"])
    func `invalid YAML is reported with its line`(text: String) {
        let error = #expect(throws: ProgramError.self) { try configuration(text) }
        let isPlain = error?.description.contains(/^'\/c\.yaml', line [1-9][0-9]*: this is not YAML/) == true
        #expect(isPlain, "\(error as Any)")
    }
}
