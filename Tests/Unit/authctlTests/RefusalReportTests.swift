import AuthRefreshInterface
import Basics
import TestSupport
import Testing

@testable import authctl

@Suite struct RefusalReportTests {
    /// Each error of the interface without its optional fields, and the expected exit status.
    static let rows: [(name: String, parameters: String, status: Basics.ExitStatus)] = [
        (NoSuchAccountError.name, #"{"account":"a"}"#, .noSuchAccount),
        (AccountExistsError.name, #"{"account":"a"}"#, .usage),
        (InvalidSettingsError.name, #"{"field":"name","reason":"r"}"#, .badData),
        (
            InteractionRequiredError.name, #"{"account":"a","reason":"new","sinceUSec":0,"hint":"h"}"#,
            .interactionRequired
        ),
        (SignedOutError.name, #"{"account":"a","hint":"h"}"#, .signedOut),
        (TemporarilyUnavailableError.name, #"{"account":"a","reason":"r"}"#, .tryAgainLater),
        (ServerUnavailableError.name, #"{"url":"u","reason":"r","hint":"h"}"#, .tryAgainLater),
        (
            ClientNotRegisteredError.name,
            #"{"account":"a","kind":"refused","reason":"r","failure":{"summary":"s"},"hint":"h"}"#, .misconfigured
        ),
        (
            ClientNotRegisteredError.name,
            #"{"account":"a","kind":"unavailable","reason":"r","failure":{"summary":"s"},"hint":"h"}"#, .tryAgainLater
        ),
        (
            GrantNotImportedError.name,
            #"{"account":"a","kind":"refused","reason":"r","failure":{"summary":"s"},"hint":"h"}"#, .badData
        ),
        (
            GrantNotImportedError.name,
            #"{"account":"a","kind":"unavailable","reason":"r","failure":{"summary":"s"},"hint":"h"}"#, .tryAgainLater
        ),
        (
            GrantNotImportedError.name,
            #"{"account":"a","kind":"misconfigured","reason":"r","failure":{"summary":"s"},"hint":"h"}"#, .misconfigured
        ),
        (AccountParkedError.name, #"{"account":"a","hint":"h"}"#, .signedOut),
        (MisconfiguredError.name, #"{"account":"a","reason":"r","hint":"h"}"#, .misconfigured),
        (
            TokenSetRefusedError.name,
            #"{"account":"a","userRequired":true,"reason":"r","failure":{"summary":"s"},"hint":"h"}"#,
            .interactionRequired
        ),
        (
            TokenSetRefusedError.name,
            #"{"account":"a","userRequired":false,"reason":"r","failure":{"summary":"s"},"hint":"h"}"#,
            .misconfigured
        ),
        (SignInCancelledError.name, #"{"account":"a","by":"user"}"#, .cancelled),
        (SignInCancelledError.name, #"{"account":"a","by":"superseded"}"#, .tryAgainLater),
        (SignInCancelledError.name, #"{"account":"a","by":"removed"}"#, .noSuchAccount),
        (SignInCancelledError.name, #"{"account":"a","by":"changed"}"#, .tryAgainLater),
        (SignInCancelledError.name, #"{"account":"a","by":"stopping"}"#, .tryAgainLater),
        (SignInDeniedError.name, #"{"account":"a","oauthError":"access_denied","hint":"h"}"#, .interactionRequired),
        (SignInTimedOutError.name, #"{"account":"a"}"#, .tryAgainLater),
        (
            SignInFailedError.name, #"{"account":"a","kind":"refused","reason":"r","hint":"h"}"#,
            .interactionRequired
        ),
        (SignInFailedError.name, #"{"account":"a","kind":"unavailable","reason":"r","hint":"h"}"#, .tryAgainLater),
        (SignInFailedError.name, #"{"account":"a","kind":"misconfigured","reason":"r","hint":"h"}"#, .misconfigured),
        (OtherSubjectError.name, #"{"account":"a","hint":"h"}"#, .badData),
        (NoSuchSignInError.name, "{}", .badData),
        (WebSessionNotStartedError.name, #"{"callback":"c","kind":"busy","reason":"r","hint":"h"}"#, .tryAgainLater),
        (
            WebSessionNotStartedError.name, #"{"callback":"c","kind":"misconfigured","reason":"r","hint":"h"}"#,
            .misconfigured
        ),
        (WebSessionEndedError.name, #"{"callback":"c","reason":"timedOut"}"#, .tryAgainLater),
        (WebSessionEndedError.name, #"{"callback":"c","reason":"stopping"}"#, .tryAgainLater),
        (StoreUnavailableError.name, #"{"reason":"r","hint":"h"}"#, .tryAgainLater),
        (StoreLockedError.name, #"{"reason":"r","hint":"h"}"#, .tryAgainLater),
        (KeyNotReplacedError.name, #"{"reason":"r","hint":"h"}"#, .misconfigured),
        (PermissionDeniedError.name, #"{"reason":"r"}"#, .notPermitted),
        (SubscriberFellBehindError.name, #"{"unreadBytesMax":1}"#, .tryAgainLater),
        (LimitExceededError.name, #"{"limit":"l","maximum":1}"#, .tryAgainLater),
        (LimitExceededError.name, #"{"limit":"l","maximum":1,"holder":"'x' has 1 of 1 l"}"#, .tryAgainLater),
        ("org.varlink.service.InterfaceNotFound", #"{"interface":"i"}"#, .unavailable),
        ("org.varlink.service.MethodNotFound", #"{"method":"m"}"#, .unavailable),
        ("org.varlink.service.MethodNotImplemented", #"{"method":"m"}"#, .unavailable),
        ("org.varlink.service.InvalidParameter", #"{"parameter":"p"}"#, .badData),
        ("org.varlink.service.PermissionDenied", "{}", .notPermitted),
        ("org.varlink.service.ExpectedMore", "{}", .unavailable),
        ("org.example.Unknown", "{}", .badData),
    ]

    @Test(arguments: rows.indices)
    func `an error has its exit status and a message`(index: Int) {
        let row = Self.rows[index]
        let report = ErrorReply(name: row.name, parameters: row.parameters).report
        #expect(report.status == row.status, "\(row.name)")
        #expect(report.text(TerminalStyle()).hasPrefix("authctl: error: "))
        #expect(report.message != Report.unreadableReply.message)
    }

    @Test func `every error of the interface has a report`() {
        let declared = Interface.text.split(separator: "\n")
            .compactMap { $0.prefixMatch(of: /error ([A-Za-z]+)\(/).map { "io.authrefresh.\($0.1)" } }
        #expect(declared.count >= 10)
        #expect(Set(declared).isSubset(of: Set(Self.rows.map(\.name))))
    }

    @Test func `a refusal because of what a program holds names that program`() {
        let parameters = #"{"limit":"signIns","maximum":32,"holder":"'x' (process 7) has 16 of 32 running sign-ins"}"#
        let report = ErrorReply(name: LimitExceededError.name, parameters: parameters).report
        #expect(report.message.contains("'x' (process 7) has 16 of 32 running sign-ins"))
        #expect(!report.message.contains("signIns"))
    }

    @Test(arguments: Limit.allCases)
    func `a limit is told by what it counts, and not by its name on the wire`(limit: Limit) {
        let parameters = #"{"limit":"\#(limit.rawValue)","maximum":7}"#
        let message = ErrorReply(name: LimitExceededError.name, parameters: parameters).report.message
        #expect(message == "the daemon allows at most 7 \(limit.words)")
        #expect(!message.contains(/[a-z][A-Z]/), "\(message)")
        #expect(MessageForm.flaws(ofMessage: message) == [])
    }

    @Test(arguments: [
        (LimitExceededError.name, #"{"limit":"ofTomorrow","maximum":7}"#),
        (SignInCancelledError.name, #"{"account":"a","by":"ofTomorrow"}"#),
        (WebSessionEndedError.name, #"{"callback":"c","reason":"ofTomorrow"}"#),
    ])
    func `a code that this version does not know stays out of the sentence`(name: String, parameters: String) {
        let message = ErrorReply(name: name, parameters: parameters).report.message
        #expect(!message.contains("ofTomorrow"), "\(message)")
        #expect(MessageForm.flaws(ofMessage: message) == [])
    }

    @Test func `an error without its parameters counts as an unreadable answer`() {
        let report = ErrorReply(name: NoSuchAccountError.name, parameters: "{}").report
        #expect(report.message == Report.unreadableReply.message && report.name == NoSuchAccountError.name)
    }
}
