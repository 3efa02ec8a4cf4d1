internal import Foundation
internal import TestSupport

/// Somebody who is refused: what they are told, and how long that takes.
///
/// A program of its own, for it is another user; it waits for one answer before it asks for the next, so that nothing but the daemon's
/// work is in the time.
struct RefusedCaller {
    /// Of each kind of call, in their order.
    struct Hearing {
        /// What was answered, names and numbers of processes left out.
        var answers: Set<String>
        /// In µs: that below which one in ten is, half, and nine in ten.
        var tenth: Double
        var median: Double
        var ninetieth: Double
    }

    private static let script = """
        import json, re, socket, sys, time
        path, rounds, calls = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
        times, answers = [[] for call in calls], [set() for call in calls]
        def ask(call):
            caller = socket.socket(socket.AF_UNIX)
            caller.settimeout(30)
            caller.connect(path)
            answer = b""
            try:
                if call: caller.sendall(call.encode() + b"\\0")
                while not answer.endswith(b"\\0"):
                    piece = caller.recv(65536)
                    if not piece: break
                    answer += piece
            except (BrokenPipeError, ConnectionResetError): answer += caller.recv(65536)
            caller.close()
            return answer.rstrip(b"\\0").decode()
        for round in range(rounds):
            for number, call in enumerate(calls):
                start = time.perf_counter_ns()
                answer = ask(call)
                times[number].append(time.perf_counter_ns() - start)
                name = re.search('"account":"([^"]*)"', call)
                if name: answer = answer.replace(name[1], "NAME")
                answers[number].add(re.sub(r"pid [0-9]+", "pid", answer))
        for number, call in enumerate(calls):
            times[number].sort()
            print(json.dumps([sorted(answers[number])] + [times[number][rounds * part // 10] / 1000 for part in (1, 5, 9)]))
        """

    /// How somebody else's command is begun; empty for the daemon's own user.
    var wrapper: [String] = []

    /// Makes each of the calls so often, in turn.
    ///
    /// - Parameter calls: without their ends; an empty one says nothing, and waits.
    func hear(_ calls: [String], rounds: Int, at socket: String) async throws -> [Hearing] {
        let python = ["/usr/bin/python3", "-c", Self.script, socket, "\(rounds)"] + calls
        let words = wrapper.isEmpty ? python : ["/usr/bin/setpriv"] + wrapper + python
        let program = try Program(words[0], Array(words.dropFirst()), environment: ["PATH": "/usr/bin:/bin"])
        guard try await program.ended(within: .seconds(300)) == .exited(0) else {
            throw TestFault.failed(program: "a refused caller", errors: program.errorText)
        }
        return try program.output.all.map { try JSONDecoder().decode(Hearing.self, from: Data($0.utf8)) }
    }
}

extension RefusedCaller.Hearing: Decodable {
    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        answers = try values.decode(Set<String>.self)
        tenth = try values.decode(Double.self)
        median = try values.decode(Double.self)
        ninetieth = try values.decode(Double.self)
    }
}
