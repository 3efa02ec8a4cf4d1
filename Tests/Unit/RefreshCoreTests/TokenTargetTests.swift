import RefreshCore
import Testing

struct TokenTargetTests {
    @Test func `order and repetition make no difference`() throws {
        let one = try TokenTarget(scopes: ["b", "a", "b"], resources: ["https://y.example", "https://x.example/"])
        let other = try TokenTarget(scopes: ["a", "b"], resources: ["https://x.example/", "https://y.example"])
        #expect(one == other)
        #expect(one.text == "scope a\nscope b\nresource https://x.example/\nresource https://y.example")
    }

    @Test(
        arguments: [
            (["a"], [], nil), ([], ["urn:example:api"], nil), ([], [], "https://api.example/v1?x=1"),
            ([":", "resource"], ["https://x.example"], "two words"),
        ] as [([String], [String], String?)]
    )
    func `a target's text identifies it alone`(scopes: [String], resources: [String], audience: String?) throws {
        let target = try TokenTarget(scopes: scopes, resources: resources, audience: audience)
        #expect(TokenTarget(text: target.text) == target)
    }

    @Test(arguments: [
        "", "a", "scope", "scope ", "scope b\nscope a", "scope a\nscope a", "audience x\nscope a",
        "audience x\naudience y", "resource x", "other a", "scope a\n",
    ])
    func `a text that is not canonical is not a target`(text: String) {
        #expect(TokenTarget(text: text) == nil)
    }

    @Test(arguments: ["", "a b", "a\"", "a\\", "ä", "a\n"]) func `an invalid scope token is refused`(scope: String) {
        #expect(throws: ValueError(noScope: scope)) { try TokenTarget(scopes: ["ok", scope]) }
    }

    @Test(arguments: ["", "api", "/api", "https:", "https://x.example/#f", "https://x.example/ y", "1a:b", ":x"])
    func `a resource that is not an absolute URI without fragment is refused`(resource: String) {
        let error = #expect(throws: ValueError.self) { try TokenTarget(resources: [resource]) }
        #expect(error?.field == "resources" && error?.reason.hasPrefix("'\(resource)' is not") == true)
    }

    @Test func `claims make a target, and are on one line`() throws {
        let target = try TokenTarget(scopes: ["a"], claims: #"{"id_token":{"acr":null}}"#)
        #expect(target.text == "scope a\nclaims {\"id_token\":{\"acr\":null}}")
        #expect(TokenTarget(text: target.text) == target)
        for claims in ["", "[]", "{\n}", "{"] {
            let error = #expect(throws: ValueError.self) { try TokenTarget(claims: claims) }
            #expect(error?.field == "claims")
        }
    }

    @Test func `an empty target, an empty audience and a too long target are refused`() throws {
        #expect(throws: ValueError.self) { try TokenTarget() }
        for audience in ["", "a\nb"] {
            let error = #expect(throws: ValueError.self) { try TokenTarget(audience: audience) }
            #expect(error?.field == "audience")
        }
        let room = TokenTarget.longestText - "scope ".utf8.count
        for (length, isTooLong) in [(room, false), (room + 1, true)] {
            let target = try TokenTarget(scopes: [String(repeating: "x", count: length)])
            #expect(target.isTooLong == isTooLong && (TokenTarget(text: target.text) == nil) == isTooLong)
        }
    }
}
