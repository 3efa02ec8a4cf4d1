internal import Basics

extension CalledName {
    /// The name on this machine. It is determined only when there is a text to show.
    static let here = choose(by: .real)

    /// Chooses the name.
    ///
    /// - Returns: `authrefreshctl` if a shell finds this program under that name, and not as `authctl`.
    static func choose(by surroundings: Surroundings) -> CalledName {
        func finds(_ called: CalledName) -> Bool {
            surroundings.program(named: called.name).map(surroundings.target) == surroundings.program
        }
        return !finds(.usual) && finds(.unmistakable) ? .unmistakable : .usual
    }
}
