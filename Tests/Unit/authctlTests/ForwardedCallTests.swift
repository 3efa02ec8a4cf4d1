import AuthRefreshInterface
import Testing

@testable import authctl

/// The calls that a forwarded socket passes to the daemon: those for the accounts `work` and `K`, and no hostile ones.
@Suite struct ForwardedCallTests {
    private typealias Verdict = ForwardedCallFilter.Verdict

    private let filter = ForwardedCallFilter(accounts: [("work", nil), ("K", nil)], host: "me@build")

    private func judge(_ text: String) -> Verdict { filter.judge(Array(text.utf8)) }

    private func expectRefusal(
        _ text: String,
        _ error: String,
        ends: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .refuse(let reply, let endsConnection) = judge(text) else {
            Issue.record("passed: \(text)", sourceLocation: sourceLocation)
            return
        }
        #expect(reply.hasPrefix("{\"error\":\"\(error)\""), "\(text): \(reply)", sourceLocation: sourceLocation)
        #expect(reply.utf8.filter { $0 == 0 }.count == 1 && reply.hasSuffix("\0"), sourceLocation: sourceLocation)
        #expect(endsConnection == ends, "\(text)", sourceLocation: sourceLocation)
    }

    private static let invalid = "org.varlink.service.InvalidParameter"

    @Test func `calls for forwarded accounts pass, and those for a token name the other machine`() {
        let parameters = #"{ "force" : true, "account":"work","scopes":["a"] }"#
        let named = #"{"force":true,"account":"work","scopes":["a"],"host":"me@build"}"#
        #expect(
            judge(#"{"method":"io.authrefresh.AcquireToken","parameters":\#(parameters)}"#)
                == .pass(ForwardedCall(method: .acquireToken, account: "work", parameters: named))
        )
        // Whatever machine the call names, and however: the question to the person is about this one.
        for claim in [#""host":"other""#, #""host":null"#, #""h\u006fst":"other""#] {
            #expect(
                judge(#"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work",\#(claim)}}"#)
                    == .pass(
                        ForwardedCall(
                            method: .acquireToken,
                            account: "work",
                            parameters: #"{"account":"work","host":"me@build"}"#
                        )
                    )
            )
        }
        let challenge = #"{"account":"work","challenge":"Bearer error=\"invalid_token\""}"#
        #expect(
            judge(#"{"parameters":\#(challenge),"more":false,"oneway":null,"method":"io.authrefresh.ReportRejected"}"#)
                == .pass(ForwardedCall(method: .reportRejected, account: "work", parameters: challenge))
        )
    }

