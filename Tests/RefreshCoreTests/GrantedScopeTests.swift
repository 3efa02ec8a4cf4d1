import RefreshCore
import Testing

/// What answers tell of a grant's scope.
struct GrantedScopeTests {
    private let granted = ["openid", "mail", "files", "offline_access"]

    @Test func `a narrower answer is noticed, and the whole scope is named from then on`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(granted)
        #expect(scope.toName == nil && scope.missing == [])
        scope.note(["mail"])
        #expect(scope.missing == ["files", "openid"])
        #expect(scope.toName == granted.sorted())
        scope.note(granted)
        #expect(scope.missing == [])
        // It would narrow again: the scope is named although the last answer had it all.
        #expect(scope.toName == granted.sorted())
    }

    @Test func `an answer that names no scope has what was asked for`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        scope.note(nil)
        #expect(scope.missing == [])
        var unasked = try #require(GrantedScope(granted: granted))
        unasked.note(nil)
        #expect(unasked.toName == nil && unasked.missing == [])
    }

    @Test func `that offline_access is left out of an answer means nothing`() throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["openid", "files", "mail"])
        #expect(scope.missing == [] && scope.toName == nil)
    }

    @Test(arguments: [["openid", "mail", "files", "calendar"], ["https://mail.example/read"]])
    func `other names, or more of them, are what the grant has now`(scopes: [String]) throws {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(scopes)
        #expect(scope.granted == scopes.sorted() && scope.missing == [] && scope.toName == nil)
    }

    @Test func `a server that refuses the whole scope is asked without it, and what is missing stays in sight`() throws
    {
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(["mail"])
        scope.noteRefusal()
        #expect(scope.toName == nil)
        scope.note(["mail"])
        #expect(scope.toName == nil && scope.missing == ["files", "openid"])
    }

    @Test(arguments: [[], ["a b"], ["\u{1b}[31m"], [String(repeating: "s", count: GrantedScope.longest)]])
    func `what is no scope, or too long, is not kept`(scopes: [String]) throws {
        #expect(GrantedScope(granted: scopes) == nil)
        var scope = try #require(GrantedScope(granted: granted))
        scope.note(scopes)
        #expect(scope == GrantedScope(granted: granted))
    }
}
