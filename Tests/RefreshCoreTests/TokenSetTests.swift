import RefreshCore
import Testing

struct TokenSetTests {
    @Test func `order and repetition make no difference`() throws {
        let one = try TokenSet(scopes: ["b", "a", "b"], resources: ["https://y.example", "https://x.example/"])
        let other = try TokenSet(scopes: ["a", "b"], resources: ["https://x.example/", "https://y.example"])
        #expect(one == other)
        #expect(one.text == "scope a\nscope b\nresource https://x.example/\nresource https://y.example")
    }

    @Test(
        arguments: [
            (["a"], [], nil), ([], ["urn:example:api"], nil), ([], [], "https://api.example/v1?x=1"),
            ([":", "resource"], ["https://x.example"], "two words"),
        ] as [([String], [String], String?)]
    )
    func `its text names it and nothing else`(scopes: [String], resources: [String], audience: String?) throws {
        let set = try TokenSet(scopes: scopes, resources: resources, audience: audience)
        #expect(TokenSet(text: set.text) == set)
    }

    @Test(arguments: [
        "", "a", "scope", "scope ", "scope b\nscope a", "scope a\nscope a", "audience x\nscope a",
        "audience x\naudience y", "resource x", "other a", "scope a\n",
    ])
    func `what no set is called is no set`(text: String) {
        #expect(TokenSet(text: text) == nil)
    }

    @Test(arguments: ["", "a b", "a\"", "a\\", "ä", "a\n"]) func `what is no scope token is refused`(scope: String) {
        #expect(throws: TokenSetError.scope(scope)) { try TokenSet(scopes: ["ok", scope]) }
    }

    @Test(arguments: ["", "api", "/api", "https:", "https://x.example/#f", "https://x.example/ y", "1a:b", ":x"])
    func `what is no absolute URI without a fragment is refused`(resource: String) {
        #expect(throws: TokenSetError.resource(resource)) { try TokenSet(resources: [resource]) }
    }

    @Test func `claims name a set, and stand on one line`() throws {
        let set = try TokenSet(scopes: ["a"], claims: #"{"id_token":{"acr":null}}"#)
        #expect(set.text == "scope a\nclaims {\"id_token\":{\"acr\":null}}")
        #expect(TokenSet(text: set.text) == set)
        for claims in ["", "[]", "{\n}", "{"] { #expect(throws: TokenSetError.claims) { try TokenSet(claims: claims) } }
    }

    @Test func `nothing, an empty audience, and too much are refused`() throws {
        #expect(throws: TokenSetError.empty) { try TokenSet() }
        #expect(throws: TokenSetError.audience("")) { try TokenSet(audience: "") }
        #expect(throws: TokenSetError.audience("a\nb")) { try TokenSet(audience: "a\nb") }
        let room = TokenSet.longestText - "scope ".utf8.count
        #expect(throws: Never.self) { try TokenSet(scopes: [String(repeating: "x", count: room)]) }
        #expect(throws: TokenSetError.tooLong) { try TokenSet(scopes: [String(repeating: "x", count: room + 1)]) }
    }
}
