import AccountStorage
import AuthRefreshInterface
import DemoIssuer
import Glibc
import RefreshCore
import Systemd
import TestSupport
import Testing

@testable import Varlink
@testable import authrefreshd

/// What has to be known of a caller before a call is answered.
struct CallerAdmissionTests {
    private static let own = "/proc/self/exe"
    private static let other = "/bin/sh"

    private let call: VarlinkCall

    init() throws {
        let message = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"#
        call = try #require(VarlinkCall(message: Array(message.utf8), limits: ServerLimits()))
    }

    /// This process as a caller, with the files at these paths.
    private static func caller(knowing paths: [String]) throws -> Caller {
        var ends: [Int32] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let process = HeldProcess(socket: ends[0], pid: getpid(), connectedAt: BootClock.now())?.look()
        var caller = Caller(process: Caller.Look(.some(process)))
        for path in paths { caller.files[path] = Caller.Look(.some(FileIdentity(executable: path))) }
        return caller
    }

    private static func allow(_ executables: [String], to account: AccountID, in rig: CoordinatorRig) async throws {
        let list = AllowedCallers(units: [], executables: executables)
        _ = try await rig.coordinator.update(account, by: SettingsChange(setting: { $0.allowedCallers = list }))
    }

    private func missing(_ caller: Caller, in rig: CoordinatorRig) async throws -> Caller.Missing? {
        try await rig.coordinator.admit(caller, to: .acquireToken, call)
    }

    @Test func `an account without a list waits for no look-up`() async throws {
        try await withFreshAccount { rig, _, _ in
            let missing = try await missing(Caller(), in: rig)
            #expect(missing == nil)
        }
    }

    @Test func `a list that changes during the look-up is the one that counts`() async throws {
        try await withFreshAccount { rig, _, id in
            try await Self.allow([Self.own], to: id, in: rig)
            #expect(try await missing(Caller(), in: rig) == .look(executables: [Self.own]))
            let known = try Self.caller(knowing: [Self.own])
            // The list of the first look would let the caller in. There is another one now, and it needs another file.
            try await Self.allow([Self.other], to: id, in: rig)
            #expect(try await missing(known, in: rig) == .look(executables: [Self.other]))
            let all = try Self.caller(knowing: [Self.own, Self.other])
            let refusal = await #expect(throws: VarlinkError.self) { try await missing(all, in: rig) }
            #expect(refusal?.name == "io.authrefresh.PermissionDenied")
            try await Self.allow([Self.other, Self.own], to: id, in: rig)
            #expect(try await missing(all, in: rig) == nil)
        }
    }

    @Test func `the user is asked after the list was judged, and only for a call that can be answered`() async throws {
        try await withFreshAccount { rig, _, id in
            let list = AllowedCallers(units: [], executables: [Self.own], asksFirst: true)
            _ = try await rig.coordinator.update(id, by: SettingsChange(setting: { $0.allowedCallers = list }))
            let question = ConfirmationQuestion(
                account: try #require(AccountName("work")),
                request: .tokens(host: nil)
            )
            var caller = try Self.caller(knowing: [Self.own])
            #expect(try await missing(caller, in: rig) == .answer(to: question))
            caller.answers[question] = .allowed
            #expect(try await missing(caller, in: rig) == nil)
            let message = #"""
                {"method":"io.authrefresh.AcquireToken","parameters":{"account":"work","minimumValiditySec":-1}}
                """#
            let wrong = try #require(VarlinkCall(message: Array(message.utf8), limits: ServerLimits()))
            await #expect(throws: VarlinkError.self) {
                try await rig.coordinator.admit(Caller(), to: .acquireToken, wrong)
            }
        }
    }
}
