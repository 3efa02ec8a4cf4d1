/// What is fuzzed: one reader of what comes from outside, or several that read the same.
///
/// Each has a file of inputs in `Tests/Fuzz/Corpora`. None of them looks for a crash only: where there is an inverse, or another
/// implementation, both have to agree.
enum FuzzTarget: String, CaseIterable {
    case varlinkMessages = "varlink-messages"
    case varlinkParameters = "varlink-parameters"
    case varlinkReplies = "varlink-replies"
    case strictJSON = "strict-json"
    case tokenAnswers = "token-answers"
    case metadata
    case keySets = "key-sets"
    case idTokens = "id-tokens"
    case clientKeys = "client-keys"
    case callbacks
    case challenges
    case configuration
    case profiles
    case imports
    case movingIn = "moving-in"
    case sealedColumns = "sealed-columns"

    /// The one that this process was started for; set once, before the first input.
    @MainActor static var chosen = FuzzTarget.strictJSON

    /// Reads `input`, and ends the process if what comes of it is wrong.
    func run(_ input: [UInt8]) {
        switch self {
        case .varlinkMessages: VarlinkMessages.run(input)
        case .varlinkParameters: VarlinkParameters.run(input)
        case .varlinkReplies: VarlinkReplies.run(input)
        case .strictJSON: StrictJSONTexts.run(input)
        case .tokenAnswers: TokenAnswers.run(input)
        case .metadata: MetadataDocuments.run(input)
        case .keySets: KeySets.run(input)
        case .idTokens: IDTokens.run(input)
        case .clientKeys: ClientKeys.run(input)
        case .callbacks: Callbacks.run(input)
        case .challenges: Challenges.run(input)
        case .configuration: ConfigurationFiles.runConfiguration(input)
        case .profiles: ConfigurationFiles.runProfile(input)
        case .imports: ImportedDocuments.run(input)
        case .movingIn: OtherPrograms.run(input)
        case .sealedColumns: SealedColumns.run(input)
        }
    }
}

/// Ends the process, and has libFuzzer keep the input, unless `fact` holds.
func require(_ isTrue: Bool, _ fact: StaticString, file: StaticString = #fileID, line: UInt = #line) {
    guard isTrue else { fatalError("this does not hold: \(fact)", file: file, line: line) }
}

extension [UInt8] {
    /// Takes the first byte off, for what a target decides by number; 0 of an empty input.
    mutating func takeByte() -> Int {
        isEmpty ? 0 : Int(removeFirst())
    }

    /// Takes the first line off, without its end.
    mutating func takeLine() -> [UInt8] {
        let line = prefix { $0 != UInt8(ascii: "\n") }
        removeFirst(Swift.min(line.count + 1, count))
        return Array(line)
    }
}
