/// A fuzz target: one parser of outside data, or several that parse the same.
///
/// Each has a file of inputs in `Tests/Fuzz/Corpora`. A target looks for more than crashes: if there is an inverse, or
/// another implementation, both must agree.
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

    /// The target of this process. It is set once, before the first input.
    @MainActor static var chosen = FuzzTarget.strictJSON

    /// Parses `input`, and ends the process if the result is wrong.
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

/// If `fact` does not hold, ends the process, so that libFuzzer keeps the input.
func require(_ isTrue: Bool, _ fact: StaticString, file: StaticString = #fileID, line: UInt = #line) {
    guard isTrue else { fatalError("this does not hold: \(fact)", file: file, line: line) }
}

extension [UInt8] {
    /// Removes the first byte and returns it, for a choice by number; 0 for an empty input.
    mutating func takeByte() -> Int {
        isEmpty ? 0 : Int(removeFirst())
    }

    /// Removes the first line and returns it without its end.
    mutating func takeLine() -> [UInt8] {
        let line = prefix { $0 != UInt8(ascii: "\n") }
        removeFirst(Swift.min(line.count + 1, count))
        return Array(line)
    }
}
