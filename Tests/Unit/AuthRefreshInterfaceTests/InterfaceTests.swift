import Testing

@testable import AuthRefreshInterface

/// The interface description is the contract. The wire types must agree with it.
@Suite struct InterfaceTests {
    private let description: InterfaceDescription
    private let shape: WireShape

    init() throws {
        description = try InterfaceDescription(Interface.text)
        shape = WireShape(description: description)
    }

    @Test func `the description carries the interface's name`() {
        #expect(description.name == Interface.name)
    }

    @Test func `the methods are those of the enumeration, in the same order`() {
        let names = description.members(.method).map { "\(Interface.name).\($0.name)" }
        #expect(names == Method.allCases.map(\.rawValue))
    }

    @Test func `types agree with their wire types`() throws {
        #expect(
            description.members(.type).map(\.name) == [
                "FailureReport", "TokenSetStatus", "IdToken", "TokenHolder", "ServiceUrl", "AccountStatus",
                "TokenFileStatus",
                "Person",
                "AccountSettings",
                "ManagedRegistration",
                "ProviderVariable", "EndOfGrant", "ProviderNote", "PurposeScopes",
                "ProviderProfile", "SignOutStep",
                "StoreFinding", "Finding", "AccountExpiry",
            ]
        )
        for member in description.members(.type) {
            switch member.name {
            case "FailureReport": try shape.check(FailureReport.self, member.fields, member.name)
            case "IdToken": try shape.check(AcquireToken.IDToken.self, member.fields, member.name)
            case "TokenHolder": try shape.check(AcquireToken.TokenHolder.self, member.fields, member.name)
            case "ServiceUrl": try shape.check(ServiceUrl.self, member.fields, member.name)
            case "TokenSetStatus": try shape.check(TokenSetStatus.self, member.fields, member.name)
            case "AccountStatus": try shape.check(AccountStatus.self, member.fields, member.name)
            case "Person": try shape.check(Person.self, member.fields, member.name)
            case "ManagedRegistration": try shape.check(ManagedRegistration.self, member.fields, member.name)
            case "ProviderProfile": try shape.check(ProviderDescription.self, member.fields, member.name)
            case "EndOfGrant": try shape.check(EndOfGrant.self, member.fields, member.name)
            case "ProviderNote": try shape.check(ProviderNote.self, member.fields, member.name)
            case "PurposeScopes": try shape.check(PurposeScopes.self, member.fields, member.name)
            case "ProviderVariable": try shape.check(ProviderVariable.self, member.fields, member.name)
            case "SignOutStep": try shape.check(SignOutStep.self, member.fields, member.name)
            case "StoreFinding": try shape.check(StoreFinding.self, member.fields, member.name)
            case "Finding": try shape.check(Finding.self, member.fields, member.name)
            case "TokenFileStatus": try shape.check(TokenFileStatus.self, member.fields, member.name)
            case "AccountExpiry": try shape.check(AccountExpiry.self, member.fields, member.name)
            case "AccountSettings": try shape.check(AccountSettings.self, member.fields, member.name)
            default: Issue.record("the type \(member.name) has no wire type")
            }
        }
    }

    @Test func `every setting is in the list of settings, in the order of the description`() {
        let fields = Mirror(reflecting: AccountSettings(name: "a")).children.compactMap(\.label)
        #expect(fields == ["name"] + Setting.all.map(\.name))
        #expect(Set(Setting.all.map(\.option)).count == Setting.all.count)
    }

    @Test(arguments: Method.allCases)
    func `a method agrees with its wire types`(method: Method) throws {
        let member = try #require(
            description.members(.method).first { "\(Interface.name).\($0.name)" == method.rawValue }
        )
        func check<Parameters: Codable, Reply: Codable>(_ parameters: Parameters.Type, _ reply: Reply.Type) throws {
            #expect(String(reflecting: parameters).contains(".\(member.name).Parameters"))
            try shape.check(parameters, member.fields, member.name)
            try shape.check(reply, member.reply, "\(member.name) reply")
        }
        switch method {
        case .getInfo: try check(GetInfo.Parameters.self, GetInfo.Reply.self)
        case .getMetrics: try check(GetMetrics.Parameters.self, GetMetrics.Reply.self)
        case .getStatus: try check(GetStatus.Parameters.self, GetStatus.Reply.self)
        case .listAccounts: try check(ListAccounts.Parameters.self, ListAccounts.Reply.self)
        case .findAccount: try check(FindAccount.Parameters.self, FindAccount.Reply.self)
        case .listUrls: try check(ListUrls.Parameters.self, ListUrls.Reply.self)
        case .addAccount: try check(AddAccount.Parameters.self, AddAccount.Reply.self)
        case .updateAccount: try check(UpdateAccount.Parameters.self, UpdateAccount.Reply.self)
        case .renameAccount: try check(RenameAccount.Parameters.self, RenameAccount.Reply.self)
        case .removeAccount: try check(RemoveAccount.Parameters.self, RemoveAccount.Reply.self)
        case .importGrant: try check(ImportGrant.Parameters.self, ImportGrant.Reply.self)
        case .exportGrant: try check(ExportGrant.Parameters.self, ExportGrant.Reply.self)
        case .resumeAccount: try check(ResumeAccount.Parameters.self, ResumeAccount.Reply.self)
        case .acquireToken: try check(AcquireToken.Parameters.self, AcquireToken.Reply.self)
        case .provePossession: try check(ProvePossession.Parameters.self, ProvePossession.Reply.self)
        case .reportRejected: try check(ReportRejected.Parameters.self, ReportRejected.Reply.self)
        case .refresh: try check(Refresh.Parameters.self, Refresh.Reply.self)
        case .subscribe: try check(Subscribe.Parameters.self, Subscribe.Reply.self)
        case .startSignIn: try check(StartSignIn.Parameters.self, StartSignIn.Reply.self)
        case .continueSignIn: try check(ContinueSignIn.Parameters.self, ContinueSignIn.Reply.self)
        case .cancelSignIn: try check(CancelSignIn.Parameters.self, CancelSignIn.Reply.self)
        case .startWebSession: try check(StartWebSession.Parameters.self, StartWebSession.Reply.self)
        case .serveConfirmations: try check(ServeConfirmations.Parameters.self, ServeConfirmations.Reply.self)
        case .answerConfirmation: try check(AnswerConfirmation.Parameters.self, AnswerConfirmation.Reply.self)
        case .signOut: try check(SignOut.Parameters.self, SignOut.Reply.self)
        case .listProviders: try check(ListProviders.Parameters.self, ListProviders.Reply.self)
        case .discoverProvider: try check(DiscoverProvider.Parameters.self, DiscoverProvider.Reply.self)
        case .checkServer: try check(CheckServer.Parameters.self, CheckServer.Reply.self)
        case .backupStore: try check(BackupStore.Parameters.self, BackupStore.Reply.self)
        case .rekeyStore: try check(RekeyStore.Parameters.self, RekeyStore.Reply.self)
        case .checkStore: try check(CheckStore.Parameters.self, CheckStore.Reply.self)
        case .diagnose: try check(Diagnose.Parameters.self, Diagnose.Reply.self)
        }
    }

    @Test func `errors agree with their wire types`() throws {
        var unchecked = description.members(.error)
        func check<Wire: InterfaceError>(_ type: Wire.Type) throws {
            let index = try #require(unchecked.firstIndex { "\(Interface.name).\($0.name)" == Wire.name })
            let member = unchecked.remove(at: index)
            try shape.check(type, member.fields, member.name)
        }
        try check(NoSuchAccountError.self)
        try check(AccountExistsError.self)
        try check(InvalidSettingsError.self)
        try check(InteractionRequiredError.self)
        try check(SignedOutError.self)
        try check(TemporarilyUnavailableError.self)
        try check(MisconfiguredError.self)
        try check(TokenSetRefusedError.self)
        try check(ServerUnavailableError.self)
        try check(ClientNotRegisteredError.self)
        try check(GrantNotImportedError.self)
        try check(AccountParkedError.self)
        try check(SignInCancelledError.self)
        try check(SignInDeniedError.self)
        try check(SignInTimedOutError.self)
        try check(SignInFailedError.self)
        try check(OtherSubjectError.self)
        try check(WebSessionNotStartedError.self)
        try check(WebSessionEndedError.self)
        try check(NoSuchSignInError.self)
        try check(StoreUnavailableError.self)
        try check(StoreLockedError.self)
        try check(KeyNotReplacedError.self)
        try check(PermissionDeniedError.self)
        try check(SubscriberFellBehindError.self)
        try check(LimitExceededError.self)
        #expect(unchecked.map(\.name) == [])
    }

    @Test func `every type, method and error is described, and every field of each`() {
        for member in description.members {
            #expect(!member.comment.isEmpty, "\(member.kind) \(member.name)")
            for field in member.fields + member.reply {
                #expect(!field.comment.isEmpty, "\(member.name).\(field.name)")
            }
        }
    }

    @Test func `the absence of optional fields, and only of those, is described`() {
        for member in description.members {
            for field in member.fields + member.reply {
                let saysAbsent = field.comment.contains(#/Absent( or empty)?: /#)
                #expect(saysAbsent == field.isOptional, "\(member.name).\(field.name)")
            }
        }
    }

    @Test func `every number has a unit, and counts say what they count`() {
        for member in description.members {
            for field in member.fields + member.reply where field.type == "int" {
                let unit: Regex<Substring> =
                    if field.name.hasSuffix("USec") {
                        /µs since 1970/
                    } else if field.name.hasSuffix("Sec") {
                        /in seconds/
                    } else {
                        /[Hh]ow (?:many|often)|HTTP status|TCP port|[Ff]ailures|At most this many/
                    }
                #expect(field.comment.contains(unit), "\(member.name).\(field.name): \(field.comment)")
            }
        }
    }

    @Test func `every reachable limit is named, and no other`() throws {
        let member = try #require(description.members(.error).first { $0.name == "LimitExceeded" })
        let field = try #require(member.fields.first { $0.name == "limit" })
        // "connections, connectionsOfUser: open at once." names two fields.
        let named = field.comment.matches(of: #/(?:^|\. )([a-zA-Z, ]+): /#).flatMap { match in
            match.1.split(separator: ", ").map(String.init)
        }
        #expect(named == Limit.allCases.map(\.rawValue))
    }

    @Test func `times and durations have their unit in the name`() {
        for field in description.members.flatMap({ $0.fields + $0.reply }) where field.name.hasSuffix("Sec") {
            #expect(field.type == "int", "\(field.name)")
        }
        for field in description.members.flatMap({ $0.fields + $0.reply }) where field.name.contains("At") {
            #expect(field.name.hasSuffix("AtUSec"), "\(field.name)")
        }
    }
}

/// The reader of descriptions on which the tests above depend.
@Suite struct InterfaceDescriptionTests {
    @Test func `comments, options and containers are read`() throws {
        let text = """
            # head
            interface org.example
            # a type
            type T (
              # one
              # two
              a: ?[]string,
              b: [string]int
            )
            method M(x: int) -> ()
            """
        let description = try InterfaceDescription(text)
        #expect(description.name == "org.example")
        let type = try #require(description.members.first)
        #expect(type.comment == "a type")
        #expect(
            type.fields == [
                InterfaceDescription.Field(name: "a", type: "[]string", isOptional: true, comment: "one two"),
                InterfaceDescription.Field(name: "b", type: "[string]int", isOptional: false, comment: ""),
            ]
        )
        #expect(description.members(.method).map(\.fields.count) == [1])
    }

    @Test(arguments: ["interface", "interface x type T (a int)", "interface x method M() ()", "interface x noun N ()"])
    func `a broken description is refused`(text: String) {
        #expect(throws: InterfaceDescription.SyntaxError.self) { try InterfaceDescription(text) }
    }
}
