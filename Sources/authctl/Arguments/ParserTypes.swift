internal import ArgumentParser

extension TokenFormat: ExpressibleByArgument {}

extension LengthOfTime: ExpressibleByArgument {
    init?(argument: String) {
        self.init(argument)
    }
}
