import RefreshCore
import Testing

/// What answers say about a grant's scope.
struct GrantedScopeTests {
    private let granted = ["openid", "mail", "files", "offline_access"]

    @Test func `after a narrower answer the whole scope is requested by name`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(granted)
        #expect(scope.toName == nil && scope.missing == [])
        scope.note(["mail"])
        #expect(scope.missing == ["files", "openid"])
        #expect(scope.toName == granted.sorted())
        scope.note(granted)
        #expect(scope.missing == [])
        // The next refresh would narrow the scope again, so the scope is named although the last answer had all of it.
        #expect(scope.toName == granted.sorted())
    }

    @Test func `an answer without a scope means the requested scope`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        scope.note(nil)
        #expect(scope.missing == [])
        var unasked = try #require(GrantedScope(granted: granted))
        unasked.note(nil)
        #expect(unasked.toName == nil && unasked.missing == [])
    }

    @Test func `an answer without offline_access means nothing`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["openid", "files", "mail"])
        #expect(scope.missing == [] && scope.toName == nil)
    }

    @Test(arguments: [["openid", "mail", "files", "calendar"], ["https://mail.example/read"]])
    func `more or other scopes in an answer become the grant's scope`(scopes: [String]) throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(scopes)
        #expect(scope.granted == scopes.sorted() && scope.missing == [] && scope.toName == nil)
    }

    @Test func `after a refused scope none is requested, and the missing scopes stay visible`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        scope.noteRefusal()
        #expect(scope.toName == nil)
        scope.note(["mail"])
        #expect(scope.toName == nil && scope.missing == ["files", "openid"])
    }

    @Test func `scopes that naming does not bring back are lost`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        #expect(!scope.isLost)
        scope.note(["mail"])
        #expect(scope.isLost && scope.toName == nil)
        scope.note(granted)
        #expect(!scope.isLost && scope.missing == [])
    }

    @Test func `only an answer that states the whole scope shows that a narrower request took nothing`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        #expect(scope.isWider(than: ["mail"]) && !scope.isWider(than: granted))
        scope.note(granted)
        #expect(scope.narrowing == .untried)
        scope.noteNarrowing()
        scope.note(nil)
        #expect(scope.narrowing == .tried && scope.isKept == nil)
        scope.note(granted)
        #expect(scope.narrowing == .kept && scope.isKept == true)
        #expect(try #require(GrantedScope(granted: ["mail"])).after(scope).narrowing == .kept)
    }

    @Test func `an answer that lacks scopes after a narrower request shows that the server takes them`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        #expect(scope.isKept == nil)
        scope.note(granted)
        scope.noteNarrowing()
        scope.note(["mail"])
        #expect(scope.isKept == false)
    }

    @Test(arguments: [[], ["a b"], ["\u{1b}[31m"], [String(repeating: "s", count: GrantedScope.longest)]])
    func `an invalid or overlong scope is not stored`(scopes: [String]) throws {
        #expect(GrantedScope(granted: scopes) == nil)
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(scopes)
        #expect(scope == GrantedScope(granted: granted))
    }
}
