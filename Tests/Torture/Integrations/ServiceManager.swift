internal import Glibc
internal import TestSupport

/// A stand-in for the user's service manager. It listens where systemd does, runs the command in `StartTransientUnit`,
/// and reports its end.
struct ServiceManager: Sendable {
    private let server: Program

    /// - Parameter socket: a path at which nothing exists yet.
    init(at socket: String) async throws {
        server = try Program("/usr/bin/python3", ["-c", Self.script, socket], environment: [:])
        try await server.output.first("the service manager") { $0 == "ready" }
    }

    func end() async throws {
        server.signal(SIGKILL)
        try await server.ended()
    }

    /// Ends it without waiting.
    func abandon() {
        if server.isRunning { server.signal(SIGKILL) }
    }

    /// The wire format of the D-Bus Specification, as far as one method and one signal need it. There is no bus in
    /// between.
    private static let script = """
        import os, socket, struct, subprocess, sys, threading

        SIZES = {"y": 1, "b": 4, "i": 4, "u": 4, "n": 2, "q": 2, "t": 8, "x": 8, "d": 8}
        ALIGNMENTS = {**SIZES, "s": 4, "o": 4, "a": 4, "g": 1, "v": 1, "(": 8}

        def first_type(signature):
            if signature[0] == "a":
                return "a" + first_type(signature[1:])
            depth = 0
            for place, character in enumerate(signature):
                depth += (character == "(") - (character == ")")
                if depth == 0:
                    return signature[:place + 1]

        class Reader:
            def __init__(self, data):
                self.data, self.place = data, 0

            def take(self, count, alignment=1):
                self.place += -self.place % alignment
                self.place += count
                return self.data[self.place - count:self.place]

            def text(self, length):
                return self.take(length + 1)[:-1].decode()

            def values(self, signature):
                found = []
                while signature:
                    kind = first_type(signature)
                    found.append(self.value(kind))
                    signature = signature[len(kind):]
                return found

            def value(self, kind):
                if kind[0] in SIZES:
                    return int.from_bytes(self.take(SIZES[kind], SIZES[kind]), "little")
                if kind[0] in "so":
                    return self.text(int.from_bytes(self.take(4, 4), "little"))
                if kind[0] == "g":
                    return self.text(self.take(1)[0])
                if kind[0] == "v":
                    return self.value(self.value("g"))
                if kind[0] == "(":
                    self.take(0, 8)
                    return self.values(kind[1:-1])
                length = int.from_bytes(self.take(4, 4), "little")
                self.take(0, ALIGNMENTS[kind[1]])
                end, found = self.place + length, []
                while self.place < end:
                    found.append(self.value(kind[1:]))
                return found

        def text(value):
            return struct.pack("<I", len(value)) + value.encode() + b"\\0"

        def padded(data, alignment):
            return data + b"\\0" * (-len(data) % alignment)

        def message(kind, serial, fields, body):
            header = b""
            for code, signature, value in fields:
                header = padded(header, 8) + bytes([code, 1]) + signature.encode() + b"\\0"
                if signature == "u":
                    header = padded(header, 4) + struct.pack("<I", value)
                elif signature == "g":
                    header += bytes([len(value)]) + value.encode() + b"\\0"
                else:
                    header = padded(header, 4) + text(value)
            start = struct.pack("<cBBBIII", b"l", kind, 1, 1, len(body), serial, len(header))
            return padded(start + header, 8) + body

        class Manager:
            units, all = set(), []

            def __init__(self, connection):
                self.connection, self.serial, self.lock = connection, 0, threading.Lock()

            def send(self, kind, fields, body):
                with self.lock:
                    self.serial += 1
                    try:
                        self.connection.sendall(message(kind, self.serial, fields, body))
                    except OSError:
                        pass

            def serve(self):
                data = b""
                while b"BEGIN\\r\\n" not in data:
                    data += self.connection.recv(4096)
                login, data = data.split(b"BEGIN\\r\\n", 1)
                self.connection.sendall(
                    (b"DATA\\r\\n" if b"\\r\\nDATA" in login else b"") + b"OK " + b"1" * 32 + b"\\r\\n"
                    + (b"AGREE_UNIX_FD\\r\\n" if b"NEGOTIATE" in login else b""))
                self.all.append(self)
                while True:
                    while len(data) < 16 or len(data) < self.length(data):
                        piece = self.connection.recv(65536)
                        if not piece:
                            return
                        data += piece
                    end = self.length(data)
                    self.take(data[:end])
                    data = data[end:]

            @staticmethod
            def length(data):
                body, _, fields = struct.unpack_from("<III", data, 4)
                return 16 + fields + -fields % 8 + body

            def take(self, data):
                body, serial = struct.unpack_from("<II", data, 4)
                reader = Reader(data)
                reader.place = 12
                fields = dict(reader.value("a(yv)"))
                if fields.get(3) != "StartTransientUnit":
                    return
                content = Reader(data[len(data) - body:])
                name, _, properties = content.values("ssa(sv)")
                if name in self.units:
                    error = "org.freedesktop.systemd1.UnitExists"
                    return self.send(3, [(4, "s", error), (5, "u", serial), (8, "g", "s")], text(name))
                self.units.add(name)
                self.send(2, [(5, "u", serial), (8, "g", "o")], text("/org/freedesktop/systemd1/job/1"))
                threading.Thread(target=self.run, args=(name, dict(properties)), daemon=True).start()

            def run(self, name, properties):
                environment = dict(word.split("=", 1) for word in properties["Environment"])
                subprocess.run(properties["ExecStartEx"][0][1], env={"PATH": "/usr/bin:/bin", **environment})
                self.units.discard(name)
                manager = "org.freedesktop.systemd1.Manager"
                fields = [(1, "o", "/org/freedesktop/systemd1"), (2, "s", manager), (3, "s", "UnitRemoved"), (8, "g", "so")]
                for listening in self.all:
                    listening.send(4, fields, padded(text(name), 4) + text("/org/freedesktop/systemd1/unit/1"))

        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=Manager(connection).serve, daemon=True).start()
        """
}