    @Test(arguments: [Method.acquireToken, .reportRejected])
    func `a call names the account's identifier, whatever it named`(
        method: Method
    ) {
        let filter = ForwardedCallFilter(accounts: [("work", "7")], host: "me@build")
        let host = method == .acquireToken ? #""host":"me@build","# : ""
        for claim in ["", #","accountId":"8""#, #","accountId":null"#, #","account\u0049d":8"#] {
            let call = #"{"method":"\#(method.rawValue)","parameters":{"account":"work"\#(claim)}}"#
            let parameters = #"{"account":"work",\#(host)"accountId":"7"}"#
            #expect(
                filter.judge(Array(call.utf8))
                    == .pass(ForwardedCall(method: method, account: "work", parameters: parameters))
            )
        }
    }

    @Test func `escapes in names and in the account are read as the daemon reads them`() {
        let parameters = #"{"\u0061ccount":"w\u006frk"}"#
        let named = #"{"account":"w\u006frk","host":"me@build"}"#
        #expect(
            judge(#"{"m\u0065thod":"io.authrefresh.\u0041cquireToken","parameters":\#(parameters)}"#)
                == .pass(ForwardedCall(method: .acquireToken, account: "work", parameters: named))
        )
        // No spelling of a call that is not forwarded lets it pass.
        let call = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"%"}}"#
        for name in [#"\u0068ome"#, "home", "Work", "work ", "work\\u0000", "", "wo\u{200B}rk", #"w\/ork"#] {
            expectRefusal(call.replacing("%", with: name), NoSuchAccountError.name, ends: false)
        }
    }

    @Test func `a name that only looks like an account's is a different one`() {
        // The Kelvin sign, which Swift regards as the same character as K.
        #expect("\u{212A}" == "K")
        for sign in ["\u{212A}", #"\u212a"#] {
            expectRefusal(
                #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"\#(sign)"}}"#,
                NoSuchAccountError.name,
                ends: false
            )
        }
    }

    @Test(arguments: Method.allCases) func `every other method is refused, whatever its parameters`(method: Method) {
        guard !method.rules.isForwarded else { return }
        for parameters in [#"{"account":"work"}"#, #"{"account":"home"}"#, "{}", "7"] {
            expectRefusal(
                #"{"method":"\#(method.rawValue)","parameters":\#(parameters)}"#,
                PermissionDeniedError.name,
                ends: false
            )
        }
    }

    @Test func `exactly two methods pass`() {
        #expect(Method.allCases.filter(\.rules.isForwarded) == [.acquireToken, .reportRejected])
        for name in [
            "org.varlink.service.GetInfo", "io.authrefresh.acquiretoken", "io.authrefresh.AcquireToken ",
            "io.authrefresh.AcquireToken\\u0000", "AcquireToken", "",
        ] {
            expectRefusal(
                #"{"method":"\#(name)","parameters":{"account":"work"}}"#,
                PermissionDeniedError.name,
                ends: false
            )
        }
    }

    @Test(arguments: ["more", "oneway", "upgrade"]) func `calls of another kind are refused`(flag: String) {
        for value in ["true", "1", "\"true\"", "{}"] {
            expectRefusal(
                #"{"method":"io.authrefresh.AcquireToken","\#(flag)":\#(value),"parameters":{"account":"work"}}"#,
                Self.invalid,
                ends: true
            )
        }
    }

    @Test func `a call with a repeated member is refused`() {
        for parameters in [
            #"{"account":"work","account":"home"}"#, #"{"account":"home","account":"work"}"#,
            #"{"account":"work","\u0061ccount":"home"}"#, #"{"account":"work","account":null}"#,
        ] {
            expectRefusal(
                #"{"method":"io.authrefresh.AcquireToken","parameters":\#(parameters)}"#,
                Self.invalid,
                ends: false
            )
        }
        for twice in [
            #""method":"io.authrefresh.ExportGrant""#, #""m\u0065thod":"io.authrefresh.ExportGrant""#,
            #""parameters":{"account":"home"}"#, #""parameters":null"#,
        ] {
            expectRefusal(
                #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"},\#(twice)}"#,
                Self.invalid,
                ends: true
            )
        }
    }

    @Test func `an account that is nested or not a text does not count`() {
        for parameters in [
            #"{"x":{"account":"work"}}"#, #"[{"account":"work"}]"#, #"{"account":["work"]}"#, #"{"account":null}"#,
            #"{"account":7}"#, "{}", "null", "\"work\"", #"{"account":"\ud800"}"#,
        ] {
            expectRefusal(
                #"{"method":"io.authrefresh.AcquireToken","parameters":\#(parameters)}"#,
                Self.invalid,
                ends: false
            )
        }
        expectRefusal(#"{"method":"io.authrefresh.AcquireToken"}"#, Self.invalid, ends: false)
    }

    @Test func `an invalid call ends the connection`() {
        let call = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"#
        for text in [
            "", " ", "{", call + call, call + "\n" + call, call + "x", "[\(call)]", "null", "\"\"", "\u{FEFF}" + call,
            String(repeating: "[", count: 10_000), #"{"method":7}"#, "{}",
            #"{"parameters":{"account":"work"}}"#,
            #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work","x":\#(String(repeating: "[", count: 40))"#
                + String(repeating: "]", count: 40) + "}}",
            #"{"x":[\#(String(repeating: "1,", count: 5000))1]}"#,
        ] {
            expectRefusal(text, Self.invalid, ends: true)
        }
    }

    @Test func `bytes that are not text do not pass`() {
        let before = Array(#"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"#.utf8)
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x84]] {
            for after in [#""}}"#, #"","audience":"x"}}"#] {
                guard case .refuse = filter.judge(before + bytes + Array(after.utf8)) else {
                    Issue.record("passed: \(bytes)")
                    continue
                }
            }
            let elsewhere = before + Array(#"","audience":""#.utf8) + bytes + Array(#""}}"#.utf8)
            guard case .refuse(let reply, _) = filter.judge(elsewhere) else {
                Issue.record("passed: \(bytes)")
                continue
            }
            #expect(reply.contains(Self.invalid))
        }
    }

    @Test func `refusals name only the requested account`() {
        let call = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"worg"}}"#
        #expect(
            judge(call)
                == .refuse(
                    reply: #"{"error":"io.authrefresh.NoSuchAccount","parameters":{"account":"worg"}}"# + "\0",
                    endsConnection: false
                )
        )
    }

    @Test func `the daemon's replies pass, but not the name of another account`() {
        let call = ForwardedCall(method: .acquireToken, account: "work", parameters: "{}")
        #expect(call.reply(error: nil, parameters: #"{"a":1}"#) == #"{"parameters":{"a":1}}"# + "\0")
        #expect(call.reply(error: "x.Y", parameters: "{}") == #"{"error":"x.Y","parameters":{}}"# + "\0")
        let nearest = #"{"account":"work","nearest":"works"}"#
        #expect(
            call.reply(error: NoSuchAccountError.name, parameters: nearest)
                == #"{"error":"io.authrefresh.NoSuchAccount","parameters":{"account":"work"}}"# + "\0"
        )
    }
}
