internal import CommandLineProgram

extension CalledName {
    /// What this program is called here. Looked up only when there is something to tell.
    static let here = choose(by: .real)

    /// - Returns: `authrefreshctl` if a shell finds this program by that name, and not by `authctl`.
    static func choose(by surroundings: Surroundings) -> CalledName {
        func finds(_ called: CalledName) -> Bool {
            surroundings.program(named: called.name).map(surroundings.target) == surroundings.program
        }
        return !finds(.usual) && finds(.unmistakable) ? .unmistakable : .usual
    }
}
